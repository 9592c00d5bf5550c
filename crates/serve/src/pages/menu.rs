//! The items of a gopher menu.

use fetch_url::Entry;
use fetch_url_proto::Details;
use fetch_url_proto::gopher::{ItemType, MenuItem};
use maud::{Markup, html};

use super::directory;
use super::listing::Place;
use crate::field_text::display_text;

/// Returns the row of an item.
pub(super) fn item(place: &Place, entry: &Entry) -> Markup {
    let Details::MenuItem(item, _) = &entry.details else { return directory::row(place, entry) };
    let name = display_text(&item.name);
    if item.gtype == b'i' {
        return html! { li.info { (name) } };
    }
    let kind = ItemType::word(item.primary_gtype);
    let link = entry.url.as_deref().and_then(|url| place.form.untrusted_link(url));
    html! {
        li {
            span.kind { (kind) }
            span {
                @match &link {
                    Some(link) => a href=(link) { @if name.trim().is_empty() { (kind) } @else { (name) } },
                    None => { (name) },
                }
                @if let Some(attributes) = attributes_link(place, item, entry.url.as_deref()) {
                    " " small { a href=(attributes) aria-label=(format!("Formats of {name}")) { "formats" } }
                }
            }
        }
    }
}

/// Returns the link to the attributes of a Gopher+ item, which list its formats.
fn attributes_link(place: &Place, item: &MenuItem, url: Option<&str>) -> Option<String> {
    if item.plus != Some(b'+') {
        return None;
    }
    let (base, _) = url?.split_once("%09")?;
    place.form.untrusted_link(&format!("{base}%09%09!"))
}
