//! Metadata and outcome of a response.

use super::plan::ProsperoPlan;
use crate::{Content, Meta, Outcome, Response};

pub(super) fn outcome(meta: Meta, content: Content) -> Outcome {
    Outcome::Response(Response::new(meta, content))
}

/// Returns the metadata that every response has.
pub(super) fn response_meta(plan: &ProsperoPlan) -> Meta {
    let mut meta = Meta::new(plan.url.clone());
    meta.protocol = Some("Prospero");
    meta
}
