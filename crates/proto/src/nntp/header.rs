//! What the header of an article tells (RFC 5536 §3), for servers that keep no overview.

use super::ArticleFacts;
use super::overview::{article, in_field, number};
use crate::Entry;

/// The most that is kept of a field.
const FIELD_OCTETS: usize = 4 * 1024;
/// The most that is kept of a name: the names we look for are shorter.
const NAME_OCTETS: usize = 16;
/// The fields that hold facts.
const WANTED: [&[u8]; 7] = [b"subject", b"from", b"date", b"message-id", b"references", b"bytes", b"lines"];

/// Reads the header of one article as it arrives, and keeps nothing else.
#[derive(Debug)]
pub struct HeaderReader {
    number: u64,
    place: Place,
    /// The last octet was a CR, which may be half of a line end.
    has_cr: bool,
    /// The name that is being read.
    name: Vec<u8>,
    /// The last field is the one that is being read.
    is_kept: bool,
    fields: Vec<(&'static [u8], Vec<u8>)>,
}

/// Where in the header the next octet stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// At the start of a line.
    Start,
    /// In the name of a field.
    Name,
    /// In the body of a field, or in a line that is no field.
    Value,
    /// Behind the header.
    Behind,
}

impl HeaderReader {
    /// A reader of the header of the article with this number.
    pub const fn new(number: u64) -> Self {
        Self {
            number,
            place: Place::Start,
            has_cr: false,
            name: Vec::new(),
            is_kept: false,
            fields: Vec::new(),
        }
    }

    /// More of the article has arrived; what is behind the header is not looked at.
    pub fn push(&mut self, octets: &[u8]) {
        for &octet in octets {
            if self.is_done() {
                return;
            }
            self.take(octet);
        }
    }

    /// Whether the header has ended.
    pub fn is_done(&self) -> bool {
        self.place == Place::Behind
    }

    /// The article, as its line in an overview would tell.
    pub fn finish(self) -> Entry {
        article(self.facts())
    }

    /// What has been read so far.
    pub(super) fn facts(&self) -> ArticleFacts {
        let field = |name: &[u8]| {
            let field = self.fields.iter().find(|(known, _)| *known == name);
            field.map_or(&b""[..], |(_, value)| value.trim_ascii())
        };
        ArticleFacts {
            number: self.number,
            subject: field(b"subject").to_vec(),
            from: field(b"from").to_vec(),
            date: field(b"date").to_vec(),
            message_id: field(b"message-id").to_vec(),
            references: field(b"references").to_vec(),
            octets: number(field(b"bytes")),
            lines: number(field(b"lines")),
        }
    }

    fn take(&mut self, octet: u8) {
        if std::mem::replace(&mut self.has_cr, octet == b'\r') && octet != b'\n' {
            self.put(b'\r');
        }
        match octet {
            b'\r' => {}
            b'\n' => self.end_line(),
            _ => self.put(octet),
        }
    }

    fn end_line(&mut self) {
        self.place = if self.place == Place::Start { Place::Behind } else { Place::Start };
    }

    /// An octet that is within a line.
    fn put(&mut self, octet: u8) {
        match self.place {
            // A folded line belongs to the field before it.
            Place::Start if matches!(octet, b' ' | b'\t') => {
                self.place = Place::Value;
                self.keep(octet);
            }
            Place::Start => {
                self.is_kept = false;
                self.name.clear();
                self.place = Place::Name;
                self.put(octet);
            }
            Place::Name if octet == b':' => self.begin_value(),
            Place::Name if self.name.len() == NAME_OCTETS => self.place = Place::Value,
            Place::Name => self.name.push(octet),
            Place::Value => self.keep(octet),
            Place::Behind => {}
        }
    }

    /// Of several fields of one name the first counts.
    fn begin_value(&mut self) {
        self.place = Place::Value;
        let name = self.name.trim_ascii_end();
        let wanted = WANTED.into_iter().find(|wanted| wanted.eq_ignore_ascii_case(name));
        if let Some(name) = wanted.filter(|name| self.fields.iter().all(|(known, _)| known != name)) {
            self.fields.push((name, Vec::new()));
            self.is_kept = true;
        }
    }

    fn keep(&mut self, octet: u8) {
        let Some((_, value)) = self.fields.last_mut().filter(|_| self.is_kept) else { return };
        let octet = in_field(octet);
        let is_leading_blank = value.is_empty() && octet == b' ';
        if value.len() < FIELD_OCTETS && !is_leading_blank {
            value.push(octet);
        }
    }
}

/// A field without its comments (RFC 5322 §3.2.2), each of which is a blank then.
pub(super) fn without_comments(field: &[u8]) -> Vec<u8> {
    let mut bare = Vec::with_capacity(field.len());
    let (mut depth, mut is_quoted, mut is_escaped) = (0_usize, false, false);
    for &octet in field {
        match octet {
            _ if std::mem::take(&mut is_escaped) => {}
            b'\\' => is_escaped = true,
            b'"' if depth == 0 => is_quoted = !is_quoted,
            b'(' if !is_quoted => depth += 1,
            b')' if depth > 0 => {
                depth -= 1;
                bare.push(b' ');
                continue;
            }
            _ => {}
        }
        if depth == 0 {
            bare.push(octet);
        }
    }
    bare
}
