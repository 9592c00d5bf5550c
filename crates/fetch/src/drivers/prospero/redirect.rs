//! Redirects of Prospero: to the server that stores an object, and to another directory server.

use std::net::SocketAddrV4;

use fetch_url_proto::prospero::ObjectName;

use super::plan::ProsperoPlan;
use super::response::response_meta;
use crate::{Code, Content, Error, Phase, Redirect, Response};

/// Returns the redirect to `url`, which retrieves the object by one of its access methods.
pub(super) fn redirect_to(url: &str, why: &str, plan: &ProsperoPlan) -> Redirect {
    let response = Response::new(response_meta(plan), Content::Head);
    let mut redirect = Redirect::new(url, why, response).from_name_service();
    let detail = format!("the object is at another URL: {url}");
    redirect.error_if_not_followed = Some(Error::new(Code::NotFound, Phase::Request, detail));
    redirect
}

/// Returns the redirect for a FORWARDED or UNRESOLVED response: the object has another name.
///
/// # Errors
/// `Code::PeerMisbehaved` if the new name has no URL.
pub(super) fn redirect_to_object(name: &ObjectName, plan: &ProsperoPlan) -> Result<Redirect, Error> {
    let Some(url) = name.url() else {
        let detail = "the server returns a new name that has no URL";
        return Err(Error::new(Code::PeerMisbehaved, Phase::Redirect, detail).with_reply(&name.host));
    };
    Ok(redirect_to(&url, "the object is forwarded", plan))
}

/// Returns the redirect for an ARDP redirect: the same object at another server.
pub(super) fn redirect_to_server(address: SocketAddrV4, plan: &ProsperoPlan) -> Redirect {
    let text = plan.url.to_string();
    let object = text.splitn(4, '/').nth(3).unwrap_or_default();
    redirect_to(&format!("prospero://{address}/{object}"), "the server refers to another server", plan)
}
