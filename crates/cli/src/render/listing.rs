//! Listings as text, JSON or raw names.

use fetch_url::proto::calendar::civil;
use fetch_url::proto::text::printable;
use fetch_url::proto::{Details, Entry, EntryKind};
use fetch_url::{Body, Listing};
use serde_json::json;

use super::json::line;
use super::menu::{self, Menu};
use super::{links, news, wais};
use crate::flags::Format;

/// The listing in `format`, as it streams in.
pub(crate) fn body(listing: Listing, format: Format) -> Body {
    let mut menu = Menu::default();
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

/// Size, date and name: names last, since they can be of any length.
fn as_text(entry: &Entry) -> String {
    let size = entry.size.map_or_else(|| "-".to_owned(), |size| size.to_string());
    let modified = entry.modified.map_or_else(|| "-".to_owned(), date);
    let mark = match entry.kind {
        EntryKind::Directory => "/",
        EntryKind::Link => "@",
        _ => "",
    };
    format!("{size:>12}  {modified:<16}  {}{mark}\n", printable(&entry.name))
}

fn as_json(entry: &Entry) -> String {
    let mut value = json!({
        "kind": entry.kind.word(),
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
    format!("{}\n", line(&value))
}

/// `YYYY-MM-DD HH:MM` in UTC, of seconds since 1970.
pub(crate) fn date(seconds: i64) -> String {
    let (year, month, day, hour, minute, _) = civil(seconds);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(date(0), "1970-01-01 00:00");
        assert_eq!(date(786_285_296), "1994-12-01 12:34");
        assert_eq!(date(951_782_400), "2000-02-29 00:00");
        assert_eq!(date(-1), "1969-12-31 23:59");
    }

    #[test]
    fn a_hostile_name_stays_on_its_line() {
        let name = b"a\n\x1b[2J".to_vec();
        let entry = Entry { name, ..Entry::new(EntryKind::Directory) };
        assert_eq!(as_text(&entry), format!("{:>12}  {:<16}  a\\x0A\\x1B[2J/\n", "-", "-"));
    }
}
