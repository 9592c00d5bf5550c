//! The items of gopher menus that are no files or menus of a mirror.

use fetch_url_core::Url;
use fetch_url_proto::{Details, Entry, EntryKind};

/// Returns `true` for a valid line of a gopher menu with informational text or a link (`URL:`).
pub(super) fn is_text(entry: &Entry) -> bool {
    let is_text = |gtype| gtype == b'i' || entry.kind == EntryKind::Link;
    matches!(&entry.details, Details::MenuItem(item, _) if item.fault.is_none() && is_text(item.gtype))
}

/// Returns `true` for an error message of the server in a gopher menu.
pub(super) fn is_error_line(entry: &Entry) -> bool {
    matches!(&entry.details, Details::MenuItem(item, _) if item.is_error())
}

/// Returns `true` for gopher items that cannot be fetched: searches without words, phone books, sessions (RFC 1436
/// §3.8).
pub(super) fn is_unfetchable(url: &Url<'_>) -> bool {
    let Url::Gopher(url) = url else { return false };
    matches!(url.gtype(), b'2' | b'8' | b'T') || (url.gtype() == b'7' && url.search().is_none())
}

/// Returns `true` for a Gopher+ item that must be filled in before it is fetched (`?` at the end of its menu line).
pub(super) fn is_form(entry: &Entry) -> bool {
    matches!(&entry.details, Details::MenuItem(item, _) if item.plus == Some(b'?'))
}
