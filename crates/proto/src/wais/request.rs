//! What is asked for, and its octets.

use std::fmt;
use std::ops::Range;

use bytes::Bytes;
use fetch_url_core::{Escaped, WaisUrl};

use super::coding::{Fields, push_field, push_integer, push_number};
use super::frame::framed;
use super::outline::{decoded_words, document_id};
use crate::{ForbiddenOctet, Octets};

/// SEARCH, of Z39.50-1988.
const SEARCH: u8 = 22;
/// The longest name of a database or of a type.
const NAME_OCTETS: usize = 255;
/// The longest identifier of a document.
const ID_OCTETS: usize = 8 * 1024;
/// The longest search.
const WORDS_OCTETS: usize = 64 * 1024;

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

/// A name that can be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaisName(Vec<u8>);

/// The identifier of a document, opaque but for those who made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentId(pub(super) Vec<u8>);

/// Why something cannot be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaisNameError {
    /// It has an octet that no name has.
    Forbidden(ForbiddenOctet),
    /// It is too long.
    Length {
        /// The part of the URL.
        part: &'static str,
        /// The most octets.
        most: usize,
    },
}

impl WaisName {
    /// The database of a URL.
    ///
    /// # Errors
    /// CR, LF or NUL in it, or too many octets.
    pub fn database(url: &WaisUrl<'_>) -> Result<Self, WaisNameError> {
        Self::new("database", &url.database().decode())
    }

    /// The type of a document.
    ///
    /// # Errors
    /// As for [`WaisName::database`].
    pub fn wtype(wtype: &Escaped<'_>) -> Result<Self, WaisNameError> {
        Self::new("type", &wtype.decode())
    }

    fn new(part: &'static str, octets: &[u8]) -> Result<Self, WaisNameError> {
        Octets::LINE.check(part, octets).map_err(WaisNameError::Forbidden)?;
        fits(part, octets, NAME_OCTETS).map(|()| Self(octets.to_vec()))
    }

    /// The name.
    pub fn octets(&self) -> &[u8] {
        &self.0
    }
}

impl DocumentId {
    /// What a wpath stands for, in any of the three spellings in use.
    ///
    /// # Errors
    /// It is too long.
    pub fn of(wpath: &Escaped<'_>) -> Result<Self, WaisNameError> {
        let id = document_id(wpath);
        fits("document identifier", &id, ID_OCTETS).map(|()| Self(id))
    }

    /// The identifier.
    pub fn octets(&self) -> &[u8] {
        &self.0
    }

    /// What a file of the document could be called: the end of the path that most servers have in it.
    pub fn file_name(&self) -> Option<&[u8]> {
        let (mut fields, mut original, mut distributed) = (Fields::new(&self.0), None, None);
        let name = |path: &'_ [u8]| path.rsplit(|octet| *octet == b'/').next().map(<[u8]>::len);
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
}

/// The words of a search: `+` is a space between them.
pub(super) fn words(words: &Escaped<'_>) -> Result<Vec<u8>, WaisNameError> {
    let words = decoded_words(words);
    fits("search", &words, WORDS_OCTETS).map(|()| words)
}

fn fits(part: &'static str, octets: &[u8], most: usize) -> Result<(), WaisNameError> {
    if octets.len() > most { Err(WaisNameError::Length { part, most }) } else { Ok(()) }
}

/// A search for `words`, of whose documents at most so many are wanted. Servers die without the last two fields.
pub(super) fn search(database: &WaisName, words: &[u8], most: u32) -> Bytes {
    let mut information = Vec::new();
    push_field(&mut information, tag::WORDS, words);
    push_number(&mut information, tag::DATE_FACTOR, 1);
    push_number(&mut information, tag::MOST_DOCUMENTS, most);
    // Small and large set bounds, medium set present number, replace indicator: as all programs have them.
    let sets = [0, 0, 30, 0, 0x13, 0x88, 0, 0, 30, 1];
    message(&header(sets, b"", database, b"3"), tag::INFORMATION, &information)
}

/// The octets of `wanted` of a document. Servers give `reference` back with the answer.
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
    // Names that no server looks at, as all programs of the time send them.
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
            Self::Forbidden(octet) => octet.fmt(f),
            Self::Length { part, most } => write!(f, "a {part} has at most {most} octets"),
        }
    }
}

impl std::error::Error for WaisNameError {}
