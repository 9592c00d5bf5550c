//! Sends a request directly to the server: over an idle connection, or over a new one.

use std::sync::Arc;
use std::time::Instant;

use http::{Response, Version};

use super::connection::{Connection, SendError, connection_error};
use super::connection_pool::{ConnectionPool, HttpPoolKey, PooledConnection};
use super::plan::HttpPlan;
use super::response_body::ResponseBody;
use super::transport_error;
use crate::{Code, Deadline, Error, Phase, RunContext};

/// Sends the request of `plan` and waits for the head of the response.
pub(super) async fn send_directly(
    pool: &Arc<ConnectionPool>,
    plan: &HttpPlan,
    ctx: &RunContext,
) -> Result<Response<ResponseBody>, Error> {
    let key = pool.pool_key(plan, ctx);
    while let Some(mut pooled) = pool.take(&key) {
        // A connection that is not ready at once is skipped: an earlier request still uses it, or it is closed.
        if Deadline::try_briefly(pooled.connection.is_ready()).await != Some(true) {
            discard_if_multiplexed(pool, &key, &pooled.connection);
            continue;
        }
        match exchange_on(pooled, plan, ctx).await {
            Ok(response) => return Ok(response),
            Err(failure) => {
                pool.discard(&key);
                // The server closed the idle connection before it processed the request (RFC 9112 §9.3.1, RFC 9113
                // §8.7): the request is sent again on another connection.
                if !(failure.is_unprocessed || failure.is_connection_failure && plan.is_idempotent()) {
                    return Err(failure.error);
                }
            }
        }
    }
    let pooled = pool.check_out_new(Connection::open(plan, ctx).await?, key.clone());
    exchange_on(pooled, plan, ctx).await.map_err(|failure| {
        // Parallel requests on the same HTTP/2 connection would fail too.
        pool.discard(&key);
        failure.error
    })
}

/// Removes a closed HTTP/2 connection from the pool, which holds other handles to it.
fn discard_if_multiplexed(pool: &ConnectionPool, key: &HttpPoolKey, connection: &Connection) {
    if connection.clone_if_multiplexed().is_some() {
        pool.discard(key);
    }
}

/// Returns the error for a connection that closed after a part of the head of the response.
fn as_truncated(error: Error) -> Error {
    match error.code() {
        Code::EmptyReply => Error::new(
            Code::Truncated,
            Phase::Reply,
            "the connection was closed within the head of the response",
        ),
        _ => error,
    }
}

/// The error of a request that got no response.
struct ExchangeError {
    error: Error,
    /// The request was not sent, or the server did not process it.
    is_unprocessed: bool,
    /// The connection failed; no timeout expired and no limit was reached.
    is_connection_failure: bool,
}

impl From<Error> for ExchangeError {
    fn from(error: Error) -> Self {
        Self { error, is_unprocessed: false, is_connection_failure: false }
    }
}

async fn exchange_on(
    mut pooled: PooledConnection,
    plan: &HttpPlan,
    ctx: &RunContext,
) -> Result<Response<ResponseBody>, ExchangeError> {
    let mut request = pooled.connection.build_request(plan)?;
    let interim = pooled.connection.interim_counter(&mut request);
    ctx.connector.record_reuse(pooled.connection.endpoints());
    ctx.connector.connection_info().update(|facts| facts.sent = Some(Instant::now()));
    let sent = async { Ok(pooled.connection.send_request(request).await) };
    let response = match ctx.deadline.bound(Phase::Reply, interim.limit_while(sent)).await? {
        Ok(response) => response,
        Err(SendError { error, is_unsent, is_head_incomplete }) => {
            let is_refused = transport_error::is_unprocessed(&error);
            let error = connection_error(error, plan);
            return Err(ExchangeError {
                is_unprocessed: is_unsent || is_refused,
                error: if is_head_incomplete { as_truncated(error) } else { error },
                is_connection_failure: true,
            });
        }
    };
    ctx.connector.connection_info().update(|facts| facts.first_byte = Some(Instant::now()));
    let is_http2 = response.version() == Version::HTTP_2;
    Ok(response.map(|incoming| ResponseBody::direct(incoming, pooled, is_http2)))
}
