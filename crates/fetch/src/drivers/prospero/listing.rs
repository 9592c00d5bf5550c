//! The links of a directory, as a listing.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use fetch_url_proto::prospero::LinksQuery;
use fetch_url_proto::{Entry, Event, Step};
use futures_core::Stream;

use super::plan::ProsperoPlan;
use super::query::{QueryError, end_of_response, start_query};
use super::response::outcome;
use crate::net::datagram::DatagramSockets;
use crate::net::datagram_connection::{DatagramConnection, DatagramStep};
use crate::net::trace;
use crate::{Content, Error, Listing, Meta, Outcome, RunContext};

/// Requests the links and returns them as a listing.
pub(super) async fn fetch_listing(
    datagrams: DatagramSockets,
    meta: Meta,
    plan: &ProsperoPlan,
    ctx: &RunContext,
) -> Result<Outcome, QueryError> {
    plan.check_no_range()?;
    let connection = start_query(LinksQuery::new(&plan.object), datagrams, plan, ctx).await?;
    Ok(outcome(meta, Content::Listing(Listing::new(LinkEntries { connection: Some(connection) }))))
}

struct LinkEntries {
    /// `None` after the end.
    connection: Option<DatagramConnection<LinksQuery>>,
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
                    trace::note(&note);
                    continue;
                }
                received => end_of_response(received),
            };
            self.connection = None;
            return Poll::Ready(error.map(Err));
        }
    }
}
