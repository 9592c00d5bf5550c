//! Lists of groups and of articles, line by line.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use fetch_url_core::{Escaped, charset};
use fetch_url_proto::nntp::ListForm;
use fetch_url_proto::{Details, Entry, Event, Step};
use futures_core::Stream;

use super::line::{Line, disagree};
use super::plan::{Errand, NntpPlan};
use super::refusal;
use crate::body::EndMark;
use crate::{Body, ByteSource, Content, Ctx, Error, Listing, Proof};

/// How the end of a list is known.
const PROOF: Proof = Proof::Proven("the line of one dot at its end");

/// The list whose answer has begun.
pub(super) fn arriving(line: Line, plan: &NntpPlan, ctx: &Ctx) -> Content {
    let incoming =
        Incoming { line: Some(line), place: Place::of(plan), plan: plan.clone(), ctx: ctx.clone() };
    match plan.list_form() {
        ListForm::Octets => Content::Body(Body::from_source(incoming, None, PROOF)),
        ListForm::Entries => Content::Listing(Listing::new(incoming).ending_by(PROOF, EndMark::default())),
    }
}

/// Where the entries of a list are found.
struct Place {
    /// `nntp://host:port/`.
    server: String,
    /// The group whose articles are listed.
    group: Option<String>,
}

impl Place {
    fn of(plan: &NntpPlan) -> Self {
        let (scheme, own) = if plan.is_tls { ("nntps", 563) } else { ("nntp", 119) };
        let port = if plan.port == own { String::new() } else { format!(":{}", plan.port) };
        let group = match &plan.errand {
            Errand::Group(group, _) => Some(encoded(group.octets())),
            _ => None,
        };
        Self { server: format!("{scheme}://{}{port}/", plan.host), group }
    }

    fn url(&self, entry: &Entry) -> Option<String> {
        match (&entry.details, &self.group) {
            (Details::Newsgroup(_), _) => Some(format!("{}{}", self.server, encoded(&entry.name))),
            (Details::Article(facts), Some(group)) => {
                Some(format!("{}{group}/{}", self.server, facts.number))
            }
            _ => None,
        }
    }
}

fn encoded(group: &[u8]) -> String {
    Escaped::encode(group, charset::GROUP).to_string()
}

/// Lines as they arrive.
struct Incoming {
    /// None after the end.
    line: Option<Line>,
    place: Place,
    plan: NntpPlan,
    ctx: Ctx,
}

impl Incoming {
    /// The next event; none at the end.
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Event, Error>>> {
        let Some(line) = &mut self.line else { return Poll::Ready(None) };
        let error = match ready!(line.pump.poll_step(cx)) {
            Ok(Step::Emit(Event::Refused(refused))) => refusal::error(&refused, &self.plan, &self.ctx),
            Ok(Step::Emit(event)) => return Poll::Ready(Some(Ok(event))),
            Ok(Step::Done) => {
                if let Some(line) = self.line.take() {
                    line.wait(&self.plan, &self.ctx);
                }
                return Poll::Ready(None);
            }
            Ok(_) => disagree(),
            Err(error) => error,
        };
        self.line = None;
        Poll::Ready(Some(Err(error)))
    }
}

impl ByteSource for Incoming {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let event = ready!(self.poll_event(cx));
        Poll::Ready(event.map(|event| match event? {
            Event::Body(octets) => Ok(octets),
            _ => Err(disagree()),
        }))
    }
}

impl Stream for Incoming {
    type Item = Result<Entry, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let event = ready!(self.poll_event(cx));
        Poll::Ready(event.map(|event| match event? {
            Event::Entry(mut entry) => {
                entry.url = self.place.url(&entry);
                Ok(entry)
            }
            _ => Err(disagree()),
        }))
    }
}
