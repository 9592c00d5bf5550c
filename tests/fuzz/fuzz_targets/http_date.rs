//! Arbitrary text as an HTTP date, and arbitrary times: no panic; a date that the crate `httpdate` accepts too is
//! the same time; a date does not depend on case and on surrounding space; a formatted time is read back.
#![no_main]

use std::time::{Duration, UNIX_EPOCH};

use fetch_url_proto::http_date::{format, parse};
use libfuzzer_sys::fuzz_target;

/// The seconds of the years 0 to 9999, extended by the greatest distance of a time zone.
const TIMES: std::ops::Range<i64> = -62_167_219_200 - 15 * 3600..253_402_300_800 + 15 * 3600;

fuzz_target!(|data: &[u8]| {
    if let Some(bytes) = data.first_chunk() {
        let seconds = i64::from_le_bytes(*bytes);
        check_time(seconds);
        check_time(seconds % 253_402_300_800);
    }
    if let Ok(text) = std::str::from_utf8(data) {
        check_text(text);
    }
});

fn check_time(seconds: i64) {
    let Some(text) = format(seconds) else {
        assert!(!(-62_167_219_200..253_402_300_800).contains(&seconds));
        return;
    };
    assert_eq!((parse(&text), text.len()), (Some(seconds), 29), "{text}");
    if let Ok(seconds) = u64::try_from(seconds) {
        assert_eq!(text, httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(seconds)));
    }
}

fn check_text(text: &str) {
    let time = parse(text);
    assert!(time.is_none_or(|time| TIMES.contains(&time)), "{text}");
    for other in
        [format!(" {text},"), format!("\t{text}  "), text.to_ascii_uppercase(), text.to_ascii_lowercase()]
    {
        assert_eq!(parse(&other), time, "{text:?} as {other:?}");
    }
    if let Some(formatted) = time.and_then(format) {
        assert_eq!(parse(&formatted), time);
    }
    let Ok(theirs) = httpdate::parse_http_date(text) else { return };
    let seconds = theirs.duration_since(UNIX_EPOCH).expect("a time after 1970").as_secs();
    let expected = i64::try_from(seconds).expect("a date before 10000");
    // `httpdate` ignores which characters separate the fields, so it accepts more.
    assert!(time.is_none_or(|time| time == expected), "{text}");
    assert_eq!(parse(&httpdate::fmt_http_date(theirs)), Some(expected), "{text}");
}
