//! THE loop: every URL of every scheme goes through it, and every rule that two schemes share is
//! applied here, once.
//!
//! ```text
//! Request ─▶ login ─▶ plan ─▶ gates ─▶ run ─┬▶ Answer: guard the body, let it mend itself, done
//!    ▲                                      ├▶ Follow: judge the hop ──────────┐
//!    │                                      └▶ Error: start anew? wait, again? ┤
//!    └─────────────────────────────────────────────────────────────────────────┘
//! ```

pub(crate) mod alarm;
pub(crate) mod asking;
pub(crate) mod deadline;
pub(crate) mod dialogue;
mod follow;
pub(crate) mod gate;
pub(crate) mod gateway;
pub(crate) mod guard;
pub(crate) mod listed;
mod mend;
mod pace;
pub(crate) mod part;
pub(crate) mod resume;
pub(crate) mod retry;
mod spare;
mod steps;
pub(crate) mod turns;
pub(crate) mod waiting;

use std::sync::Arc;

use asking::Asking;
use deadline::Deadline;
use follow::Journey;
use guard::Guard;
use retry::Patience;
use steps::Clock;

use crate::fetcher::Inner;
use crate::net::dial::Dial;
use crate::{Code, Content, Ctx, Error, Event, Outcome, Phase, Proof, Request, Response};

/// How often a server may want the same request in other words.
const MOST_WORDINGS: u32 = 8;

/// Fetches what `request` asks for, wherever the answers point, however often it takes.
pub(crate) async fn fetch(inner: &Arc<Inner>, request: Request) -> Result<Response, Error> {
    let deadline = Deadline::start(inner.policy.timeouts);
    let mut patience = Patience::new(inner.policy.retry);
    let response = travel(inner, request.clone(), deadline, &mut patience).await?;
    Ok(mend::mending(response, inner, request, deadline, patience))
}

/// From the caller's URL to an answer.
async fn travel(
    inner: &Inner,
    mut request: Request,
    deadline: Deadline,
    patience: &mut Patience,
) -> Result<Response, Error> {
    let mut clock = Clock::start();
    let mut journey = Journey::new(&inner.gate, request.url());
    request = through_gateway(inner, request)?;
    loop {
        let url = request.url().clone();
        // Whoever chose a gateway chose its address.
        let from_public = journey.has_left_public_ground() && !request.is_for_gateway();
        let dial = inner.dialer.hop(&url, from_public);
        clock.attempt();
        let outcome = attempt(inner, &request, &journey, dial.clone(), deadline).await;
        clock.met(dial.contact());
        journey.remember(dial.was_public());
        dialogue::answer(&outcome);
        let answer = match outcome {
            Ok(Outcome::Answer(mut answer)) => {
                if let Some(refusal) = answer.refusal.take() {
                    match patience.wait(&request, refusal.at(&url), 0, &deadline).await {
                        Ok(()) => continue,
                        Err(refusal) => answer.refusal = Some(refusal),
                    }
                }
                if let Some(turn) = request.turn().filter(|turn| turn.is_at(&url)) {
                    turn.served();
                }
                if resume::is_elsewhere(&answer, &request) {
                    request = request.resuming(None);
                    continue;
                }
                answer
            }
            Ok(Outcome::Again(again)) => {
                return Err(Error::new(
                    Code::Internal,
                    Phase::Request,
                    format!("{again:?} was not followed"),
                ));
            }
            Ok(Outcome::Follow(hop)) if !journey.follows() => match hop.instead {
                Some(error) => return Err(error.at(&url)),
                None => hop.answer,
            },
            Ok(Outcome::Follow(hop)) => {
                let (target, standing) = journey.judge(&request, &hop).map_err(|error| error.at(&url))?;
                tracing::debug!(url = %target.redacted(), why = hop.why, "hop");
                request.tell(&Event::Hop { from: &url, to: &target, why: &hop.why });
                spare::finish(hop.answer).await;
                request = through_gateway(inner, request.moved_to(target, standing))?;
                continue;
            }
            Err(error) if resume::must_start_anew(&error, &request) => {
                tracing::debug!(%error, "the object changed or cannot be resumed: from the start");
                request = request.resuming(None);
                continue;
            }
            Err(error) => {
                patience.wait(&request, error.at(&url), 0, &deadline).await?;
                continue;
            }
        };
        let guard = Guard::new(inner.policy.limits, deadline, dial.contact());
        let mut answer = guarded(wanted(answer, &request), guard)?;
        answer.meta.asked = journey.start().clone();
        answer.meta.hops = journey.hops();
        answer.meta.retries = patience.retries();
        answer.meta.steps = clock.steps(dial.contact());
        return Ok(answer);
    }
}

/// The request as its gateway is asked, where its scheme has one.
fn through_gateway(inner: &Inner, request: Request) -> Result<Request, Error> {
    let Some(target) = inner.gateways.through(request.url()) else { return Ok(request) };
    let target = target.map_err(|error| error.at(request.url()))?;
    request.tell(&Event::Hop { from: request.url(), to: &target, why: "the gateway for its scheme" });
    Ok(request.through_gateway(target))
}

/// One run of one plan.
async fn attempt(
    inner: &Inner,
    request: &Request,
    journey: &Journey<'_>,
    dial: Dial,
    deadline: Deadline,
) -> Result<Outcome, Error> {
    let home = journey.home(request);
    let login = inner.credentials.for_hop(request.url(), home);
    let request = request.clone().made_by(login);
    let mut plan = inner.registry.driver(request.url())?.plan(&request)?;
    inner.gate.check_scheme(request.url())?;
    dial.check_url(request.url())?;
    let asking = Asking::new(&inner.credentials, home);
    let ctx = Ctx { dial, deadline, asking, gate: inner.gate.clone() };
    for _ in 0..MOST_WORDINGS {
        if !plan.speaks_for_itself() {
            dialogue::request(&*plan);
        }
        match plan.run(ctx.clone()).await? {
            Outcome::Again(again) => {
                dialogue::head(&again.answer.meta);
                spare::finish(again.answer).await;
                plan = again.plan;
            }
            outcome => return Ok(outcome),
        }
    }
    Err(Error::new(Code::PeerMisbehaved, Phase::Request, "the server wants it in ever other words"))
}

/// The answer, unless the condition of the request does not hold: not every server looks at it.
fn wanted(mut answer: Response, request: &Request) -> Response {
    let holds = request.condition().is_none_or(|condition| condition.holds(answer.meta.head.modified));
    if !holds && answer.refusal.is_none() && !matches!(answer.content, Content::Head) {
        answer.content = Content::Unchanged;
    }
    answer
}

/// The answer with what the caller allows laid around its body.
fn guarded(mut response: Response, guard: Guard) -> Result<Response, Error> {
    let proof = match &response.content {
        Content::Body(body) => body.proof(),
        Content::Listing(listing) => listing.proof(),
        _ => return Ok(response),
    };
    if let (true, Proof::Assumed(why)) = (guard.requires_proof(), proof) {
        let error = Error::new(Code::Truncated, Phase::Body, format!("its end cannot be proven: {why}"));
        return Err(error.lasting().at(&response.meta.url));
    }
    response.content = match response.content {
        Content::Listing(listing) => Content::Listing(listing.guarded(guard)),
        Content::Body(body) => {
            let body = body.guarded(guard, response.meta.offset);
            Content::Body(body.map_err(|error| error.at(&response.meta.url))?)
        }
        other => other,
    };
    Ok(response)
}
