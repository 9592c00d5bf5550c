//! Arbitrary text as a `mailto:` URL: no panic; address and header fields are those of a second implementation below;
//! the advice cannot control a terminal; a field is called safe only if it is in the list of RFC 6068, and a second
//! `to` never; a URL with a line end is not sendable, except for CR LF in the body.
//!
//! The module of the advice is private to its crate and is compiled here a second time.
#![no_main]
#![allow(dead_code, unused_imports, reason = "the engine uses the rest")]

#[path = "../../../crates/fetch/src"]
mod fetch {
    pub mod advice;
    pub mod error;
    #[path = "drivers/mailto/advice.rs"]
    mod mailto_advice;

    use fetch_url_core::MailtoUrl;

    pub fn advice_of(url: &MailtoUrl<'_>) -> advice::NotFetchable {
        mailto_advice::mailto_advice(url)
    }
    pub mod timings;
}

use fetch::advice::{AdviceValue, NotFetchable};
use fetch::error::{Error, Hint};
use fetch::timings;
use fetch_url_core::{Dialect, Url, parse, parse_with};
use fetch_url_proto::check_sendable;
use libfuzzer_sys::fuzz_target;

const SAFE_FIELDS: [&str; 7] = ["body", "cc", "in-reply-to", "keywords", "references", "subject", "to"];

fuzz_target!(|text: &str| {
    for dialect in [Dialect::Rfc1738, Dialect::Lenient, Dialect::Cern1993] {
        let text = format!("mailto:{text}");
        let Ok(parsed) = parse_with(&text, dialect) else { continue };
        let Url::Mailto(url) = &parsed.url else { panic!("{text}") };
        let printed = parsed.url.to_string();
        let rest = printed.strip_prefix("mailto:").expect("a scheme");
        let (address, headers) =
            rest.split_once('?').map_or((rest, None), |(address, headers)| (address, Some(headers)));
        assert_eq!(url.address().as_str(), address);
        assert_eq!(url.headers().map(|headers| headers.as_str().to_owned()).as_deref(), headers);
        assert!(!has_line_end(address, headers) || check_sendable(&parsed.url).is_err(), "{printed}");
        check_advice(&fetch::advice_of(url), address, headers);
    }
    // A text that is not `mailto:` is not read as one.
    assert!(parse(text).map_or(true, |parsed| {
        matches!(parsed.url, Url::Mailto(_)) == (parsed.url.scheme_name() == "mailto")
    }));
});

/// Returns `true` for a NUL or a line end, except for CR LF in the value of a body.
fn has_line_end(address: &str, headers: Option<&str>) -> bool {
    let body = |field: &str| {
        let (name, value) = field.split_once('=')?;
        decode(name).eq_ignore_ascii_case(b"body").then(|| decode(value))
    };
    let mut texts = vec![decode(address)];
    for field in headers.unwrap_or_default().split('&') {
        texts.push(body(field).map_or_else(
            || decode(field),
            |body| {
                let is_pair = |at: usize| body.get(at..at + 2) == Some(&b"\r\n"[..]);
                let is_kept = |at: &usize| !is_pair(*at) && !(*at > 0 && is_pair(at - 1));
                (0..body.len()).filter(is_kept).map(|at| body[at]).collect()
            },
        ));
    }
    texts.concat().iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0))
}

fn check_advice(advice: &NotFetchable, address: &str, headers: Option<&str>) {
    let is_shown = |character: char| character == '\n' || !character.is_control();
    assert!(advice.text.chars().all(is_shown), "{:?}", advice.text);
    let value = |wanted: &str| {
        let found = advice.values.iter().find(|(name, _)| *name == wanted);
        found.map(|(_, value)| value.clone()).expect("a value")
    };
    let lossy = |text: &str| String::from_utf8_lossy(&decode(text)).into_owned();
    assert_eq!(value("address"), AdviceValue::Text(lossy(address)));
    let parts = headers.unwrap_or_default().split('&').filter(|part| !part.is_empty());
    let pairs: Vec<_> = parts
        .map(|part| part.split_once('=').unwrap_or((part, "")))
        .map(|(name, value)| (lossy(name), lossy(value)))
        .collect();
    let mut has_to = false;
    let mut expected_unsafe = Vec::new();
    for (name, _) in &pairs {
        let lower = name.to_ascii_lowercase();
        if !SAFE_FIELDS.contains(&&*lower) || (lower == "to" && has_to) {
            expected_unsafe.push(name.clone());
        }
        has_to |= lower == "to";
    }
    assert_eq!(value("fields"), AdviceValue::Pairs(pairs));
    let marks = advice.text.matches("(unsafe: mail programs should ignore this field)").count();
    assert!(marks >= expected_unsafe.len());
    assert_eq!(value("unsafe_fields"), AdviceValue::Words(expected_unsafe));
}

/// Percent-decodes a text. An invalid escape stays as it is.
fn decode(text: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let is_hex = |digits: &&str| digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        match digits.filter(is_hex).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if first == b'%' => (bytes.push(byte), rest = &after[2..]).1,
            _ => (bytes.push(first), rest = after).1,
        }
    }
    bytes
}
