//! Signs that a server generated a page as the listing of a directory.

use fetch_url_core::{PercentEncoded, reference_text};
use html5gum::emitters::default::Token;

use crate::html_tokens::text_of;

/// The maximum number of bytes of a title, heading or link text that are compared.
const MAX_TEXT_BYTES: usize = 512;
/// The beginnings of titles and headings of listings, in lower case.
const TITLE_STARTS: [&str; 7] = [
    "index of",
    "directory listing",
    "listing directory",
    "directory: /",
    "directory of /",
    "listing: /",
    "files within",
];
/// The texts of links to the parent directory, in lower case.
const PARENT_TEXTS: [&str; 4] = ["parent directory", "parent directory/", "[to parent directory]", "../"];
/// The columns by which Caddy and others sort, as values of `sort`.
const SORT_COLUMNS: [&str; 7] = ["name", "namedirfirst", "size", "time", "date", "type", "modified"];

/// The signs of a listing that were found so far.
#[derive(Default)]
pub(super) struct ListingSigns {
    /// A sign was found that is sufficient on its own.
    is_certain: bool,
    has_title: bool,
    /// The number of links whose text is the last segment of their target.
    named_links: u64,
    /// The number of other links, without those to the page itself and its parent directory.
    other_links: u64,
    heading: Option<OpenHeading>,
    link: Option<OpenLink>,
}

/// A title or heading whose text is being read. It may contain links.
#[derive(Default)]
struct OpenHeading {
    text: String,
    has_link: bool,
}

/// A link whose text is being read.
struct OpenLink {
    href: String,
    text: String,
}

impl ListingSigns {
    /// Returns `true` if the signs are those of a listing. `FileServer` of Go writes no title, only links.
    pub(super) const fn are_of_a_listing(&self) -> bool {
        self.is_certain || (!self.has_title && self.named_links > 0 && self.other_links == 0)
    }

    /// Returns `true` if a sign was found that is sufficient on its own. The rest of the page cannot change that.
    pub(super) const fn are_certain(&self) -> bool {
        self.is_certain
    }

    /// Reads a token of the page.
    pub(super) fn read(&mut self, token: &Token) {
        if self.is_certain {
            return;
        }
        match token {
            Token::StartTag(tag) => match &**tag.name {
                b"a" => {
                    let href = tag.attributes.get(&b"href"[..]);
                    let href = href.map(|href| reference_text(href).trim().to_owned());
                    let Some(href) = href else { return };
                    self.is_certain |= sorts_columns(&href);
                    self.end_link();
                    // The end of the heading may be missing.
                    if self.heading.as_ref().is_some_and(|heading| !heading.has_link) {
                        self.check_heading();
                    }
                    self.heading.iter_mut().for_each(|heading| heading.has_link = true);
                    self.link = Some(OpenLink { href, text: String::new() });
                }
                b"title" | b"h1" | b"h2" | b"h3" => {
                    self.has_title |= &**tag.name == b"title";
                    self.heading = Some(OpenHeading::default());
                }
                _ => {}
            },
            Token::String(text) => {
                let link = self.link.as_mut().map(|link| &mut link.text);
                let heading = self.heading.as_mut().map(|heading| &mut heading.text);
                for open in link.into_iter().chain(heading) {
                    let remaining = MAX_TEXT_BYTES.saturating_sub(open.len());
                    open.push_str(&text_of(&text[..text.len().min(remaining)]));
                }
            }
            Token::EndTag(tag) => match &**tag.name {
                b"a" => self.end_link(),
                b"title" | b"h1" | b"h2" | b"h3" => {
                    self.end_link();
                    self.check_heading();
                    self.heading = None;
                }
                _ => {}
            },
            _ => {}
        }
    }

    /// Compares the text of the open heading with the headings of listings.
    fn check_heading(&mut self) {
        let Some(heading) = &self.heading else { return };
        let lower = with_single_spaces(&heading.text).to_lowercase();
        self.is_certain |=
            TITLE_STARTS.iter().any(|start| lower.starts_with(start)) || lower.contains("index of /");
    }

    fn end_link(&mut self) {
        let Some(OpenLink { href, text }) = self.link.take() else { return };
        let text = with_single_spaces(&text);
        let lower = text.to_lowercase();
        if matches!(&*href, "." | "./" | ".." | "../" | "/" | "") || href.starts_with(['#', '?']) {
            self.is_certain |= PARENT_TEXTS.contains(&&*lower);
        } else if is_named_like(&href, &text) {
            self.named_links += 1;
        } else {
            self.is_certain |= PARENT_TEXTS[..3].contains(&&*lower);
            self.other_links += 1;
        }
    }
}

fn with_single_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns `true` if `text` is the whole reference, percent-decoded; `./` before it and a final slash are ignored.
fn is_named_like(href: &str, text: &str) -> bool {
    let path = href.strip_prefix("./").unwrap_or(href);
    let name = PercentEncoded::from(path).decode().into_owned();
    let name = name.strip_suffix(b"/").unwrap_or(&name);
    !name.is_empty() && text_of(name) == text.strip_suffix('/').unwrap_or(text)
}

/// Returns `true` if the reference sorts the columns of a listing: `?C=N;O=D` of Apache, `?sort=name&order=desc` of Caddy.
pub(crate) fn sorts_columns(href: &str) -> bool {
    let Some(query) = href.strip_prefix("./").unwrap_or(href).strip_prefix('?') else { return false };
    let mut values = [("C", None), ("O", None), ("sort", None), ("order", None)];
    for (name, value) in query.split(['&', ';']).take(8).filter_map(|pair| pair.split_once('=')) {
        values.iter_mut().filter(|(known, _)| *known == name).for_each(|(_, found)| *found = Some(value));
    }
    let [(_, column), (_, direction), (_, sort), (_, order)] = values;
    let is_apache = column.is_some_and(|column| matches!(column, "N" | "M" | "S" | "D"))
        && direction.is_some_and(|direction| matches!(direction, "A" | "D"));
    let is_caddy = sort.is_some_and(|sort| SORT_COLUMNS.contains(&sort)) && order.is_some();
    is_apache || is_caddy
}
