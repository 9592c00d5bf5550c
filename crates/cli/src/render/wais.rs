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
    let types = printable(&facts.types.join(&b","[..]));
    let first = format!("{:>5}  {:>9}  {types:<8}  ", number(facts.score), number(facts.length));
    let options = Options::new(WIDTH).initial_indent(&first).subsequent_indent(INDENT);
    let mut text = textwrap::wrap(&printable(&facts.headline), options).join("\n").trim_end().to_owned();
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
    let lossy = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
    let types: Vec<String> = facts.types.iter().map(|wtype| lossy(wtype)).collect();
    let fields = [
        ("score", json!(facts.score)),
        ("lines", json!(facts.lines)),
        ("types", json!(types)),
        ("source", json!(lossy(&facts.source))),
        ("date", json!(lossy(&facts.date))),
        ("city", json!(lossy(&facts.city))),
    ];
    object.extend(fields.map(|(name, value)| (name.to_owned(), value)));
}
