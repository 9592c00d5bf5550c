//! The list of the newsgroups of a server.

use fetch_url::Entry;
use fetch_url_proto::Details;
use maud::{Markup, html};

use super::directory;
use super::listing::Place;
use super::search::words_form;
use super::shell::entries_here;
use crate::field_text::display_text;

/// Returns the filter and the table of groups.
pub(super) fn group_table(place: &Place) -> Markup {
    html! {
        (words_form(place.form, &place.url.to_string(), "Part of the name of a group", ""))
        table.wide {
            thead {
                tr {
                    th scope="col" { "Group" }
                    th.number scope="col" { "Articles, at most" }
                    th scope="col" { "Posting" }
                }
            }
            tbody { (entries_here()) }
        }
    }
}

/// Returns the row of a group.
pub(super) fn group_row(place: &Place, entry: &Entry) -> Markup {
    let Details::Newsgroup(group) = &entry.details else { return directory::row(place, entry) };
    let name = display_text(&entry.name);
    let link = entry.url.as_deref().and_then(|url| place.form.untrusted_link(url));
    // Article numbers start at 1.
    let most = group.high.saturating_add(1).saturating_sub(group.low.max(1));
    let posting = match group.posting.as_slice() {
        b"y" => "allowed".to_owned(),
        b"m" => "moderated".to_owned(),
        b"n" | b"x" | b"j" => "not allowed".to_owned(),
        other => display_text(other),
    };
    html! {
        tr {
            td.name {
                @match link {
                    Some(link) => a href=(link) { (name) },
                    None => (name),
                }
            }
            td.number data-label="Articles" { (most) }
            td data-label="Posting" { (posting) }
        }
    }
}
