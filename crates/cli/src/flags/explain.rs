//! The options of `fetch-url explain`.

use clap::{Args, ValueEnum};

use super::{GatewayFlags, ProxyFlags};

/// Options of `fetch-url explain`.
#[derive(Args, Debug)]
pub struct ExplainFlags {
    /// Print one JSON object per URL
    #[arg(long)]
    pub json: bool,
    /// Grammar for parsing the URLs
    #[arg(long, value_enum, default_value_t = DialectName::Lenient)]
    pub dialect: DialectName,
    /// Gateways.
    #[command(flatten)]
    pub gateway: GatewayFlags,
    /// Proxies.
    #[command(flatten)]
    pub proxy: ProxyFlags,
    /// URLs to explain
    #[arg(required = true, value_name = "URL")]
    pub urls: Vec<String>,
}

/// The grammar for parsing URLs.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum DialectName {
    /// RFC 1738, and the deviations that are common on the web
    Lenient,
    /// The grammar of RFC 1738, section 5, exactly
    Rfc1738,
    /// The grammar of the draft of November 1993
    Cern1993,
}
