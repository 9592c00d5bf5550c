//! One errand at a directory server: what the object is, and what becomes of that.

use std::net::SocketAddrV4;

use fetch_url_proto::prospero::{Inquired, Inquiry, ObjectName, Question};
use fetch_url_proto::{Event, Machine, Refused, Step};

use super::plan::ProsperoPlan;
use super::ways::{self, Choice};
use super::{attributes, contents, listing, refusal};
use crate::net::courier::{Came, Courier};
use crate::net::datagram::Datagrams;
use crate::{Code, Content, Ctx, Error, Hop, Meta, Outcome, Phase, Response};

/// Does what the plan says.
pub(super) async fn run(plan: ProsperoPlan, ctx: Ctx) -> Result<Outcome, Error> {
    match answered(&plan, &ctx).await {
        Ok(outcome) => Ok(outcome),
        Err(Stop::Elsewhere(hop)) => Ok(Outcome::Follow(*hop)),
        Err(Stop::Failed(error)) => Err(error),
    }
}

/// Why an errand ends before there is an answer.
pub(super) enum Stop {
    /// Somebody else is to be asked.
    Elsewhere(Box<Hop>),
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

async fn answered(plan: &ProsperoPlan, ctx: &Ctx) -> Result<Outcome, Stop> {
    let datagrams = ctx.dial.datagrams(&plan.host, plan.port, &ctx.deadline).await?;
    let (inquired, datagrams) = match inquire(&Question::Ways, datagrams, plan, ctx).await? {
        Said::Answer(inquired, datagrams) => (inquired, datagrams),
        Said::Refused(refused, _) => return Err(refusal::error(&refused).into()),
    };
    let facts = match inquired {
        Inquired::Facts(facts) => facts,
        Inquired::Elsewhere(name) => return Ok(forwarded(&name, plan)?),
        _ => return Err(disagree().into()),
    };
    let mut meta = meta(plan);
    let datagrams = attributes::check(datagrams, &mut meta, plan, ctx).await?;
    if plan.wants_head {
        return attributes::head(facts, datagrams, meta, plan, ctx).await;
    }
    match ways::choose(&facts, plan, ctx)? {
        Choice::Advise(advice) => Ok(answer(meta, Content::Advice(advice))),
        Choice::Contents => contents::fetch(datagrams, meta, plan, ctx).await,
        Choice::Follow { to, why } => Ok(Outcome::Follow(hop(&to, &why, plan))),
        Choice::Links => listing::fetch(datagrams, meta, plan, ctx).await,
    }
}

/// What a server says to a question.
pub(super) enum Said {
    /// This, and what else can be asked of it.
    Answer(Inquired, Datagrams),
    /// That there is no answer.
    Refused(Box<Refused>, Datagrams),
}

/// Asks one question, to the end of its answer.
pub(super) async fn inquire(
    question: &Question,
    datagrams: Datagrams,
    plan: &ProsperoPlan,
    ctx: &Ctx,
) -> Result<Said, Stop> {
    let mut courier = courier(Inquiry::new(question, &plan.object), datagrams, ctx);
    let refused = match first(&mut courier, plan, ctx).await? {
        Step::Done => None,
        Step::Emit(Event::Refused(refused)) => Some(refused),
        _ => return Err(disagree().into()),
    };
    let (inquiry, datagrams) = courier.into_parts();
    Ok(match refused {
        None => Said::Answer(inquiry.into_found(), datagrams),
        Some(refused) => Said::Refused(refused, datagrams),
    })
}

/// What an answer comes to first.
async fn first<M: Machine>(courier: &mut Courier<M>, plan: &ProsperoPlan, ctx: &Ctx) -> Result<Step, Stop> {
    match ctx.deadline.bound_twice(Phase::Reply, courier.step()).await? {
        Came::Step(step) => Ok(step),
        Came::Elsewhere(address) => Err(Stop::Elsewhere(Box::new(redirected(address, plan)))),
    }
}

fn courier<M: Machine>(machine: M, datagrams: Datagrams, ctx: &Ctx) -> Courier<M> {
    Courier::new(machine, datagrams, ctx.deadline.reply_timeout(), ctx.dial.contact())
}

/// Asks, and waits for the answer to begin.
pub(super) async fn begin<M: Machine>(
    machine: M,
    datagrams: Datagrams,
    plan: &ProsperoPlan,
    ctx: &Ctx,
) -> Result<Courier<M>, Stop> {
    let mut courier = courier(machine, datagrams, ctx);
    match first(&mut courier, plan, ctx).await? {
        Step::Emit(Event::Head(_)) => Ok(courier),
        Step::Emit(Event::Refused(refused)) => Err(refusal::error(&refused).into()),
        _ => Err(disagree().into()),
    }
}

/// A server sends us elsewhere in the middle of its answer.
fn sent_away() -> Error {
    Error::new(Code::PeerMisbehaved, Phase::Reply, "another server is to be asked for the rest")
}

/// Why an answer that has begun does not go on: none at its end.
pub(super) fn ending(came: Result<Came, Error>) -> Option<Error> {
    match came {
        Ok(Came::Step(Step::Done)) => None,
        Ok(Came::Step(Step::Emit(Event::Refused(refused)))) => Some(refusal::in_the_middle(&refused)),
        Ok(Came::Step(_)) => Some(disagree()),
        Ok(Came::Elsewhere(_)) => Some(sent_away()),
        Err(error) => Some(error),
    }
}

/// The server says that the object is elsewhere.
fn forwarded(name: &ObjectName, plan: &ProsperoPlan) -> Result<Outcome, Error> {
    let Some(url) = name.url() else {
        let detail = "the server says that the object is elsewhere, but not where";
        return Err(Error::new(Code::PeerMisbehaved, Phase::Hop, detail).with_reply(&name.host));
    };
    Ok(Outcome::Follow(hop(&url, "the object is there", plan)))
}

/// The server says that another one is to be asked the same.
fn redirected(address: SocketAddrV4, plan: &ProsperoPlan) -> Hop {
    let text = plan.url.to_string();
    let object = text.splitn(4, '/').nth(3).unwrap_or_default();
    hop(&format!("prospero://{address}/{object}"), "another server is to be asked", plan)
}

/// The way to `to`.
fn hop(to: &str, why: &str, plan: &ProsperoPlan) -> Hop {
    let nothing = Response::new(meta(plan), Content::Head);
    let mut hop = Hop::new(to, why, nothing).of_name_service();
    let detail = format!("the object is elsewhere: {to}");
    hop.instead = Some(Error::new(Code::NotFound, Phase::Request, detail));
    hop
}

pub(super) fn answer(meta: Meta, content: Content) -> Outcome {
    Outcome::Answer(Response::new(meta, content))
}

fn meta(plan: &ProsperoPlan) -> Meta {
    let mut meta = Meta::new(plan.url.clone());
    meta.protocol = Some("Prospero");
    meta
}

fn disagree() -> Error {
    Error::new(Code::Internal, Phase::Reply, "the machine and its driver disagree")
}
