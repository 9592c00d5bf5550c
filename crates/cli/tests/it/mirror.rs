//! The `mirror` command.

mod arguments;
mod checksums;
mod delete;
mod dry_run;
mod failures;
mod file_names;
mod ftp;
mod ftp_listed_times;
mod ftp_nlst;
mod gopher;
mod index_pages;
mod interrupted_runs;
mod leftovers;
mod limits;
mod listed_sizes;
mod listed_times;
mod local;
mod max_delete;
mod news;
mod own_pages;
mod page_requisites;
mod passwords;
mod planted_files;
mod reports;
mod second_run;
mod slashless_directories;
