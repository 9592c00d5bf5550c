//! The table of what every URL means, one file of rows per scheme in `data/*.tsv`.
//!
//! The last column, what goes on the wire, is checked where the wire is known: in `fetch-url-proto`.

mod rows;

use fetch_url_core::{Dialect, Parsed, parse_with};
use rows::{Row, rows};

/// What the row says of its URL, and what the parser says.
fn check(row: &Row, dialect: Dialect) -> Result<(), String> {
    let (verdict, parts) = match parse_with(&row.url, dialect) {
        Err(error) => (format!("err:{}", error.kind().word()), "-".to_owned()),
        Ok(parsed) => (verdict_of(&parsed), parts_of(&parsed)),
    };
    if verdict == sorted(&row.verdict) && parts == row.parts {
        return Ok(());
    }
    let Row { place, url, .. } = row;
    let wanted = format!("{}  {}", sorted(&row.verdict), row.parts);
    Err(format!("{place} {dialect:?} {url:?}\n    wanted {wanted}\n    found  {verdict}  {parts}"))
}

fn verdict_of(parsed: &Parsed<'_>) -> String {
    let words: Vec<_> = parsed.notes.iter().map(|note| note.kind().word()).collect();
    if words.is_empty() { "ok".to_owned() } else { sorted(&format!("note:{}", words.join(","))) }
}

/// Notes may stand in any order.
fn sorted(verdict: &str) -> String {
    let Some(words) = verdict.strip_prefix("note:") else { return verdict.to_owned() };
    let mut words: Vec<_> = words.split(',').collect();
    words.sort_unstable();
    format!("note:{}", words.join(","))
}

fn parts_of(parsed: &Parsed<'_>) -> String {
    let parts = parsed.url.parts();
    let texts: Vec<_> = parts.iter().skip(1).map(|part| format!("{}={}", part.name, part.value)).collect();
    texts.join(" ")
}

#[test]
fn every_row_holds() {
    let mut failures = Vec::new();
    for row in rows() {
        failures.extend(row.dialects.iter().filter_map(|&dialect| check(&row, dialect).err()));
    }
    assert!(failures.is_empty(), "{} rows do not hold:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn there_are_enough_rows_and_no_row_twice() {
    let all = rows();
    assert!(all.len() >= 650, "{} rows", all.len());
    let mut seen = std::collections::HashMap::new();
    for row in &all {
        for dialect in &row.dialects {
            let before = seen.insert((&row.url, *dialect), &row.place);
            assert_eq!(before, None, "{} says it again: {:?} {dialect:?}", row.place, row.url);
        }
    }
}

#[test]
fn what_the_strict_grammar_accepts_leniency_accepts_alike() {
    let mut failures = Vec::new();
    for row in rows().iter().filter(|row| row.dialects.contains(&Dialect::Rfc1738)) {
        let Ok(strict) = parse_with(&row.url, Dialect::Rfc1738) else { continue };
        if parse_with(&row.url, Dialect::Lenient).as_ref() != Ok(&strict) && !is_digit_first(&row.url) {
            failures.push(format!("{} {}", row.place, row.url));
        }
    }
    assert!(failures.is_empty(), "read otherwise when lenient:\n{}", failures.join("\n"));
}

/// §2.1 lets a scheme begin with a digit, RFC 3986 §3.1 does not: `1.2.3.4:80/x` is refused leniently.
fn is_digit_first(url: &str) -> bool {
    !url.starts_with(|first: char| first.is_ascii_alphabetic() || first == '<')
}
