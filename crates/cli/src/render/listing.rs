//! Listings as text, JSON or raw lines.

use fetch_url::{Body, Listing};
use fetch_url_proto::text::sanitise;
use fetch_url_proto::{Details, Entry, EntryKind};
use serde_json::json;

use super::date::format_date;
use super::json::json_line;
use super::menu::{self, GopherMenu};
use super::{links, news, wais};
use crate::flags::Format;

/// Returns a listing as a body in `format`. Entries are formatted as they arrive.
pub(crate) fn listing_body(listing: Listing, format: Format) -> Body {
    let mut menu = GopherMenu::default();
    match format {
        Format::Json => listing.into_body(|entry| as_json(entry).into_bytes()),
        Format::Raw => {
            let own =
                |entry: &Entry| menu::raw(entry).or_else(|| news::raw(entry)).or_else(|| wais::raw(entry));
            listing.into_body(move |entry| own(entry).unwrap_or_else(|| [&entry.name[..], b"\n"].concat()))
        }
        Format::Text | Format::Mbox => {
            let mut own = move |entry: &Entry| {
                let first = menu.text(entry).or_else(|| news::text(entry));
                first.or_else(|| wais::text(entry)).or_else(|| links::text(entry))
            };
            listing.into_body(move |entry| own(entry).unwrap_or_else(|| as_text(entry)).into_bytes())
        }
    }
}

/// Returns the line for an entry: size, date and name. The name is last because its length is not limited.
fn as_text(entry: &Entry) -> String {
    let size = entry.size.map_or_else(|| "-".to_owned(), |size| size.to_string());
    let modified = entry.modified.map_or_else(|| "-".to_owned(), format_date);
    let mark = match entry.kind {
        EntryKind::Directory => "/",
        EntryKind::Link => "@",
        _ => "",
    };
    format!("{size:>12}  {modified:<16}  {}{mark}\n", sanitise(&entry.name))
}

/// Returns the JSON line for an entry.
fn as_json(entry: &Entry) -> String {
    let mut value = json!({
        "kind": entry.kind.as_str(),
        "name": String::from_utf8_lossy(&entry.name),
        "size": entry.size,
        "modified": entry.modified,
        "url": entry.url,
    });
    match (&entry.details, value.as_object_mut()) {
        (Details::MenuItem(item, attributes), Some(object)) => {
            menu::add_json(item, attributes.as_deref(), object);
        }
        (Details::Document(facts), Some(object)) => wais::add_json(facts, object),
        (Details::Link(link), Some(object)) => links::add_json(link, object),
        (details, Some(object)) => news::add_json(details, object),
        (_, None) => {}
    }
    format!("{}\n", json_line(&value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_in_a_name_are_sanitised() {
        let name = b"a\n\x1b[2J".to_vec();
        let entry = Entry { name, ..Entry::new(EntryKind::Directory) };
        assert_eq!(as_text(&entry), format!("{:>12}  {:<16}  a\\x0A\\x1B[2J/\n", "-", "-"));
    }
}
