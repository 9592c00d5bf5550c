//! `wais://host:port/database`, `…?search`, `…/wtype/wpath` (RFC 1738 §3.9, RFC 4156).

use std::fmt;

use crate::escape::sets;
use crate::part::host_parts;
use crate::reader::{Reader, Rule, whole};
use crate::{Escaped, HostPort, NoteKind, ParseError, ParseErrorKind as Kind, Parsed, Part, Url};

const NAME: Rule = Rule::new(sets::UCHAR);
const SEARCH: Rule = Rule::new(sets::HSEGMENT).keeping(sets::RFC3986_QUERY);
const WPATH: Rule = Rule::new(sets::UCHAR).keeping(sets::WAIS_OPAQUE);
const NAME_1993: Rule = Rule::new(sets::XALPHAS_1993);
const WPATH_1993: Rule = Rule::new(sets::WPATH_1993);
const SEARCH_1993: Rule = Rule::new(sets::SEARCH_1993);

/// A database on a WAIS server, a search of it, or a document in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaisUrl<'a> {
    at: HostPort<'a>,
    database: Escaped<'a>,
    part: WaisPart<'a>,
}

/// What of the database is named.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaisPart<'a> {
    /// The database itself.
    Database,
    /// A document.
    Document {
        /// Its type, such as `TEXT`.
        wtype: Escaped<'a>,
        /// Its identifier: decoded, the octets the server gave.
        wpath: Escaped<'a>,
    },
    /// A search for these words.
    Search(Escaped<'a>),
}

impl<'a> WaisUrl<'a> {
    #[inline]
    pub(crate) fn parse(reader: &mut Reader<'a>) -> Result<Parsed<'a>, ParseError> {
        reader.slashes()?;
        let at = reader.host_port(sets::SLASH_ONLY)?;
        if !reader.eat(b'/') {
            return Err(reader.fault_here(Kind::Incomplete));
        }
        let name = if reader.is_1993() { NAME_1993 } else { NAME };
        let database = reader.component(name, sets::SLASH_OR_QUESTION)?;
        let part = if reader.eat(b'?') {
            let rule = if reader.is_1993() { SEARCH_1993 } else { SEARCH };
            WaisPart::Search(reader.component(rule, sets::NONE)?)
        } else if reader.eat(b'/') {
            WaisPart::document(reader, name)?
        } else {
            WaisPart::Database
        };
        whole!(reader, Url::Wais(Self { at, database, part }))
    }

    /// Host and port.
    pub const fn at(&self) -> &HostPort<'a> {
        &self.at
    }

    /// The database.
    pub const fn database(&self) -> &Escaped<'a> {
        &self.database
    }

    /// What of it is named.
    pub const fn part(&self) -> &WaisPart<'a> {
        &self.part
    }

    pub(crate) fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wais://{}/{}", self.at, self.database)?;
        match &self.part {
            WaisPart::Database => Ok(()),
            WaisPart::Document { wtype, wpath } => write!(f, "/{wtype}/{wpath}"),
            WaisPart::Search(words) => write!(f, "?{words}"),
        }
    }

    pub(crate) fn parts(&self, parts: &mut Vec<Part>) {
        host_parts(&self.at, parts);
        parts.push(Part::new("database", &self.database, "RFC 1738 §3.9: the name of the database"));
        match &self.part {
            WaisPart::Database => {}
            WaisPart::Document { wtype, wpath } => {
                parts.push(Part::new("wtype", wtype, "RFC 1738 §3.9: the type of the document"));
                parts.push(Part::new("wpath", wpath, "RFC 1738 §3.9: the document's identifier, opaque"));
            }
            WaisPart::Search(words) => {
                parts.push(Part::new("search", words, "RFC 1738 §3.9: the words to search for"));
            }
        }
    }

    pub(crate) fn into_owned(self) -> WaisUrl<'static> {
        let part = match self.part {
            WaisPart::Database => WaisPart::Database,
            WaisPart::Document { wtype, wpath } => {
                WaisPart::Document { wtype: wtype.into_owned(), wpath: wpath.into_owned() }
            }
            WaisPart::Search(words) => WaisPart::Search(words.into_owned()),
        };
        WaisUrl { at: self.at.into_owned(), database: self.database.into_owned(), part }
    }
}

impl<'a> WaisPart<'a> {
    fn document(reader: &mut Reader<'a>, name: Rule) -> Result<Self, ParseError> {
        let wtype = reader.component(name, sets::SLASH_ONLY)?;
        if !reader.eat(b'/') {
            return Err(reader.fault_here(Kind::Incomplete));
        }
        let start = reader.at();
        let rule = if reader.is_1993() { WPATH_1993 } else { WPATH };
        let wpath = reader.component(rule, sets::NONE)?;
        if reader.is_1993() && !is_wpath_1993(wpath.as_str()) {
            return Err(reader.bad_span(start, Kind::BadField));
        }
        if reader.is_1993() {
            reader.note(NoteKind::Historic, start..reader.at());
        }
        Ok(Self::Document { wtype, wpath })
    }
}

/// `digits = path ;` once or more.
fn is_wpath_1993(text: &str) -> bool {
    let Some(components) = text.strip_suffix(';') else { return false };
    components.split(';').all(|component| {
        let tag = component.split_once('=').map_or("", |(tag, _)| tag);
        !tag.is_empty() && tag.bytes().all(|octet| octet.is_ascii_digit())
    })
}
