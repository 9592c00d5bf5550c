//! The form of a search: a gopher search item, a WAIS database.

use fetch_url::Url;
use maud::{Markup, html};

use super::shell::Shell;
use crate::field_text::display_text;
use crate::link::Form;

/// Returns the page of a search without words.
pub(crate) fn search_page(form: Form, url: &Url<'_>) -> String {
    let shown = url.redacted().to_string();
    let name = match url {
        Url::Wais(_) => "Search a WAIS database",
        _ => "Search",
    };
    Shell::of_url(name, form, url, &shown).page(&html! {
        h1 { (name) }
        (words_form(form, &url.to_string(), "Words to search for", ""))
        p.muted { @match url {
            Url::Wais(_) => "The server returns the documents that match best, with a score of up to 1000.",
            _ => "The server decides what the words mean.",
        } }
    })
}

/// Returns the form that adds words to `url`.
pub(super) fn words_form(form: Form, url: &str, label: &str, words: &str) -> Markup {
    // A browser replaces the query of the address of a form by the fields.
    let action = form.link(&url.split("%09").next().unwrap_or(url).replace('?', "%3F"));
    html! {
        form.search action=(action) method="get" role="search" {
            label for="words" { (label) }
            input #words type="search" name="fetch-url-words" value=(words) placeholder=(label);
            button { "Search" }
        }
    }
}

/// Returns the words of the search that `url` is.
pub(super) fn words_of(url: &Url<'_>) -> Option<String> {
    use fetch_url::url::WaisResource;
    match url {
        Url::Gopher(url) => url.search().map(|words| display_text(&words.decode())),
        Url::Wais(url) => match url.resource() {
            WaisResource::Search(words) => Some(display_text(&words.decode())),
            _ => None,
        },
        _ => None,
    }
}
