//! One request up to its answer: attempts, redirects, retries, and the limits around the body.

use super::redirects::RedirectChain;
use super::retry::RetryState;
use super::settings::Settings;
use super::timings::Stopwatch;
use super::{drain, resume, trace};
use crate::body::limits::BodyLimits;
use crate::credentials::prompt::PasswordPrompt;
use crate::net::connector::{Connector, UrlChooser};
use crate::{
    Code, Content, Deadline, Error, Event, Outcome, Phase, Proof, Redirect, Request, Response, RunContext,
};

/// Maximum number of resends of one request in another form, such as with a login.
const MAX_ROUNDS: u32 = 8;

/// The next action of the loop after an attempt.
#[allow(clippy::large_enum_variant, reason = "one short-lived value per attempt")]
enum Next {
    /// Return this answer.
    Finish(Response),
    /// Send this request.
    Send(Request),
}

/// Fetches `request` from the caller's URL to an answer that is no redirect.
pub(super) async fn follow_redirects(
    settings: &Settings,
    request: Request,
    deadline: Deadline,
    retries: &mut RetryState,
) -> Result<Response, Error> {
    let mut stopwatch = Stopwatch::start();
    let mut chain = RedirectChain::new(&settings.redirect_policy, request.url());
    let mut request = through_gateway(settings, request)?;
    loop {
        let connector = settings.network.connector(request.url(), url_chooser(&request, &chain));
        let connector = connector.map_err(|error| error.at(request.url()))?;
        stopwatch.start_attempt();
        let outcome = attempt(settings, &request, &chain, connector.clone(), deadline).await;
        stopwatch.record_connection(connector.connection_info());
        chain.record_public(connector.has_contacted_public());
        trace::outcome(&outcome);
        let next = match outcome {
            Ok(Outcome::Answer(answer)) => check_answer(answer, request, retries, &deadline).await?,
            Ok(Outcome::Follow(hop)) => follow(hop, request, &mut chain, settings).await?,
            Ok(Outcome::Resend(resend)) => return Err(unresolved(&resend)),
            Err(error) => Next::Send(recover(error, request, retries, &deadline).await?),
        };
        match next {
            Next::Send(next) => request = next,
            Next::Finish(answer) => {
                let (limits, max_rate) = (settings.policy.limits, settings.max_rate.as_ref());
                let limits = BodyLimits::new(limits, max_rate, deadline, connector.connection_info());
                let mut answer = with_limits(answer, limits)?;
                answer.meta.requested_url = chain.start().clone();
                answer.meta.redirects = chain.redirects();
                answer.meta.retries = retries.retries();
                answer.meta.timings = stopwatch.timings(connector.connection_info());
                return Ok(answer);
            }
        }
    }
}

/// Returns who has chosen the URL of `request`. A gateway's address was chosen by the caller.
fn url_chooser(request: &Request, chain: &RedirectChain<'_>) -> UrlChooser {
    if request.is_for_gateway() {
        UrlChooser::Caller
    } else if chain.has_visited_public() {
        UrlChooser::PublicServer
    } else if request.is_cross_origin() {
        UrlChooser::PrivateServer
    } else {
        UrlChooser::Caller
    }
}

/// Decides what an answer means: a refusal may be retried, and bytes of another resource must not be appended to a
/// partial download.
async fn check_answer(
    mut answer: Response,
    request: Request,
    retries: &mut RetryState,
    deadline: &Deadline,
) -> Result<Next, Error> {
    if let Some(refusal) = answer.refusal.take() {
        match retries.backoff(&request, refusal.at(request.url()), 0, deadline).await {
            Ok(()) => return Ok(Next::Send(request)),
            Err(refusal) => answer.refusal = Some(refusal),
        }
    }
    if let Some(permit) = request.host_permit().filter(|permit| permit.is_for(request.url())) {
        permit.record_served();
    }
    if resume::is_other_resource(&answer, &request) {
        return Ok(Next::Send(request.resuming(None)));
    }
    Ok(Next::Finish(apply_condition(answer, &request)))
}

/// Follows a redirect, if the caller follows redirects and the policy allows this one.
async fn follow(
    redirect: Redirect,
    request: Request,
    chain: &mut RedirectChain<'_>,
    settings: &Settings,
) -> Result<Next, Error> {
    let url = request.url();
    if !chain.follows() {
        return match redirect.error_if_not_followed {
            Some(error) => Err(error.at(url)),
            None => Ok(Next::Finish(apply_condition(redirect.answer, &request))),
        };
    }
    let (target, state) = chain.check(&request, &redirect).map_err(|error| error.at(url))?;
    tracing::debug!(url = %target.redacted(), why = redirect.reason, "redirect");
    request.notify(&Event::Redirect { from: url, to: &target, why: &redirect.reason });
    drain::drain_for_reuse(redirect.answer).await;
    through_gateway(settings, request.after_redirect(target, state)).map(Next::Send)
}

/// The request to send after `error`: without resume if the object changed, the same after a wait if a retry is
/// allowed.
async fn recover(
    error: Error,
    request: Request,
    retries: &mut RetryState,
    deadline: &Deadline,
) -> Result<Request, Error> {
    if resume::must_restart(&error, &request) {
        tracing::debug!(%error, "the object changed or cannot be resumed: restarting from byte 0");
        return Ok(request.resuming(None));
    }
    retries.backoff(&request, error.at(request.url()), 0, deadline).await?;
    Ok(request)
}

fn unresolved(resend: &crate::Resend) -> Error {
    Error::new(Code::Internal, Phase::Request, format!("{resend:?} was not resent"))
}

/// The request for the caller's gateway, if one is configured for the scheme.
fn through_gateway(settings: &Settings, request: Request) -> Result<Request, Error> {
    let Some(target) = settings.gateways.gateway_url(request.url()) else { return Ok(request) };
    let target = target.map_err(|error| error.at(request.url()))?;
    request.notify(&Event::Redirect { from: request.url(), to: &target, why: "the gateway for its scheme" });
    Ok(request.through_gateway(target))
}

/// One attempt: the driver plans, the policy is checked, the plan runs, and runs again in each form that the server
/// asks for.
async fn attempt(
    settings: &Settings,
    request: &Request,
    chain: &RedirectChain<'_>,
    connector: Connector,
    deadline: Deadline,
) -> Result<Outcome, Error> {
    let origin = chain.origin(request);
    let login = settings.credentials.for_request(request.url(), origin);
    let request = request.clone().with_login(login);
    let mut plan = settings.registry.driver(request.url())?.plan(&request)?;
    settings.redirect_policy.check_scheme(request.url())?;
    connector.check_url(request.url())?;
    let prompt = PasswordPrompt::new(&settings.credentials, origin);
    let ctx = RunContext {
        connector,
        deadline,
        password_prompt: prompt,
        redirect_policy: settings.redirect_policy.clone(),
    };
    for _ in 0..MAX_ROUNDS {
        if !plan.has_own_trace() {
            trace::request(&*plan);
        }
        match plan.run(ctx.clone()).await? {
            Outcome::Resend(resend) => {
                trace::head(&resend.answer.meta);
                drain::drain_for_reuse(resend.answer).await;
                plan = resend.plan;
            }
            outcome => return Ok(outcome),
        }
    }
    let detail = format!("too many authentication rounds (limit {MAX_ROUNDS})");
    Err(Error::new(Code::PeerMisbehaved, Phase::Request, detail))
}

/// The answer, or [`Content::Unchanged`] if the condition of the request does not hold: not every server checks it.
fn apply_condition(mut answer: Response, request: &Request) -> Response {
    let is_met = request.condition().is_none_or(|condition| condition.is_met_by(answer.meta.head.modified));
    if !is_met && answer.refusal.is_none() && !matches!(answer.content, Content::Head) {
        answer.content = Content::Unchanged;
    }
    answer
}

/// Applies the caller's limits to the body or listing of an answer.
fn with_limits(mut response: Response, limits: BodyLimits) -> Result<Response, Error> {
    let proof = match &response.content {
        Content::Body(body) => body.proof(),
        Content::Listing(listing) => listing.proof(),
        _ => return Ok(response),
    };
    if let (true, Proof::Assumed(why)) = (limits.requires_proof(), proof) {
        let detail = format!("the end of the body cannot be proven: {why}");
        return Err(Error::new(Code::Truncated, Phase::Body, detail).as_permanent().at(&response.meta.url));
    }
    response.content = match response.content {
        Content::Listing(listing) => Content::Listing(listing.with_limits(limits)),
        Content::Body(body) => {
            let body = body.with_limits(limits, response.meta.offset);
            Content::Body(body.map_err(|error| error.at(&response.meta.url))?)
        }
        other => other,
    };
    Ok(response)
}
