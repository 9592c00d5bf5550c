//! Documents that a WAIS server has found: for people in 80 columns, each with its URL below it; for programs as JSON.

use fetch_url::proto::text::printable;
use fetch_url::proto::wais::DocumentFacts;
use fetch_url::proto::{Details, Entry};
use serde_json::{Map, Value, json};
use textwrap::Options;

/// A line is no longer than this, unless it is a URL.
const WIDTH: usize = 80;
/// Where headlines and URLs begin.
const INDENT: &str = "                            ";

/// The lines for a document: score, size, types, headline, and what fetches it; none for other entries.
pub(super) fn text(entry: &Entry) -> Option<String> {
    let Details::Document(facts) = &entry.details else { return None };
    let number = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
    let types = printable(read(&facts.types.join(&b","[..])).as_bytes());
    let first = format!("{:>5}  {:>9}  {types:<8}  ", number(facts.score), number(facts.length));
    // What goes on stands further in than a URL: no headline looks like one.
    let deeper = format!("{INDENT}  ");
    let options = Options::new(WIDTH).initial_indent(&first).subsequent_indent(&deeper);
    let headline = printable(read(&facts.headline).as_bytes());
    let mut text = textwrap::wrap(&headline, options).join("\n").trim_end().to_owned();
    if let Some(url) = &entry.url {
        text.push_str(&format!("\n{INDENT}{}", printable(url.as_bytes())));
    }
    Some(text + "\n")
}

/// Score, headline and URL, parted by TABs; none for other entries.
pub(super) fn raw(entry: &Entry) -> Option<Vec<u8>> {
    let Details::Document(facts) = &entry.details else { return None };
    let score = facts.score.unwrap_or_default().to_string();
    let headline = facts.headline.iter().map(|octet| if octet.is_ascii_control() { b' ' } else { *octet });
    let headline: Vec<u8> = headline.collect();
    let url = entry.url.as_deref().unwrap_or_default();
    Some([score.as_bytes(), b"\t", &headline, b"\t", url.as_bytes(), b"\n"].concat())
}

/// What only WAIS tells of an entry, put into its JSON object.
pub(super) fn add_json(facts: &DocumentFacts, object: &mut Map<String, Value>) {
    let types: Vec<String> = facts.types.iter().map(|wtype| read(wtype)).collect();
    let fields = [
        ("name", json!(read(&facts.headline))),
        ("score", json!(facts.score)),
        ("lines", json!(facts.lines)),
        ("types", json!(types)),
        ("source", json!(read(&facts.source))),
        ("date", json!(read(&facts.date))),
        ("city", json!(read(&facts.city))),
    ];
    object.extend(fields.map(|(name, value)| (name.to_owned(), value)));
}

/// Text of a server of that time: Latin-1, unless it is UTF-8.
fn read(octets: &[u8]) -> String {
    match std::str::from_utf8(octets) {
        Ok(text) => text.to_owned(),
        Err(_) => octets.iter().map(|octet| char::from(*octet)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latin_1_and_utf_8() {
        assert_eq!(read(b"caf\xe9"), "caf\u{e9}");
        assert_eq!(read("caf\u{e9}".as_bytes()), "caf\u{e9}");
    }
}
