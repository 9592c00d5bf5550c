//! Output files: names, checksums, conditions, full disks, interrupted runs.

mod checksums;
mod conditions;
mod interrupted_runs;
mod names;
mod output_file;
