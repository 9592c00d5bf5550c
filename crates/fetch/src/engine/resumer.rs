//! Resumes a body that breaks off: from the same offset if the object is proven to be unchanged, otherwise
//! from offset 0 if the consumer can discard the bytes that it has.

use std::sync::Arc;

use fetch_url_core::Url;

use super::chain_start::ChainStart;
use super::request_loop::follow_redirects;
use super::resume_checks::is_continuation;
use super::retry::RetryState;
use super::settings::Settings;
use crate::Deadline;
use crate::body::{InterruptPosition, ResumeFuture, ResumedBody, Resumer};
use crate::resume::resource_key;
use crate::{ByteRange, Content, Error, Meta, Response, Resume, Validator};

/// The resumer of one response.
struct EngineResumer {
    settings: Arc<Settings>,
    start: ChainStart,
    deadline: Deadline,
    retries: RetryState,
    object: ReceivedObject,
    /// The caller requested a byte range, so the body may not start at offset 0 of the object.
    is_range_request: bool,
}

/// The properties of the object that are needed to request the rest of it.
struct ReceivedObject {
    url: Url<'static>,
    size: Option<u64>,
    validator: Option<Validator>,
    is_resumable: bool,
    is_repeatable: bool,
}

impl ReceivedObject {
    fn new(meta: &Meta) -> Self {
        Self {
            url: meta.url.clone(),
            size: meta.head.size,
            validator: meta.validator.clone(),
            is_resumable: meta.is_resumable,
            is_repeatable: meta.is_repeatable,
        }
    }

    /// Returns the resume data for `offset`, or `None` if the response cannot be resumed.
    fn resume_data(&self, InterruptPosition { offset, tail }: InterruptPosition) -> Option<Resume> {
        let validator = self.validator.clone().filter(|_| self.is_resumable && offset > 0)?;
        let resource = Some(resource_key(&self.url));
        Some(Resume { offset, size: self.size, validator, resource, tail })
    }
}

/// Returns `response` with a body that is resumed when it breaks off, by sending the request of `start` again.
pub(super) fn with_resumer(
    response: Response,
    settings: &Arc<Settings>,
    start: ChainStart,
    deadline: Deadline,
    retries: RetryState,
) -> Response {
    let Response { meta, content, status_error } = response;
    let is_range_request = start.request.wanted_range().is_some();
    let content = match (content, resumable_start(start)) {
        (Content::Body(body), Some(start)) if status_error.is_none() => {
            let object = ReceivedObject::new(&meta);
            let resumer = EngineResumer {
                settings: settings.clone(),
                start,
                deadline,
                retries,
                object,
                is_range_request,
            };
            Content::Body(body.resumed_by(Box::new(resumer)))
        }
        (content, _) => content,
    };
    Response { meta, content, status_error }
}

/// Removes an open byte range (`FIRST-`), which the resume offset replaces. Returns `None` if the range cannot
/// be resumed.
fn resumable_start(start: ChainStart) -> Option<ChainStart> {
    match start.request.wanted_range() {
        None => Some(start),
        Some(ByteRange::Span { last: None, .. }) => {
            let request = start.request.clone().without_range();
            Some(start.with_request(request))
        }
        Some(_) => None,
    }
}

impl Resumer for EngineResumer {
    fn resume(
        mut self: Box<Self>,
        error: Error,
        position: InterruptPosition,
        may_restart: bool,
    ) -> ResumeFuture {
        Box::pin(async move {
            let resumed = self.try_resume(error, position, may_restart).await;
            (self as Box<dyn Resumer>, resumed)
        })
    }
}

impl EngineResumer {
    async fn try_resume(
        &mut self,
        error: Error,
        position: InterruptPosition,
        may_restart: bool,
    ) -> Result<ResumedBody, Error> {
        let offset = position.offset;
        let resume = self.object.resume_data(position);
        // If the body cannot be continued, a restart requires `Meta::is_repeatable` or `--retry-all-errors`, because
        // the object may have changed. A request that failed because of this client's pipelining is sent again if no
        // byte was delivered.
        let is_untouched = offset == 0 && error.allows_restart();
        let is_repeatable =
            resume.is_some() || self.object.is_repeatable || self.settings.policy.retry.all_errors;
        let may_restart = !self.is_range_request && (is_untouched || may_restart && is_repeatable);
        // The bytes before the error may be wrong if the server began at another offset.
        let resume = resume.filter(|_| !error.has_invalid_body());
        if resume.is_none() && !may_restart {
            return Err(error);
        }
        let (code, reason) = (error.code(), detail_of(&error));
        let start = if resume.is_some() { offset } else { 0 };
        self.retries.backoff(&self.start.request, error, start, &self.deadline).await?;
        let request = self.start.request.clone().resuming(resume.clone());
        let start = self.start.clone().with_request(request);
        let followed = follow_redirects(&self.settings, start, self.deadline, &mut self.retries).await?;
        let response = followed.response;
        if let Some(refusal) = response.status_error {
            return Err(refusal);
        }
        let is_same = is_continuation(&response.meta, resume.as_ref());
        let Content::Body(body) = response.content else { return Err(object_changed_error(code, &reason)) };
        let is_restart = may_restart && response.meta.offset == 0;
        if !is_same && !is_restart {
            let ignores_ranges =
                response.meta.offset == 0 && response.meta.validator == self.object.validator;
            return Err(match ignores_ranges && self.object.validator.is_some() {
                true => ranges_ignored_error(code, &reason),
                false => object_changed_error(code, &reason),
            });
        }
        self.object = ReceivedObject::new(&response.meta);
        Ok(ResumedBody {
            meta: *response.meta,
            body,
            is_restart: !is_same && !is_untouched,
            retries: self.retries.retries(),
        })
    }
}

/// Returns the text of an error without the summary of its code. The new error has the same code, so its text begins
/// with the summary.
fn detail_of(error: &Error) -> String {
    let (text, summary) = (error.to_string(), error.code().summary());
    text.strip_prefix(summary).and_then(|rest| rest.strip_prefix(": ")).map_or(text.clone(), str::to_owned)
}

/// Returns the error for a server that sends the whole unchanged object again after a part of it was delivered.
fn ranges_ignored_error(code: crate::Code, reason: &str) -> Error {
    let detail = format!("{reason}; cannot resume, because the server has ignored the byte range");
    Error::new(code, crate::Phase::Body, detail).as_permanent()
}

/// Returns the error for an object that has changed after a part of it was delivered.
fn object_changed_error(code: crate::Code, reason: &str) -> Error {
    let detail = format!("{reason}; cannot resume, because the object on the server has changed");
    Error::new(code, crate::Phase::Body, detail).as_permanent()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn body_is_resumed_only_above_offset_0_and_with_a_validator() {
        let mut meta = Meta::new(fetch_url_core::parse("http://h/x").expect("a URL").into_owned().url);
        (meta.is_resumable, meta.validator) = (true, Some(Validator::ETag("\"1\"".to_owned())));
        let at = |meta: &Meta, offset| {
            ReceivedObject::new(meta).resume_data(InterruptPosition { offset, tail: Vec::new() })
        };
        assert!(at(&meta, 0).is_none());
        assert_eq!(at(&meta, 1).map(|resume| resume.offset), Some(1));
        meta.is_resumable = false;
        assert!(at(&meta, 1).is_none());
        (meta.is_resumable, meta.validator) = (true, None);
        assert!(at(&meta, 1).is_none());
    }
}
