//! Options for news.

use clap::{Args, ValueEnum};

/// Options for news.
#[derive(Args, Debug)]
pub struct NewsFlags {
    /// News server for URLs such as news:comp.lang.rust
    ///
    /// This option overrides the environment variable NNTPSERVER.
    #[arg(long, value_name = "HOST[:PORT]")]
    pub news_server: Option<String>,
    /// The news server of a configuration file; NNTPSERVER overrides it.
    #[arg(long, hide = true)]
    pub default_news_server: Option<String>,
    /// Part of an article
    #[arg(long, value_name = "PART", value_enum, default_value_t)]
    pub part: NewsPart,
    /// Convert the line ends of articles to those of this machine; by default CRLF is kept
    #[arg(long)]
    pub text: bool,
    /// Allow a login to a news server without TLS
    ///
    /// Anyone on the network path can read the login.
    #[arg(long)]
    pub insecure_auth: bool,
}

/// A part of a news article.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum NewsPart {
    /// Header, empty line and body
    #[default]
    Article,
    /// Header only
    Head,
    /// Body only
    Body,
}
