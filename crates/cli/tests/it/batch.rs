//! Many transfers in one run: input files, the journal, busy hosts, reports.

mod alternatives;
mod busy_hosts;
mod descriptors;
mod input_file;
mod journal;
mod metalink;
mod option_groups;
mod reports;
mod threads;
