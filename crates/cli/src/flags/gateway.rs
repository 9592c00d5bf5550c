//! `--gateway SCHEME=TEMPLATE`: gateways that fetch the URLs of a scheme.

use clap::{ArgAction, Args};

/// Gateways that fetch the URLs of a scheme.
#[derive(Args, Debug)]
pub struct GatewayFlags {
    /// Fetch URLs of SCHEME through a gateway
    ///
    /// TEMPLATE is a URL in which {url}, {scheme}, {host}, {port} and {path} are replaced by the
    /// parts of the URL. Repeatable; the last one for a scheme is used.
    #[arg(long = "gateway", value_name = "SCHEME=TEMPLATE", value_parser = parse_gateway, action = ArgAction::Append)]
    pub gateways: Vec<(String, String)>,
}

/// Parses `SCHEME=TEMPLATE`; both parts must not be empty.
fn parse_gateway(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(scheme, template)| !scheme.is_empty() && !template.is_empty());
    let (scheme, template) =
        pair.ok_or("expected SCHEME=TEMPLATE, such as wais=http://gw.example/{host}:{port}/{path}")?;
    Ok((scheme.to_owned(), template.to_owned()))
}
