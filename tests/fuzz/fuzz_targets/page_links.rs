//! Arbitrary bytes as a page and as a style sheet: no panic, an end, and only absolute URLs with a host.
//!
//! The first byte selects HTML or CSS.
#![no_main]

use fetch_url_core::parse;
use fetch_url_proto::{CssLinks, HtmlLinks, IndexPage};
use libfuzzer_sys::fuzz_target;

const URL: &str = "http://host/d/page.html";

fuzz_target!(|data: &[u8]| {
    let Some((&first, bytes)) = data.split_first() else { return };
    let bytes = bytes.to_vec();
    if first == b'c' {
        CssLinks::new(bytes.into(), URL).for_each(|link| check(&link.url));
        return;
    }
    HtmlLinks::new(bytes.clone().into(), URL).for_each(|link| check(&link.url));
    let mut index = IndexPage::new(bytes.into(), URL);
    index.by_ref().for_each(drop);
    let _ = index.is_directory_listing();
});

fn check(url: &str) {
    let parsed = parse(url).expect("a URL");
    assert!(parsed.url.host().is_some() && parsed.url.user_info().is_none() && !url.contains('#'), "{url}");
}
