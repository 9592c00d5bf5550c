//! The tables of URLs and their components, one per scheme: `data/*.tsv`.
//!
//! `fetch-url` checks the last column, the bytes that are sent (`crates/fetch/tests/it/explain.rs`).

use crate::rows::{Row, rows};
use fetch_url_core::{Component, Dialect, Parsed, parse_with};

/// Compares the result of the parser with the row.
fn check(row: &Row, dialect: Dialect) -> Result<(), String> {
    let (verdict, parts) = match parse_with(&row.url, dialect) {
        Err(error) => (format!("err:{}", error.kind().code()), "-".to_owned()),
        Ok(parsed) => (verdict_of(&parsed), components_of(&parsed)),
    };
    if verdict == sorted(&row.verdict) && parts == row.parts {
        return Ok(());
    }
    let Row { place, url, .. } = row;
    let expected = format!("{}  {}", sorted(&row.verdict), row.parts);
    Err(format!("{place} {dialect:?} {url:?}\n    expected {expected}\n    found    {verdict}  {parts}"))
}

fn verdict_of(parsed: &Parsed<'_>) -> String {
    let words: Vec<_> = parsed.notes.iter().map(|note| note.kind().code()).collect();
    if words.is_empty() { "ok".to_owned() } else { sorted(&format!("note:{}", words.join(","))) }
}

/// Sorts the notes: their order in a row does not matter.
fn sorted(verdict: &str) -> String {
    let Some(words) = verdict.strip_prefix("note:") else { return verdict.to_owned() };
    let mut words: Vec<_> = words.split(',').collect();
    words.sort_unstable();
    format!("note:{}", words.join(","))
}

fn components_of(parsed: &Parsed<'_>) -> String {
    let components = parsed.url.components();
    let text = |component: &Component| format!("{}={}", component.name, component.value);
    let texts: Vec<_> = components.iter().skip(1).map(text).collect();
    texts.join(" ")
}

#[test]
fn every_row_matches_the_parser() {
    let mut failures = Vec::new();
    for row in rows() {
        failures.extend(row.dialects.iter().filter_map(|&dialect| check(&row, dialect).err()));
    }
    assert!(failures.is_empty(), "{} rows do not match:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn rows_are_numerous_and_unique() {
    let all = rows();
    assert!(all.len() >= 650, "{} rows", all.len());
    let mut seen = std::collections::HashMap::new();
    for row in &all {
        for dialect in &row.dialects {
            let before = seen.insert((&row.url, *dialect), &row.place);
            assert_eq!(before, None, "{} repeats {:?} {dialect:?}", row.place, row.url);
        }
    }
}

#[test]
fn lenient_dialect_agrees_with_the_strict_one() {
    let mut failures = Vec::new();
    for row in rows().iter().filter(|row| row.dialects.contains(&Dialect::Rfc1738)) {
        let Ok(strict) = parse_with(&row.url, Dialect::Rfc1738) else { continue };
        if parse_with(&row.url, Dialect::Lenient).as_ref() != Ok(&strict) && !is_digit_first(&row.url) {
            failures.push(format!("{} {}", row.place, row.url));
        }
    }
    assert!(failures.is_empty(), "different in the lenient dialect:\n{}", failures.join("\n"));
}

/// Returns `true` if the scheme starts with a digit, `+`, `-` or `.`: §2.1 allows it, RFC 3986 §3.1 and the lenient
/// dialect do not.
fn is_digit_first(url: &str) -> bool {
    !url.starts_with(|first: char| first.is_ascii_alphabetic() || first == '<')
}
