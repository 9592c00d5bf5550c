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
    let datagrams = ctx.dial.datagrams(&plan.host, plan.port, &ctx.deadline).await?;
    let (inquired, datagrams) = match inquire(&Question::Ways, datagrams, &plan, &ctx).await? {
        Said::Answer(inquired, datagrams) => (inquired, datagrams),
        Said::Elsewhere(hop) => return Ok(Outcome::Follow(*hop)),
        Said::Refused(refused, _) => return Err(refusal::error(&refused)),
    };
    let facts = match inquired {
        Inquired::Facts(facts) => facts,
        Inquired::Elsewhere(name) => return forwarded(&name, &plan),
        _ => return Err(disagree()),
    };
    let mut meta = meta(&plan);
    let datagrams = attributes::check(datagrams, &mut meta, &plan, &ctx).await?;
    if plan.wants_head {
        return attributes::head(facts, datagrams, meta, &plan, &ctx).await;
    }
    match ways::choose(&facts, &plan, &ctx.gate)? {
        Choice::Advise(advice) => Ok(answer(meta, Content::Advice(advice))),
        Choice::Contents => contents::fetch(datagrams, meta, &plan, &ctx).await,
        Choice::Follow { to, why } => Ok(Outcome::Follow(hop(&to, &why, &plan))),
        Choice::Links => listing::fetch(datagrams, meta, &plan, &ctx).await,
    }
}

/// What a server says to a question.
pub(super) enum Said {
    /// This, and what else can be asked of it.
    Answer(Inquired, Datagrams),
    /// That somebody else is to be asked.
    Elsewhere(Box<Hop>),
    /// That there is no answer.
    Refused(Box<Refused>, Datagrams),
}

/// Asks one question, to the end of its answer.
pub(super) async fn inquire(
    question: &Question,
    datagrams: Datagrams,
    plan: &ProsperoPlan,
    ctx: &Ctx,
) -> Result<Said, Error> {
    let mut courier = courier(Inquiry::new(question, &plan.object), datagrams, ctx);
    let answered = async {
        match courier.step().await? {
            Came::Step(Step::Done) => Ok(Ending::Done),
            Came::Step(Step::Emit(Event::Refused(refused))) => Ok(Ending::Refused(refused)),
            Came::Step(_) => Err(disagree()),
            Came::Elsewhere(address) => Ok(Ending::Elsewhere(Box::new(redirected(address, plan)))),
        }
    };
    let ending = ctx.deadline.bound_twice(Phase::Reply, answered).await?;
    let (inquiry, datagrams) = courier.into_parts();
    Ok(match ending {
        Ending::Done => Said::Answer(inquiry.into_found(), datagrams),
        Ending::Elsewhere(hop) => Said::Elsewhere(hop),
        Ending::Refused(refused) => Said::Refused(refused, datagrams),
    })
}

/// How an inquiry ends.
enum Ending {
    Done,
    Elsewhere(Box<Hop>),
    Refused(Box<Refused>),
}

pub(super) fn courier<M: Machine>(machine: M, datagrams: Datagrams, ctx: &Ctx) -> Courier<M> {
    Courier::new(machine, datagrams, ctx.deadline.reply_timeout(), ctx.dial.contact())
}

/// Asks, and waits for the answer to begin.
pub(super) async fn begin<M: Machine>(
    machine: M,
    datagrams: Datagrams,
    ctx: &Ctx,
) -> Result<Courier<M>, Error> {
    let mut courier = courier(machine, datagrams, ctx);
    let begun = async {
        match courier.step().await? {
            Came::Step(Step::Emit(Event::Head(_))) => Ok(()),
            Came::Step(Step::Emit(Event::Refused(refused))) => Err(refusal::error(&refused)),
            Came::Step(_) => Err(disagree()),
            Came::Elsewhere(_) => Err(sent_away()),
        }
    };
    ctx.deadline.bound_twice(Phase::Reply, begun).await?;
    Ok(courier)
}

/// A server that has answered one question sends us elsewhere with the next.
pub(super) fn sent_away() -> Error {
    Error::new(Code::PeerMisbehaved, Phase::Reply, "another server is to be asked for the rest")
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

pub(super) fn disagree() -> Error {
    Error::new(Code::Internal, Phase::Reply, "the machine and its driver disagree")
}
