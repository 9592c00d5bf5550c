//! Options for messages, traces and progress.

use std::path::PathBuf;

use clap::{ArgAction, Args};

/// Options for messages, traces and progress.
#[derive(Args, Debug)]
pub struct MessageFlags {
    /// Print no messages, errors or progress
    #[arg(short, long)]
    pub silent: bool,
    /// With -s, print errors
    #[arg(short = 'S', long)]
    pub show_error: bool,
    /// Print the wire trace of what is sent and received
    ///
    /// -vv adds the reasons for decisions, -vvv the messages of libraries.
    #[arg(short, long, action = ArgAction::Count)]
    pub verbose: u8,
    /// Write the wire trace and all decisions to FILE
    ///
    /// Passwords are left out. - is standard error.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Print a progress bar; without a terminal, one line per transfer
    #[arg(short = '#', long)]
    pub progress_bar: bool,
    /// Print no progress
    #[arg(long)]
    pub no_progress_meter: bool,
    /// Print FORMAT to standard output after each URL
    ///
    /// FORMAT has curl's variables, such as %{http_code}, and %{json} for all of them. @FILE reads
    /// FORMAT from FILE, @- from standard input.
    #[arg(short, long, value_name = "FORMAT", allow_hyphen_values = true)]
    pub write_out: Option<String>,
    /// Write events as JSON to FILE, one object per line
    ///
    /// - is standard output.
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
}
