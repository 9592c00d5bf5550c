//! Accepted text prints as text that parses to the same URL in the same dialect, and its redacted form shows no
//! password.
#![no_main]

use fetch_url_core::{Dialect, ParseErrorKind, Url, parse_with};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for dialect in [Dialect::Rfc1738, Dialect::Lenient, Dialect::Cern1993] {
        let Ok(parsed) = parse_with(text, dialect) else { continue };
        let printed = parsed.url.to_string();
        let again = parse_with(&printed, dialect).unwrap_or_else(|error| panic!("{printed:?}: {error:?}"));
        assert_eq!(again.url, parsed.url, "{dialect:?} {printed:?}");
        assert_eq!(again.url.to_string(), printed, "printing is not stable");
        assert_eq!(parsed.clone().into_owned().url, parsed.url);
        check_redaction(&parsed.url);
        if dialect == Dialect::Rfc1738 {
            check_leniency(text, &parsed.url);
        }
    }
});

/// A valid URL of the strict dialect gives the same result in the lenient one, except for schemes that do not begin
/// with a letter and for `news://…`: a message-id in RFC 1738, a server in RFC 5538.
fn check_leniency(text: &str, strict: &Url<'_>) {
    if matches!(strict, Url::News(_)) && text.contains("://") {
        return;
    }
    match parse_with(text, Dialect::Lenient) {
        Ok(lenient) => assert_eq!(&lenient.url, strict),
        Err(error) => assert_eq!(error.kind(), ParseErrorKind::BadScheme, "{text:?}"),
    }
}

/// A password is replaced by `***`; otherwise the redacted text equals the printed text.
fn check_redaction(url: &Url<'_>) {
    let printed = url.to_string();
    let redacted = url.redacted().to_string();
    let Some(password) = url.user_info().and_then(|user_info| user_info.password()) else { return };
    let hidden = printed.replacen(&format!(":{}@", password.expose()), ":***@", 1);
    assert_eq!(redacted, hidden);
}
