//! A redirect as a value, which the engine checks before it follows it.

mod kind;

pub use kind::RedirectKind;

use fetch_url_core::{Url, mask_password, parse, reference_text, resolve_reference};

use crate::credentials::masking::mask_secrets_in_text;
use crate::{Error, Meta, Response};

/// A redirect that a driver returns with [`Outcome::Redirect`](crate::driver::Outcome::Redirect). The engine resolves
/// the reference, checks it by the redirect policy and sends the next request.
#[derive(Debug)]
#[non_exhaustive]
pub struct Redirect {
    /// The URL reference as the server sent it, absolute or relative (RFC 3986 §4.1).
    pub target: String,
    /// The reason for messages: the first line of the response.
    pub reason: String,
    /// The kind of redirect, which selects its limit.
    pub kind: RedirectKind,
    /// The response that contained the redirect, for callers that do not follow redirects.
    pub response: Response,
    /// The next request is a plain GET: the method and body of this request are dropped (RFC 9110 §15.4.4).
    pub switches_to_get: bool,
    /// The error for a caller that does not follow redirects, if the response does not contain an object.
    pub error_if_not_followed: Option<Error>,
    /// The response changed the state of the client, for example by setting a cookie. A second redirect to
    /// the same URL is then not a loop.
    pub changes_state: bool,
}

impl Redirect {
    /// Creates a redirect to the reference `target` for `reason`.
    pub fn new(target: impl Into<String>, reason: impl Into<String>, response: Response) -> Self {
        let (target, reason) = (target.into(), reason.into());
        let kind = RedirectKind::Redirect;
        Self {
            target,
            reason,
            kind,
            response,
            switches_to_get: false,
            error_if_not_followed: None,
            changes_state: false,
        }
    }

    /// Marks the redirect as the response of a name service, see [`RedirectKind::NameService`].
    #[must_use]
    pub fn from_name_service(mut self) -> Self {
        self.kind = RedirectKind::NameService;
        self
    }
}

/// Returns the text of the URL that the reference `target` of a redirect stands for. A raw space is accepted and sent as
/// `%20`, as browsers do.
pub(crate) fn resolve_target(from: &Url<'_>, target: &str) -> String {
    resolve_reference(&from.to_string(), &target.replace(' ', "%20"))
}

/// Returns the URL of a response for messages: without its password, and without secrets of the request that a redirect
/// has repeated in it.
pub fn shown_url(meta: &Meta) -> String {
    meta.shown_url()
}

/// Returns `text`, which the server of a response chose, without passwords and secrets of the request.
pub fn shown_text(text: &str, meta: &Meta) -> String {
    mask_password(&mask_secrets_in_text(text, &meta.secrets))
}

/// Returns the URL to which a response from `from` with this Location redirects, with its fragment, as it is requested when
/// the redirect is followed.
pub fn redirect_target(from: &Url<'_>, location: &[u8]) -> String {
    let text = resolve_target(from, &reference_text(location));
    match parse(&text) {
        Ok(parsed) => match parsed.fragment {
            Some(fragment) => format!("{}#{fragment}", parsed.url),
            None => parsed.url.to_string(),
        },
        Err(_) => text,
    }
}
