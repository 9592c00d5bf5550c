//! Sends the request, over the road that keeps its target as it is written.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use fetch_url_core::Host;
use http_body::Body as _;

use super::plan::HttpPlan;
use super::{answer, fault, verbatim};
use crate::{ByteSource, Code, Ctx, Error, Outcome, Phase};

/// One request, one answer.
pub(super) async fn run(plan: HttpPlan, ctx: Ctx) -> Result<Outcome, Error> {
    let response = match kept_as_written(&plan)? {
        Some(url) => through_client(&plan, url, &ctx).await?,
        None => verbatim::send(&plan, &ctx).await?,
    };
    answer::judge(&plan, response)
}

/// The URL for reqwest, when its own parser changes nothing that goes out. Two parsers in one
/// program must at least agree on the host.
fn kept_as_written(plan: &HttpPlan) -> Result<Option<reqwest::Url>, Error> {
    let text = format!("{}{}", plan.origin(), plan.target);
    let Ok(url) = reqwest::Url::parse(&text) else { return Ok(None) };
    let agrees = url.host_str().is_some_and(|host| is_host(host, &plan.host));
    if !agrees || url.port_or_known_default() != Some(plan.port) {
        let detail = format!("two parsers disagree on the host: {} and {:?}", plan.host, url.host_str());
        return Err(Error::new(Code::Internal, Phase::Plan, detail));
    }
    let target = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    Ok((target == plan.target).then_some(url))
}

/// Whether the text names the host: addresses by their value, names without regard to case.
fn is_host(text: &str, host: &Host<'_>) -> bool {
    match host {
        Host::V4(address) => text.parse() == Ok(*address),
        Host::V6(address) => text.trim_matches(['[', ']']).parse() == Ok(*address),
        Host::Name(name) => text.eq_ignore_ascii_case(name),
    }
}

async fn through_client(plan: &HttpPlan, url: reqwest::Url, ctx: &Ctx) -> Result<reqwest::Response, Error> {
    let addresses = ctx.dial.approve(&plan.host, plan.port, &ctx.deadline).await?;
    let clients = plan.clients.of(ctx.dial.must_be_public());
    if let Host::Name(name) = &plan.host {
        clients.approve(name, addresses);
    }
    let client = clients.get(plan.is_tls, ctx)?;
    let mut request = client.request(plan.method.clone(), url);
    for (name, value) in &plan.fields {
        request = request.header(name, value);
    }
    if let Some(authorization) = &plan.authorization {
        request = request.header(http::header::AUTHORIZATION, authorization);
    }
    let failed = |error: reqwest::Error| {
        let is_connect = error.is_connect();
        fault::before_answer(error.without_url(), is_connect, plan.is_tls)
    };
    let sent = async { request.send().await.map_err(failed) };
    ctx.deadline.bound(Phase::Reply, sent).await
}

/// The body of an answer, frame by frame.
pub(super) struct Frames(reqwest::Body);

impl Frames {
    pub(super) fn of(response: reqwest::Response) -> Self {
        Self(response.into())
    }
}

impl ByteSource for Frames {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        loop {
            match ready!(Pin::new(&mut self.0).poll_frame(cx)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(fault::in_body(error)))),
                // Trailers are nobody's.
                Some(Ok(frame)) => {
                    if let Ok(octets) = frame.into_data() {
                        return Poll::Ready(Some(Ok(octets)));
                    }
                }
            }
        }
    }
}
