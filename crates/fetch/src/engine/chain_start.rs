//! The first request of a chain of redirects. It is sent again if a body breaks off.

use super::redirects::RedirectChain;
use super::settings::Settings;
use crate::http::HttpOptions;
use crate::{Error, Event, Meta, Request};

/// The request with which a chain of redirects starts: the caller's, the first GET after a redirect that removed the
/// caller's method and body, or the one that the last server answered.
#[derive(Clone)]
pub(crate) struct ChainStart {
    pub(crate) request: Request,
    /// The redirects before `request`; `None` for the caller's request.
    earlier: Option<Box<EarlierRequests>>,
}

#[derive(Clone)]
struct EarlierRequests {
    chain: RedirectChain,
    responses: Vec<Meta>,
}

impl ChainStart {
    /// Returns the start with the caller's `request`.
    pub(crate) const fn new(request: Request) -> Self {
        Self { request, earlier: None }
    }

    /// Returns the start with the request after a redirect, if `previous` must not be sent again to get the same object,
    /// because it has the caller's method or body. A GET starts with the caller's URL again, because the targets of
    /// redirects may be valid for a short time only.
    pub(super) fn after_redirect(
        previous: &Request,
        next: &Request,
        chain: &RedirectChain,
        responses: &[Meta],
    ) -> Option<Self> {
        (has_method_or_body(previous) && next.is_plain_get()).then(|| Self::at_end(next, chain, responses))
    }

    /// Returns the start with `last`, the last request of a chain, so that its redirects are not requested again.
    pub(super) fn at_end(last: &Request, chain: &RedirectChain, responses: &[Meta]) -> Self {
        let earlier = EarlierRequests { chain: chain.clone(), responses: responses.to_vec() };
        Self { request: last.clone(), earlier: Some(Box::new(earlier)) }
    }

    /// Returns the start with another form of its request.
    pub(crate) fn with_request(self, request: Request) -> Self {
        Self { request, ..self }
    }

    /// Returns the first request, the redirects before it, and the metadata of their responses.
    pub(super) fn into_parts(
        self,
        settings: &Settings,
    ) -> Result<(Request, RedirectChain, Vec<Meta>), Error> {
        match self.earlier {
            Some(earlier) => Ok((self.request, earlier.chain, earlier.responses)),
            None => {
                let mut chain = RedirectChain::new(&settings.redirect_policy, self.request.url());
                chain.record_public(self.request.is_from_public());
                Ok((through_gateway(settings, self.request)?, chain, Vec::new()))
            }
        }
    }
}

/// Returns `true` if the request has a method of the caller other than GET and HEAD, or a body.
pub(super) fn has_method_or_body(request: &Request) -> bool {
    let has_method = |options: &HttpOptions| {
        options.method.as_ref().is_some_and(|method| !matches!(method.as_str(), "GET" | "HEAD"))
    };
    let options = request.extra::<HttpOptions>().filter(|_| !request.is_plain_get());
    options.is_some_and(|options| options.body.is_some() || has_method(options))
}

/// Returns the request to the gateway of the scheme if one is configured, otherwise `request` itself.
pub(super) fn through_gateway(settings: &Settings, request: Request) -> Result<Request, Error> {
    let Some(target) = settings.gateways.gateway_url(request.url()) else { return Ok(request) };
    let target = target.map_err(|error| error.with_url(request.url()))?;
    request.notify(&Event::Redirect { from: request.url(), to: &target, why: "the gateway of the scheme" });
    Ok(request.through_gateway(target))
}
