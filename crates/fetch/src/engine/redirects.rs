//! The redirects of one request: each one is checked here before it is followed.

use fetch_url_core::{Url, mask_password, parse};

use super::redirect_policy::RedirectPolicy;
use crate::redirect::resolve_target;
use crate::request::RedirectState;
use crate::{Code, Error, Phase, Redirect, RedirectKind, Request};

/// The redirects that one request has followed.
#[derive(Clone)]
pub(super) struct RedirectChain {
    start: Url<'static>,
    policy: RedirectPolicy,
    followed: u32,
    /// The number of redirects that a name service sent.
    name_redirects: u32,
    /// The URLs of this request, for loop detection. A change of method or of client state (such as a cookie) clears
    /// them, because the same URL may then have another response. Empty until the first redirect.
    visited: Vec<String>,
    has_visited_public: bool,
}

impl RedirectChain {
    pub(super) fn new(policy: &RedirectPolicy, start: &Url<'static>) -> Self {
        Self {
            start: start.clone(),
            policy: policy.clone(),
            followed: 0,
            name_redirects: 0,
            visited: Vec::new(),
            has_visited_public: false,
        }
    }

    /// Returns the URL of the first request.
    pub(super) const fn start(&self) -> &Url<'static> {
        &self.start
    }

    /// Returns the URL of the first request, or `None` after a redirect to another origin, unless the caller trusts it.
    /// Credentials belong to this origin.
    pub(super) fn origin(&self, request: &Request) -> Option<&Url<'static>> {
        (!request.is_cross_origin()).then_some(&self.start)
    }

    /// Returns `true` if the caller follows redirects.
    pub(super) fn follows(&self) -> bool {
        self.policy.limits().max_redirects.is_some()
    }

    pub(super) const fn redirects(&self) -> u32 {
        self.followed
    }

    /// Returns `true` if a server with a public address was contacted. From then on, private addresses are refused.
    pub(super) const fn has_visited_public(&self) -> bool {
        self.has_visited_public
    }

    pub(super) const fn record_public(&mut self, was_public: bool) {
        self.has_visited_public |= was_public;
    }

    /// Returns the target of `redirect` and the resulting state of the request.
    ///
    /// # Errors
    /// `Code::TooManyRedirects` beyond the limit or for a loop, `Code::Policy`, `Code::PeerMisbehaved` if the target is
    /// not a URL.
    pub(super) fn check(
        &mut self,
        request: &Request,
        redirect: &Redirect,
    ) -> Result<(Url<'static>, RedirectState), Error> {
        self.check_target(request, redirect).map_err(|error| {
            let target = resolve_target(request.url(), &redirect.target);
            error.with_redirect_target(mask_password(&target))
        })
    }

    fn check_target(
        &mut self,
        request: &Request,
        redirect: &Redirect,
    ) -> Result<(Url<'static>, RedirectState), Error> {
        let from = request.url();
        if self.followed == 0 {
            self.visited.push(self.start.to_string());
        }
        self.count_redirect(redirect)?;
        let target = self.resolve_target(from, redirect)?;
        let checked = self.policy.check_redirect(from, &target, redirect.kind);
        checked.map_err(|error| error.with_reply(redirect.reason.as_bytes()))?;
        let text = target.to_string();
        // A redirect back to the same URL is not a loop if the client's state changed, or if the method changes to GET
        // (RFC 9110 §15.4.4).
        if redirect.changes_state || (redirect.switches_to_get && !request.is_plain_get()) {
            self.visited.clear();
        }
        if self.visited.contains(&text) {
            return Err(loop_error(&target, redirect));
        }
        self.visited.push(text);
        let redirect_state = RedirectState {
            is_cross_origin: request.has_left_origin() || !from.same_origin(&target),
            // After an origin that must not receive credentials, no later one receives them.
            trusts_target: self.policy.limits().trust_other_servers
                && !request.is_cross_origin()
                && matches!(target, Url::Http(_)),
            // The caller's request body is not sent to a server that a name service selects.
            is_plain_get: request.is_plain_get()
                || redirect.switches_to_get
                || redirect.kind == RedirectKind::NameService,
            is_from_public: request.is_from_public(),
            is_for_gateway: false,
        };
        Ok((target, redirect_state))
    }

    /// Converts `Code::BadUrl` to `Code::PeerMisbehaved` after a redirect, because the server chose the
    /// invalid URL.
    pub(super) fn attribute_to_server(&self, error: Error) -> Error {
        if self.followed == 0 || error.code() != Code::BadUrl {
            return error;
        }
        let detail = format!("the redirect's target cannot be requested: {error}");
        Error::new(Code::PeerMisbehaved, Phase::Redirect, detail)
    }

    /// Counts one redirect against its limit.
    fn count_redirect(&mut self, redirect: &Redirect) -> Result<(), Error> {
        let rules = self.policy.limits();
        let (count, max) = match redirect.kind {
            RedirectKind::NameService => (self.name_redirects, rules.max_name_service_redirects),
            RedirectKind::Redirect => (self.followed - self.name_redirects, rules.max_redirects.unwrap_or(0)),
        };
        if count >= max {
            let detail = format!("more than {max}");
            return Err(Error::new(Code::TooManyRedirects, Phase::Redirect, detail)
                .with_reply(redirect.reason.as_bytes()));
        }
        self.name_redirects += u32::from(redirect.kind == RedirectKind::NameService);
        self.followed += 1;
        Ok(())
    }

    /// Resolves the reference against `from`.
    fn resolve_target(&self, from: &Url<'_>, redirect: &Redirect) -> Result<Url<'static>, Error> {
        let text = resolve_target(from, &redirect.target);
        match parse(&text) {
            Ok(parsed) => Ok(parsed.into_owned().url),
            Err(error) => {
                let detail = format!("the redirect's target is not a URL: {error}");
                Err(Error::new(Code::PeerMisbehaved, Phase::Redirect, detail)
                    .with_reply(mask_password(&redirect.target).as_bytes()))
            }
        }
    }
}

fn loop_error(target: &Url<'_>, redirect: &Redirect) -> Error {
    let detail = format!("redirect loop, back to {}", target.redacted());
    Error::new(Code::TooManyRedirects, Phase::Redirect, detail).with_reply(redirect.reason.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Content, Meta, Policy, Response};

    #[test]
    fn redirects_of_name_services_and_of_servers_are_counted_separately() {
        let url = parse("http://h/x").expect("a URL").into_owned().url;
        let mut limits = Policy::default().redirects;
        (limits.max_redirects, limits.max_name_service_redirects) = (Some(1), 2);
        let policy = RedirectPolicy::new(limits, Default::default());
        let mut chain = RedirectChain::new(&policy, &url);
        let mut count = |kind| {
            let response = Response::new(Meta::new(url.clone()), Content::Head);
            let mut redirect = Redirect::new("http://h/y".to_owned(), String::new(), response);
            redirect.kind = kind;
            chain.count_redirect(&redirect)
        };
        let mut is_allowed = |kind| count(kind).is_ok();
        assert!(is_allowed(RedirectKind::NameService) && is_allowed(RedirectKind::NameService));
        assert!(!is_allowed(RedirectKind::NameService));
        assert!(is_allowed(RedirectKind::Redirect) && !is_allowed(RedirectKind::Redirect));
    }

    #[test]
    fn redirect_to_the_first_url_is_a_loop_at_once() {
        let request = Request::new("http://h/x").expect("a URL");
        let policy = RedirectPolicy::new(Policy::default().redirects, Default::default());
        let mut chain = RedirectChain::new(&policy, request.url());
        let response = Response::new(Meta::new(request.url().clone()), Content::Head);
        let redirect = Redirect::new("/x".to_owned(), "301 Moved".to_owned(), response);
        let error = chain.check(&request, &redirect).expect_err("a loop");
        assert_eq!((error.code(), error.redirect_target()), (Code::TooManyRedirects, Some("http://h/x")));
        assert_eq!(chain.redirects(), 1);
    }
}
