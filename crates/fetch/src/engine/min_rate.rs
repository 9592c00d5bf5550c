//! The minimum rate of an attempt, from its connection to its response. The body has a check of its own
//! (`body/limits.rs`).

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use fetch_url_core::Security;

use super::chain_start::has_method_or_body;
use crate::body::rate::MinRateCheck;
use crate::net::connection_info::ConnectionRecord;
use crate::{Error, Limits, Phase, Request, RunContext};

/// Waits for `work`, the attempt of `request`. Fails if fewer bytes are sent and received than the minimum rate requires,
/// once the connection is open. Header fields and FTP replies do not count, as in curl, nor does the time of a prompt.
///
/// # Errors
/// `Code::TimedOut`; the errors of `work`.
pub(super) async fn bound_by_min_rate<T>(
    limits: &Limits,
    request: &Request,
    ctx: &RunContext,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    if limits.min_rate.is_none() {
        return work.await;
    }
    // Pinned here, because moving a future copies it.
    let mut work = pin!(work);
    let is_tls = request.url().scheme().security == Security::Tls;
    // The bytes of an earlier round, such as the request for a login, do not count.
    let (mut check, mut counted) = (None, total_bytes(&ctx.connector.connection_info().snapshot()));
    poll_fn(|cx| {
        let polled = work.as_mut().poll(cx);
        if polled.is_ready() {
            return polled;
        }
        let record = ctx.connector.connection_info().snapshot();
        let total = total_bytes(&record);
        if !is_open(&record, is_tls) || ctx.password_prompt.is_open() {
            (check, counted) = (None, total);
            return Poll::Pending;
        }
        if check.is_none() {
            check = MinRateCheck::start(limits);
        }
        let Some(check) = &mut check else { return Poll::Pending };
        check.record_total(total.saturating_sub(counted));
        check.poll_too_slow(Phase::Request, cx).map(|error| Err(as_error_of(error, request)))
    })
    .await
}

const fn total_bytes(record: &ConnectionRecord) -> u64 {
    record.sent_bytes.saturating_add(record.received_bytes)
}

/// Returns `true` if the connection is open, with TLS if it is part of the URL. A reused connection is not opened, but
/// a request is sent.
const fn is_open(record: &ConnectionRecord, is_tls: bool) -> bool {
    record.sent.is_some() || record.tls_done.is_some() || record.connected.is_some() && !is_tls
}

/// A request with a method or body may have been processed, so it is not sent again.
fn as_error_of(error: Error, request: &Request) -> Error {
    if has_method_or_body(request) { error.as_permanent() } else { error }
}
