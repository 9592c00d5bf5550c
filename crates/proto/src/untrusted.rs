//! URLs that a server put into a listing: untrusted input.

use fetch_url_core::{SchemeFamily, parse};

/// Returns the URL in `target` if it is safe to show and to follow, else `None`.
///
/// Rejected are `file:` URLs (they would name a file of this machine), schemes that this crate does not implement, and
/// URLs with a password.
pub(crate) fn safe_url(target: &[u8]) -> Option<String> {
    let url = parse(std::str::from_utf8(target).ok()?).ok()?.url;
    let is_remote = !matches!(url.scheme().family, SchemeFamily::File | SchemeFamily::Other);
    let text = url.to_string();
    (is_remote && text == url.redacted().to_string()).then_some(text)
}
