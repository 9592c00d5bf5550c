//! Arbitrary prose: no panic; each result is a part of the prose and a URL; results are in order and do not overlap.
#![no_main]

use fetch_url_core::{find_urls, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|prose: &str| {
    let mut end = 0;
    for found in find_urls(prose) {
        let span = found.span();
        assert!(end <= span.start && span.start < span.end, "{span:?} after {end}");
        assert!(prose.get(span.clone()).is_some(), "{span:?}");
        end = span.end;
        assert!(found.parse().is_ok(), "{:?}", found.text());
        assert_eq!(found.parse(), parse(found.text()));
        if let Some(alternative) = found.alternative() {
            assert_ne!(alternative, found.text());
        }
    }
});
