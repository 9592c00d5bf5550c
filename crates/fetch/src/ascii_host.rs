//! The ASCII form of host names that the user has written in another script.

use std::borrow::Cow;

use fetch_url_core::parse;

/// Returns the A-labels of an internationalised host name (RFC 5890 §2.3.2.1), as in URLs. Other texts are returned as they are.
pub(crate) fn ascii_host(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || text.contains(['/', '@', ':', '?', '#', '%', '\\']) {
        return Cow::Borrowed(text);
    }
    // A name in a list of hosts may begin with a dot.
    let (dot, name) = text.strip_prefix('.').map_or(("", text), |name| (".", name));
    let url = format!("http://{name}/");
    let parsed = parse(&url).ok();
    let host = parsed.and_then(|parsed| parsed.url.host().map(|host| host.to_string()));
    host.map_or(Cow::Borrowed(text), |host| format!("{dot}{host}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_internationalised_names_change() {
        for (text, expected) in [
            ("bücher.test", "xn--bcher-kva.test"),
            (".Bücher.test", ".xn--bcher-kva.test"),
            ("plain.test", "plain.test"),
            ("10.0.0.0/8", "10.0.0.0/8"),
            ("ü/x", "ü/x"),
            ("a@ü", "a@ü"),
            ("ü\u{0}", "ü\u{0}"),
        ] {
            assert_eq!(ascii_host(text), expected, "{text:?}");
        }
    }
}
