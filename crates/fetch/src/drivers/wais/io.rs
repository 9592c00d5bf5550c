//! One errand at a server: what is asked, and what becomes of the answer.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use fetch_url_proto::wais::{Retrieval, Search};
use fetch_url_proto::{Event, Machine, Step};

use super::plan::{Errand, WaisPlan};
use super::{listing, refusal};
use crate::body::EndMark;
use crate::net::pump::Pump;
use crate::{Body, ByteSource, Code, Content, Ctx, Error, Meta, Outcome, Phase, Proof, Response};

/// How the end of a document is known.
const PROOF: Proof = Proof::Proven("the server's word that the range is out of it, or all of a part");

/// Does what the plan says.
pub(super) async fn run(plan: WaisPlan, ctx: Ctx) -> Result<Outcome, Error> {
    match (plan.search()?, plan.retrieval()) {
        (Some(search), _) => documents(search, &plan, &ctx).await,
        (None, Some(retrieval)) => document(retrieval, &plan, &ctx).await,
        (None, None) => Err(disagree()),
    }
}

/// Asks, and waits for the answer to begin; what the caller should know of it.
async fn begin<M: Machine>(
    machine: M,
    plan: &WaisPlan,
    ctx: &Ctx,
) -> Result<(Pump<M>, Vec<&'static str>), Error> {
    let stream = ctx.dial.connect(&plan.host, plan.port, &ctx.deadline).await?;
    let mut pump = Pump::new(machine, ctx.dial.plain_stream(stream), ctx.dial.contact());
    let mut notes = Vec::new();
    loop {
        match heard(&mut pump, ctx).await? {
            Step::Emit(Event::Head(_)) => return Ok((pump, notes)),
            Step::Emit(Event::Note(note)) => notes.push(note),
            Step::Emit(Event::Refused(refused)) => return Err(refusal::error(&refused, plan)),
            _ => return Err(disagree()),
        }
    }
}

/// The next step. An answer is read when it is whole: as long as octets of it arrive, it is waited for.
async fn heard<M: Machine>(pump: &mut Pump<M>, ctx: &Ctx) -> Result<Step, Error> {
    loop {
        let before = ctx.dial.contact().facts().heard;
        let error = match ctx.deadline.bound(Phase::Reply, pump.step()).await {
            Err(error) if error.code() == Code::TimedOut => error,
            step => return step,
        };
        if ctx.dial.contact().facts().heard == before || ctx.deadline.check().is_err() {
            return Err(error);
        }
    }
}

async fn documents(search: Search, plan: &WaisPlan, ctx: &Ctx) -> Result<Outcome, Error> {
    let (mut pump, notes) = begin(search, plan, ctx).await?;
    let mut meta = meta(plan, notes);
    if matches!(&plan.errand, Errand::Search { words: None, .. }) {
        meta.notes.push("the database itself: words behind a ? search it");
    }
    if !plan.wants_head {
        return Ok(answer(meta, Content::Listing(listing::arriving(pump, plan))));
    }
    let mut count = 0;
    while let Step::Emit(event) = ctx.deadline.bound(Phase::Reply, pump.step()).await? {
        count += u64::from(matches!(event, Event::Entry(_)));
    }
    meta.fields.push(("Documents".to_owned(), count.to_string().into()));
    Ok(answer(meta, Content::Head))
}

async fn document(retrieval: Retrieval, plan: &WaisPlan, ctx: &Ctx) -> Result<Outcome, Error> {
    let (pump, notes) = begin(retrieval, plan, ctx).await?;
    let mut meta = meta(plan, notes);
    if let Errand::Document { wtype, wanted, .. } = &plan.errand {
        meta.offset = wanted.start;
        meta.media_type = media_type(wtype.octets()).map(str::to_owned);
    }
    let content = match plan.wants_head {
        true => Content::Head,
        false => {
            let mark = EndMark::default();
            let incoming = Incoming { pump: Some(pump), mark: mark.clone() };
            Content::Body(Body::from_source(incoming, None, PROOF).ending_by(mark))
        }
    };
    Ok(answer(meta, content))
}

/// The media types of the types that the browsers of the time knew.
fn media_type(wtype: &[u8]) -> Option<&'static str> {
    match wtype.to_ascii_uppercase().as_slice() {
        b"GIF" => Some("image/gif"),
        b"HTML" => Some("text/html"),
        b"TEXT" => Some("text/plain"),
        b"WSRC" => Some("application/x-wais-source"),
        _ => None,
    }
}

fn answer(meta: Meta, content: Content) -> Outcome {
    Outcome::Answer(Response::new(meta, content))
}

fn meta(plan: &WaisPlan, notes: Vec<&'static str>) -> Meta {
    let mut meta = Meta::new(plan.url.clone());
    meta.protocol = Some("WAIS");
    meta.notes = notes;
    meta
}

/// The octets of a document, piece by piece.
struct Incoming {
    /// None after the end.
    pump: Option<Pump<Retrieval>>,
    mark: EndMark,
}

impl ByteSource for Incoming {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        loop {
            let Some(pump) = &mut self.pump else { return Poll::Ready(None) };
            let error = match ready!(pump.poll_step(cx)) {
                Ok(Step::Emit(Event::Body(octets))) => return Poll::Ready(Some(Ok(octets))),
                // All octets that were asked for came with it.
                Ok(Step::Emit(Event::Note(_))) => continue,
                Ok(Step::Emit(Event::Unmarked(mark))) => {
                    self.mark.is_missing(mark);
                    continue;
                }
                Ok(Step::Emit(Event::Refused(refused))) => Some(refusal::in_the_middle(&refused)),
                Ok(Step::Done) => None,
                Ok(_) => Some(disagree()),
                Err(error) => Some(error),
            };
            self.pump = None;
            return Poll::Ready(error.map(Err));
        }
    }
}

pub(super) fn disagree() -> Error {
    Error::new(Code::Internal, Phase::Reply, "the machine and its driver disagree")
}
