//! The request for a `wais:` URL. No I/O.

use std::fmt;
use std::ops::Range;

use fetch_url_core::{Host, PercentEncoded, Url, WaisResource};
use fetch_url_proto::text::escape_non_ascii;
use fetch_url_proto::wais::{DocumentId, Retrieval, Search, WaisName, WaisNameError};

use crate::{ByteRange, Code, Error, Phase, Request, Want};

/// A search or a retrieval at one WAIS server.
#[derive(Clone, Debug)]
pub(super) struct WaisPlan {
    pub(super) url: Url<'static>,
    pub(super) host: Host<'static>,
    pub(super) port: u16,
    pub(super) operation: WaisOperation,
    pub(super) wants_head: bool,
}

/// What is requested of the server.
#[derive(Clone, Debug)]
pub(super) enum WaisOperation {
    /// Retrieve a document, or the bytes of a range.
    Retrieve { database: WaisName, wtype: WaisName, id: DocumentId, range: Range<u64> },
    /// Search for these words; without words, retrieve the description of the database.
    Search { database: WaisName, words: Option<PercentEncoded<'static>> },
}

impl WaisPlan {
    pub(super) fn new(request: &Request) -> Result<Self, Error> {
        let Url::Wais(url) = request.url() else {
            return Err(Error::unsupported("the wais driver supports wais URLs only"));
        };
        let wants_head = request.want() == Want::Head;
        let range = request.wanted_range().filter(|_| !wants_head);
        let database = WaisName::database(url).map_err(name_error)?;
        let operation = match url.resource() {
            WaisResource::Document { wtype, wpath } => WaisOperation::Retrieve {
                database,
                wtype: WaisName::wtype(wtype).map_err(name_error)?,
                id: DocumentId::from_wpath(wpath).map_err(name_error)?,
                range: absolute_range(range)?,
            },
            _ if range.is_some() => return Err(range_error("search results have no byte ranges")),
            WaisResource::Search(words) => {
                WaisOperation::Search { database, words: Some(words.clone().into_owned()) }
            }
            _ => WaisOperation::Search { database, words: None },
        };
        if let WaisOperation::Search { database, words } = &operation {
            // A search that is too long is an error before the connection is opened.
            new_search(database, words.as_ref())?;
        }
        Ok(Self {
            url: request.url().clone(),
            host: url.host_port().host().clone().into_owned(),
            port: request.url().port().unwrap_or(210),
            operation,
            wants_head,
        })
    }
}

/// Returns the protocol machine of a search.
pub(super) fn new_search(database: &WaisName, words: Option<&PercentEncoded<'_>>) -> Result<Search, Error> {
    Search::new(database, words).map_err(name_error)
}

/// Returns the range with absolute offsets. WAIS does not report the size of a document, so an open range ends at the
/// highest offset, and a suffix range cannot be served.
fn absolute_range(range: Option<ByteRange>) -> Result<Range<u64>, Error> {
    match range {
        None => Ok(0..u64::MAX),
        Some(ByteRange::Span { first, last }) => {
            Ok(first..last.map_or(u64::MAX, |last| last.saturating_add(1)))
        }
        Some(ByteRange::Suffix(_)) => Err(range_error("WAIS does not report the size of a document")),
    }
}

fn range_error(detail: &str) -> Error {
    Error::new(Code::RangeRefused, Phase::Plan, detail)
}

fn name_error(error: WaisNameError) -> Error {
    match error {
        WaisNameError::Forbidden(byte) => byte.into(),
        error => Error::new(Code::BadUrl, Phase::Plan, error.to_string()),
    }
}

impl fmt::Display for WaisPlan {
    /// Shows the fields of the request, one per line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.operation {
            WaisOperation::Search { database, words } => {
                let words =
                    words.as_ref().map(|words| words.split('+').map(|word| escape_non_ascii(&word.decode())));
                let words = words.map(|words| words.collect::<Vec<_>>().join(" ")).unwrap_or_default();
                write!(
                    f,
                    "SEARCH (PDU 22)\n  database {}\n  query type 3",
                    escape_non_ascii(database.as_bytes())
                )?;
                write!(
                    f,
                    "\n  words {words}\n  date factor 1\n  at most 200 documents (if the server has more, the search is repeated)"
                )
            }
            WaisOperation::Retrieve { database, wtype, id, range } => {
                write!(
                    f,
                    "SEARCH (PDU 22)\n  database {}\n  query type 1",
                    escape_non_ascii(database.as_bytes())
                )?;
                write!(
                    f,
                    "\n  un re {}\n  wt re {}",
                    escape_non_ascii(id.as_bytes()),
                    escape_non_ascii(wtype.as_bytes())
                )?;
                let last = if self.wants_head { 1 } else { range.end };
                let end = last.min(range.start.saturating_add(Retrieval::BYTES_PER_REQUEST));
                write!(f, "\n  wb ro {}\n  wb rl {end}", range.start)?;
                f.write_str(if end < last { "\n  (repeated until the end of the document)" } else { "" })
            }
        }
    }
}
