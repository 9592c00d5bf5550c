//! Maps error responses of Gopher servers to errors and redirects.

use fetch_url_core::mask_password;
use fetch_url_proto::Rejection;

use super::plan::GopherPlan;
use crate::{Code, Content, Error, Meta, Outcome, Phase, Redirect, Response};

/// Returns a redirect if the server names the new location of the item, otherwise the error.
pub(super) fn rejection_outcome(rejection: &Rejection, plan: &GopherPlan) -> Result<Outcome, Error> {
    let target = rejection.moved_to.as_ref().and_then(|item| item.url(plan.tls_server().as_ref()));
    match target {
        Some(target) => Ok(redirect_to(&target, "the item has moved", plan)),
        None => Err(rejection_error(rejection)),
    }
}

/// Returns the error for a request that the server refused.
pub(super) fn rejection_error(rejection: &Rejection) -> Error {
    let error = Error::new(rejection_code(rejection), Phase::Request, "");
    if rejection.text.is_empty() { error } else { error.with_reply(&rejection.text) }
}

/// Returns the redirect to `target`.
pub(super) fn redirect_to(target: &str, why: &str, plan: &GopherPlan) -> Outcome {
    let response = Response::new(Meta::new(plan.url.clone()), Content::Head);
    let mut redirect = Redirect::new(target, why, response);
    let detail = format!("the item is at another URL: {}", mask_password(target));
    redirect.error_if_not_followed = Some(Error::new(Code::NotFound, Phase::Request, detail));
    Outcome::Redirect(redirect)
}

/// Texts of servers that refuse a request for the moment.
const BUSY_PHRASES: &[&[u8]] = &[b"too many users", b"too many connections", b"too busy", b"try again later"];
/// Texts of servers that deny access.
const DENIED_PHRASES: &[&[u8]] = &[b"denied", b"permission", b"forbidden", b"not allowed"];

/// Maps the Gopher+ error code 2 to `Code::Busy`. Plain Gopher has no error codes, so the text is searched.
fn rejection_code(rejection: &Rejection) -> Code {
    let text = rejection.text.to_ascii_lowercase();
    let contains = |phrases: &[&[u8]]| {
        phrases.iter().any(|phrase| text.windows(phrase.len()).any(|window| window == *phrase))
    };
    match rejection.code {
        Some(2) => Code::Busy,
        _ if contains(BUSY_PHRASES) => Code::Busy,
        _ if contains(DENIED_PHRASES) => Code::Denied,
        _ => Code::NotFound,
    }
}
