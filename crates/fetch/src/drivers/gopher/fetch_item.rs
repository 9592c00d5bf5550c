//! Fetches an object, a menu or attributes with one request.

use fetch_url_proto::gopher::{GopherRequest, PlusRequest};

use super::plan::GopherPlan;
use super::rejection::rejection_outcome;
use super::response::{ResponseStart, send_request};
use crate::{Content, Error, Meta, Outcome, Resend, Response, RunContext};

/// Sends `request` and returns the response.
pub(super) async fn fetch_item(
    request: &GopherRequest,
    plan: &GopherPlan,
    ctx: &RunContext,
) -> Result<Outcome, Error> {
    let response = match send_request(request, plan.options.raw_menus, plan, ctx).await? {
        ResponseStart::Accepted(response) => response,
        ResponseStart::Rejected(rejection) => return rejection_outcome(&rejection, plan),
    };
    match request.plus() {
        // Some servers support attributes, but misinterpret a list of names.
        Some(PlusRequest::Attributes(names)) if !response.is_gopher_plus() && !names.is_empty() => {
            Ok(resend_for_all_attributes(request, names, plan))
        }
        Some(PlusRequest::Attributes(names)) if !names.is_empty() => Ok(response.into_outcome(plan, names)),
        _ => Ok(response.into_outcome(plan, plan.kept_attributes.clone())),
    }
}

/// Requests all attributes of the item; those that are not in `names` are removed from the response.
fn resend_for_all_attributes(request: &GopherRequest, names: Vec<Vec<u8>>, plan: &GopherPlan) -> Outcome {
    let response = Response::new(Meta::new(plan.url.clone()), Content::Head);
    Outcome::Resend(Resend::new(response, Box::new(plan.with_request(request.for_all_attributes(), names))))
}
