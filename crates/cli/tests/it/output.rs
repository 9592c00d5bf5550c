//! Output files: names, checksums, conditions, full disks, interrupted runs.

mod checksums;
mod conditions;
mod descriptors;
#[cfg(target_os = "linux")]
mod folding_disk;
mod interrupted_runs;
mod kills;
mod log_files;
mod names;
mod output_file;
mod same_file;
mod stdout_lock;
mod url_globs;
