//! Metadata and outcome of a response.

use super::plan::NntpPlan;
use crate::{Content, Meta, Outcome, Response};

pub(super) fn outcome(plan: &NntpPlan, content: Content) -> Outcome {
    Outcome::Response(Response::new(response_meta(plan), content))
}

/// Returns the metadata that every response has.
pub(super) fn response_meta(plan: &NntpPlan) -> Meta {
    let mut meta = Meta::new(plan.url.clone());
    meta.protocol = Some("NNTP");
    meta
}
