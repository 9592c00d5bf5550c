//! THE loop: every URL of every scheme goes through it, and every rule that two schemes share is
//! applied here, once.
//!
//! ```text
//! Request ─▶ driver ─▶ plan ─▶ port gate ─▶ run ─┬▶ Answer: guard the body, done
//!    ▲                                           ├▶ Follow: judge the hop ──┐
//!    │                                           └▶ Error: start anew? ─────┤
//!    └──────────────────────────────────────────────────────────────────────┘
//! ```

pub(crate) mod deadline;
mod dialogue;
mod follow;
mod resume;

use deadline::Deadline;
use follow::Journey;

use crate::fetcher::Inner;
use crate::{Content, Ctx, Error, Outcome, Policy, Request, Response};

/// Fetches what `request` asks for, wherever the answers point.
pub(crate) async fn fetch(inner: &Inner, mut request: Request) -> Result<Response, Error> {
    let deadline = Deadline::start(inner.policy.timeouts);
    let mut journey = Journey::new(inner.policy.follow, request.url());
    loop {
        let url = request.url().clone();
        let dial = inner.dialer.hop(journey.has_left_public_ground());
        let outcome = attempt(inner, &request, Ctx::new(dial.clone(), deadline)).await;
        journey.remember(dial.was_public());
        dialogue::answer(&outcome);
        match outcome {
            Ok(Outcome::Answer(response)) => return guarded(response, &inner.policy, deadline, &journey),
            Ok(Outcome::Follow(hop)) if !journey.follows() => {
                return guarded(hop.answer, &inner.policy, deadline, &journey);
            }
            Ok(Outcome::Follow(hop)) => {
                let target = journey.judge(&url, &hop).map_err(|error| error.at(&url))?;
                tracing::debug!(url = %target.redacted(), why = hop.why, "hop");
                request = request.moved_to(target);
            }
            Err(error) if resume::must_start_anew(&error, &request) => {
                tracing::debug!(%error, "the object changed or cannot be resumed: from the start");
                request = request.resuming(None);
            }
            Err(error) => return Err(error.at(&url)),
        }
    }
}

async fn attempt(inner: &Inner, request: &Request, ctx: Ctx) -> Result<Outcome, Error> {
    let plan = inner.registry.driver(request.url())?.plan(request)?;
    dialogue::request(&*plan);
    ctx.dial.check_url(request.url())?;
    plan.run(ctx).await
}

/// The answer with what the caller allows laid around its body.
fn guarded(
    mut response: Response,
    policy: &Policy,
    deadline: Deadline,
    journey: &Journey,
) -> Result<Response, Error> {
    response.meta.hops = journey.hops();
    response.meta.asked = journey.start().clone();
    if let Content::Body(body) = response.content {
        let url = response.meta.url.clone();
        let offset = response.meta.offset;
        let body = body.guarded(policy.limits, deadline, offset).map_err(|error| error.at(&url))?;
        response.content = Content::Body(body);
    }
    Ok(response)
}
