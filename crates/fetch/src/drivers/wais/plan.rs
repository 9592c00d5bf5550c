//! What a URL asks of a WAIS server. Pure.

use std::fmt;
use std::ops::Range;

use fetch_url_core::{Escaped, Host, Url, WaisPart};
use fetch_url_proto::text::escaped;
use fetch_url_proto::wais::{DocumentId, Retrieval, Search, WaisName, WaisNameError};

use super::io;
use crate::driver::RunFuture;
use crate::{ByteRange, Code, Ctx, Error, Phase, Plan, Request, Want};

/// One errand.
#[derive(Clone, Debug)]
pub(super) struct WaisPlan {
    pub(super) url: Url<'static>,
    pub(super) host: Host<'static>,
    pub(super) port: u16,
    pub(super) errand: Errand,
    pub(super) wants_head: bool,
}

/// What is to be done.
#[derive(Clone, Debug)]
pub(super) enum Errand {
    /// A document, or a part of it.
    Document { database: WaisName, wtype: WaisName, id: DocumentId, wanted: Range<u64> },
    /// The documents that these words find; without words, what the database is about.
    Search { database: WaisName, words: Option<Escaped<'static>> },
}

impl WaisPlan {
    pub(super) fn new(request: &Request) -> Result<Self, Error> {
        let Url::Wais(url) = request.url() else {
            return Err(Error::unsupported("the wais driver speaks WAIS only"));
        };
        let wants_head = request.want() == Want::Head;
        let range = request.wanted_range().filter(|_| !wants_head);
        let database = WaisName::database(url).map_err(bad_name)?;
        let errand = match url.part() {
            WaisPart::Document { wtype, wpath } => Errand::Document {
                database,
                wtype: WaisName::wtype(wtype).map_err(bad_name)?,
                id: DocumentId::of(wpath).map_err(bad_name)?,
                wanted: wanted(range)?,
            },
            _ if range.is_some() => return Err(range_refused("a list has no parts")),
            WaisPart::Search(words) => Errand::Search { database, words: Some(words.clone().into_owned()) },
            _ => Errand::Search { database, words: None },
        };
        let this = Self {
            url: request.url().clone(),
            host: url.at().host().clone().into_owned(),
            port: request.url().port().unwrap_or(210),
            errand,
            wants_head,
        };
        // What is too long is found before anything is sent.
        this.search()?;
        Ok(this)
    }

    /// The search, where there is one.
    pub(super) fn search(&self) -> Result<Option<Search>, Error> {
        match &self.errand {
            Errand::Search { database, words } => {
                Search::new(database, words.as_ref()).map(Some).map_err(bad_name)
            }
            Errand::Document { .. } => Ok(None),
        }
    }

    /// The retrieval, where there is one.
    pub(super) fn retrieval(&self) -> Option<Retrieval> {
        match self.errand.clone() {
            Errand::Document { database, wtype, id, wanted } => {
                // One octet shows whether there is a document.
                let wanted = if self.wants_head { 0..1 } else { wanted };
                Some(Retrieval::new(database, wtype, id, wanted))
            }
            Errand::Search { .. } => None,
        }
    }
}

/// Which octets are wanted. Nobody tells how many there are.
fn wanted(range: Option<ByteRange>) -> Result<Range<u64>, Error> {
    match range {
        None => Ok(0..u64::MAX),
        Some(ByteRange::Span { first, last }) => {
            Ok(first..last.map_or(u64::MAX, |last| last.saturating_add(1)))
        }
        Some(ByteRange::Suffix(_)) => Err(range_refused("nobody tells how long a document is")),
    }
}

fn range_refused(detail: &str) -> Error {
    Error::new(Code::RangeRefused, Phase::Plan, detail)
}

fn bad_name(error: WaisNameError) -> Error {
    match error {
        WaisNameError::Forbidden(octet) => octet.into(),
        error => Error::new(Code::BadUrl, Phase::Plan, error.to_string()),
    }
}

impl Plan for WaisPlan {
    fn run(self: Box<Self>, ctx: Ctx) -> RunFuture {
        Box::pin(io::run(*self, ctx))
    }
}

impl fmt::Display for WaisPlan {
    /// The fields of the request, a line for each.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.errand {
            Errand::Search { database, words } => {
                let words = words.as_ref().map(|words| words.split('+').map(|word| escaped(&word.decode())));
                let words = words.map(|words| words.collect::<Vec<_>>().join(" ")).unwrap_or_default();
                write!(f, "SEARCH (PDU 22)\n  database {}\n  query type 3", escaped(database.octets()))?;
                write!(f, "\n  words {words}\n  date factor 1\n  at most 200 documents")
            }
            Errand::Document { database, wtype, id, wanted } => {
                write!(f, "SEARCH (PDU 22)\n  database {}\n  query type 1", escaped(database.octets()))?;
                write!(f, "\n  un re {}\n  wt re {}", escaped(id.octets()), escaped(wtype.octets()))?;
                let last = if self.wants_head { 1 } else { wanted.end };
                let end = last.min(wanted.start.saturating_add(Retrieval::PIECE));
                write!(f, "\n  wb ro {}\n  wb rl {end}", wanted.start)?;
                f.write_str(if end < last { "\n  (and so on, to the end)" } else { "" })
            }
        }
    }
}
