//! Straight to the server: over a connection that waits, else over a new one.

use std::sync::Arc;
use std::time::Instant;

use http::{Response, Version};

use super::frames::Frames;
use super::interim::Interim;
use super::line::{Line, Lost, before};
use super::plan::HttpPlan;
use super::pool::{Key, Lease, Pool};
use crate::{Ctx, Deadline, Error, Phase};

/// Sends the request and waits for the head of its answer.
pub(super) async fn send(pool: &Arc<Pool>, plan: &HttpPlan, ctx: &Ctx) -> Result<Response<Frames>, Error> {
    let key = pool.key(plan, ctx);
    while let Some(mut lease) = pool.take(&key) {
        // One that is still busy with an earlier request is not waited for.
        if Deadline::at_once(lease.line.is_ready()).await != Some(true) {
            lost_line(pool, &key, &lease.line);
            continue;
        }
        match exchange(lease, plan, ctx).await {
            Ok(response) => return Ok(response),
            Err(failure) => {
                pool.forget(&key);
                // The server closed it while the request was on its way, or never saw it
                // (RFC 9112 §9.3.1, RFC 9113 §8.7): on a new connection it will tell what it thinks.
                if !(failure.is_unsent || failure.is_of_line && plan.is_idempotent()) {
                    return Err(failure.error);
                }
            }
        }
    }
    let lease = pool.lease(Line::open(plan, ctx).await?, key.clone());
    exchange(lease, plan, ctx).await.map_err(|failure| {
        // A connection that others share may be silent for them, too.
        pool.forget(&key);
        failure.error
    })
}

fn lost_line(pool: &Pool, key: &Key, line: &Line) {
    if line.shared().is_some() {
        pool.forget(key);
    }
}

/// Why there is no answer.
struct Failure {
    error: Error,
    /// The request never went out.
    is_unsent: bool,
    /// It was the connection that failed: no deadline of ours, no limit.
    is_of_line: bool,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { error, is_unsent: false, is_of_line: false }
    }
}

async fn exchange(mut lease: Lease, plan: &HttpPlan, ctx: &Ctx) -> Result<Response<Frames>, Failure> {
    let mut request = lease.line.request(plan)?;
    let interim = Interim::default();
    interim.watch(&mut request);
    ctx.dial.uses(lease.line.ends());
    ctx.dial.contact().note(|facts| facts.sent = Some(Instant::now()));
    let sent = async { Ok(lease.line.send(request).await) };
    let response = match ctx.deadline.bound(Phase::Reply, interim.bound(sent)).await? {
        Ok(response) => response,
        Err(Lost { error, is_unsent }) => {
            return Err(Failure { error: before(error, plan), is_unsent, is_of_line: true });
        }
    };
    ctx.dial.contact().note(|facts| facts.replied = Some(Instant::now()));
    let is_http2 = response.version() == Version::HTTP_2;
    Ok(response.map(|incoming| Frames::direct(incoming, lease, is_http2)))
}
