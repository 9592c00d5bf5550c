//! Many objects in one run.

use std::path::PathBuf;

use clap::{Args, value_parser};

/// Many objects in one run.
#[derive(Args, Debug)]
pub struct Many {
    /// URLs from this file, one a line, - is standard input; behind a TAB the file it goes to, behind another its checksum
    #[arg(long, value_name = "FILE")]
    pub input_file: Option<PathBuf>,
    /// Do not fetch what is there already
    #[arg(long, conflicts_with_all = ["continue_at", "continue_flag"])]
    pub skip_existing: bool,
    /// How many at the same time at one host
    #[arg(long, value_name = "N", default_value = "16", value_parser = value_parser!(u16).range(1..))]
    pub parallel_max_host: u16,
}
