//! Parses SEARCH RESPONSE messages, the responses to searches and retrievals: records and diagnostics.

use bytes::Bytes;

use super::DocumentId;
use super::coding::{Fields, parse_big_endian, truncated_error};
use crate::WireError;
use crate::untrusted::safe_url;

/// The PDU type SEARCH RESPONSE (Z39.50-1988).
const SEARCH_RESPONSE: u8 = 23;
/// Length of search status, result count, number of records and next position. They are ignored: servers send
/// wrong values.
const FIXED_BYTES: usize = 10;
/// Maximum number of documents in a response; at most 10,000 are requested.
const MAX_DOCUMENTS: usize = 10_000;
/// Maximum number of text records or of diagnostics in a response.
const MAX_RECORDS: usize = 10_000;
/// Maximum number of types of a document.
const MAX_TYPES: usize = 64;
/// The last byte of a diagnostic.
const TERMINATOR: &[u8] = b"\x1d";

/// Tags of the WAIS information part.
mod tag {
    pub(super) const REFERENCE: u64 = 2;
    pub(super) const DIAGNOSTIC: u64 = 28;
    pub(super) const INFORMATION: u64 = 99;
    pub(super) const ID: u64 = 116;
    pub(super) const SCORE: u64 = 118;
    pub(super) const LENGTH: u64 = 120;
    pub(super) const SOURCE: u64 = 121;
    pub(super) const DATE: u64 = 122;
    pub(super) const HEADLINE: u64 = 123;
    pub(super) const CITY: u64 = 124;
    pub(super) const TEXT: u64 = 127;
    pub(super) const LINES: u64 = 131;
    pub(super) const TYPES: u64 = 132;
    pub(super) const TYPE: u64 = 133;
    pub(super) const HEADER: u64 = 150;
    pub(super) const SHORT_HEADER: u64 = 151;
    pub(super) const LONG_HEADER: u64 = 152;
    pub(super) const TEXT_RECORD: u64 = 153;
}

/// A document found by a search. Texts are as sent by the server; old servers use Latin-1.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentDetails {
    /// The identifier to retrieve it with.
    pub id: DocumentId,
    /// The relevance score; usually 1000 for the best document.
    pub score: Option<u64>,
    /// The size in bytes.
    pub length: Option<u64>,
    /// The number of lines.
    pub lines: Option<u64>,
    /// The available types, such as `TEXT`. If empty, the type is `TEXT`.
    pub types: Vec<Vec<u8>>,
    /// The database that contains it.
    pub source: Vec<u8>,
    /// The date, in a format that depends on the server.
    pub date: Vec<u8>,
    /// The title of the document, in one line.
    pub headline: Vec<u8>,
    /// The place of origin.
    pub city: Vec<u8>,
}

impl DocumentDetails {
    /// Returns the URL that the headline contains, for documents of type `URL`, or `None` if it is not a URL
    /// that may be followed.
    pub fn link(&self) -> Option<String> {
        safe_url(self.headline.trim_ascii())
    }

    /// Returns the type to retrieve by default: the first one, or `TEXT`.
    pub fn first_type(&self) -> &[u8] {
        self.types.first().map_or(b"TEXT", Vec::as_slice)
    }
}

/// A diagnostic message, sent with the records or in place of them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The code, two letters or digits such as `S1`.
    pub code: [u8; 2],
    /// The text.
    pub message: Bytes,
}

impl Diagnostic {
    /// Returns `true` if the code is SF, "present request out of range". freeWAIS sends it for all errors of a
    /// retrieval, such as an unknown document ("Missing `DocID` in request").
    const fn is_sf(&self) -> bool {
        matches!(self.code, [b'S', b'F'])
    }

    /// Returns `true` if the diagnostic reports the end of the document: not all requested bytes are in it.
    fn is_out_of_range(&self) -> bool {
        self.is_sf() && self.message.to_ascii_lowercase().ends_with(b"out of range")
    }

    /// Returns code and text, for messages.
    pub(super) fn line(&self) -> Bytes {
        [&self.code[..], b" ", &self.message].concat().into()
    }
}

/// A text record: bytes of a document.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Text {
    /// The identifier of the document, if the record has one.
    pub(super) id: Option<Bytes>,
    pub(super) bytes: Bytes,
}

/// A parsed SEARCH RESPONSE.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SearchResponse {
    pub(super) documents: Vec<DocumentDetails>,
    /// The text records of the response.
    pub(super) texts: Vec<Text>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The reference id of the request, if the server returns it.
    pub(super) reference: Option<Bytes>,
}

impl SearchResponse {
    /// Parses a message without its header of 25 bytes. Returns `None` for an empty message.
    pub(super) fn parse(message: &Bytes) -> Result<Option<Self>, WireError> {
        if message.is_empty() {
            return Ok(None);
        }
        let mut fields = Fields::new(message);
        let length = fields.take(2)?.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
        let header = fields.take(length)?;
        if header.first() != Some(&SEARCH_RESPONSE) || header.len() <= FIXED_BYTES {
            return Err(WireError::Unexpected {
                what: "a WAIS search response",
                got: header.first().map_or_else(Bytes::new, |pdu| format!("PDU {pdu}").into()),
            });
        }
        let mut response = Self { reference: reference(header)?, ..Self::default() };
        while let Some((tag, group)) = fields.next()? {
            if tag == tag::INFORMATION {
                response.read(message, group)?;
            }
        }
        Ok(Some(response))
    }

    fn read(&mut self, message: &Bytes, group: &[u8]) -> Result<(), WireError> {
        let mut fields = Fields::new(group);
        while let Some(tag) = fields.tag()? {
            match tag {
                tag::DIAGNOSTIC => {
                    self.diagnostics.push(diagnostic(&mut fields)?);
                    check_count(&self.diagnostics, "diagnostics in a response", MAX_RECORDS)?;
                }
                tag::HEADER | tag::SHORT_HEADER | tag::LONG_HEADER => {
                    self.documents.extend(document(fields.value()?)?);
                    check_count(&self.documents, "documents in a response", MAX_DOCUMENTS)?;
                }
                tag::TEXT_RECORD => {
                    self.texts.extend(text(message, fields.value()?)?);
                    check_count(&self.texts, "texts in a response", MAX_RECORDS)?;
                }
                _ => drop(fields.value()?),
            }
        }
        Ok(())
    }

    /// Returns the diagnostics whose code is not SF.
    pub(super) fn error_diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| !diagnostic.is_sf())
    }

    /// Returns the diagnostics that do not report the end of the document.
    pub(super) fn other_diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| !diagnostic.is_out_of_range())
    }

    /// Returns `true` if a diagnostic reports the end of the document: the document exists, but not all requested
    /// bytes are in it.
    pub(super) fn reports_end(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_out_of_range)
    }
}

/// Checks a limit of the memory that a response needs: a field of three bytes takes ten times that.
fn check_count<T>(items: &[T], quantity: &'static str, max: usize) -> Result<(), WireError> {
    if items.len() > max { Err(WireError::LimitExceeded { quantity, max }) } else { Ok(()) }
}

/// Returns the reference id, from the tagged fields after the fixed ones.
fn reference(header: &[u8]) -> Result<Option<Bytes>, WireError> {
    let mut fields = Fields::new(header.get(FIXED_BYTES + 1..).unwrap_or_default());
    while let Some((tag, value)) = fields.next()? {
        if tag == tag::REFERENCE {
            return Ok(Some(Bytes::copy_from_slice(value)));
        }
    }
    Ok(None)
}

/// Parses a diagnostic: two bytes of length, code, text, a flag and a terminator.
fn diagnostic(fields: &mut Fields<'_>) -> Result<Diagnostic, WireError> {
    let length = fields.take(2)?.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
    let mut inside = Fields::new(fields.take(length)?);
    let code = <[u8; 2]>::try_from(inside.take(2)?).map_err(|_| truncated_error())?;
    let (_, words) = inside.rest().split_last().ok_or_else(truncated_error)?;
    if fields.take(1)? != TERMINATOR {
        return Err(WireError::Unexpected { what: "the end of a diagnostic", got: Bytes::new() });
    }
    Ok(Diagnostic { code, message: Bytes::copy_from_slice(words) })
}

/// Parses a document header. Returns `None` if it has no identifier.
fn document(group: &[u8]) -> Result<Option<DocumentDetails>, WireError> {
    let (mut fields, mut id) = (Fields::new(group), None);
    let mut details = DocumentDetails {
        id: DocumentId(Vec::new()),
        score: None,
        length: None,
        lines: None,
        types: Vec::new(),
        source: Vec::new(),
        date: Vec::new(),
        headline: Vec::new(),
        city: Vec::new(),
    };
    while let Some((tag, value)) = fields.next()? {
        match tag {
            tag::ID => id = Some(DocumentId(value.to_vec())),
            tag::SCORE => details.score = parse_big_endian(value),
            tag::LENGTH => details.length = parse_big_endian(value),
            tag::LINES => details.lines = parse_big_endian(value),
            tag::TYPES => details.types = types(value)?,
            tag::SOURCE => details.source = value.to_vec(),
            tag::DATE => details.date = value.to_vec(),
            tag::HEADLINE => details.headline = value.to_vec(),
            tag::CITY => details.city = value.to_vec(),
            _ => {}
        }
    }
    Ok(id.map(|id| DocumentDetails { id, ..details }))
}

fn types(group: &[u8]) -> Result<Vec<Vec<u8>>, WireError> {
    let (mut fields, mut types) = (Fields::new(group), Vec::new());
    while let Some((tag, value)) = fields.next()? {
        if tag == tag::TYPE {
            types.push(value.to_vec());
            check_count(&types, "types of a document", MAX_TYPES)?;
        }
    }
    Ok(types)
}

fn text(message: &Bytes, group: &[u8]) -> Result<Option<Text>, WireError> {
    let (mut fields, mut id, mut bytes) = (Fields::new(group), None, None);
    while let Some((tag, value)) = fields.next()? {
        match tag {
            tag::ID => id = Some(message.slice_ref(value)),
            tag::TEXT => bytes = Some(message.slice_ref(value)),
            _ => {}
        }
    }
    Ok(bytes.map(|bytes| Text { id, bytes }))
}
