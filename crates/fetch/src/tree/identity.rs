//! The identity of an entry: equal for two URLs of the same resource.

use fetch_url_core::{PercentEncoded, Url};

use crate::output::Algorithm;
use crate::sink::digest::Digest;

/// Returns a short digest that is equal for URLs of the same resource. A gopher item is the same under every item type.
pub(super) fn resource_identity(url: &Url<'_>) -> u128 {
    let text = match url {
        Url::Gopher(url) => {
            let (at, selector) = (url.host_port().to_string().to_ascii_lowercase(), url.selector());
            let selector = selector.as_str().trim_matches('/');
            let search = url.search().map_or_else(|| PercentEncoded::from(""), PercentEncoded::into_owned);
            format!("{at} {selector:?} {search:?}")
        }
        url => url.without_password().to_string(),
    };
    let mut digest = Digest::new(Algorithm::Sha256);
    digest.update(text.as_bytes());
    let hex = digest.hex();
    u128::from_str_radix(&hex[..32], 16).unwrap_or_default()
}
