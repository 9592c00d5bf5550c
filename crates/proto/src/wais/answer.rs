//! The answer to a search or a retrieval: SEARCH RESPONSE, its records and diagnostics.

use bytes::Bytes;

use super::DocumentId;
use super::coding::{Fields, number, short};
use crate::WireError;
use crate::stranger::link_of_a_stranger;

/// SEARCH RESPONSE, of Z39.50-1988.
const SEARCH_RESPONSE: u8 = 23;
/// Search status, result count, number of records, next position: nobody tells the truth in them.
const FIXED_OCTETS: usize = 10;
/// Two hundred are asked for.
const MOST_DOCUMENTS: usize = 1000;
/// What ends a diagnostic.
const TERMINATOR: &[u8] = b"\x1d";

/// Tags of the information part.
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

/// A document that a search has found. Its octets are as the server sends them; old servers write Latin-1.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentFacts {
    /// What fetches it.
    pub id: DocumentId,
    /// How well it fits: 1000 for the best, as a rule.
    pub score: Option<u64>,
    /// Its length in octets.
    pub length: Option<u64>,
    /// Its lines.
    pub lines: Option<u64>,
    /// As what it can be had, such as `TEXT`; none means text.
    pub types: Vec<Vec<u8>>,
    /// Which database it is from.
    pub source: Vec<u8>,
    /// Its date, in whatever form the server likes.
    pub date: Vec<u8>,
    /// What it is about, in a line.
    pub headline: Vec<u8>,
    /// Where it comes from.
    pub city: Vec<u8>,
}

impl DocumentFacts {
    /// The URL that the document itself is (type `URL`: the headline has it), as far as it can be followed.
    pub fn link(&self) -> Option<String> {
        link_of_a_stranger(self.headline.trim_ascii())
    }

    /// As what it is had, when nobody says otherwise.
    pub fn first_type(&self) -> &[u8] {
        self.types.first().map_or(b"TEXT", Vec::as_slice)
    }
}

/// What a server says beside its records, or instead.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Two letters or digits, such as `S1`.
    pub code: [u8; 2],
    /// The server's words.
    pub words: Bytes,
}

impl Diagnostic {
    /// Whether it says no more than that the document has ended.
    pub(super) const fn is_end(&self) -> bool {
        matches!(self.code, [b'S', b'F'])
    }

    /// Code and words.
    pub(super) fn line(&self) -> Bytes {
        [&self.code[..], b" ", &self.words].concat().into()
    }
}

/// Octets of a document.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Text {
    /// Of this document.
    pub(super) id: Option<Bytes>,
    pub(super) octets: Bytes,
}

/// What an answer holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) documents: Vec<DocumentFacts>,
    /// The octets of a document; none where no text record came at all.
    pub(super) texts: Vec<Text>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// What the request was called, where the server says so.
    pub(super) reference: Option<Bytes>,
}

impl Answer {
    /// Reads a whole message without its header of 25 octets; none when the server had nothing to say.
    pub(super) fn parse(message: &Bytes) -> Result<Option<Self>, WireError> {
        if message.is_empty() {
            return Ok(None);
        }
        let mut fields = Fields::new(message);
        let length = fields.take(2)?.iter().fold(0, |length, octet| length << 8 | usize::from(*octet));
        let header = fields.take(length)?;
        if header.first() != Some(&SEARCH_RESPONSE) || header.len() <= FIXED_OCTETS {
            return Err(WireError::Unexpected {
                what: "an answer to a search of WAIS",
                got: header.first().map_or_else(Bytes::new, |pdu| format!("PDU {pdu}").into()),
            });
        }
        let mut answer = Self { reference: reference(header)?, ..Self::default() };
        while let Some((tag, group)) = fields.next()? {
            if tag == tag::INFORMATION {
                answer.read(message, group)?;
            }
        }
        Ok(Some(answer))
    }

    fn read(&mut self, message: &Bytes, group: &[u8]) -> Result<(), WireError> {
        let mut fields = Fields::new(group);
        while let Some(tag) = fields.tag()? {
            match tag {
                tag::DIAGNOSTIC => self.diagnostics.push(diagnostic(&mut fields)?),
                tag::HEADER | tag::SHORT_HEADER | tag::LONG_HEADER => {
                    self.documents.extend(document(fields.value()?)?);
                    if self.documents.len() > MOST_DOCUMENTS {
                        let limit = "the documents of an answer";
                        return Err(WireError::Limit { limit, most: MOST_DOCUMENTS });
                    }
                }
                tag::TEXT_RECORD => {
                    self.texts.extend(text(message, fields.value()?)?);
                }
                _ => drop(fields.value()?),
            }
        }
        Ok(())
    }

    /// What is not about the document's end.
    pub(super) fn complaints(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| !diagnostic.is_end())
    }

    /// Whether it says that the document has ended.
    pub(super) fn says_end(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_end)
    }
}

/// What the request was called, from the fields behind those that have no tag.
fn reference(header: &[u8]) -> Result<Option<Bytes>, WireError> {
    let mut fields = Fields::new(header.get(FIXED_OCTETS + 1..).unwrap_or_default());
    while let Some((tag, value)) = fields.next()? {
        if tag == tag::REFERENCE {
            return Ok(Some(Bytes::copy_from_slice(value)));
        }
    }
    Ok(None)
}

/// A diagnostic has a shape of its own: two octets of length, code, words, a flag, a terminator.
fn diagnostic(fields: &mut Fields<'_>) -> Result<Diagnostic, WireError> {
    let length = fields.take(2)?.iter().fold(0, |length, octet| length << 8 | usize::from(*octet));
    let mut inside = Fields::new(fields.take(length)?);
    let code = <[u8; 2]>::try_from(inside.take(2)?).map_err(|_| short())?;
    let (_, words) = inside.rest().split_last().ok_or_else(short)?;
    if fields.take(1)? != TERMINATOR {
        return Err(WireError::Unexpected { what: "the end of a diagnostic", got: Bytes::new() });
    }
    Ok(Diagnostic { code, words: Bytes::copy_from_slice(words) })
}

/// A header; none without the identifier that alone makes it of use.
fn document(group: &[u8]) -> Result<Option<DocumentFacts>, WireError> {
    let (mut fields, mut id) = (Fields::new(group), None);
    let mut facts = DocumentFacts {
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
            tag::SCORE => facts.score = number(value),
            tag::LENGTH => facts.length = number(value),
            tag::LINES => facts.lines = number(value),
            tag::TYPES => facts.types = types(value)?,
            tag::SOURCE => facts.source = value.to_vec(),
            tag::DATE => facts.date = value.to_vec(),
            tag::HEADLINE => facts.headline = value.to_vec(),
            tag::CITY => facts.city = value.to_vec(),
            _ => {}
        }
    }
    Ok(id.map(|id| DocumentFacts { id, ..facts }))
}

fn types(group: &[u8]) -> Result<Vec<Vec<u8>>, WireError> {
    let (mut fields, mut types) = (Fields::new(group), Vec::new());
    while let Some((tag, value)) = fields.next()? {
        if tag == tag::TYPE {
            types.push(value.to_vec());
        }
    }
    Ok(types)
}

fn text(message: &Bytes, group: &[u8]) -> Result<Option<Text>, WireError> {
    let (mut fields, mut id, mut octets) = (Fields::new(group), None, None);
    while let Some((tag, value)) = fields.next()? {
        match tag {
            tag::ID => id = Some(message.slice_ref(value)),
            tag::TEXT => octets = Some(message.slice_ref(value)),
            _ => {}
        }
    }
    Ok(octets.map(|octets| Text { id, octets }))
}
