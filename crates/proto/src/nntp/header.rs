//! Parses article headers (RFC 5536 §3) into overview details, for servers that have no overview.

use super::ArticleDetails;
use super::overview::{article, in_field, number};
use crate::Entry;

/// Maximum number of bytes stored per field; the rest is dropped.
const MAX_FIELD_BYTES: usize = 4 * 1024;
/// Maximum length of a field name in bytes; the wanted names are shorter.
const MAX_NAME_BYTES: usize = 16;
/// The fields that [`ArticleDetails`] contains.
const OVERVIEW_FIELDS: [&[u8]; 7] =
    [b"subject", b"from", b"date", b"message-id", b"references", b"bytes", b"lines"];

/// An incremental parser for the header of one article. Feed it with [`Self::push`]; it stores only the fields of
/// [`ArticleDetails`], each up to 4 KiB.
#[derive(Debug)]
pub struct HeaderReader {
    number: u64,
    position: HeaderPosition,
    /// The last byte was a CR, which may be the first half of a CRLF.
    has_cr: bool,
    /// The field name that is being parsed.
    name: Vec<u8>,
    /// The value being parsed is stored in the last entry of `fields`.
    is_kept: bool,
    fields: Vec<(&'static [u8], Vec<u8>)>,
}

/// The position of the next byte in the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeaderPosition {
    /// At the start of a line.
    LineStart,
    /// In a field name.
    Name,
    /// In a field value, or in a line that is not a field.
    Value,
    /// After the header.
    AfterHeader,
}

impl HeaderReader {
    /// Creates a parser for the header of the article with this number.
    pub const fn new(number: u64) -> Self {
        Self {
            number,
            position: HeaderPosition::LineStart,
            has_cr: false,
            name: Vec::new(),
            is_kept: false,
            fields: Vec::new(),
        }
    }

    /// Parses more bytes of the article. Bytes after the header are ignored.
    pub fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.is_done() {
                return;
            }
            self.take(byte);
        }
    }

    /// Returns `true` once the empty line that ends the header was parsed.
    pub fn is_done(&self) -> bool {
        self.position == HeaderPosition::AfterHeader
    }

    /// Returns the entry for the article, equal to the one from an overview line.
    pub fn finish(self) -> Entry {
        article(self.details())
    }

    /// Returns the details parsed so far.
    pub(super) fn details(&self) -> ArticleDetails {
        let field = |name: &[u8]| {
            let field = self.fields.iter().find(|(known, _)| *known == name);
            field.map_or(&b""[..], |(_, value)| value.trim_ascii())
        };
        ArticleDetails {
            number: self.number,
            subject: field(b"subject").to_vec(),
            from: field(b"from").to_vec(),
            date: field(b"date").to_vec(),
            message_id: field(b"message-id").to_vec(),
            references: field(b"references").to_vec(),
            bytes: number(field(b"bytes")),
            lines: number(field(b"lines")),
        }
    }

    fn take(&mut self, byte: u8) {
        if std::mem::replace(&mut self.has_cr, byte == b'\r') && byte != b'\n' {
            self.put(b'\r');
        }
        match byte {
            b'\r' => {}
            b'\n' => self.end_line(),
            _ => self.put(byte),
        }
    }

    fn end_line(&mut self) {
        self.position = if self.position == HeaderPosition::LineStart {
            HeaderPosition::AfterHeader
        } else {
            HeaderPosition::LineStart
        };
    }

    /// Parses a byte that is not part of a line end.
    fn put(&mut self, byte: u8) {
        match self.position {
            // A folded line belongs to the field before it.
            HeaderPosition::LineStart if matches!(byte, b' ' | b'\t') => {
                self.position = HeaderPosition::Value;
                self.keep(byte);
            }
            HeaderPosition::LineStart => {
                self.is_kept = false;
                self.name.clear();
                self.position = HeaderPosition::Name;
                self.put(byte);
            }
            HeaderPosition::Name if byte == b':' => self.begin_value(),
            HeaderPosition::Name if self.name.len() == MAX_NAME_BYTES => {
                self.position = HeaderPosition::Value
            }
            HeaderPosition::Name => self.name.push(byte),
            HeaderPosition::Value => self.keep(byte),
            HeaderPosition::AfterHeader => {}
        }
    }

    /// Starts a field value. Only the first of several fields with the same name is stored.
    fn begin_value(&mut self) {
        self.position = HeaderPosition::Value;
        let name = self.name.trim_ascii_end();
        let wanted = OVERVIEW_FIELDS.into_iter().find(|wanted| wanted.eq_ignore_ascii_case(name));
        if let Some(name) = wanted.filter(|name| self.fields.iter().all(|(known, _)| known != name)) {
            self.fields.push((name, Vec::new()));
            self.is_kept = true;
        }
    }

    fn keep(&mut self, byte: u8) {
        let Some((_, value)) = self.fields.last_mut().filter(|_| self.is_kept) else { return };
        let byte = in_field(byte);
        let is_leading_blank = value.is_empty() && byte == b' ';
        if value.len() < MAX_FIELD_BYTES && !is_leading_blank {
            value.push(byte);
        }
    }
}
