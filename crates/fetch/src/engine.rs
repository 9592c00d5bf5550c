//! Runs the requests of all schemes. Rules that several schemes share are applied here.
//!
//! ```text
//! Request ─▶ login ─▶ plan ─▶ policy ─▶ run ─┬▶ Response: limit the body, let it resume by itself, return it
//!    ▲                                       ├▶ Redirect: check it ───────────────────────┐
//!    │                                       └▶ Error: restart without resume, or retry? ─┤
//!    └────────────────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! [`request_loop`] is the loop of one request until its final response; [`resumer`] runs it again when a body
//! breaks off.

mod chain_start;
mod drain;
pub(crate) mod gateway;
pub(crate) mod host_limiter;
pub(crate) mod list_all;
mod min_rate;
pub(crate) mod redirect_policy;
mod redirects;
mod request_loop;
mod resume_checks;
mod resumer;
pub(crate) mod retry;
pub(crate) mod settings;
mod timings;
mod trace;

use std::sync::Arc;

pub(crate) use chain_start::ChainStart;
use fetch_url_core::{Host, parse};
pub(crate) use request_loop::check_request;
use request_loop::{FinalResponse, follow_redirects};
use retry::RetryState;
use settings::Settings;

use crate::net::connector::UrlChooser;
use crate::net::server_stream::ServerStream;
use crate::{Deadline, Error, Meta, Request, Response};

/// Fetches `request`: follows redirects, retries transient errors, and returns a response whose body resumes by
/// itself when it breaks off.
pub(crate) async fn fetch(settings: &Arc<Settings>, request: Request) -> Result<Response, Error> {
    fetch_from(settings, ChainStart::new(request)).await
}

/// Fetches the request of `start`. The redirects before it are not requested again.
pub(crate) async fn fetch_from(settings: &Arc<Settings>, start: ChainStart) -> Result<Response, Error> {
    let deadline = Deadline::start(settings.policy.timeouts);
    let mut retries = RetryState::new(start.request.retry_rules(settings.policy.retry));
    let FinalResponse { response, resume_start, .. } =
        follow_redirects(settings, start.clone(), deadline, &mut retries).await?;
    Ok(resumer::with_resumer(response, settings, resume_start.unwrap_or(start), deadline, retries))
}

/// Requests the metadata of an object. If there were redirects, also returns the start that repeats only the last
/// request.
pub(crate) async fn fetch_head(
    settings: &Arc<Settings>,
    request: Request,
) -> Result<(Meta, Option<ChainStart>), Error> {
    let deadline = Deadline::start(settings.policy.timeouts);
    let mut retries = RetryState::new(request.retry_rules(settings.policy.retry));
    let start = ChainStart::new(request.head());
    let FinalResponse { response, redirected, .. } =
        follow_redirects(settings, start, deadline, &mut retries).await?;
    Ok((*response.meta, redirected))
}

/// Opens a TCP connection to `host` and `port` within the connect timeout, through the proxy for https if there is one.
pub(crate) async fn connect(
    settings: &Arc<Settings>,
    host: &Host<'_>,
    port: u16,
) -> Result<ServerStream, Error> {
    let deadline = Deadline::start(settings.policy.timeouts);
    let text = format!("https://{host}:{port}/");
    let url = parse(&text)?.url;
    settings.network.connector(&url, UrlChooser::Caller).connect(host, port, &deadline).await
}
