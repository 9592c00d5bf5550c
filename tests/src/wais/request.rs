//! What a WAIS client asks for: the message and what is in it.

use std::fmt;

use crate::wais::field::{fields, find, number, tag};

/// The header of a message.
const HEADER: usize = 25;
/// The longest message that is read at all.
const LONGEST: usize = 1 << 20;
/// SEARCH, which also retrieves.
const SEARCH: u8 = 22;
/// What stands between the type of a SEARCH and its fields.
const FIXED: usize = 10;

/// A request as it was understood.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum WaisRequest {
    /// For documents with these words.
    Search {
        /// Its name, as it came.
        database: Vec<u8>,
        /// All of them.
        words: Vec<u8>,
        /// The most documents that are wanted.
        most: u64,
    },
    /// Of a range of a document's octets.
    Retrieve {
        /// Its name, as it came.
        database: Vec<u8>,
        /// The document's identifier.
        id: Vec<u8>,
        /// What the document is wanted as; empty when it was not said.
        wtype: Vec<u8>,
        /// The first octet.
        start: u64,
        /// The first octet that is not wanted any more.
        end: u64,
    },
    /// Anything else: this PDU type, 20 for INIT, 0 for what is no message.
    Other(u8),
}

/// In one line, for comparison: `SEARCH t 200 some words` and `RETRIEVE t TEXT 0-10000 \x01\x01a`.
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

/// A whole message.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) header: [u8; HEADER],
    pub(crate) apdu: Vec<u8>,
}

/// What has come so far.
#[derive(Debug)]
pub(crate) enum Taken {
    Broken,
    More,
    Whole(Message),
}

impl Message {
    /// Takes the first message that has come.
    pub(crate) fn take(inbox: &mut Vec<u8>) -> Taken {
        let Some(header) = inbox.first_chunk::<HEADER>().copied() else { return Taken::More };
        let digits = std::str::from_utf8(&header[..10]).ok();
        let length = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()));
        let Some(length) = length.and_then(|digits| digits.parse::<usize>().ok()) else {
            return Taken::Broken;
        };
        // Version 2 is the latest; only APDUs are served.
        if length > LONGEST || header[11] > b'2' || !header[10].eq_ignore_ascii_case(&b'z') {
            return Taken::Broken;
        }
        if inbox.len() < HEADER + length {
            return Taken::More;
        }
        let apdu = inbox.drain(..HEADER + length).skip(HEADER).collect();
        Taken::Whole(Self { header, apdu })
    }
}

/// What a message asks for, with all that tells a server what to do.
#[derive(Clone, Debug)]
pub(crate) enum Asked<'a> {
    /// The fields.
    Init(Vec<(u64, &'a [u8])>),
    Retrieval(Retrieval<'a>),
    Search(Search<'a>),
    /// A SEARCH that ends the server.
    Deadly,
    /// What nobody serves.
    Unknown,
}

/// A search by words.
#[derive(Clone, Debug)]
pub(crate) struct Search<'a> {
    pub(crate) reference: Option<&'a [u8]>,
    pub(crate) database: Option<&'a [u8]>,
    pub(crate) words: &'a [u8],
    pub(crate) most: u64,
    /// A document whose neighbour is wanted.
    pub(crate) neighbour: Option<(&'a [u8], Neighbour)>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Neighbour {
    Next,
    Previous,
}

/// A search by identifier.
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
    Octets,
}

impl<'a> Asked<'a> {
    /// Understands an APDU.
    pub(crate) fn parse(apdu: &'a [u8]) -> Self {
        Self::understood(apdu).unwrap_or(Self::Unknown)
    }

    fn understood(apdu: &'a [u8]) -> Option<Self> {
        let (length, rest) = apdu.split_first_chunk::<2>()?;
        let (first, information) = rest.split_at_checked(u16::from_be_bytes(*length).into())?;
        match first.split_first()? {
            (20, rest) => fields(rest).map(Self::Init),
            (&SEARCH, rest) => {
                let first = fields(rest.get(FIXED..)?)?;
                let information = fields(information)?;
                match find(&first, tag::QUERY_TYPE)? {
                    b"1" => Retrieval::parse(&first, &information).map(Self::Retrieval),
                    b"3" => Some(Search::parse(&first, &information).map_or(Self::Deadly, Self::Search)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// What is recorded of it.
    pub(crate) fn request(&self, apdu: &[u8]) -> WaisRequest {
        let name = |database: Option<&[u8]>| database.unwrap_or_default().to_vec();
        match self {
            Self::Search(Search { database, words, most, neighbour: None, .. }) => {
                WaisRequest::Search { database: name(*database), words: words.to_vec(), most: *most }
            }
            Self::Retrieval(Retrieval {
                database,
                id,
                wtype,
                range: Some((Unit::Octets, start, end)),
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
    /// None for what ends a server: the words, the date factor or the number of documents is missing.
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
        let mut asked = Self { reference, database, ..Self::default() };
        let (mut start, mut end, mut unit) = (None, None, None);
        for pair in query.windows(2) {
            let [(tag::ATTRIBUTES, attributes), (tag::TERM, term)] = pair else { continue };
            let limit = || std::str::from_utf8(term).ok()?.parse::<u64>().ok();
            match (attributes.get(..2)?, attributes.get(3..5)?) {
                (b"un", _) => asked.id = term,
                (b"wt", _) => asked.wtype = Some(term),
                (b"wb" | b"wl", relation) => {
                    unit = Some(if attributes[1] == b'b' { Unit::Octets } else { Unit::Lines });
                    match relation {
                        b"ro" => start = limit(),
                        b"rl" => end = limit(),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        asked.range = unit.zip(start).zip(end).map(|((unit, start), end)| (unit, start, end));
        Some(asked)
    }
}
