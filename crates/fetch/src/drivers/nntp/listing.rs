//! Lists of groups and of articles, one entry per line.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use fetch_url_core::{PercentEncoded, charset};
use fetch_url_proto::nntp::ListForm;
use fetch_url_proto::{Details, Entry, Event, Step};
use futures_core::Stream;

use super::active_request::ActiveRequest;
use super::connection::{NntpConnection, unexpected_step_error};
use super::plan::{NewsOperation, NntpPlan};
use super::rejection::rejection_error;
use crate::body::TerminatorCheck;
use crate::{Body, ByteSource, Content, Error, Listing, Proof};

/// How the end of a list is known.
const PROOF: Proof = Proof::Proven("the final line with a single dot");

/// Returns the list, whose reply has arrived, as entries or as bytes.
pub(super) fn list_content(connection: NntpConnection, request: &Arc<ActiveRequest>) -> Content {
    let terminator_check = TerminatorCheck::default();
    let source = ListSource {
        connection: Some(connection),
        terminator_check: terminator_check.clone(),
        entry_urls: EntryUrls::new(&request.plan),
        request: request.clone(),
    };
    match request.plan.list_form() {
        ListForm::Raw => {
            Content::Body(Body::from_source(source, None, PROOF).with_terminator_check(terminator_check))
        }
        ListForm::Entries => {
            Content::Listing(Listing::new(source).with_terminator_check(PROOF, terminator_check))
        }
    }
}

/// Makes the URLs of list entries.
struct EntryUrls {
    /// `nntp://host:port/`.
    server: String,
    /// The group whose articles are listed, percent-encoded.
    group: Option<String>,
}

impl EntryUrls {
    fn new(plan: &NntpPlan) -> Self {
        let (scheme, default_port) = if plan.is_tls { ("nntps", 563) } else { ("nntp", 119) };
        let port = if plan.port == default_port { String::new() } else { format!(":{}", plan.port) };
        let group = match &plan.operation {
            NewsOperation::ListArticles(group, _) => Some(encode_group(group.as_bytes())),
            _ => None,
        };
        Self { server: format!("{scheme}://{}{port}/", plan.host), group }
    }

    fn entry_url(&self, entry: &Entry) -> Option<String> {
        match (&entry.details, &self.group) {
            (Details::Newsgroup(_), _) => Some(format!("{}{}", self.server, encode_group(&entry.name))),
            (Details::Article(details), Some(group)) => {
                Some(format!("{}{group}/{}", self.server, details.number))
            }
            _ => None,
        }
    }
}

fn encode_group(group: &[u8]) -> String {
    PercentEncoded::encode(group, charset::GROUP).to_string()
}

/// The lines of a list as they arrive.
struct ListSource {
    /// `None` after the end.
    connection: Option<NntpConnection>,
    entry_urls: EntryUrls,
    request: Arc<ActiveRequest>,
    /// Set if the list lacks articles that may exist.
    terminator_check: TerminatorCheck,
}

impl ListSource {
    /// Returns the next event, or `None` at the end.
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Event, Error>>> {
        let Some(connection) = &mut self.connection else { return Poll::Ready(None) };
        let error = match ready!(connection.poll_step(cx)) {
            Ok(Step::Emit(Event::Rejected(rejection))) => rejection_error(&rejection, &self.request),
            Ok(Step::Emit(event)) => return Poll::Ready(Some(Ok(event))),
            Ok(Step::Done) => {
                if let Some(connection) = self.connection.take() {
                    let lists_articles =
                        matches!(self.request.plan.operation, NewsOperation::ListArticles(..));
                    if lists_articles && connection.session().lacks_heads() {
                        self.terminator_check.set_missing("the header of an article");
                    }
                    self.request.keep(connection);
                }
                return Poll::Ready(None);
            }
            Ok(_) => unexpected_step_error(),
            Err(error) => error,
        };
        self.connection = None;
        Poll::Ready(Some(Err(error)))
    }
}

impl ByteSource for ListSource {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let event = ready!(self.poll_event(cx));
        Poll::Ready(event.map(|event| match event? {
            Event::Body(bytes) => Ok(bytes),
            _ => Err(unexpected_step_error()),
        }))
    }
}

impl Stream for ListSource {
    type Item = Result<Entry, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let event = ready!(self.poll_event(cx));
        Poll::Ready(event.map(|event| match event? {
            Event::Entry(mut entry) => {
                entry.url = self.entry_urls.entry_url(&entry);
                Ok(entry)
            }
            _ => Err(unexpected_step_error()),
        }))
    }
}
