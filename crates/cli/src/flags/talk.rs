//! What is said beside the object.

use std::path::PathBuf;

use clap::{ArgAction, Args};

/// What is said beside the object.
#[derive(Args, Debug)]
pub struct Talk {
    /// Say nothing, errors excepted when -S is given
    #[arg(short, long)]
    pub silent: bool,
    /// With -s: say what went wrong all the same
    #[arg(short = 'S', long)]
    pub show_error: bool,
    /// Show the dialogue; twice: how it was decided
    #[arg(short, long, action = ArgAction::Count)]
    pub verbose: u8,
    /// Write the dialogue, without secrets, and all decisions to FILE; - is standard error
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// A plain progress line even where there is no terminal
    #[arg(short = '#', long)]
    pub progress_bar: bool,
    /// No progress
    #[arg(long)]
    pub no_progress_meter: bool,
    /// After each URL, write FORMAT to standard output: curl's variables, %{json}; @FILE reads it
    #[arg(short, long, value_name = "FORMAT", allow_hyphen_values = true)]
    pub write_out: Option<String>,
    /// Write what happens as JSON, one object a line, to FILE; - is standard output
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
}
