//! Sends a request over a connection of this driver: an idle one, or a new one. It leads to the server, directly or
//! through a tunnel, or to an HTTP proxy.

use std::pin::pin;
use std::sync::Arc;

use http::header::PROXY_AUTHORIZATION;
use http::{Response, Version};

use super::connection::{Connection, MAX_HEADERS, SendError, connection_error};
use super::connection_pool::{ConnectionPool, PooledConnection};
use super::exchange::SharedExchange;
use super::plan::HttpPlan;
use super::pool_key::HttpPoolKey;
use super::response_body::ResponseBody;
use super::upload::{Upload, UploadProgress};
use super::{authorization, request_trace, spare_connections, transport_error};
use crate::time::Instant;
use crate::{Code, Deadline, Error, Phase, RunContext};

/// Sends the request of `plan` and waits for the head of the response.
pub(super) async fn send_with_hyper(
    pool: &Arc<ConnectionPool>,
    plan: &HttpPlan,
    ctx: &RunContext,
) -> Result<Response<ResponseBody>, Error> {
    let key = pool.pool_key(plan, ctx);
    match &plan.spares {
        Some(spares) if plan.wants_head => {
            let sent = send(pool, &key, plan, ctx);
            // In a box: this is rare, and its future is large.
            Box::pin(spare_connections::open_while(sent, spares, pool, &key, (plan, ctx))).await
        }
        _ => send(pool, &key, plan, ctx).await,
    }
}

async fn send(
    pool: &Arc<ConnectionPool>,
    key: &HttpPoolKey,
    plan: &HttpPlan,
    ctx: &RunContext,
) -> Result<Response<ResponseBody>, Error> {
    loop {
        if let Some(response) = send_on_idle(pool, key, plan, ctx).await? {
            return Ok(response);
        }
        // In a box: opening a connection is rare, and its future is large.
        let Some(pooled) = Box::pin(open(pool, key, plan, ctx)).await? else { continue };
        return exchange_on(pooled, plan, ctx).await.map_err(|failure| {
            // Parallel requests on the same HTTP/2 connection would fail too.
            pool.discard(key);
            failure.error
        });
    }
}

/// Sends the request over a connection of the pool. Returns `None` if no connection could be used.
async fn send_on_idle(
    pool: &Arc<ConnectionPool>,
    key: &HttpPoolKey,
    plan: &HttpPlan,
    ctx: &RunContext,
) -> Result<Option<Response<ResponseBody>>, Error> {
    while let Some(mut pooled) = pool.take(key, plan.body.is_some()) {
        // A connection that is not ready at once is skipped: an earlier request still uses it, or it is closed.
        if Deadline::try_briefly(pooled.connection.is_ready()).await != Some(true) {
            discard_if_multiplexed(pool, key, &pooled.connection);
            continue;
        }
        match exchange_on(pooled, plan, ctx).await {
            Ok(response) => return Ok(Some(response)),
            Err(failure) => {
                pool.discard(key);
                // The server closed the idle connection before it processed the request (RFC 9112 §9.3.1, RFC 9113
                // §8.7): the request is sent again on another connection.
                if !(failure.is_unprocessed || failure.is_connection_failure && plan.is_idempotent()) {
                    return Err(failure.error);
                }
            }
        }
    }
    Ok(None)
}

/// Opens a connection. Returns `None` if the pool has one now: a spare one that was being opened, or the first one to a
/// server that may support HTTP/2, for which parallel requests wait up to 1 s.
async fn open(
    pool: &Arc<ConnectionPool>,
    key: &HttpPoolKey,
    plan: &HttpPlan,
    ctx: &RunContext,
) -> Result<Option<PooledConnection>, Error> {
    if let Some(spares) = &plan.spares
        && spare_connections::finish_one(spares, pool, key).await
    {
        return Ok(None);
    }
    let has_body = plan.body.is_some();
    let Some(first) = pool.first_connection(key) else {
        let opened = Connection::open(plan, ctx).await?;
        return Ok(Some(pool.check_out_new(opened, key.clone(), has_body)));
    };
    let lead = first.lock_for_opening(&ctx.deadline).await?;
    if pool.contains(key, has_body) {
        return Ok(None);
    }
    // The lock is released for an HTTP/1.1 server, and if the connections of the pool are all sending bodies: other
    // requests open connections of their own without waiting.
    let lead = lead.filter(|_| !first.is_http1() && !pool.contains(key, false));
    let opened = Connection::open(plan, ctx).await;
    match &opened {
        Ok(connection) => first.record(connection),
        Err(_) if lead.is_some() => first.record_failure(),
        Err(_) => {}
    }
    Ok(Some(pool.check_out_new(opened?, key.clone(), has_body)))
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

/// Adds Proxy-Authorization to a forwarded request: the caller's field, or the login of the proxy.
fn add_proxy_authorization<B>(
    request: &mut http::Request<B>,
    plan: &HttpPlan,
    ctx: &RunContext,
) -> Result<(), Error> {
    if let Some(value) = plan.headers.get(PROXY_AUTHORIZATION) {
        request.headers_mut().insert(PROXY_AUTHORIZATION, value.clone());
        return Ok(());
    }
    let Some(proxy) = ctx.connector.proxy_for(&plan.host)? else { return Ok(()) };
    if let Some(value) = proxy.authorization()? {
        let value = authorization::sensitive_header_value(value.as_bytes())?;
        request.headers_mut().insert(PROXY_AUTHORIZATION, value);
    }
    Ok(())
}

async fn exchange_on(
    mut pooled: PooledConnection,
    plan: &HttpPlan,
    ctx: &RunContext,
) -> Result<Response<ResponseBody>, ExchangeError> {
    let progress = UploadProgress::begin();
    let mut request = pooled.connection.build_request(plan, Upload::new(progress.clone(), ctx))?;
    if plan.body.is_none() {
        progress.mark_flushed();
    }
    if plan.is_forwarded {
        add_proxy_authorization(&mut request, plan, ctx)?;
    }
    let interim = pooled.connection.interim_counter(&mut request);
    ctx.connector.record_reuse(&plan.host, pooled.connection.endpoints());
    request_trace::request(&request, plan, pooled.connection.exchange().is_none());
    ctx.connector.connection_info().update(|record| record.sent = Some(Instant::now()));
    let answer = {
        // Pinned here, because moving a future copies it.
        let sent = pin!(async { Ok(pooled.connection.send_request(request, plan, &progress).await) });
        ctx.deadline.bound_reply(|| Some(progress.last_progress()), pin!(interim.limit_while(sent))).await?
    };
    let mut response = match answer {
        Ok(response) => response,
        Err(SendError { error, is_unsent, is_head_incomplete }) => {
            if let Some(failure) = progress.read_failure() {
                return Err(failure.with_source(error).into());
            }
            let is_refused = transport_error::is_unprocessed(&error);
            let error = connection_error(error);
            return Err(ExchangeError {
                is_unprocessed: is_unsent || is_refused,
                error: if is_head_incomplete { as_truncated(error) } else { error },
                is_connection_failure: true,
            });
        }
    };
    ctx.connector.connection_info().update(|record| record.first_byte = Some(Instant::now()));
    if !progress.is_sent() {
        pooled.forbid_reuse();
    }
    let http2_upload = (response.version() == Version::HTTP_2).then(|| progress.clone());
    if response.headers().len() > MAX_HEADERS {
        // HTTP/1.1 responses are checked by the parser.
        let detail = format!("more than {MAX_HEADERS} header fields");
        return Err(Error::new(Code::LimitReached, Phase::Reply, detail).into());
    }
    if let Some(fields) = pooled.connection.exchange().and_then(SharedExchange::take_fields) {
        response.extensions_mut().insert(fields);
    }
    // After an error response, the rest of the request body is not sent.
    let unsent = Some(progress).filter(|progress| response.status().is_success() && !progress.is_sent());
    Ok(response.map(|incoming| match plan.options.raw {
        true => ResponseBody::raw(incoming, pooled, http2_upload, unsent),
        false => ResponseBody::direct(incoming, pooled, http2_upload, unsent),
    }))
}
