//! Output files: names, checksums, conditions, full disks, interrupted runs.

mod checksums;
mod conditions;
mod interrupted_runs;
mod kills;
mod log_files;
mod names;
mod output_file;
mod same_file;
mod stdout_turns;
mod url_globs;
