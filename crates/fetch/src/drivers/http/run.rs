//! Runs a plan: sends the request, and sends it again over HTTP/1.1 if the server requires that. After a 401, returns a
//! plan with credentials, which the engine runs.

use std::fmt;
use std::sync::Arc;

use super::options::HttpVersion;
use super::plan::HttpPlan;
use super::secrets::request_secrets;
use super::transports::Transports;
use super::{challenge, overlap, response, transport_error};
use crate::credentials::masking::mask_secrets_in_error;
use crate::driver::RunFuture;
use crate::net::trace;
use crate::{Code, Error, Hint, Outcome, Phase, Plan, Resend, RunContext};

/// A plan together with the connections of the driver, ready to run. `Display` shows the plan.
pub(super) struct HttpRun {
    plan: Box<HttpPlan>,
    transports: Arc<Transports>,
}

impl HttpRun {
    /// Returns `plan`, ready to run over `transports`.
    pub(super) fn new(plan: HttpPlan, transports: Arc<Transports>) -> Self {
        Self { plan: Box::new(plan), transports }
    }
}

impl Plan for HttpRun {
    fn run(self: Box<Self>, ctx: RunContext) -> RunFuture {
        Box::pin(async move { run_plan(*self, &ctx).await })
    }

    fn has_own_trace(&self) -> bool {
        true
    }
}

impl fmt::Display for HttpRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.plan.fmt(f)
    }
}

/// Sends one request; returns its outcome, or a second plan with credentials after a 401.
async fn run_plan(run: HttpRun, ctx: &RunContext) -> Result<Outcome, Error> {
    let HttpRun { mut plan, transports } = run;
    plan.proxy_login = ctx.connector.proxy_for(&plan.host)?.and_then(|proxy| proxy.login.clone());
    let mut sent = transports.send(&plan, ctx).await;
    if plan.options.version == HttpVersion::Any && sent.as_ref().is_err_and(transport_error::requires_http1) {
        trace::note(&"the server requires HTTP/1.1 for this request");
        plan.options.version = HttpVersion::Http1;
        sent = transports.send(&plan, ctx).await;
    }
    let response = sent.map_err(|error| add_tunnel_hint(limit_retries(error, &plan), &plan))?;
    let credentials =
        challenge::authorization_after_challenge(&plan, response.status(), response.headers(), ctx).await?;
    if let Some((authorization, login)) = credentials {
        let rejection = response::challenge_response(&plan, response);
        plan.authorization = Some(authorization);
        plan.answered_challenges += 1;
        plan.login_after_challenge = Some(login);
        return Ok(Outcome::Resend(Resend::new(rejection, Box::new(HttpRun { plan, transports }))));
    }
    let outcome = response::interpret_response(&plan, response);
    // The server may repeat the secrets of the request in any field.
    let outcome = outcome.map_err(|error| mask_secrets_in_error(error, &request_secrets(&plan)));
    match outcome.map_err(|error| add_tunnel_hint(error, &plan))? {
        Outcome::Response(response) => {
            overlap::check_overlap(response, plan.resume.as_ref(), ctx).await.map(Outcome::Response)
        }
        outcome => Ok(outcome),
    }
}

/// Adds the hint to tunnel FTP through the proxy, which may not fetch FTP URLs itself.
fn add_tunnel_hint(error: Error, plan: &HttpPlan) -> Error {
    // A proxy that does not support FTP may send HTTP to the FTP server, which never answers.
    let is_refused = match error.code() {
        Code::HttpError | Code::Denied | Code::PeerMisbehaved | Code::EmptyReply => true,
        Code::TimedOut => error.phase() == Phase::Reply,
        _ => false,
    };
    if plan.is_forwarded && is_refused { error.with_hint(Hint::ProxyTunnel) } else { error }
}

/// Marks the error so that a request that is not idempotent is retried only if it was never sent, or if the server did
/// not process it (RFC 9110 §9.2.2, RFC 9113 §8.7).
fn limit_retries(error: Error, plan: &HttpPlan) -> Error {
    let can_repeat = plan.is_idempotent() || transport_error::is_unprocessed(&error);
    if can_repeat { error } else { error.retry_only_if_unsent() }
}
