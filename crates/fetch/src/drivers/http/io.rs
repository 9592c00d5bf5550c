//! Sends the request by the one road or the other; a server that wants to know who asks is told once.

use http::Response;

use super::frames::Frames;
use super::plan::HttpPlan;
use super::{answer, auth, direct, proxied};
use crate::engine::retry;
use crate::{Again, Ctx, Error, Outcome};

/// One request, one answer.
pub(super) async fn run(mut plan: HttpPlan, ctx: Ctx) -> Result<Outcome, Error> {
    let response = send(&plan, &ctx).await.map_err(|error| once_only(error, &plan))?;
    if let Some(shown) = auth::after_refusal(&plan, response.status(), response.headers(), &ctx).await? {
        let refused = answer::as_it_came(&plan, response)?;
        (plan.authorization, plan.is_second) = (Some(shown), true);
        return Ok(Outcome::Again(Again::new(refused, Box::new(plan))));
    }
    answer::judge(&plan, response)
}

async fn send(plan: &HttpPlan, ctx: &Ctx) -> Result<Response<Frames>, Error> {
    match ctx.dial.proxy() {
        Some(proxy) => proxied::send(&plan.roads.proxied, proxy, plan, ctx).await,
        None => direct::send(&plan.roads.pool, plan, ctx).await,
    }
}

/// What may have been done already must not be done twice (RFC 9110 §9.2.2).
fn once_only(error: Error, plan: &HttpPlan) -> Error {
    if plan.is_idempotent() { error } else { retry::once_only(error) }
}
