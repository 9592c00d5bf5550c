//! Links of a Prospero directory: as text with the URL below each name, and as JSON.

use fetch_url_proto::prospero::{Attribute, LinkDetails};
use fetch_url_proto::text::sanitise;
use fetch_url_proto::{Details, Entry};
use serde_json::{Map, Value, json};

use super::wrap::{Width, wrapped};

/// Indentation of names and URLs.
const INDENT: &str = "                ";

/// Returns the lines for a link. Returns `None` for other entries.
pub(super) fn text(entry: &Entry, width: Width) -> Option<String> {
    let Details::Link(details) = &entry.details else { return None };
    let first = format!("{:<14}  ", sanitise(target_kind(details).as_bytes()));
    // Continuation lines are indented more than a URL, so that a name cannot look like one.
    let deeper = format!("{INDENT}  ");
    let mut text = wrapped(&sanitise(&entry.name), &first, &deeper, width);
    match &entry.url {
        Some(url) => text.push_str(&format!("\n{INDENT}{}", sanitise(url.as_bytes()))),
        None => {
            text.push_str(&format!("\n{INDENT}(no supported access method: {})", access_methods(details)))
        }
    }
    Some(text + "\n")
}

/// Returns the kind of the target of a link, such as `file` or `directory (union)`.
fn target_kind(details: &LinkDetails) -> String {
    let target = String::from_utf8_lossy(&details.target).to_ascii_lowercase();
    if details.is_union { format!("{target} (union)") } else { target }
}

/// Returns the names of the access methods; if there are none, the name and host of the target.
fn access_methods(details: &LinkDetails) -> String {
    let methods: Vec<_> =
        details.metadata.methods(&details.object).into_iter().map(|method| method.method).collect();
    if methods.is_empty() {
        let object = &details.object;
        return format!("{} of {}", sanitise(&object.name), sanitise(&object.host));
    }
    sanitise(methods.join(", ").as_bytes())
}

/// Adds the details of a Prospero link to the JSON object of its entry.
pub(super) fn add_json(link: &LinkDetails, object: &mut Map<String, Value>) {
    let fields = [
        ("target", json!(decode_lossy(&link.target))),
        ("union", json!(link.is_union)),
        ("host", json!(decode_lossy(&link.object.host))),
        ("hsoname", json!(decode_lossy(&link.object.name))),
        ("version", json!(decode_lossy(&link.object.version))),
        ("attributes", link.metadata.attributes.iter().map(attribute_json).collect()),
    ];
    object.extend(fields.map(|(name, value)| (name.to_owned(), value)));
}

/// Returns an attribute as JSON.
fn attribute_json(attribute: &Attribute) -> Value {
    let values: Vec<_> = attribute.values.iter().map(|value| decode_lossy(value)).collect();
    json!({ "name": decode_lossy(&attribute.name), "values": values })
}

/// Decodes UTF-8; invalid bytes are replaced by U+FFFD.
fn decode_lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
