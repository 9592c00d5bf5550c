//! What only news understands.

use clap::{Args, ValueEnum};

/// What only news understands.
#[derive(Args, Debug)]
pub struct News {
    /// The server for URLs that name none, such as news:comp.lang.rust; else the environment's NNTPSERVER
    #[arg(long, value_name = "HOST[:PORT]")]
    pub news_server: Option<String>,
    /// The same in a defaults file: the environment is asked before.
    #[arg(long, hide = true)]
    pub default_news_server: Option<String>,
    /// How much of an article
    #[arg(long, value_name = "PART", value_enum, default_value_t)]
    pub part: NewsPart,
    /// Articles with the line ends of this machine; otherwise with CRLF, as they come
    #[arg(long)]
    pub text: bool,
    /// A login to a news server may go out in the clear: whoever is on the way reads it
    #[arg(long)]
    pub insecure_auth: bool,
}

/// How much of an article.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum NewsPart {
    /// Its header, an empty line, and its body
    #[default]
    Article,
    /// Its header
    Head,
    /// Its body
    Body,
}
