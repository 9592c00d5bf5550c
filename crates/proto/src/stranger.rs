//! URLs that a peer puts into a listing.

use fetch_url_core::{Family, parse};

/// A link as it can be shown and followed: none to a file of whoever reads it, none of a scheme that is not ours, and
/// none with a password, which is left where its server wrote it.
pub(crate) fn link_of_a_stranger(target: &[u8]) -> Option<String> {
    let url = parse(std::str::from_utf8(target).ok()?).ok()?.url;
    let is_remote = !matches!(url.scheme().family, Family::File | Family::Other);
    let text = url.to_string();
    (is_remote && text == url.redacted().to_string()).then_some(text)
}
