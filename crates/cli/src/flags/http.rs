//! What only HTTP understands, in curl's letters.

use std::path::PathBuf;

use clap::{ArgAction, Args};

/// What only HTTP understands.
#[derive(Args, Debug)]
pub struct Http {
    /// The method; GET, or POST where there is data
    #[arg(short = 'X', long = "request", value_name = "METHOD")]
    pub method: Option<String>,
    /// A header field: "Name: value"; "Name:" takes ours away, "Name;" sends it empty; @FILE reads
    /// them
    #[arg(short = 'H', long = "header", value_name = "FIELD", action = ArgAction::Append)]
    pub header: Vec<String>,
    /// Data of a form; @FILE reads it, without line ends
    #[arg(short = 'd', long = "data", alias = "data-ascii", value_name = "DATA", action = ArgAction::Append, allow_hyphen_values = true)]
    pub data: Vec<String>,
    /// The same, and @ means nothing
    #[arg(long, value_name = "DATA", action = ArgAction::Append, allow_hyphen_values = true)]
    pub data_raw: Vec<String>,
    /// The same, octet for octet
    #[arg(long, value_name = "DATA", action = ArgAction::Append, allow_hyphen_values = true)]
    pub data_binary: Vec<String>,
    /// The same, escaped: CONTENT, NAME=CONTENT, NAME@FILE
    #[arg(long, value_name = "DATA", action = ArgAction::Append, allow_hyphen_values = true)]
    pub data_urlencode: Vec<String>,
    /// Data in JSON; @FILE reads it
    #[arg(long, value_name = "DATA", action = ArgAction::Append, allow_hyphen_values = true)]
    pub json: Vec<String>,
    /// The data goes into the URL, behind a ?
    #[arg(short = 'G', long = "get")]
    pub get: bool,
    /// What program we say we are
    #[arg(short = 'A', long, value_name = "NAME")]
    pub user_agent: Option<String>,
    /// Where we say we come from
    #[arg(short = 'e', long, value_name = "URL")]
    pub referer: Option<String>,
    /// Cookies: NAME=VALUE; ... for the server of the URL, or a file of them
    #[arg(short = 'b', long, value_name = "COOKIES|FILE", action = ArgAction::Append)]
    pub cookie: Vec<String>,
    /// Keep cookies, and write them to FILE at the end
    #[arg(short = 'c', long, value_name = "FILE")]
    pub cookie_jar: Option<PathBuf>,
    /// Show user and password at once (the default)
    #[arg(long)]
    pub basic: bool,
    /// Show user and password only when asked, and not in the clear where the server can do better
    #[arg(long, visible_alias = "anyauth", conflicts_with = "basic")]
    pub digest: bool,
    /// A token that gives access
    #[arg(long, value_name = "TOKEN")]
    pub oauth2_bearer: Option<String>,
    /// Let the server compress; the object is written as it was
    #[arg(long)]
    pub compressed: bool,
    /// HTTP/1.1 only
    #[arg(long = "http1.1", overrides_with = "http2")]
    pub http1_1: bool,
    /// HTTP/2 where TLS agrees on it (the default)
    #[arg(long)]
    pub http2: bool,
}
