//! The requests of WAIS clients: messages and their content.

use std::fmt;

use crate::wais::field::{fields, find, number, tag};

/// The header of a message.
const HEADER: usize = 25;
/// Maximum length of a message that is read.
const MAX_MESSAGE: usize = 1 << 20;
/// SEARCH, which also retrieves.
const SEARCH: u8 = 22;
/// The length of the fixed part of a SEARCH, before its fields.
const FIXED: usize = 10;

/// A request of a client.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum WaisRequest {
    /// A search for documents with these words.
    Search {
        /// The name of the database, as received.
        database: Vec<u8>,
        /// The words, as received.
        words: Vec<u8>,
        /// The maximum number of documents.
        most: u64,
    },
    /// A retrieval of a byte range of a document.
    Retrieve {
        /// The name of the database, as received.
        database: Vec<u8>,
        /// The document identifier.
        id: Vec<u8>,
        /// The requested type; empty if there is none.
        wtype: Vec<u8>,
        /// The offset of the first byte.
        start: u64,
        /// The offset after the last byte.
        end: u64,
    },
    /// Another PDU type: 20 is INIT, 0 is an invalid message.
    Other(u8),
}

/// One line: `SEARCH t 200 some words` and `RETRIEVE t TEXT 0-10000 \x01\x01a`.
impl fmt::Display for WaisRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Search { database, words, most } => {
                write!(f, "SEARCH {} {most} {}", database.escape_ascii(), words.escape_ascii())
            }
            Self::Retrieve { database, id, wtype, start, end } => {
                let (database, wtype) = (database.escape_ascii(), wtype.escape_ascii());
                write!(f, "RETRIEVE {database} {wtype} {start}-{end} {}", id.escape_ascii())
            }
            Self::Other(pdu) => write!(f, "PDU {pdu}"),
        }
    }
}

/// A complete message.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) header: [u8; HEADER],
    pub(crate) apdu: Vec<u8>,
}

/// A message, as far as it was received.
#[derive(Debug)]
pub(crate) enum ParsedMessage {
    Complete(Message),
    Incomplete,
    Invalid,
}

impl Message {
    /// Takes the first message from the received bytes.
    pub(crate) fn take(received: &mut Vec<u8>) -> ParsedMessage {
        let Some(header) = received.first_chunk::<HEADER>().copied() else {
            return ParsedMessage::Incomplete;
        };
        let digits = std::str::from_utf8(&header[..10]).ok();
        let length = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()));
        let Some(length) = length.and_then(|digits| digits.parse::<usize>().ok()) else {
            return ParsedMessage::Invalid;
        };
        // Version 2 is the latest. `z` is the message type of APDUs.
        if length > MAX_MESSAGE || header[11] > b'2' || !header[10].eq_ignore_ascii_case(&b'z') {
            return ParsedMessage::Invalid;
        }
        if received.len() < HEADER + length {
            return ParsedMessage::Incomplete;
        }
        let apdu = received.drain(..HEADER + length).skip(HEADER).collect();
        ParsedMessage::Complete(Self { header, apdu })
    }
}

/// A request with all fields that the server needs.
#[derive(Clone, Debug)]
pub(crate) enum ParsedRequest<'a> {
    /// INIT with its fields.
    Init(Vec<(u64, &'a [u8])>),
    Retrieval(Retrieval<'a>),
    Search(Search<'a>),
    /// A SEARCH on which freeWAIS-sf crashes.
    Fatal,
    /// A request that the server does not support.
    Unknown,
}

/// A search by words.
#[derive(Clone, Debug)]
pub(crate) struct Search<'a> {
    pub(crate) reference: Option<&'a [u8]>,
    pub(crate) database: Option<&'a [u8]>,
    pub(crate) words: &'a [u8],
    pub(crate) most: u64,
    /// Requests the document before or after this one.
    pub(crate) neighbour: Option<(&'a [u8], Neighbour)>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Neighbour {
    Next,
    Previous,
}

/// A retrieval by identifier.
#[derive(Clone, Debug, Default)]
pub(crate) struct Retrieval<'a> {
    pub(crate) reference: Option<&'a [u8]>,
    pub(crate) database: Option<&'a [u8]>,
    pub(crate) id: &'a [u8],
    pub(crate) wtype: Option<&'a [u8]>,
    pub(crate) range: Option<(Unit, u64, u64)>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Unit {
    Lines,
    Bytes,
}

impl<'a> ParsedRequest<'a> {
    /// Parses an APDU.
    pub(crate) fn parse(apdu: &'a [u8]) -> Self {
        Self::parse_known(apdu).unwrap_or(Self::Unknown)
    }

    fn parse_known(apdu: &'a [u8]) -> Option<Self> {
        let (length, rest) = apdu.split_first_chunk::<2>()?;
        let (first, information) = rest.split_at_checked(u16::from_be_bytes(*length).into())?;
        match first.split_first()? {
            (20, rest) => fields(rest).map(Self::Init),
            (&SEARCH, rest) => {
                let first = fields(rest.get(FIXED..)?)?;
                let information = fields(information)?;
                match find(&first, tag::QUERY_TYPE)? {
                    b"1" => Retrieval::parse(&first, &information).map(Self::Retrieval),
                    b"3" => Some(Search::parse(&first, &information).map_or(Self::Fatal, Self::Search)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns the request as it is logged.
    pub(crate) fn log_entry(&self, apdu: &[u8]) -> WaisRequest {
        let name = |database: Option<&[u8]>| database.unwrap_or_default().to_vec();
        match self {
            Self::Search(Search { database, words, most, neighbour: None, .. }) => {
                WaisRequest::Search { database: name(*database), words: words.to_vec(), most: *most }
            }
            Self::Retrieval(Retrieval {
                database,
                id,
                wtype,
                range: Some((Unit::Bytes, start, end)),
                ..
            }) => {
                let (id, wtype) = (id.to_vec(), name(*wtype));
                WaisRequest::Retrieve { database: name(*database), id, wtype, start: *start, end: *end }
            }
            _ => WaisRequest::Other(apdu.get(2).copied().unwrap_or(0)),
        }
    }
}

impl<'a> Search<'a> {
    /// Returns `None` for a search on which freeWAIS-sf crashes: words, date factor or number of documents are
    /// missing.
    fn parse(first: &[(u64, &'a [u8])], information: &[(u64, &'a [u8])]) -> Option<Self> {
        let inside = fields(find(information, tag::INFORMATION)?)?;
        find(&inside, tag::DATE_FACTOR)?;
        let id = find(&inside, tag::ID);
        let neighbour = match find(&inside, tag::TYPE) {
            Some(b"WAIS_NEXT") => id.map(|id| (id, Neighbour::Next)),
            Some(b"WAIS_PREV") => id.map(|id| (id, Neighbour::Previous)),
            _ => None,
        };
        Some(Self {
            reference: find(first, tag::REFERENCE),
            database: find(first, tag::DATABASE),
            words: find(&inside, tag::WORDS)?,
            most: number(find(&inside, tag::MOST_DOCUMENTS)?)?,
            neighbour,
        })
    }
}

impl<'a> Retrieval<'a> {
    fn parse(first: &[(u64, &'a [u8])], information: &[(u64, &'a [u8])]) -> Option<Self> {
        let query = fields(find(information, tag::QUERY)?)?;
        let (reference, database) = (find(first, tag::REFERENCE), find(first, tag::DATABASE));
        let mut request = Self { reference, database, ..Self::default() };
        let (mut start, mut end, mut unit) = (None, None, None);
        for pair in query.windows(2) {
            let [(tag::ATTRIBUTES, attributes), (tag::TERM, term)] = pair else { continue };
            let limit = || std::str::from_utf8(term).ok()?.parse::<u64>().ok();
            match (attributes.get(..2)?, attributes.get(3..5)?) {
                (b"un", _) => request.id = term,
                (b"wt", _) => request.wtype = Some(term),
                (b"wb" | b"wl", relation) => {
                    unit = Some(if attributes[1] == b'b' { Unit::Bytes } else { Unit::Lines });
                    match relation {
                        b"ro" => start = limit(),
                        b"rl" => end = limit(),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        request.range = unit.zip(start).zip(end).map(|((unit, start), end)| (unit, start, end));
        Some(request)
    }
}
