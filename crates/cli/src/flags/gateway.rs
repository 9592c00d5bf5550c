//! `--gateway SCHEME=TEMPLATE`: who is asked in place of a scheme's servers.

use clap::{ArgAction, Args};

/// Who is asked in place of a scheme's servers.
#[derive(Args, Debug)]
pub struct Gateway {
    /// Ask a gateway for the URLs of a scheme; TEMPLATE holds {url}, {scheme}, {host}, {port} or {path}
    #[arg(long = "gateway", value_name = "SCHEME=TEMPLATE", value_parser = pair, action = ArgAction::Append)]
    pub gateways: Vec<(String, String)>,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(scheme, template)| !scheme.is_empty() && !template.is_empty());
    let (scheme, template) =
        pair.ok_or("SCHEME=TEMPLATE, such as wais=http://gw.example/{host}:{port}/{path}")?;
    Ok((scheme.to_owned(), template.to_owned()))
}
