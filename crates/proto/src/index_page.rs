//! An index page of an HTTP server: a directory as HTML, as nginx, Apache, Caddy, lighttpd and many others make it.
//!
//! No RFC says how such a page looks. What is believed of it: each link to something directly below the page's own
//! URL is an entry, one that ends in a slash is a directory, and what stands behind a link, up to the next one, may
//! tell its time and its size. Sizes that are rounded (`1.2K`) are none; times without a zone are taken for UTC.

mod facts;

use std::borrow::Cow;
use std::io::Cursor;

use bytes::Bytes;
use facts::Facts;
use fetch_url_core::{Escaped, parse, resolve};
use html5gum::emitters::default::{DefaultEmitter, StartTag, Token};
use html5gum::{IoReader, Tokenizer};

use crate::{Entry, EntryKind};

/// So much of what stands behind a link is looked at.
const MOST_FACTS: usize = 512;
/// No reference is longer.
const MOST_REFERENCE: usize = 8 * 1024;
/// What pages of directories say that have no link.
const TITLES: [&str; 2] = ["index of", "directory listing"];

/// Reads the entries of a page one by one, in the order of their links.
pub struct IndexPage {
    tokens: Tokenizer<IoReader<Cursor<Bytes>>, DefaultEmitter>,
    /// The URL of the directory, with a slash at its end.
    directory: String,
    /// The page has said that its references are against another URL: only whole ones can lead to something below.
    is_based_elsewhere: bool,
    row: Option<Row>,
    is_over: bool,
    /// It looks like the page of a directory: some link leads somewhere, if only up or to the same in another order,
    /// or its words say so.
    is_index: bool,
    /// Inside the words of a link, which say nothing of what it leads to.
    is_in_link: bool,
}

/// A link and what stands behind it.
struct Row {
    entry: Entry,
    facts: String,
}

impl IndexPage {
    /// The page that `url` has led to.
    pub fn new(page: Bytes, url: &str) -> Self {
        let directory = canonical(&resolve(url, ".")).unwrap_or_default();
        // What stands in scripts and styles is no markup.
        let mut emitter = DefaultEmitter::default();
        emitter.naively_switch_states(true);
        Self {
            tokens: Tokenizer::new_with_emitter(IoReader::new(Cursor::new(page)), emitter),
            is_based_elsewhere: false,
            directory,
            row: None,
            is_over: false,
            is_index: false,
            is_in_link: false,
        }
    }

    /// Whether what was read so far may be an index: even that of an empty directory has links or says what it is.
    pub const fn is_index(&self) -> bool {
        self.is_index
    }

    /// The next thing: an entry, nothing yet, or the end. A page may be long and have no entry.
    pub fn next_token(&mut self) -> Option<Option<Entry>> {
        if self.is_over {
            return None;
        }
        // Octets in memory are always read.
        match self.tokens.next() {
            Some(Ok(token)) => Some(self.read(token)),
            _ => {
                self.is_over = true;
                Some(self.end_row())
            }
        }
    }

    /// The row that is done when this tag begins.
    fn begin(&mut self, tag: &StartTag<()>) -> Option<Entry> {
        let value = |name: &str| {
            tag.attributes.get(name.as_bytes()).map(|value| String::from_utf8_lossy(value).into_owned())
        };
        match &**tag.name {
            b"a" => {
                self.is_in_link = true;
                return self.link(&value("href")?);
            }
            b"base" => {
                let base = value("href").filter(|href| href.len() <= MOST_REFERENCE);
                let base = base.and_then(|href| canonical(&resolve(&resolve(&self.directory, &href), ".")));
                self.is_based_elsewhere = base.is_some_and(|base| base != self.directory);
            }
            // Caddy writes the exact time and size where only programs look.
            b"time" => {
                if let (Some(row), Some(text)) = (&mut self.row, value("datetime")) {
                    row.entry.modified = Facts::of(&text).modified;
                }
            }
            b"td" => {
                self.part();
                if let (Some(row), Some(size)) = (&mut self.row, value("data-order")) {
                    row.entry.size = size.parse().ok();
                }
            }
            _ => self.part(),
        }
        None
    }

    /// Another link: what was read of the last one is all. Two to the same place, one of them around a picture, are one.
    fn link(&mut self, href: &str) -> Option<Entry> {
        self.is_index = true;
        let href = href.trim();
        let is_whole = href.contains("//") || href.starts_with('/');
        let is_read = href.len() <= MOST_REFERENCE && (is_whole || !self.is_based_elsewhere);
        // Small servers leave blanks as they are.
        let href =
            if href.contains(' ') { Cow::Owned(href.replace(' ', "%20")) } else { Cow::Borrowed(href) };
        let entry = if is_read { child(&self.directory, &resolve(&self.directory, &href)) } else { None };
        let is_same = matches!((&self.row, &entry), (Some(row), Some(entry)) if row.entry.url == entry.url);
        if is_same {
            return None;
        }
        let done = self.end_row();
        self.row = entry.map(|entry| Row { entry, facts: String::new() });
        done
    }

    fn end_row(&mut self) -> Option<Entry> {
        let Row { mut entry, facts } = self.row.take()?;
        let found = Facts::of(&facts);
        entry.modified = entry.modified.or(found.modified);
        entry.size = entry.size.or(found.size).filter(|_| entry.kind == EntryKind::File);
        Some(entry)
    }

    fn text(&mut self, text: &[u8]) {
        if !self.is_index {
            let start = String::from_utf8_lossy(&text[..text.len().min(MOST_FACTS)]).to_ascii_lowercase();
            self.is_index = TITLES.iter().any(|title| start.contains(title));
        }
        if self.is_in_link {
            return;
        }
        if let Some(row) = &mut self.row {
            let room = MOST_FACTS.saturating_sub(row.facts.len());
            row.facts.push_str(&String::from_utf8_lossy(&text[..text.len().min(room)]));
        }
    }

    /// Words of two cells are two words.
    fn part(&mut self) {
        self.text(b" ");
    }

    /// The row that is done with this token.
    fn read(&mut self, token: Token) -> Option<Entry> {
        match token {
            Token::StartTag(tag) => return self.begin(&tag),
            Token::EndTag(tag) => match &**tag.name {
                b"a" => self.is_in_link = false,
                b"tr" | b"li" | b"pre" | b"table" | b"ul" => return self.end_row(),
                _ => self.part(),
            },
            Token::String(text) => self.text(&text),
            _ => {}
        }
        None
    }
}

impl Iterator for IndexPage {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        loop {
            if let Some(entry) = self.next_token()? {
                return Some(entry);
            }
        }
    }
}

/// The entry that `url` names, where it is directly below `directory`, however its escapes are spelled.
fn child(directory: &str, url: &str) -> Option<Entry> {
    let url = canonical(url.split('#').next().unwrap_or(url))?;
    let (start, below) = url.split_at(url.trim_end_matches('/').rfind('/')? + 1);
    if start != directory && decoded(start) != decoded(directory) {
        return None;
    }
    let name = below.strip_suffix('/').unwrap_or(below);
    if name.is_empty() || name.contains(['/', '?']) {
        return None;
    }
    let kind = if below.ends_with('/') { EntryKind::Directory } else { EntryKind::File };
    let name = Escaped::from(name).decode().into_owned();
    Some(Entry { name, url: Some(url), ..Entry::new(kind) })
}

/// The octets between the slashes.
fn decoded(url: &str) -> Vec<Vec<u8>> {
    url.split('/').map(|part| Escaped::from(part).decode().into_owned()).collect()
}

/// The URL in one spelling, without a login.
fn canonical(url: &str) -> Option<String> {
    Some(parse(url).ok()?.url.with_login(None).to_string())
}

#[cfg(test)]
mod tests;
