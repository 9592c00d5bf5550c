//! The documents that a WAIS search found.

use fetch_url::Entry;
use fetch_url_proto::Details;
use maud::{Markup, html};

use super::directory;
use super::listing::Place;
use super::shell::entries_here;
use crate::field_text::{display_text, size_text};

/// Returns the table of the results.
pub(super) fn table() -> Markup {
    html! {
        table.wide {
            thead {
                tr {
                    th.number scope="col" { "Score" }
                    th scope="col" { "Document" }
                    th scope="col" { "Type" }
                    th.number scope="col" { "Size" }
                }
            }
            tbody { (entries_here()) }
        }
    }
}

/// Returns the row of a document.
pub(super) fn row(place: &Place, entry: &Entry) -> Markup {
    let Details::Document(document) = &entry.details else { return directory::row(place, entry) };
    let headline = display_text(document.headline.trim_ascii());
    let headline = if headline.is_empty() { "(no headline)".to_owned() } else { headline };
    let link = entry.url.as_deref().and_then(|url| place.form.untrusted_link(url));
    html! {
        tr {
            td.number data-label="Score" { @if let Some(score) = document.score { (score) } }
            td.name {
                @match link {
                    Some(link) => a href=(link) { (headline) },
                    None => (headline),
                }
            }
            td { (display_text(&document.types.join(&b", "[..]))) }
            td.number { @if let Some(length) = document.length { (size_text(length)) } }
        }
    }
}
