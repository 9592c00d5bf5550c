//! Straight to the server: over a connection that waits, else over a new one.

use std::sync::Arc;
use std::time::Instant;

use http::Response;

use super::frames::Frames;
use super::interim::Interim;
use super::line::{Line, before};
use super::plan::HttpPlan;
use super::pool::{Lease, Pool};
use crate::{Code, Ctx, Error, Phase};

/// Sends the request and waits for the head of its answer.
pub(super) async fn send(pool: &Arc<Pool>, plan: &HttpPlan, ctx: &Ctx) -> Result<Response<Frames>, Error> {
    let key = pool.key(plan, ctx);
    while let Some(mut lease) = pool.take(&key) {
        if !lease.line.is_ready().await {
            if lease.line.shared().is_some() {
                pool.forget(&key);
            }
            continue;
        }
        match exchange(lease, plan, ctx).await {
            // The server may have closed it while the request was on its way: RFC 9112 §9.3.1.
            Err(error) if error.code() == Code::EmptyReply && plan.is_idempotent() => pool.forget(&key),
            exchanged => return exchanged,
        }
    }
    let line = Line::open(plan, ctx).await?;
    exchange(pool.lease(line, key), plan, ctx).await
}

async fn exchange(mut lease: Lease, plan: &HttpPlan, ctx: &Ctx) -> Result<Response<Frames>, Error> {
    let mut request = lease.line.request(plan)?;
    let interim = Interim::default();
    interim.watch(&mut request);
    ctx.dial.uses(lease.line.ends());
    ctx.dial.contact().note(|facts| facts.sent = Some(Instant::now()));
    let sent = async { lease.line.send(request).await.map_err(|error| before(error, plan)) };
    let response = ctx.deadline.bound(Phase::Reply, interim.bound(sent)).await?;
    ctx.dial.contact().note(|facts| facts.replied = Some(Instant::now()));
    Ok(response.map(|incoming| Frames::direct(incoming, lease)))
}
