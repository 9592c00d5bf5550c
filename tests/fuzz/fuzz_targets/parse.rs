//! Arbitrary text in every dialect: no panic; every span is inside the text and at character boundaries.
#![no_main]

use fetch_url_core::{Dialect, mask_password, parse_with, resolve_reference};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for dialect in [Dialect::Rfc1738, Dialect::Lenient, Dialect::Cern1993] {
        match parse_with(text, dialect) {
            Ok(parsed) => {
                for note in &parsed.notes {
                    assert!(text.get(note.span()).is_some(), "{note:?}");
                }
                assert!(parsed.fragment.is_none_or(|fragment| text.contains(fragment)));
                // Calls every accessor that formats text.
                let _ = (parsed.url.components(), parsed.url.host(), parsed.url.port(), parsed.url.scheme());
            }
            Err(error) => assert!(text.get(error.span()).is_some(), "{error:?}"),
        }
    }
    assert_eq!(mask_password(text).chars().count(), text.chars().count());
    if let Some((base, reference)) = text.split_once('\n') {
        let _ = resolve_reference(base, reference);
    }
});
