//! The documents that a search found, as a listing.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use fetch_url_core::{PercentEncoded, Url, charset};
use fetch_url_proto::wais::{DocumentDetails, Search};
use fetch_url_proto::{Details, Entry, Event, Step};
use futures_core::Stream;

use super::exchange::unexpected_step_error;
use super::plan::WaisPlan;
use crate::body::TerminatorCheck;
use crate::net::connection::Connection;
use crate::{Error, Listing, Proof, Request};

/// How it is known that a result is complete. If the server may have more documents, the machine reports it, and the
/// proof becomes *assumed*.
const PROOF: Proof = Proof::Proven("fewer documents than requested");

/// Returns the listing of a search whose response has arrived.
pub(super) fn search_listing(connection: Connection<Search>, plan: &WaisPlan) -> Listing {
    let terminator_check = TerminatorCheck::default();
    let results = SearchResults {
        connection: Some(connection),
        database_url: database_url(&plan.url),
        terminator_check: terminator_check.clone(),
    };
    Listing::new(results).with_terminator_check(PROOF, terminator_check)
}

/// Returns `wais://host:port/database/`.
fn database_url(url: &Url<'_>) -> String {
    match url {
        Url::Wais(url) => format!("wais://{}/{}/", url.host_port(), url.database()),
        _ => String::new(),
    }
}

/// Returns the URL of a document (RFC 1738 §3.9). A document of type URL is a link, and its headline is the target.
fn document_url(details: &DocumentDetails, database_url: &str) -> Option<String> {
    let wtype = details.first_type();
    if wtype == b"URL" {
        return details.link();
    }
    let encoded = |bytes| PercentEncoded::encode(bytes, charset::UCHAR);
    let text = format!("{database_url}{}/{}", encoded(wtype), encoded(details.id.as_bytes()));
    // Return the URL only if this driver accepts it.
    let request = Request::new(&text).ok()?;
    WaisPlan::new(&request).is_ok().then_some(text)
}

struct SearchResults {
    /// `None` after the end.
    connection: Option<Connection<Search>>,
    database_url: String,
    terminator_check: TerminatorCheck,
}

impl Stream for SearchResults {
    type Item = Result<Entry, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let Some(connection) = &mut self.connection else { return Poll::Ready(None) };
            let error = match ready!(connection.poll_step(cx)) {
                Ok(Step::Emit(Event::Entry(mut entry))) => {
                    if let Details::Document(details) = &entry.details {
                        entry.url = document_url(details, &self.database_url);
                    }
                    return Poll::Ready(Some(Ok(entry)));
                }
                Ok(Step::Emit(Event::Note(note))) => {
                    self.terminator_check.add_note(note);
                    continue;
                }
                Ok(Step::Emit(Event::UnterminatedEnd(missing))) => {
                    self.terminator_check.set_missing(missing);
                    continue;
                }
                Ok(Step::Done) => None,
                Ok(_) => Some(unexpected_step_error()),
                Err(error) => Some(error),
            };
            self.connection = None;
            return Poll::Ready(error.map(Err));
        }
    }
}
