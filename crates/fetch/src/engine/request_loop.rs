//! The loop of one request until its final response: attempts, redirects and retries. It also applies the
//! limits to the body.

use super::chain_start::{ChainStart, through_gateway};
use super::min_rate::bound_by_min_rate;
use super::redirects::RedirectChain;
use super::retry::RetryState;
use super::settings::Settings;
use super::timings::Stopwatch;
use super::{drain, resume_checks, trace};
use crate::body::limits::BodyLimits;
use crate::credentials::masking::mask_secrets_in_url;
use crate::credentials::prompt::PasswordPrompt;
use crate::net::connector::{Connector, UrlChooser};
use crate::{
    Code, Content, Deadline, Error, Event, Meta, NotFetchable, Outcome, Phase, Plan, Proof, Redirect,
    Request, Response, Resume, RunContext,
};

/// Maximum number of times that one attempt sends its request, including resends in another form, such as
/// with a login.
const MAX_ROUNDS: u32 = 8;
/// Maximum number of earlier responses whose metadata is kept.
const MAX_EARLIER: usize = 100;

/// The next action of the loop after an attempt.
#[allow(clippy::large_enum_variant, reason = "one short-lived value per attempt")]
enum Next {
    /// Return this response.
    Finish(Response),
    /// Send this request.
    Send(Request),
}

/// The final response, and the requests to send if it must be resumed.
pub(super) struct FinalResponse {
    pub(super) response: Response,
    /// The request to send in place of the first one if the body breaks off; `None` for the first one itself.
    pub(super) resume_start: Option<ChainStart>,
    /// The last request of the chain, if there were redirects.
    pub(super) redirected: Option<ChainStart>,
}

/// Sends the request of `start` and follows redirects until a response is not a redirect.
pub(super) async fn follow_redirects(
    settings: &Settings,
    start: ChainStart,
    deadline: Deadline,
    retries: &mut RetryState,
) -> Result<FinalResponse, Error> {
    let mut stopwatch = Stopwatch::start();
    let followed = follow_with_stopwatch(settings, start, deadline, retries, &mut stopwatch).await;
    followed.map_err(|error| error.with_timings(stopwatch.timings()))
}

async fn follow_with_stopwatch(
    settings: &Settings,
    start: ChainStart,
    deadline: Deadline,
    retries: &mut RetryState,
    stopwatch: &mut Stopwatch,
) -> Result<FinalResponse, Error> {
    let (mut request, mut chain, mut earlier) = start.into_parts(settings)?;
    let mut resume_start = None;
    loop {
        let sent = request.clone();
        let connector = settings.network.connector(request.url(), url_chooser(&request, &chain));
        stopwatch.start_attempt();
        let outcome = attempt(settings, &request, &chain, connector.clone(), deadline, &mut earlier).await;
        stopwatch.record_connection(connector.connection_info());
        let outcome = outcome.map_err(|error| request.add_url_to(error));
        chain.record_public(connector.has_contacted_public());
        trace::outcome(&outcome);
        let next = match outcome {
            Ok(Outcome::Response(response)) => check_response(response, request, retries, &deadline).await?,
            Ok(Outcome::Redirect(redirect)) if chain.follows() => {
                push_earlier(&mut earlier, &redirect.response.meta);
                follow(redirect, request, &mut chain, settings).await?
            }
            Ok(Outcome::Redirect(redirect)) => follow(redirect, request, &mut chain, settings).await?,
            Ok(Outcome::Resend(resend)) => return Err(unresolved_resend(&resend)),
            Err(error) => Next::Send(recover(error, request, retries, &deadline).await?),
        };
        match next {
            Next::Send(next) => {
                let start = ChainStart::after_redirect(&sent, &next, &chain, &earlier);
                resume_start = start.or(resume_start);
                request = next;
            }
            Next::Finish(response) => {
                let (limits, max_rate) = (settings.policy.limits, settings.max_rate.as_ref());
                let limits = BodyLimits::new(limits, max_rate, deadline, connector.connection_info());
                let response = with_limits(response, limits).map_err(|error| sent.add_url_to(error))?;
                let mut response = with_resume_tail(response, sent.resume());
                let is_redirected = chain.redirects() > 0;
                let redirected = is_redirected.then(|| ChainStart::at_end(&sent, &chain, &earlier));
                response.meta.requested_url = chain.start().clone();
                response.meta.earlier = earlier;
                response.meta.redirects = chain.redirects();
                response.meta.has_visited_public = chain.has_visited_public();
                response.meta.is_chosen_by_server = is_redirected || !sent.earlier_secrets().is_empty();
                response.meta.retries = retries.retries();
                response.meta.timings = stopwatch.timings();
                return Ok(FinalResponse { response, resume_start, redirected });
            }
        }
    }
}

/// Adds the metadata of a response that is not the last one to `earlier`, up to [`MAX_EARLIER`].
fn push_earlier(earlier: &mut Vec<Meta>, meta: &Meta) {
    if earlier.len() < MAX_EARLIER {
        earlier.push(meta.clone());
    }
}

/// Returns who has chosen the URL of `request`. A gateway's address was chosen by the caller.
fn url_chooser(request: &Request, chain: &RedirectChain) -> UrlChooser {
    if request.is_for_gateway() {
        UrlChooser::Caller
    } else if chain.has_visited_public() {
        UrlChooser::PublicServer
    } else if request.has_left_origin() {
        UrlChooser::PrivateServer
    } else {
        UrlChooser::Caller
    }
}

/// Decides whether to return a response or to send a request again. An error response may be retried. If the response
/// is for another resource than the partial download, the request is sent again from byte 0; if it has no content, the
/// request for the rest is retried.
async fn check_response(
    mut response: Response,
    request: Request,
    retries: &mut RetryState,
    deadline: &Deadline,
) -> Result<Next, Error> {
    if let Some(refusal) = response.status_error.take() {
        match retries.backoff(&request, request.add_url_to(refusal), 0, deadline).await {
            Ok(()) => return Ok(Next::Send(request)),
            Err(refusal) => response.status_error = Some(refusal),
        }
    }
    if let Some(permit) = request.host_permit().filter(|permit| permit.is_for(request.url())) {
        permit.record_response();
    }
    if resume_checks::is_other_resource(&response, &request) {
        return Ok(Next::Send(request.resuming(None)));
    }
    if let Some(error) = resume_checks::missing_content_error(&response.meta, request.resume()) {
        retries.backoff(&request, request.add_url_to(error), 0, deadline).await?;
        return Ok(Next::Send(request));
    }
    Ok(Next::Finish(apply_condition(response, &request)))
}

/// Returns the request for the target of a redirect, if the policy allows it. If the caller does not follow redirects,
/// returns the response or its error.
async fn follow(
    redirect: Redirect,
    request: Request,
    chain: &mut RedirectChain,
    settings: &Settings,
) -> Result<Next, Error> {
    if !chain.follows() {
        return match redirect.error_if_not_followed {
            Some(error) => Err(request.add_url_to(error)),
            None => Ok(Next::Finish(apply_condition(redirect.response, &request))),
        };
    }
    let from = request.shown_url().into_owned();
    let request = request.with_earlier_secrets(&redirect.response.meta.secrets);
    let (target, state) = chain.check(&request, &redirect).map_err(|error| request.add_url_to(error))?;
    let shown = mask_secrets_in_url(&target, request.earlier_secrets());
    tracing::debug!(url = %shown.redacted(), why = redirect.reason, "redirect");
    request.notify(&Event::Redirect { from: &from, to: &shown, why: &redirect.reason });
    drop(shown);
    drain::drain_for_reuse(redirect.response).await;
    through_gateway(settings, request.after_redirect(target, state)).map(Next::Send)
}

/// Returns the request to send after `error`: without resume data if the object changed, or the same request
/// after the backoff if a retry is allowed.
async fn recover(
    error: Error,
    request: Request,
    retries: &mut RetryState,
    deadline: &Deadline,
) -> Result<Request, Error> {
    if resume_checks::must_restart(&error, &request) {
        tracing::debug!(%error, "the object changed or cannot be resumed: restarting from byte 0");
        return Ok(request.resuming(None));
    }
    retries.backoff(&request, request.add_url_to(error), 0, deadline).await?;
    Ok(request)
}

fn unresolved_resend(resend: &crate::Resend) -> Error {
    Error::new(Code::Internal, Phase::Request, format!("{resend:?} was not resent"))
}

/// Checks the request of the caller as its first attempt does, without contacting a server. Returns the advice if the
/// URL does not name an object.
pub(crate) fn check_request(settings: &Settings, request: Request) -> Result<Option<NotFetchable>, Error> {
    let (request, chain, _) = ChainStart::new(request).into_parts(settings)?;
    let login = settings.credentials.select(request.url(), chain.origin(&request));
    let request = request.with_login(login);
    let connector = settings.network.connector(request.url(), url_chooser(&request, &chain));
    let plan = plan_attempt(settings, &request, &chain, &connector);
    plan.map(|plan| plan.advice().cloned()).map_err(|error| error.with_url(request.url()))
}

/// Returns the plan of the driver for one attempt, after the policy is checked. No server is contacted.
fn plan_attempt(
    settings: &Settings,
    request: &Request,
    chain: &RedirectChain,
    connector: &Connector,
) -> Result<Box<dyn Plan>, Error> {
    let plan = settings.plan(request).map_err(|error| chain.attribute_to_server(error))?;
    settings.redirect_policy.check_scheme(request.url())?;
    connector.check_url(request.url())?;
    Ok(plan)
}

/// Runs one attempt: the driver makes a plan, the policy is checked, and the plan runs. While the outcome is
/// [`Outcome::Resend`], the plan of the resend runs next.
async fn attempt(
    settings: &Settings,
    request: &Request,
    chain: &RedirectChain,
    connector: Connector,
    deadline: Deadline,
    earlier: &mut Vec<Meta>,
) -> Result<Outcome, Error> {
    let origin = chain.origin(request);
    let login = settings.credentials.select(request.url(), origin);
    let request = request.clone().with_login(login);
    let mut plan = plan_attempt(settings, &request, chain, &connector)?;
    let prompt = PasswordPrompt::new(&settings.credentials, origin, request.login());
    let ctx = RunContext {
        connector,
        deadline,
        password_prompt: prompt,
        redirect_policy: settings.redirect_policy.clone(),
        max_rate: settings.max_rate.clone(),
    };
    for _ in 0..MAX_ROUNDS {
        if !plan.has_own_trace() {
            trace::request(&*plan);
        }
        // The built-in drivers check the total time by themselves.
        let run = deadline.bound_with_clean_up(Phase::Request, plan.run(ctx.clone()));
        match bound_by_min_rate(&settings.policy.limits, &request, &ctx, run).await? {
            Outcome::Resend(resend) => {
                trace::head(&resend.response.meta);
                push_earlier(earlier, &resend.response.meta);
                drain::drain_for_reuse(resend.response).await;
                plan = resend.plan;
            }
            outcome => return Ok(outcome),
        }
    }
    let detail = format!("too many authentication rounds (limit {MAX_ROUNDS})");
    Err(Error::new(Code::PeerMisbehaved, Phase::Request, detail))
}

/// Replaces the content by [`Content::Unchanged`] if the condition of the request is not met. Not every server checks
/// the condition itself. It is not checked for a request with a body: the response has another modification time than
/// the object.
fn apply_condition(mut response: Response, request: &Request) -> Response {
    let condition = request.condition().filter(|_| !response.meta.answers_body);
    let is_met = condition.is_none_or(|condition| condition.is_met_by(response.meta.head.modified));
    if !is_met && response.status_error.is_none() && !matches!(response.content, Content::Head) {
        response.content = Content::Unchanged;
    }
    response
}

/// Passes the last bytes of the partial download to a resumed body. If it breaks off early, the next attempt compares
/// them.
fn with_resume_tail(mut response: Response, resume: Option<&Resume>) -> Response {
    if let (Content::Body(body), Some(resume)) = (&mut response.content, resume)
        && response.meta.offset == resume.offset
    {
        body.set_tail(&resume.tail);
    }
    response
}

/// Applies the caller's limits to the body or listing of a response.
fn with_limits(mut response: Response, limits: BodyLimits) -> Result<Response, Error> {
    let limits = limits.of_url(&response.meta.url);
    let proof = match &response.content {
        Content::Body(body) => body.proof(),
        Content::Listing(listing) => listing.proof(),
        _ => return Ok(response),
    };
    if let (true, Proof::Assumed(why)) = (limits.requires_proof(), proof) {
        let detail = format!("the end of the body cannot be proven: {why}");
        return Err(Error::new(Code::Truncated, Phase::Body, detail)
            .as_permanent()
            .with_url(&response.meta.url));
    }
    response.content = match response.content {
        Content::Listing(listing) => Content::Listing(listing.with_limits(limits)),
        Content::Body(body) => {
            let body = body.with_limits(limits, response.meta.offset);
            Content::Body(body.map_err(|error| error.with_url(&response.meta.url))?)
        }
        other => other,
    };
    Ok(response)
}
