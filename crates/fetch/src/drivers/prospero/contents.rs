//! The octets of an object over Prospero itself.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use fetch_url_proto::prospero::Contents;
use fetch_url_proto::{Event, Step};

use super::attributes;
use super::io::{self, Stop};
use super::plan::ProsperoPlan;
use crate::net::courier::{Came, Courier};
use crate::net::datagram::Datagrams;
use crate::{Body, ByteSource, Content, Ctx, Error, Meta, Outcome, Proof};

/// How the end is known.
const PROOF: Proof = Proof::Proven("all numbered packets of the answer");

/// Asks for them.
pub(super) async fn fetch(
    datagrams: Datagrams,
    mut meta: Meta,
    plan: &ProsperoPlan,
    ctx: &Ctx,
) -> Result<Outcome, Stop> {
    plan.range_refused()?;
    let datagrams = attributes::describe(datagrams, &mut meta, plan, ctx).await?;
    let courier = io::begin(Contents::new(&plan.object), datagrams, plan, ctx).await?;
    let body = Body::from_source(Incoming { courier: Some(courier) }, meta.head.size, PROOF);
    Ok(io::answer(meta, Content::Body(body)))
}

/// The octets, packet by packet.
struct Incoming {
    /// None after the end.
    courier: Option<Courier<Contents>>,
}

impl ByteSource for Incoming {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let Some(courier) = &mut self.courier else { return Poll::Ready(None) };
        let error = match ready!(courier.poll_step(cx)) {
            Ok(Came::Step(Step::Emit(Event::Body(octets)))) => return Poll::Ready(Some(Ok(octets))),
            came => io::ending(came),
        };
        self.courier = None;
        Poll::Ready(error.map(Err))
    }
}
