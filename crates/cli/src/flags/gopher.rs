//! Options for Gopher.

use clap::{Args, ValueEnum};

/// Options for Gopher.
#[derive(Args, Debug)]
pub struct GopherFlags {
    /// Request this view by Gopher+: a media type, optionally with a language
    #[arg(long, value_name = "TYPE[,LANG]")]
    pub view: Option<String>,
    /// How dot-stuffing of a text is handled
    #[arg(long, value_name = "MODE", value_enum, default_value_t)]
    pub gopher_dots: GopherDots,
}

/// How dot-stuffing of a text is handled.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum GopherDots {
    /// Detect dot-stuffing from the text
    #[default]
    Auto,
    /// A line with one dot ends the text, and a leading ".." means "."
    Rfc1436,
    /// Keep every byte as received
    Raw,
}
