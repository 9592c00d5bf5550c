//! What goes on the wire for every row of the parser's table.

#![allow(clippy::expect_used, reason = "a table that cannot be read fails the test")]

use std::fmt::Write as _;
use std::path::PathBuf;

use fetch_url_core::{Dialect, parse_with};
use fetch_url_proto::outline;

#[test]
fn every_row_sends_what_the_table_says() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../core/tests/data");
    let (mut rows, mut failures) = (0, String::new());
    for file in std::fs::read_dir(folder).expect("the parser's table is beside us") {
        let path = file.expect("a readable folder").path();
        let is_table = path.extension().is_some_and(|extension| extension == "tsv");
        if !is_table || path.ends_with("expected_differences.tsv") {
            continue;
        }
        let table = std::fs::read_to_string(&path).expect("a readable table");
        for (number, line) in table.lines().enumerate() {
            let columns: Vec<&str> = line.split('\t').collect();
            let [dialects, url, verdict, _, wire] = columns[..] else { continue };
            if line.starts_with('#') || verdict.starts_with("err:") {
                continue;
            }
            rows += 1;
            let place = format!("{}:{}", path.display(), number + 1);
            check(&place, dialects, url, wire, &mut failures);
        }
    }
    assert!(rows > 300, "only {rows} rows were found");
    assert!(failures.is_empty(), "{failures}");
}

fn check(place: &str, dialects: &str, url: &str, wire: &str, failures: &mut String) {
    let url = unescape(url);
    for letter in dialects.chars() {
        let dialect = match letter {
            'R' => Dialect::Rfc1738,
            'L' => Dialect::Lenient,
            _ => Dialect::Cern1993,
        };
        let Ok(parsed) = parse_with(&url, dialect) else { continue };
        let sent = match outline(&parsed.url) {
            Ok(outline) if outline.requests().next().is_none() => "-".to_owned(),
            Ok(outline) => outline.to_string(),
            Err(_) => "!forbidden".to_owned(),
        };
        if sent.trim_end() != wire.trim_end() {
            let _ = writeln!(failures, "{place}: {url}\n  sends {sent}\n  not   {wire}");
        }
    }
}

/// The table's own escapes.
fn unescape(text: &str) -> String {
    let mut octets = Vec::new();
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            octets.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        match rest.next() {
            Some('t') => octets.push(b'\t'),
            Some('n') => octets.push(b'\n'),
            Some('r') => octets.push(b'\r'),
            Some('x') => {
                let digits: String = rest.by_ref().take(2).collect();
                octets.push(u8::from_str_radix(&digits, 16).expect("two digits"));
            }
            Some('u') => {
                let digits: String = rest.by_ref().skip(1).take_while(|&digit| digit != '}').collect();
                let code = u32::from_str_radix(&digits, 16).expect("hexadecimal digits");
                let character = char::from_u32(code).expect("a character");
                octets.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            Some(other) => octets.push(other as u8),
            None => {}
        }
    }
    String::from_utf8(octets).expect("the table holds text")
}
