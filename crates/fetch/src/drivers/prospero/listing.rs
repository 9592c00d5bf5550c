//! The links of a directory, as a listing.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use fetch_url_proto::prospero::LinksQuery;
use fetch_url_proto::{Entry, Event, Step};
use futures_core::Stream;

use super::plan::ProsperoPlan;
use super::query::{QueryError, end_of_response, start_query};
use super::response::outcome;
use crate::body::TerminatorCheck;
use crate::net::datagram::DatagramSockets;
use crate::net::datagram_connection::{DatagramConnection, DatagramStep};
use crate::{Content, Error, Listing, Meta, Outcome, Proof, RunContext};

/// How it is known that a listing is complete. If the server has not resolved some links, the machine reports it, and the
/// proof becomes *assumed*.
const PROOF: Proof = Proof::Proven("the end of the listing");

/// Requests the links and returns them as a listing.
pub(super) async fn fetch_listing(
    datagrams: DatagramSockets,
    meta: Meta,
    plan: &ProsperoPlan,
    ctx: &RunContext,
) -> Result<Outcome, QueryError> {
    plan.check_no_range()?;
    let connection = start_query(LinksQuery::new(&plan.object), datagrams, plan, ctx).await?;
    let terminator_check = TerminatorCheck::default();
    let entries = LinkEntries { connection: Some(connection), terminator_check: terminator_check.clone() };
    let listing = Listing::new(entries).with_terminator_check(PROOF, terminator_check);
    Ok(outcome(meta, Content::Listing(listing)))
}

struct LinkEntries {
    /// `None` after the end.
    connection: Option<DatagramConnection<LinksQuery>>,
    terminator_check: TerminatorCheck,
}

impl Stream for LinkEntries {
    type Item = Result<Entry, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let Some(connection) = &mut self.connection else { return Poll::Ready(None) };
            let error = match ready!(connection.poll_step(cx)) {
                Ok(DatagramStep::Step(Step::Emit(Event::Entry(entry)))) => {
                    return Poll::Ready(Some(Ok(entry)));
                }
                Ok(DatagramStep::Step(Step::Emit(Event::Note(note)))) => {
                    self.terminator_check.add_note(note);
                    continue;
                }
                Ok(DatagramStep::Step(Step::Emit(Event::UnterminatedEnd(missing)))) => {
                    self.terminator_check.set_missing(missing);
                    continue;
                }
                received => end_of_response(received),
            };
            self.connection = None;
            return Poll::Ready(error.map(Err));
        }
    }
}
