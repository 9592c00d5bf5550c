//! Index pages in a build without the feature `html`.

use super::plan::HttpPlan;
use crate::{Code, Error, Phase, Response};

/// Returns the response unless the caller asked for a listing, which fails with `Code::Unsupported`.
pub(super) fn index_page_listing(plan: &HttpPlan, response: Response) -> Result<Response, Error> {
    if plan.options.index_as_listing && !plan.wants_head {
        let detail = "this build does not read index pages (feature html)";
        return Err(Error::new(Code::Unsupported, Phase::Reply, detail));
    }
    Ok(response)
}
