//! Text in an index page that belongs to no entry, such as an error message of the program that has generated the page.
//! Entries may be missing in its place.

use html5gum::emitters::default::Token;

use crate::html_tokens::text_of;

/// The maximum number of nested lists. Deeper lists are not examined.
const MAX_DEPTH: usize = 32;
/// The maximum number of bytes of a row that are examined.
const MAX_ROW_BYTES: usize = 512;
/// The words of headings and totals between and below the entries, in lower case.
const SUMMARY_WORDS: [&str; 15] = [
    "and",
    "byte",
    "bytes",
    "directories",
    "directory",
    "file",
    "files",
    "folder",
    "folders",
    "in",
    "item",
    "items",
    "parent",
    "size",
    "total",
];

/// Parts of messages of PHP, Python, Perl, Java and server side includes.
const ERROR_MESSAGES: [&str; 6] = [
    ".php on line ",
    "Traceback (most recent call last)",
    "Software error:",
    "java.io.IOException",
    "an error occurred while processing",
    "Internal Server Error",
];

/// The number of letters of the shortest of these.
const MIN_ERROR_LETTERS: usize = 9;

/// A list of entries that has no end yet.
struct List {
    kind: ListKind,
    /// This list directly contains an entry.
    has_entries: bool,
    row_has_link: bool,
    /// The text of the row without a link.
    row: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ListKind {
    /// `dl`, whose rows begin with `dt`.
    Definitions,
    /// `ol` or `ul`, whose rows are `li`.
    Items,
    /// `pre`, whose rows are lines.
    Lines,
    /// `table`, whose rows are `tr`.
    Table,
}

impl ListKind {
    const fn from_name(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"dl" => Self::Definitions,
            b"ol" | b"ul" => Self::Items,
            b"pre" => Self::Lines,
            b"table" => Self::Table,
            _ => return None,
        })
    }

    /// Returns the kind of the lists in which a tag of this name separates rows.
    const fn of_separator(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"dt" => Self::Definitions,
            b"li" => Self::Items,
            b"br" | b"hr" => Self::Lines,
            b"tr" => Self::Table,
            _ => return None,
        })
    }
}

/// Reads the tokens of a page and searches them for stray text.
#[derive(Default)]
pub(super) struct StrayText {
    lists: Vec<List>,
    is_found: bool,
    is_in_link: bool,
    /// Elements whose text is no content of a list: scripts, headings of columns, the signature of the server.
    ignored_elements: u32,
    has_entries: bool,
    /// An entry is in a list, or the text of its link is its name.
    has_confirmed_entry: bool,
    /// `</html>` was seen after an entry.
    seen_html_end: bool,
}

impl StrayText {
    /// Returns `true` if the part read so far has stray text:
    ///
    /// - a row of a list without a link, after the first entry;
    /// - text or a link after `</html>`;
    /// - a message of PHP or another language;
    /// - no confirmed entry: no link is in a list, and the texts of all links differ from the names of their entries.
    pub(super) const fn is_found(&self) -> bool {
        self.is_found || (self.has_entries && !self.has_confirmed_entry)
    }

    /// Reads a token of the page.
    pub(super) fn read(&mut self, token: &Token) {
        match token {
            Token::StartTag(tag) => self.start(&tag.name),
            Token::EndTag(tag) => self.end(&tag.name),
            Token::String(text) => self.read_text(&text_of(text)),
            _ => {}
        }
    }

    /// Records that the last link leads to an entry.
    pub(super) fn add_entry(&mut self) {
        self.has_entries = true;
        if let Some(list) = self.lists.last_mut() {
            list.has_entries = true;
            self.has_confirmed_entry = true;
        }
    }

    /// Returns `true` if an entry is in a list, or the text of its link is its name.
    pub(super) const fn has_confirmed_entry(&self) -> bool {
        self.has_confirmed_entry
    }

    /// Records that the text of a link is the name of its entry.
    pub(super) const fn confirm_entry(&mut self) {
        self.has_confirmed_entry = true;
    }

    fn start(&mut self, name: &[u8]) {
        self.ignored_elements += u32::from(is_ignored(name));
        if name == b"a" {
            self.is_found |= self.seen_html_end;
            self.is_in_link = true;
            for list in &mut self.lists {
                list.row_has_link = true;
            }
        }
        self.separate_rows(name);
        if let Some(kind) = ListKind::from_name(name).filter(|_| self.lists.len() < MAX_DEPTH) {
            self.lists.push(List { kind, has_entries: false, row_has_link: false, row: String::new() });
        }
    }

    fn end(&mut self, name: &[u8]) {
        self.ignored_elements = self.ignored_elements.saturating_sub(u32::from(is_ignored(name)));
        // A `dd` belongs to the `dt` before it.
        if name != b"dt" {
            self.separate_rows(name);
        }
        match name {
            b"a" => self.is_in_link = false,
            b"html" => self.seen_html_end |= self.has_entries,
            _ => {}
        }
        let kind = ListKind::from_name(name);
        if let Some(start) = self.lists.iter().rposition(|list| Some(list.kind) == kind) {
            for mut list in self.lists.drain(start..) {
                self.is_found |= list.end_row();
            }
        }
    }

    /// Ends the row of the innermost list whose row separator is this tag.
    fn separate_rows(&mut self, name: &[u8]) {
        let kind = ListKind::of_separator(name);
        if let Some(list) = self.lists.iter_mut().rfind(|list| Some(list.kind) == kind) {
            self.is_found |= list.end_row();
        }
    }

    fn read_text(&mut self, text: &str) {
        if self.is_in_link || self.ignored_elements > 0 {
            return;
        }
        // PHP writes `<b>Warning</b>:  MESSAGE in <b>FILE</b> on line <b>NUMBER</b>`, or the same without tags.
        let is_blank = text.trim().is_empty();
        self.is_found |= self.seen_html_end && !is_blank;
        self.is_found |= text.trim() == "on line" || has_error_message(text);
        let Some(list) = self.lists.last_mut() else { return };
        if list.kind != ListKind::Lines {
            list.add_text(text);
            return;
        }
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                self.is_found |= list.end_row();
            }
            list.add_text(line);
        }
    }
}

/// Returns `true` if the text contains one of [`ERROR_MESSAGES`]. The texts beside most entries have too few letters, so
/// they are not searched.
fn has_error_message(text: &str) -> bool {
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    letters >= MIN_ERROR_LETTERS && ERROR_MESSAGES.iter().any(|part| text.contains(part))
}

impl List {
    fn add_text(&mut self, text: &str) {
        if !self.row_has_link && self.has_entries && self.row.len() < MAX_ROW_BYTES {
            // A space separates the texts of two cells.
            self.row.push(' ');
            self.row.extend(text.chars().take(MAX_ROW_BYTES));
        }
    }

    /// Ends a row and returns `true` if its text is stray.
    fn end_row(&mut self) -> bool {
        let is_stray = self.has_entries && !self.row_has_link && !is_summary_row(&self.row);
        self.row_has_link = false;
        self.row.clear();
        is_stray
    }
}

/// Returns `true` for elements whose text is not searched: scripts and styles, captions, totals and headings of tables, and
/// Apache's `<address>` footer, which may follow the `</html>` of a README.
const fn is_ignored(name: &[u8]) -> bool {
    matches!(
        name,
        b"script" | b"style" | b"noscript" | b"template" | b"th" | b"tfoot" | b"caption" | b"address"
    )
}

/// Returns `true` if a row is blank, a heading such as `Files`, or a total such as `3 files, 12 KB`.
fn is_summary_row(row: &str) -> bool {
    let mut words = row.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.all(|word| {
        let word = word.to_lowercase();
        let unit = word.trim_start_matches(|digit: char| digit.is_ascii_digit());
        matches!(
            unit,
            "" | "b" | "k" | "m" | "g" | "t" | "kb" | "mb" | "gb" | "tb" | "kib" | "mib" | "gib" | "tib"
        ) || SUMMARY_WORDS.contains(&&*word)
    })
}

/// Returns `true` if `text` is the text of a link to the entry `name`: the name, or its beginning if it was truncated.
pub(super) fn is_link_text(text: &str, name: &[u8]) -> bool {
    let normalize = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (name, text) = (normalize(&String::from_utf8_lossy(name)), normalize(text));
    let text = text.strip_suffix('/').unwrap_or(&text);
    let start = ["..>", "...", "\u{2026}"].iter().find_map(|end| text.strip_suffix(end));
    text == name || start.is_some_and(|start| !start.is_empty() && name.starts_with(start.trim_end()))
}
