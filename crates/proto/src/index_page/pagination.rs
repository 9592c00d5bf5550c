//! Signs that an index page is one of several pages of a listing, so that it does not have all entries.

use std::borrow::Cow;

use html5gum::StartTag;
use html5gum::emitters::default::Token;

use super::stray_text::is_link_text;
use crate::ListingCounts;
use crate::html_tokens::text_of;

/// The maximum number of bytes of the text of a link or button that is compared.
const MAX_LABEL_BYTES: usize = 64;
/// The names of query parameters and form fields that choose a page of a listing.
const PAGE_PARAMETERS: [&str; 15] = [
    "page",
    "p",
    "pg",
    "start",
    "from",
    "offset",
    "after",
    "marker",
    "next",
    "cursor",
    "continuation-token",
    "skip",
    "limit",
    "per_page",
    "pagesize",
];
/// The relations of a link to another page of a listing.
const OTHER_PAGES: [&str; 3] = ["next", "prev", "previous"];
/// The names of query parameters that only sort a listing, or choose its columns (`F` and `V` of Apache).
const SORT_PARAMETERS: [&str; 10] =
    ["c", "o", "f", "v", "sort", "order", "sortby", "orderby", "sort_by", "order_by"];
/// Words of links that lead to other pages of a listing.
const DIRECTIONS: [&str; 30] = [
    "first",
    "last",
    "more",
    "newer",
    "next",
    "older",
    "prev",
    "previous",
    // German, French, Spanish, Portuguese, Italian, Dutch, Polish, Swedish, Danish
    "weiter",
    "n\u{e4}chste",
    "suivant",
    "suivante",
    "siguiente",
    "seguinte",
    "pr\u{f3}xima",
    "successivo",
    "successiva",
    "avanti",
    "volgende",
    "nast\u{119}pna",
    "n\u{e4}sta",
    "n\u{e6}ste",
    // Russian, Ukrainian, Chinese, Japanese, Korean
    "\u{434}\u{430}\u{43b}\u{435}\u{435}",
    "\u{441}\u{43b}\u{435}\u{434}\u{443}\u{44e}\u{449}\u{430}\u{44f}",
    "\u{434}\u{430}\u{43b}\u{456}",
    "\u{4e0b}\u{4e00}\u{9875}",
    "\u{4e0b}\u{4e00}\u{9801}",
    "\u{6b21}\u{3078}",
    "\u{6b21}\u{306e}\u{30da}\u{30fc}\u{30b8}",
    "\u{b2e4}\u{c74c}",
];
/// The other words of such links.
const LABEL_WORDS: [&str; 16] = [
    "all", "entries", "entry", "files", "go", "items", "load", "of", "page", "pages", "results", "see",
    "show", "the", "to", "view",
];
/// Classes of the elements that contain such links.
const CLASSES: [&str; 9] = [
    "load-more",
    "loadmore",
    "next",
    "next-page",
    "nextpage",
    "older",
    "page-item",
    "page-link",
    "page-numbers",
];

/// The attributes that replace or describe the text of a link or button.
const LABEL_ATTRIBUTES: [&[u8]; 2] = [b"aria-label", b"title"];

/// Reads the tokens of a page and searches them for signs of other pages.
#[derive(Default)]
pub(super) struct Pagination {
    is_found: bool,
    counts: ListingCounts,
    /// The text of the link, button or option that is being read. The buffer is used again for the next one.
    label: String,
    /// The other texts of this link that are those of a link to another page: an attribute, or that of an image in it.
    page_labels: Vec<String>,
    is_in_label: bool,
    /// The open link leads to a directory above the page.
    leads_above: bool,
    /// Scripts and styles, whose text is not searched.
    ignored_elements: u32,
    /// The number of entries of the page.
    entries: u64,
}

impl Pagination {
    /// Returns `true` if the part read so far has a sign of other pages:
    ///
    /// - a link, button or option with a text such as `Next`, `Load more`, `»` or a number that is not the name of its
    ///   entry; the text may be that of an image or attribute;
    /// - a link with `rel=next` or `rel=prev`, or a class such as `pagination`;
    /// - an element with a label such as `pagination`;
    /// - a form field such as `page`;
    /// - a refresh to a URL;
    /// - a text such as `1-50 of 120`, `Page 1 of 3`, `Partial listing` or `Error reading directory`, or a total that is
    ///   larger than the number of entries.
    pub(super) const fn is_found(&self) -> bool {
        self.is_found || self.counts.are_partial(self.entries)
    }

    /// Counts an entry of the page.
    pub(super) const fn add_entry(&mut self) {
        self.entries += 1;
    }

    /// Reads a token of the page.
    pub(super) fn read(&mut self, token: &Token) {
        match token {
            Token::StartTag(tag) => self.start(tag),
            Token::EndTag(tag) => match &**tag.name {
                b"script" | b"style" | b"template" => {
                    self.ignored_elements = self.ignored_elements.saturating_sub(1);
                }
                b"button" | b"option" | b"select" => self.end_label(None),
                _ => {}
            },
            Token::String(text) => self.read_text(&text_of(text)),
            _ => {}
        }
    }

    /// Records whether the open link leads to a directory above the page.
    pub(super) const fn set_leads_above(&mut self, leads_above: bool) {
        self.leads_above = leads_above;
    }

    /// Ends a link. `name` is the name of the entry that it leads to.
    pub(super) fn end_link(&mut self, name: Option<&[u8]>) {
        self.end_label(name);
    }

    fn start(&mut self, tag: &StartTag<()>) {
        let value = |name: &[u8]| tag.attributes.get(name).map(|value| text_of(value).to_ascii_lowercase());
        self.is_found |=
            [&b"class"[..], b"id"].iter().filter_map(|name| value(name)).any(|names| has_page_class(&names));
        match &**tag.name {
            b"a" => {
                self.begin_label(tag);
                self.is_found |= value(b"rel").is_some_and(|rel| is_other_page(&rel));
            }
            b"link" => self.is_found |= value(b"rel").is_some_and(|rel| is_other_page(&rel)),
            b"button" | b"option" => {
                self.begin_label(tag);
                self.is_found |= value(b"name").is_some_and(|name| PAGE_PARAMETERS.contains(&&*name));
            }
            b"img" if self.is_in_label => self.add_page_labels(tag, &[b"alt", b"title"]),
            b"input" | b"select" => {
                self.is_found |= value(b"name").is_some_and(|name| PAGE_PARAMETERS.contains(&&*name));
                let is_button =
                    value(b"type").is_some_and(|kind| matches!(&*kind, "submit" | "button" | "image"));
                self.is_found |= is_button
                    && [&b"value"[..], b"alt", b"aria-label", b"title"]
                        .iter()
                        .filter_map(|name| value(name))
                        .any(|text| is_page_label(&text));
            }
            b"meta" => {
                let is_refresh = value(b"http-equiv").is_some_and(|name| name == "refresh");
                self.is_found |= is_refresh && value(b"content").is_some_and(|content| has_target(&content));
            }
            b"script" | b"style" | b"template" => self.ignored_elements += 1,
            b"div" | b"nav" | b"ol" | b"section" | b"ul" => {
                self.is_found |= value(b"aria-label").is_some_and(|label| is_label_of_pages(&label));
            }
            _ => {}
        }
    }

    fn read_text(&mut self, text: &str) {
        if self.is_in_label {
            // A longer text is no label of a page.
            if self.label.len() >= MAX_LABEL_BYTES {
                return;
            }
            match text.get(..MAX_LABEL_BYTES) {
                None if text.len() < MAX_LABEL_BYTES => self.label.push_str(text),
                Some(start) => self.label.push_str(start),
                None => self.label.extend(text.chars().take(MAX_LABEL_BYTES)),
            }
        } else if self.ignored_elements == 0 {
            self.counts.read(text);
        }
    }

    fn begin_label(&mut self, tag: &StartTag<()>) {
        // The end tag of an option may be missing.
        self.end_label(None);
        self.label.clear();
        (self.is_in_label, self.leads_above) = (true, false);
        self.add_page_labels(tag, &LABEL_ATTRIBUTES);
    }

    /// Adds the values of these attributes that are texts of links to other pages.
    fn add_page_labels(&mut self, tag: &StartTag<()>, attributes: &[&[u8]]) {
        let texts =
            attributes.iter().filter_map(|name| tag.attributes.get(*name)).map(|value| text_of(value));
        let is_label = |text: &Cow<'_, str>| text.len() < MAX_LABEL_BYTES && is_page_label(text);
        self.page_labels.extend(texts.filter(is_label).map(Cow::into_owned));
    }

    fn end_label(&mut self, name: Option<&[u8]>) {
        let page_labels = std::mem::take(&mut self.page_labels);
        if !std::mem::take(&mut self.is_in_label) || self.leads_above {
            return;
        }
        let is_name =
            |label: &str| name.is_some_and(|name| name == label.as_bytes() || is_link_text(label, name));
        let (label, is_short) = (&self.label, self.label.len() < MAX_LABEL_BYTES);
        self.is_found |= is_short && is_page_label(label) && !is_name(label);
        self.is_found |= page_labels.iter().any(|label| !is_name(label));
    }
}

/// Returns `true` if the text of a link or button is that of a link to another page: a number, an arrow to the right,
/// or words such as `next page` or `load more`.
fn is_page_label(text: &str) -> bool {
    let words = || text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_known =
        |word: &str| is_one_of(word, &DIRECTIONS) || is_one_of(word, &LABEL_WORDS) || is_digits(word);
    // Most links have the name of a file, whose first word is none of these.
    if !words().all(is_known) {
        return ends_with_arrow(text);
    }
    let text = text.trim().trim_matches(['[', ']', '(', ')', '|']).trim();
    let is_number = text.contains(|letter: char| letter.is_ascii_digit())
        && text.chars().all(|letter| letter.is_ascii_digit() || "-\u{2013} ".contains(letter));
    let is_arrow =
        !text.is_empty() && text.chars().all(|letter| letter == ' ' || letter == '>' || is_arrow(letter));
    let has = |known: &[&str]| words().any(|word| is_one_of(word, known));
    is_number
        || is_arrow
        || ends_with_arrow(text)
        || has(&DIRECTIONS)
        || has(&["page", "pages"]) && words().any(is_digits)
        || has(&["all"]) && has(&["show", "see", "view"])
}

/// Returns `true` if a header field of an index page says that it is one of several pages of a listing: `Link` with the
/// relation `next`, `prev` or `previous` (RFC 8288), `Refresh` with a URL.
pub fn is_field_of_several_pages(name: &str, value: &[u8]) -> bool {
    let value = String::from_utf8_lossy(value);
    match name {
        _ if name.eq_ignore_ascii_case("link") => {
            // Quotes are not interpreted: an unclosed one must not hide the relation.
            value.split([';', ',']).filter_map(|parameter| parameter.split_once('=')).any(
                |(name, relation)| {
                    let relation = relation.to_ascii_lowercase().replace('"', " ");
                    name.trim().eq_ignore_ascii_case("rel") && is_other_page(&relation)
                },
            )
        }
        _ => name.eq_ignore_ascii_case("refresh") && has_target(&value),
    }
}

/// Returns `true` if the value of a refresh has a URL after the time: `0; url=x`, `0;?p=2`.
fn has_target(content: &str) -> bool {
    let target =
        content.trim_start_matches(|letter: char| letter.is_ascii_digit() || ".,; \t".contains(letter));
    !target.is_empty()
}

/// Returns `true` for a word in any language and an arrow to the right: `2 \u{203a}`.
fn ends_with_arrow(text: &str) -> bool {
    text.trim_end().ends_with(is_arrow)
}

/// Returns `true` for an arrow to the right.
const fn is_arrow(letter: char) -> bool {
    matches!(letter, '\u{bb}' | '\u{203a}' | '\u{2192}' | '\u{21d2}' | '\u{25b6}' | '\u{25ba}')
}

fn is_one_of(word: &str, known: &[&str]) -> bool {
    known.iter().any(|known| word.eq_ignore_ascii_case(known))
        || !word.is_ascii() && known.contains(&&*word.to_lowercase())
}

fn is_digits(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns `true` if a value of the attribute `class` or `id`, in lower case, is that of links to pages.
fn has_page_class(names: &str) -> bool {
    let is_page_class =
        |name: &str| name.contains("paginat") || name.starts_with("pager") || CLASSES.contains(&name);
    names.split_ascii_whitespace().any(is_page_class)
}

/// Returns `true` if the label of a group of links, in lower case, is that of links to pages: `pagination`, `page
/// navigation`.
fn is_label_of_pages(label: &str) -> bool {
    label.split_ascii_whitespace().any(|word| word.contains("paginat") || matches!(word, "page" | "pages"))
}

/// Returns `true` if the attribute `rel` of a link, in lower case, says that it leads to another page.
fn is_other_page(rel: &str) -> bool {
    rel.split_ascii_whitespace().any(|word| OTHER_PAGES.contains(&word))
}

/// Returns `true` if the query of the reference chooses a page of a listing that has several: `?page=2`,
/// `?marker=name`.
pub(super) fn has_page_parameter(href: &str) -> bool {
    let Some((_, query)) = href.split_once('?') else { return false };
    let is_page_name = |pair: &str| {
        let name = pair.split('=').next().unwrap_or_default();
        PAGE_PARAMETERS.iter().any(|known| name.eq_ignore_ascii_case(known))
    };
    query.split(['&', ';']).take(8).any(is_page_name)
}

/// Returns `true` if a query only sorts a listing or chooses its columns, by its names and values: `C=N;O=D;F=1`,
/// `sort=size`.
pub(super) fn only_sorts(query: &str) -> bool {
    let is_sort_pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let is_known = SORT_PARAMETERS.iter().any(|known| name.eq_ignore_ascii_case(known));
        let is_word = value.bytes().all(|byte| byte.is_ascii_alphabetic() || b"_-".contains(&byte));
        is_known && (is_word || matches!(value, "0" | "1" | "2") && name.len() == 1)
    };
    query.split(['&', ';']).filter(|pair| !pair.is_empty()).all(is_sort_pair)
}

#[cfg(test)]
mod tests;
