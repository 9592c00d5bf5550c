//! Identifies the resource of a URL, to recognise entries that are listed twice.

use fetch_url_core::{PercentEncoded, Url};

use crate::output::Algorithm;
use crate::sink::digest::Digest;

/// Returns a digest that is equal for all URLs of one resource: passwords are ignored, and for gopher URLs also the item
/// type and outer slashes of the selector.
pub(super) fn resource_identity(url: &Url<'_>) -> u128 {
    let text = match url {
        Url::Gopher(url) => {
            let (server, selector) = (url.host_port().to_string().to_ascii_lowercase(), url.selector());
            let selector = selector.as_str().trim_matches('/');
            let search = url.search().map_or_else(|| PercentEncoded::from(""), PercentEncoded::into_owned);
            format!("{server} {selector:?} {search:?}")
        }
        url => url.without_password().to_string(),
    };
    digest_of(text.as_bytes())
}

/// Returns the first 128 bits of a digest.
pub(super) fn digest_of(text: &[u8]) -> u128 {
    let mut digest = Digest::new(Algorithm::Sha256);
    digest.update(text);
    digest.first_128_bits()
}
