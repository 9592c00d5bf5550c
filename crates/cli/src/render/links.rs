//! Links of a Prospero directory: for people in 80 columns, each with what it is and its URL below it; for programs
//! as JSON.

use fetch_url::proto::prospero::{Attribute, LinkFacts};
use fetch_url::proto::text::printable;
use fetch_url::proto::{Details, Entry};
use serde_json::{Map, Value, json};
use textwrap::Options;

/// A line is no longer than this, unless it is a URL.
const WIDTH: usize = 80;
/// Where names and URLs begin.
const INDENT: &str = "                ";

/// The lines for a link; none for other entries.
pub(super) fn text(entry: &Entry) -> Option<String> {
    let Details::Link(facts) = &entry.details else { return None };
    let first = format!("{:<14}  ", printable(target(facts).as_bytes()));
    // What goes on stands further in than a URL: no name looks like one.
    let deeper = format!("{INDENT}  ");
    let options = Options::new(WIDTH).initial_indent(&first).subsequent_indent(&deeper);
    let mut text = textwrap::wrap(&printable(&entry.name), options).join("\n").trim_end().to_owned();
    match &entry.url {
        Some(url) => text.push_str(&format!("\n{INDENT}{}", printable(url.as_bytes()))),
        None => text.push_str(&format!("\n{INDENT}(no way to it is known here: {})", ways(facts))),
    }
    Some(text + "\n")
}

/// What it points to.
fn target(facts: &LinkFacts) -> String {
    let target = String::from_utf8_lossy(&facts.target).to_ascii_lowercase();
    if facts.is_union { format!("{target} (union)") } else { target }
}

/// The access methods, or where it points.
fn ways(facts: &LinkFacts) -> String {
    let methods: Vec<_> =
        facts.facts.methods(&facts.object).into_iter().map(|method| method.method).collect();
    if methods.is_empty() {
        let object = &facts.object;
        return format!("{} of {}", printable(&object.name), printable(&object.host));
    }
    printable(methods.join(", ").as_bytes())
}

/// What only Prospero tells of a link, put into its JSON object.
pub(super) fn add_json(link: &LinkFacts, object: &mut Map<String, Value>) {
    let fields = [
        ("target", json!(read(&link.target))),
        ("union", json!(link.is_union)),
        ("host", json!(read(&link.object.host))),
        ("hsoname", json!(read(&link.object.name))),
        ("version", json!(read(&link.object.version))),
        ("attributes", link.facts.attributes.iter().map(attribute).collect()),
    ];
    object.extend(fields.map(|(name, value)| (name.to_owned(), value)));
}

fn attribute(attribute: &Attribute) -> Value {
    let values: Vec<_> = attribute.values.iter().map(|value| read(value)).collect();
    json!({ "name": read(&attribute.name), "values": values })
}

fn read(octets: &[u8]) -> String {
    String::from_utf8_lossy(octets).into_owned()
}
