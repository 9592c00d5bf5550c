//! The links of a directory, as they come.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use fetch_url_proto::prospero::Links;
use fetch_url_proto::{Entry, Event, Step};
use futures_core::Stream;

use super::io::{self, Stop};
use super::plan::ProsperoPlan;
use crate::engine::dialogue;
use crate::net::courier::{Came, Courier};
use crate::net::datagram::Datagrams;
use crate::{Content, Ctx, Error, Listing, Meta, Outcome};

/// Asks for them.
pub(super) async fn fetch(
    datagrams: Datagrams,
    meta: Meta,
    plan: &ProsperoPlan,
    ctx: &Ctx,
) -> Result<Outcome, Stop> {
    plan.range_refused()?;
    let courier = io::begin(Links::new(&plan.object), datagrams, plan, ctx).await?;
    Ok(io::answer(meta, Content::Listing(Listing::new(Incoming { courier: Some(courier) }))))
}

struct Incoming {
    /// None after the end.
    courier: Option<Courier<Links>>,
}

impl Stream for Incoming {
    type Item = Result<Entry, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let Some(courier) = &mut self.courier else { return Poll::Ready(None) };
            let error = match ready!(courier.poll_step(cx)) {
                Ok(Came::Step(Step::Emit(Event::Entry(entry)))) => return Poll::Ready(Some(Ok(entry))),
                Ok(Came::Step(Step::Emit(Event::Note(note)))) => {
                    dialogue::decided(&note);
                    continue;
                }
                came => io::ending(came),
            };
            self.courier = None;
            return Poll::Ready(error.map(Err));
        }
    }
}
