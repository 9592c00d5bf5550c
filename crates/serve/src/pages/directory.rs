//! The entries of a directory: ftp, file, prospero, http.

use fetch_url::{Entry, EntryKind};
use maud::{Markup, html};

use super::listing::Place;
use super::shell::entries_here;
use crate::field_text::{display_text, size_text, time_text};

/// Returns the table of a directory.
pub(super) fn table(_: &Place) -> Markup {
    html! {
        table.wide {
            thead {
                tr {
                    th scope="col" { "Name" }
                    th.number scope="col" { "Size" }
                    th scope="col" { "Modified (UTC)" }
                }
            }
            tbody { (entries_here()) }
        }
    }
}

/// Returns the row of `entry`.
pub(super) fn row(place: &Place, entry: &Entry) -> Markup {
    let name = display_text(&entry.name);
    let link = entry.url.as_deref().and_then(|url| place.form.entry_link(&place.url, url));
    let slash = if entry.kind == EntryKind::Directory && !name.ends_with('/') { "/" } else { "" };
    html! {
        tr {
            td.name {
                @match link {
                    Some(link) => a href=(link) { (name) (slash) },
                    None => { (name) (slash) },
                }
                @if entry.kind == EntryKind::Link { " " small { "link" } }
            }
            td.number { @if let Some(size) = entry.size { (size_text(size)) } }
            td.time { @if let Some(modified) = entry.modified { (time_text(modified)) } }
        }
    }
}
