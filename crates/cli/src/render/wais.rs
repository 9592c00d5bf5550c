//! Documents found by a WAIS server: as text with the URL below each headline, as raw lines, and as JSON.

use fetch_url_proto::text::sanitise;
use fetch_url_proto::wais::DocumentDetails;
use fetch_url_proto::{Details, Entry};
use serde_json::{Map, Value, json};

use super::wrap::{Width, wrapped};

/// Indentation of headlines and URLs.
const INDENT: &str = "                            ";

/// Returns the lines for a document: score, size, types, headline and URL. Returns `None` for other entries.
pub(super) fn text(entry: &Entry, width: Width) -> Option<String> {
    let Details::Document(details) = &entry.details else { return None };
    let number = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
    let types = sanitise(decode_text(&details.types.join(&b","[..])).as_bytes());
    let first = format!("{:>5}  {:>9}  {types:<8}  ", number(details.score), number(details.length));
    // Continuation lines are indented more than a URL, so that a headline cannot look like one.
    let deeper = format!("{INDENT}  ");
    let headline = sanitise(decode_text(&details.headline).as_bytes());
    let mut text = wrapped(&headline, &first, &deeper, width);
    if let Some(url) = &entry.url {
        text.push_str(&format!("\n{INDENT}{}", sanitise(url.as_bytes())));
    }
    Some(text + "\n")
}

/// Returns score, headline and URL, separated by TABs. Returns `None` for other entries.
pub(super) fn raw(entry: &Entry) -> Option<Vec<u8>> {
    let Details::Document(details) = &entry.details else { return None };
    let score = details.score.unwrap_or_default().to_string();
    let headline = details.headline.iter().map(|byte| if byte.is_ascii_control() { b' ' } else { *byte });
    let headline: Vec<u8> = headline.collect();
    let url = entry.url.as_deref().unwrap_or_default();
    Some([score.as_bytes(), b"\t", &headline, b"\t", url.as_bytes(), b"\n"].concat())
}

/// Adds the details of a WAIS document to the JSON object of its entry.
pub(super) fn add_json(details: &DocumentDetails, object: &mut Map<String, Value>) {
    let types: Vec<String> = details.types.iter().map(|wtype| decode_text(wtype)).collect();
    let fields = [
        ("name", json!(decode_text(&details.headline))),
        ("score", json!(details.score)),
        ("lines", json!(details.lines)),
        ("types", json!(types)),
        ("source", json!(decode_text(&details.source))),
        ("date", json!(decode_text(&details.date))),
        ("city", json!(decode_text(&details.city))),
    ];
    object.extend(fields.map(|(name, value)| (name.to_owned(), value)));
}

/// Decodes text of a server: UTF-8 if it is valid, otherwise Latin-1.
fn decode_text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_utf_8_is_decoded_as_latin_1() {
        assert_eq!(decode_text(b"caf\xe9"), "caf\u{e9}");
        assert_eq!(decode_text("caf\u{e9}".as_bytes()), "caf\u{e9}");
    }
}
