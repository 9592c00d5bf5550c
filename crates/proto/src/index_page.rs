//! An index page of an HTTP server: a directory as HTML, as nginx, Apache, Caddy, lighttpd and many others make it.
//!
//! No RFC says how such a page looks. What is believed of it: each link to something directly below the page's own
//! URL is an entry, one that ends in a slash is a directory, and what stands behind a link, up to the next one, may
//! tell its time and its size. Sizes that are rounded (`1.2K`) are none; times without a zone are taken for UTC.

mod facts;

use std::io::Cursor;

use bytes::Bytes;
use facts::Facts;
use fetch_url_core::{Escaped, parse, resolve};
use html5gum::{IoReader, StartTag, Token, Tokenizer};

use crate::{Entry, EntryKind};

/// So much of what stands behind a link is looked at.
const MOST_FACTS: usize = 512;

/// Reads the entries of a page one by one, in the order of their links.
pub struct IndexPage {
    tokens: Tokenizer<IoReader<Cursor<Bytes>>>,
    /// The URL of the directory, with a slash at its end.
    directory: String,
    /// What the references of the page are against.
    base: String,
    row: Option<Row>,
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
        Self {
            tokens: Tokenizer::new(IoReader::new(Cursor::new(page))),
            base: directory.clone(),
            directory,
            row: None,
            is_in_link: false,
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
                if let Some(href) = value("href") {
                    self.base = resolve(&self.base, &href);
                }
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
        let entry = child(&self.directory, &resolve(&self.base, href.trim()));
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
            // Octets in memory are always read.
            let Some(Ok(token)) = self.tokens.next() else { return self.end_row() };
            if let Some(entry) = self.read(token) {
                return Some(entry);
            }
        }
    }
}

/// The entry that `url` names, where it is directly below `directory`.
fn child(directory: &str, url: &str) -> Option<Entry> {
    let url = canonical(url.split('#').next().unwrap_or(url))?;
    let below = url.strip_prefix(directory)?;
    let name = below.strip_suffix('/').unwrap_or(below);
    if name.is_empty() || name.contains(['/', '?']) {
        return None;
    }
    let kind = if below.ends_with('/') { EntryKind::Directory } else { EntryKind::File };
    let name = Escaped::from(name).decode().into_owned();
    Some(Entry { name, url: Some(url), ..Entry::new(kind) })
}

/// The URL in one spelling, without a login.
fn canonical(url: &str) -> Option<String> {
    Some(parse(url).ok()?.url.with_login(None).to_string())
}

#[cfg(test)]
mod tests;
