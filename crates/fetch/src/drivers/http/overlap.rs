//! Compares the end of a partial download with the start of the response that continues it.
//!
//! A validator does not prove that both are of the same version: servers derive it from time and size, and some ignore
//! If-Range.

use crate::{Code, Content, Error, Phase, Response, Resume, RunContext};

/// Removes the bytes before the offset of `resume` from a response that continues a partial download. Fails if they
/// differ (`Code::RangeRefused`), so that the engine requests the whole object. Other responses are not changed.
pub(super) async fn check_overlap(
    mut response: Response,
    resume: Option<&Resume>,
    ctx: &RunContext,
) -> Result<Response, Error> {
    let Some(resume) = resume.filter(|resume| {
        response.meta.offset == resume.request_offset() && response.meta.offset < resume.offset
    }) else {
        return Ok(response);
    };
    if let Content::Body(body) = &mut response.content {
        let is_equal = ctx.deadline.bound(Phase::Body, body.strip_expected_prefix(resume.overlap())).await?;
        if !is_equal {
            let detail = "the object differs from the partial download, although its validator is the same";
            return Err(Error::new(Code::RangeRefused, Phase::Body, detail));
        }
        response.meta.offset = resume.offset;
    }
    Ok(response)
}
