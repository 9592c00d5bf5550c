//! Builds search and retrieval requests.

use std::fmt;
use std::ops::Range;

use bytes::Bytes;
use fetch_url_core::{PercentEncoded, WaisUrl};

use super::coding::{Fields, push_field, push_integer, push_number};
use super::frame::framed;
use super::url_parts::{decoded_words, document_id};
use crate::{ForbiddenByte, ForbiddenSet};

/// The PDU type SEARCH (Z39.50-1988).
const SEARCH: u8 = 22;
/// Maximum length of a database name or type, in bytes.
const MAX_NAME_BYTES: usize = 255;
/// Maximum length of a document identifier, in bytes.
const MAX_ID_BYTES: usize = 8 * 1024;
/// Maximum length of the search words, in bytes.
const MAX_WORDS_BYTES: usize = 64 * 1024;

/// Tags of Z39.50-1988.
mod tag {
    pub(super) const REFERENCE: usize = 2;
    pub(super) const RESULT_SET: usize = 17;
    pub(super) const DATABASE: usize = 18;
    pub(super) const ELEMENT_SETS: usize = 19;
    pub(super) const QUERY_TYPE: usize = 20;
    pub(super) const QUERY: usize = 21;
    pub(super) const ATTRIBUTES: usize = 44;
    pub(super) const TERM: usize = 45;
    pub(super) const OPERATOR: usize = 46;
    pub(super) const INFORMATION: usize = 99;
    pub(super) const WORDS: usize = 106;
    pub(super) const DATE_FACTOR: usize = 111;
    pub(super) const MOST_DOCUMENTS: usize = 114;
}

/// A validated database name or document type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaisName(Vec<u8>);

/// A document identifier. Only the server that created it can interpret it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentId(pub(super) Vec<u8>);

/// The names of the parts of an identifier, by tag, from 1.
const PART_NAMES: [&str; 6] = [
    "Original-Server",
    "Original-Database",
    "Original-Id",
    "Distributor-Server",
    "Distributor-Database",
    "Distributor-Id",
];

/// The reason why a name, an identifier or search words cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaisNameError {
    /// It contains CR, LF or NUL.
    Forbidden(ForbiddenByte),
    /// It is too long.
    Length {
        /// The name of the URL part, for messages.
        part: &'static str,
        /// The maximum length, in bytes.
        most: usize,
    },
}

impl WaisName {
    /// Returns the database that the URL names.
    ///
    /// # Errors
    /// [`WaisNameError`] if it contains CR, LF or NUL, or is longer than 255 bytes.
    pub fn database(url: &WaisUrl<'_>) -> Result<Self, WaisNameError> {
        Self::new("database", &url.database().decode())
    }

    /// Validates a document type (`wtype`).
    ///
    /// # Errors
    /// [`WaisNameError`], as for [`WaisName::database`].
    pub fn wtype(wtype: &PercentEncoded<'_>) -> Result<Self, WaisNameError> {
        Self::new("type", &wtype.decode())
    }

    fn new(part: &'static str, bytes: &[u8]) -> Result<Self, WaisNameError> {
        ForbiddenSet::LINE.check(part, bytes).map_err(WaisNameError::Forbidden)?;
        fits(part, bytes, MAX_NAME_BYTES).map(|()| Self(bytes.to_vec()))
    }

    /// Returns the name as bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl DocumentId {
    /// Decodes a `wpath` (RFC 1738 §3.9) in any of its three encodings in use.
    ///
    /// # Errors
    /// [`WaisNameError::Length`] if it is longer than 8 KiB.
    pub fn from_wpath(wpath: &PercentEncoded<'_>) -> Result<Self, WaisNameError> {
        let id = document_id(wpath);
        fits("document identifier", &id, MAX_ID_BYTES).map(|()| Self(id))
    }

    /// Returns the identifier as bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns a file name for the document: the last segment of the path that most identifiers contain.
    pub fn file_name(&self) -> Option<&[u8]> {
        let (mut fields, mut original, mut distributed) = (Fields::new(&self.0), None, None);
        let name = |path: &'_ [u8]| path.rsplit(|byte| *byte == b'/').next().map(<[u8]>::len);
        while let Ok(Some((tag, value))) = fields.next() {
            let end = value.get(value.len() - name(value).unwrap_or_default()..);
            match tag {
                3 => original = end,
                6 => distributed = end,
                _ => {}
            }
        }
        [distributed, original].into_iter().flatten().find(|name| !name.is_empty())
    }

    /// Returns the parts of the identifier with their names, in the order of the identifier; unknown parts are left out.
    /// Empty for an identifier that another program than freeWAIS has chosen.
    pub fn parts(&self) -> Vec<(&'static str, &[u8])> {
        let mut fields = Fields::new(&self.0);
        let mut parts = Vec::new();
        while let Ok(Some((tag, value))) = fields.next() {
            let name = usize::try_from(tag).ok().and_then(|tag| PART_NAMES.get(tag.wrapping_sub(1)));
            parts.extend(name.map(|name| (*name, value)));
        }
        parts
    }
}

/// Decodes the search words; `+` separates words.
pub(super) fn words(words: &PercentEncoded<'_>) -> Result<Vec<u8>, WaisNameError> {
    let words = decoded_words(words);
    fits("search", &words, MAX_WORDS_BYTES).map(|()| words)
}

fn fits(part: &'static str, bytes: &[u8], most: usize) -> Result<(), WaisNameError> {
    if bytes.len() > most { Err(WaisNameError::Length { part, most }) } else { Ok(()) }
}

/// Returns a search request for at most `most` documents. Servers crash without the last two fields.
pub(super) fn search(database: &WaisName, words: &[u8], most: u32) -> Bytes {
    let mut information = Vec::new();
    push_field(&mut information, tag::WORDS, words);
    push_number(&mut information, tag::DATE_FACTOR, 1);
    push_number(&mut information, tag::MOST_DOCUMENTS, most);
    // Small and large set bounds, medium set present number, replace indicator: the values of all known
    // clients.
    let sets = [0, 0, 30, 0, 0x13, 0x88, 0, 0, 30, 1];
    message(&header(sets, b"", database, b"3"), tag::INFORMATION, &information)
}

/// Returns a retrieval request for a byte range of a document. Servers return `reference` in the response.
pub(super) fn retrieval(
    database: &WaisName,
    id: &DocumentId,
    wtype: &WaisName,
    wanted: &Range<u64>,
    reference: u64,
) -> Bytes {
    let mut query = Vec::new();
    let mut operand = |attributes: &[u8], term: &[u8]| {
        push_field(&mut query, tag::ATTRIBUTES, attributes);
        push_field(&mut query, tag::TERM, term);
        if !attributes.starts_with(b"un") {
            push_field(&mut query, tag::OPERATOR, b"a");
        }
    };
    operand(b"un re ig ig ig ig", &id.0);
    operand(b"wt re ig ig ig ig", &wtype.0);
    operand(b"wb ro ig ig ig ig", wanted.start.to_string().as_bytes());
    operand(b"wb rl ig ig ig ig", wanted.end.to_string().as_bytes());
    let sets = [0, 0, 10, 0, 0, 16, 0, 0, 15, 1];
    // Servers ignore these names; all known clients send them.
    let mut header = header(sets, b"FOO", database, b"1");
    push_field(&mut header, tag::ELEMENT_SETS, b" \x1fDocument Text");
    push_field(&mut header, tag::REFERENCE, reference.to_string().as_bytes());
    message(&header, tag::QUERY, &query)
}

fn header(sets: [u8; 10], result_set: &[u8], database: &WaisName, query_type: &[u8]) -> Vec<u8> {
    let mut header = vec![SEARCH];
    header.extend_from_slice(&sets);
    push_field(&mut header, tag::RESULT_SET, result_set);
    push_field(&mut header, tag::DATABASE, &database.0);
    push_field(&mut header, tag::QUERY_TYPE, query_type);
    header
}

fn message(header: &[u8], information_tag: usize, information: &[u8]) -> Bytes {
    let length = u16::try_from(header.len()).unwrap_or(u16::MAX);
    let mut message = length.to_be_bytes().to_vec();
    message.extend_from_slice(header);
    push_integer(&mut message, information_tag);
    push_integer(&mut message, information.len());
    message.extend_from_slice(information);
    framed(&message)
}

impl fmt::Display for WaisNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Forbidden(byte) => byte.fmt(f),
            Self::Length { part, most } => write!(f, "a {part} has at most {most} bytes"),
        }
    }
}

impl std::error::Error for WaisNameError {}
