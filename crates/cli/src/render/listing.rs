//! Listings as text, JSON or raw lines.

use fetch_url::{Body, Listing};
use fetch_url_proto::text::sanitise;
use fetch_url_proto::{Details, Entry, EntryKind};
use serde_json::json;

use super::date::format_date;
use super::json::json_line;
use super::menu::{self, GopherMenu};
use super::wrap::stdout_width;
use super::{links, news, wais};
use crate::flags::Format;

/// How a listing is shown as text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ListingStyle {
    /// Only the names (`--list-only`).
    pub(crate) names_only: bool,
    /// Lines are wrapped at the width of the terminal.
    pub(crate) is_on_terminal: bool,
}

/// Returns a listing as a body in `format`. Entries are formatted as they arrive.
pub(crate) fn listing_body(listing: Listing, format: Format, style: ListingStyle) -> Body {
    let width = if style.is_on_terminal { stdout_width() } else { None };
    let mut menu = GopherMenu::new(width);
    match format {
        Format::Json => listing.into_body(|entry| as_json(entry).into_bytes()),
        Format::Raw => {
            let own =
                |entry: &Entry| menu::raw(entry).or_else(|| news::raw(entry)).or_else(|| wais::raw(entry));
            listing.into_body(move |entry| own(entry).unwrap_or_else(|| [&entry.name[..], b"\n"].concat()))
        }
        Format::Text | Format::Mbox => {
            let mut own = move |entry: &Entry| {
                let first = menu.text(entry).or_else(|| news::text(entry, width));
                first.or_else(|| wais::text(entry, width)).or_else(|| links::text(entry, width))
            };
            let mut columns = Columns { names_only: style.names_only, has_details: false };
            listing.into_body(move |entry| own(entry).unwrap_or_else(|| columns.line(entry)).into_bytes())
        }
    }
}

/// The columns of a directory listing.
struct Columns {
    names_only: bool,
    /// An earlier entry had a size or a time.
    has_details: bool,
}

impl Columns {
    /// Returns the line for an entry: size, date and name. The name is last because its length is not limited. A listing
    /// without sizes and dates has names only.
    fn line(&mut self, entry: &Entry) -> String {
        let name = sanitise(&entry.name);
        if self.names_only {
            return format!("{name}\n");
        }
        let mark = match entry.kind {
            EntryKind::Directory if !name.ends_with('/') => "/",
            EntryKind::Link => "@",
            _ => "",
        };
        self.has_details |= entry.size.is_some() || entry.modified.is_some();
        if !self.has_details {
            return format!("{name}{mark}\n");
        }
        let size = entry.size.map(|size| size.to_string()).unwrap_or_default();
        let modified = entry.modified.map(format_date).unwrap_or_default();
        format!("{size:>12}  {modified:<16}  {name}{mark}\n")
    }
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
        (Details::Document(details), Some(object)) => wais::add_json(details, object),
        (Details::Link(link), Some(object)) => links::add_json(link, object),
        (details, Some(object)) => news::add_json(details, object),
        (_, None) => {}
    }
    format!("{}\n", json_line(&value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Columns {
        Columns { names_only: false, has_details: false }
    }

    #[test]
    fn control_characters_in_a_name_are_sanitised() {
        let name = b"a\n\x1b[2J".to_vec();
        let entry = Entry { name, ..Entry::new(EntryKind::Directory) };
        assert_eq!(columns().line(&entry), "a\\x0A\\x1B[2J/\n");
    }

    #[test]
    fn columns_begin_with_the_first_size_or_date() {
        let entry = |name: &str, size| Entry { name: name.into(), size, ..Entry::new(EntryKind::File) };
        let mut columns = columns();
        assert_eq!(columns.line(&entry("a", None)), "a\n");
        assert_eq!(columns.line(&entry("b", Some(7))), format!("{:>12}  {:<16}  b\n", 7, ""));
        assert_eq!(columns.line(&entry("c", None)), format!("{:>12}  {:<16}  c\n", "", ""));
        columns.names_only = true;
        assert_eq!(columns.line(&entry("b", Some(7))), "b\n");
    }
}
