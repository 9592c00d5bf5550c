//! Arbitrary bytes as a checksum list, and their first line as the path: no panic; a checksum that is found stands in the
//! list; the order of lines, comments and lines of other files change nothing; an exact match is also found if the
//! directory of the list is unknown, and a path is found in a list that was written for it.
//!
//! The modules are private to their crate and are compiled here a second time.
#![no_main]
#![allow(dead_code, unused_imports, reason = "the engine uses the rest")]

#[path = "../../../crates/fetch/src"]
mod fetch {
    pub mod blocking_threads;
    pub mod checksum;
    pub mod error;
    pub mod sink {
        pub mod digest;
    }
    pub mod timings;
}

use fetch::checksum::Checksum;
use fetch::error::{Code, Error, Phase};
use fetch::timings;
use fetch::sink::digest::Algorithm;
use fetch::{blocking_threads, sink};
use libfuzzer_sys::fuzz_target;

/// The path in [`OTHER`].
const OTHER_PATH: &[u8] = b"another-file-that-no-input-names";
const OTHER: &str = "900150983cd24fb0d6963f7d28e17f72  another-file-that-no-input-names\n";

fuzz_target!(|data: &[u8]| {
    let (path, list) = data.split_at(data.iter().position(|&byte| byte == b'\n').unwrap_or(data.len()));
    let list = list.get(1..).unwrap_or_default();
    for is_exact in [true, false] {
        check(list, path, is_exact);
    }
    if let Ok(path) = std::str::from_utf8(path) {
        check_written(path);
    }
    if let Some(checksum) = std::str::from_utf8(list).ok().and_then(|text| text.parse::<Checksum>().ok()) {
        assert_eq!(checksum.to_string().parse::<Checksum>().ok(), Some(checksum));
    }
});

/// Returns the checksum, or `Err` for a contradiction.
fn listed(list: &[u8], path: &[u8], is_exact: bool) -> Result<Option<String>, ()> {
    match Checksum::listed(list, path, is_exact) {
        Ok(found) => Ok(found.map(|checksum| checksum.to_string())),
        Err(error) => (assert_eq!(error.code(), Code::ChecksumMismatch), Err(())).1,
    }
}

fn check(list: &[u8], path: &[u8], is_exact: bool) {
    let found = listed(list, path, is_exact);
    if let Ok(Some(found)) = &found {
        let (_, hex) = found.split_once(':').expect("an algorithm");
        let stands = |part: &[u8]| part.eq_ignore_ascii_case(hex.as_bytes());
        assert!(list.windows(hex.len()).any(stands), "{found}");
    }
    // A byte order mark is one only at the start of the list.
    let text = String::from_utf8_lossy(list.strip_prefix(b"\xef\xbb\xbf").unwrap_or(list));
    let is_entry = |line: &&str| !line.trim_end().is_empty() && !line.starts_with('#');
    let lines: Vec<&str> = text.lines().filter(is_entry).collect();
    // The comment comes first: a mark of a later line must not come to the start.
    let reversed: String = lines.iter().rev().map(|line| format!("# comment\n{line}\r\n\n")).collect();
    assert_eq!(listed(reversed.as_bytes(), path, is_exact), found);
    // A list of one checksum without a path applies to every file, so it must stay alone.
    if lines.len() > 1 && !path.ends_with(OTHER_PATH) {
        let longer = [OTHER.as_bytes(), text.as_bytes()].concat();
        assert_eq!(listed(&longer, path, is_exact), found);
    }
    if is_exact && lines.len() > 1 && matches!(found, Ok(Some(_))) {
        assert_ne!(listed(list, path, false), Ok(None));
    }
}

/// Writes lists for `path` as `sha256sum` does, with escapes, and reads them.
fn check_written(path: &str) {
    // The reader removes `./` and spaces around a path.
    if path.is_empty() || path.starts_with(['.', '/', '*']) || path.trim() != path {
        return;
    }
    let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let escaped = path.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
    let start = if escaped == path { "" } else { "\\" };
    for list in [format!("{start}{hex}  {escaped}\n"), format!("{OTHER}{start}{hex} *{escaped}\r\n")] {
        assert_eq!(
            listed(list.as_bytes(), path.as_bytes(), true),
            Ok(Some(format!("sha256:{hex}"))),
            "{list}"
        );
    }
}
