//! The gateway options.

use fetch_url::Error;
use fetch_url::network::Gateways;

use crate::flags::GatewayFlags;

/// Makes the gateways from the flags, except news servers.
pub(crate) fn gateways(flags: &GatewayFlags) -> Result<Gateways, Error> {
    let mut gateways = Gateways::default();
    for (scheme, template) in flags.gateways.iter().filter(|gateway| server_of(gateway).is_none()) {
        gateways.set(scheme, template)?;
    }
    Ok(gateways)
}

/// Returns `true` if the scheme has a gateway.
pub(super) fn is_for(flags: &GatewayFlags, scheme: &str) -> bool {
    flags.gateways.iter().any(|(own, _)| own.eq_ignore_ascii_case(scheme))
}

/// Returns the schemes that have a gateway.
pub(super) fn schemes(flags: &GatewayFlags) -> Vec<String> {
    flags.gateways.iter().map(|(scheme, _)| scheme.clone()).collect()
}

/// Returns the news server of a gateway such as `news=nntp://news.example`.
pub(crate) fn news_server(flags: &GatewayFlags) -> Option<String> {
    flags.gateways.iter().rev().find_map(server_of)
}

fn server_of((scheme, template): &(String, String)) -> Option<String> {
    if !scheme.eq_ignore_ascii_case("news") {
        return None;
    }
    let (_, server) =
        template.split_once("://").filter(|(scheme, _)| *scheme == "nntp" || *scheme == "news")?;
    let server = server.trim_end_matches('/');
    (!server.contains(['/', '{'])).then(|| server.to_owned())
}
