//! Opens connections before they are needed. A download in segments sends its first request over one connection, and
//! the next ones over several. These are opened while the client waits for the first response.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;

use http::Response;

use super::connection::Connection;
use super::connection_pool::ConnectionPool;
use super::plan::HttpPlan;
use super::pool_key::HttpPoolKey;
use super::response_body::ResponseBody;
use crate::request::SpareConnections;
use crate::started_future::StartedFuture;
use crate::{Error, RunContext};

/// A connection that is being opened.
struct Spare {
    key: HttpPoolKey,
    opening: StartedFuture<Result<Connection, Error>>,
}

/// Waits for the response that `sent` returns. When the request has been sent over a new connection, starts to open the
/// `spares`. They are not opened earlier, because a server that handles one connection at a time must get this request
/// first.
pub(super) async fn open_while(
    sent: impl Future<Output = Result<Response<ResponseBody>, Error>>,
    spares: &SpareConnections,
    pool: &ConnectionPool,
    key: &HttpPoolKey,
    (plan, ctx): (&HttpPlan, &RunContext),
) -> Result<Response<ResponseBody>, Error> {
    let (mut sent, mut begun) = (pin!(sent), None);
    let response = poll_fn(|cx| {
        let response = sent.as_mut().poll(cx);
        let record = ctx.connector.connection_info().snapshot();
        if begun.is_none() && record.sent.is_some() {
            // HTTP/2 requests share one connection. A request over an idle connection (`opened` is 0) opens no spares:
            // the server is known, so the pool has more idle connections, or none were needed.
            let is_http2 = plan.allows_http2() && pool.first_connection(key).is_some();
            let count = if is_http2 || record.opened == 0 { 0 } else { spares.count };
            begun = Some((0..count).map(|_| open(key, plan, ctx)).collect::<Vec<_>>());
        }
        begun.iter_mut().flatten().for_each(|spare| spare.opening.poll_progress(cx));
        response
    })
    .await;
    begun.into_iter().flatten().for_each(|spare| spares.add(spare));
    response
}

fn open(key: &HttpPoolKey, plan: &HttpPlan, ctx: &RunContext) -> Spare {
    let plan = HttpPlan { spares: None, ..plan.clone() };
    // The response reports its own connection.
    let ctx = RunContext { connector: ctx.connector.clone().with_own_record(), ..ctx.clone() };
    let opening = StartedFuture::new(async move { Connection::open(&plan, &ctx).await });
    Spare { key: key.clone(), opening }
}

/// Waits for one of the connections that are being opened, and puts it into the pool. Returns `false` if there is none
/// for `key`.
pub(super) async fn finish_one(
    spares: &SpareConnections,
    pool: &Arc<ConnectionPool>,
    key: &HttpPoolKey,
) -> bool {
    let rank = |spare: &Spare| (spare.key == *key).then(|| usize::from(spare.opening.is_pending()));
    let Some(spare) = spares.take(rank) else { return false };
    // After an error, the request opens a connection itself, and reports its own error.
    if let Ok(connection) = spare.opening.output().await {
        pool.check_out_new(connection, key.clone(), false).release();
    }
    true
}
