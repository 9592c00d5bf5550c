//! Sends a request on an idle connection or a new one.

use super::active_request::ActiveRequest;
use super::connection::{AUTHENTICATION_REQUIRED, FirstReply, NntpConnection};
use crate::{Code, Error, RunContext};

/// 400: the server closes the connection (RFC 3977 §3.2.1).
const SERVICE_CLOSING: u32 = 400;

/// Sends the request on an idle connection, or on a new one if there is none or the server has closed it.
pub(super) async fn start_request(request: &ActiveRequest) -> Result<FirstReply, Error> {
    let ActiveRequest { plan, ctx, cache } = request;
    if let Some(mut connection) = cache.take_idle(plan, ctx) {
        if cache.is_login_rejected(plan, ctx) {
            connection.session_mut().withhold_login();
        }
        match connection.send_requests(plan, ctx).await {
            // The server has closed the connection while it was idle.
            Err(error) if is_stale_connection_error(&error, ctx) => {}
            Ok(FirstReply::Rejected(rejection, _)) if rejection.code == Some(SERVICE_CLOSING) => {}
            // The server requires a login that the session cannot send on this connection: the user may be asked for it
            // on a new one, and no login is possible on a compressed connection.
            Ok(FirstReply::Rejected(rejection, _)) if rejection.code == Some(AUTHENTICATION_REQUIRED) => {}
            reply => return reply,
        }
    }
    match open_connection(request, false).await?.send_requests(plan, ctx).await? {
        // A login is not possible on a compressed connection (RFC 8054 §2.2.2).
        FirstReply::Rejected(rejection, connection)
            if rejection.code == Some(AUTHENTICATION_REQUIRED) && connection.session().is_deflated() =>
        {
            open_connection(request, true).await?.send_requests(plan, ctx).await
        }
        reply => Ok(reply),
    }
}

async fn open_connection(request: &ActiveRequest, uncompressed_lists: bool) -> Result<NntpConnection, Error> {
    let ActiveRequest { plan, ctx, cache } = request;
    let login = if cache.is_login_rejected(plan, ctx) { None } else { plan.session_login()? };
    NntpConnection::open(plan, ctx, login, uncompressed_lists).await
}

/// Returns `true` if the connection was closed before the server sent any reply to the request.
fn is_stale_connection_error(error: &Error, ctx: &RunContext) -> bool {
    let has_reply = ctx.connector.connection_info().snapshot().first_byte.is_some();
    !has_reply && error.is_peer_error() && error.code() != Code::TimedOut
}
