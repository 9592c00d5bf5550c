//! Opens connections before they are needed. A download in segments sends its first request over one connection, and the
//! next ones over several: these are opened while the first response is on its way.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;

use http::Response;

use super::connection::Connection;
use super::connection_pool::ConnectionPool;
use super::plan::HttpPlan;
use super::pool_key::HttpPoolKey;
use super::response_body::ResponseBody;
use super::spare_connections::Opening;
use crate::started_future::StartedFuture;
use crate::{Error, RunContext};

/// Waits for the response that `sent` returns. As soon as the request is on its way, opens the connections that the next
/// requests need. Not earlier: a server that handles its connections one after the other must get this request first.
pub(super) async fn open_while(
    sent: impl Future<Output = Result<Response<ResponseBody>, Error>>,
    pool: &Arc<ConnectionPool>,
    key: &HttpPoolKey,
    plan: &HttpPlan,
    ctx: &RunContext,
) -> Result<Response<ResponseBody>, Error> {
    let (mut sent, mut spares) = (pin!(sent), None);
    let response = poll_fn(|cx| {
        let response = sent.as_mut().poll(cx);
        if spares.is_none() && ctx.connector.connection_info().facts().sent.is_some() {
            spares = Some(begin(pool, key, plan, ctx));
        }
        spares.iter_mut().flatten().for_each(|spare| spare.poll_progress(cx));
        response
    })
    .await;
    pool.spares().add(key, spares.unwrap_or_default());
    response
}

/// Returns the connections to open: those that are missing in the pool, or none for HTTP/2, which shares one.
fn begin(pool: &ConnectionPool, key: &HttpPoolKey, plan: &HttpPlan, ctx: &RunContext) -> Vec<Opening> {
    let is_http2 = plan.allows_http2() && pool.first_connection(key).is_some();
    let wanted = if is_http2 { 0 } else { plan.spare_connections };
    let missing = wanted.saturating_sub(pool.idle_count(key) + pool.spares().count(key));
    (0..missing)
        .map(|_| {
            let plan = plan.clone();
            // The response reports its own connection.
            let connector = ctx.connector.clone().with_own_record();
            let ctx = RunContext { connector, ..ctx.clone() };
            StartedFuture::new(async move { Connection::open(&plan, &ctx).await })
        })
        .collect()
}
