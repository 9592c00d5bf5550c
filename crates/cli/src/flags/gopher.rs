//! What only Gopher understands.

use clap::{Args, ValueEnum};

/// What only Gopher understands.
#[derive(Args, Debug)]
pub struct Gopher {
    /// This view of the item, by Gopher+: a media type, and a language behind a comma
    #[arg(long, value_name = "TYPE[,LANG]")]
    pub view: Option<String>,
    /// Answers a question of the item's form, by Gopher+: NAME is the question or its number from 1, and
    /// @FILE as VALUE stands for what is in the file
    #[arg(long, value_name = "NAME=VALUE")]
    pub form: Vec<String>,
    /// How the dots of a text are read: by what it shows, as RFC 1436 says, or not at all
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub gopher_dots: GopherDots,
}

/// How the dots of a text are read.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum GopherDots {
    /// By what the text shows
    #[default]
    Auto,
    /// A line of one dot ends it, and doubled dots are single ones
    Rfc1436,
    /// Every octet as it came
    Raw,
}
