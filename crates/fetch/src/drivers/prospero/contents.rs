//! The contents of an object, transferred over Prospero itself.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use fetch_url_proto::prospero::ContentsQuery;
use fetch_url_proto::{Event, Step};

use super::attributes::query_size_and_time;
use super::plan::ProsperoPlan;
use super::query::{QueryError, end_of_response, start_query};
use super::response::outcome;
use crate::net::datagram::DatagramSockets;
use crate::net::datagram_connection::{DatagramConnection, DatagramStep};
use crate::{Body, ByteSource, Content, Error, Meta, Outcome, Proof, RunContext};

/// How the end of the body is known.
const PROOF: Proof = Proof::Proven("all numbered packets of the response");

/// Requests the contents and returns them as the body.
pub(super) async fn fetch_contents(
    datagrams: DatagramSockets,
    mut meta: Meta,
    plan: &ProsperoPlan,
    ctx: &RunContext,
) -> Result<Outcome, QueryError> {
    plan.check_no_range()?;
    let datagrams = query_size_and_time(datagrams, &mut meta, plan, ctx).await?;
    let connection = start_query(ContentsQuery::new(&plan.object), datagrams, plan, ctx).await?;
    let body = Body::from_source(ContentsSource { connection: Some(connection) }, meta.head.size, PROOF);
    Ok(outcome(meta, Content::Body(body)))
}

/// The bytes of the contents, one chunk per packet.
struct ContentsSource {
    /// `None` after the end.
    connection: Option<DatagramConnection<ContentsQuery>>,
}

impl ByteSource for ContentsSource {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let Some(connection) = &mut self.connection else { return Poll::Ready(None) };
        let error = match ready!(connection.poll_step(cx)) {
            Ok(DatagramStep::Step(Step::Emit(Event::Body(bytes)))) => return Poll::Ready(Some(Ok(bytes))),
            received => end_of_response(received),
        };
        self.connection = None;
        Poll::Ready(error.map(Err))
    }
}
