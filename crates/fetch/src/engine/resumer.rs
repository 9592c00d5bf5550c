//! Resumes a body that breaks off: from the same offset if the object is proven to be unchanged, otherwise
//! from the start of the object, or of the requested range, if the consumer can discard the bytes that it has.

use std::sync::Arc;

use fetch_url_core::Url;

use super::chain_start::ChainStart;
use super::request_loop::follow_redirects;
use super::resume_checks::{has_no_representation, is_continuation};
use super::retry::RetryState;
use super::settings::Settings;
use crate::Deadline;
use crate::body::{InterruptPosition, ResumeFuture, ResumedBody, Resumer};
use crate::meta::Repetition;
use crate::resume::resource_key;
use crate::{ByteRange, Code, Content, Error, Meta, Phase, Response, Resume, Validator};

/// The resumer of one response.
struct EngineResumer {
    settings: Arc<Settings>,
    start: ChainStart,
    deadline: Deadline,
    retries: RetryState,
    object: ReceivedObject,
}

/// The properties of the object that are needed to request the rest of it.
struct ReceivedObject {
    url: Url<'static>,
    size: Option<u64>,
    validator: Option<Validator>,
    is_resumable: bool,
    repetition: Repetition,
}

impl ReceivedObject {
    fn new(meta: &Meta) -> Self {
        Self {
            url: meta.url.clone(),
            size: meta.head.size,
            validator: meta.validator.clone(),
            is_resumable: meta.is_resumable,
            repetition: meta.repetition,
        }
    }

    /// Returns `true` if the body may be requested again from its beginning, if its consumer can discard the delivered
    /// bytes.
    fn may_be_repeated(&self, is_before_first_byte: bool) -> bool {
        match self.repetition {
            Repetition::Never => false,
            Repetition::BeforeFirstByte => is_before_first_byte,
            Repetition::Always => true,
        }
    }

    /// Returns `true` if `meta` describes the same version of the object, from the same offset on.
    fn is_same_version(&self, meta: &Meta, offset: u64) -> bool {
        let is_equal = meta.validator == self.validator && meta.head.size == self.size;
        is_equal && self.validator.is_some() && meta.offset == offset
    }

    /// Returns the resume data for `offset`, or `None` if the response cannot be resumed, or no byte of `range` is left
    /// to request.
    fn resume_data(
        &self,
        InterruptPosition { offset, tail }: InterruptPosition,
        range: Option<ByteRange>,
    ) -> Option<Resume> {
        let validator = self.validator.clone().filter(|_| self.is_resumable && offset > 0)?;
        let resource = Some(resource_key(&self.url));
        let resume = Resume { offset, size: self.size, validator, resource, tail };
        let last = range.and_then(ByteRange::last_offset);
        last.is_none_or(|last| resume.request_offset() <= last).then_some(resume)
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
    let content = match content {
        Content::Body(body) if status_error.is_none() => {
            let object = ReceivedObject::new(&meta);
            let resumer = EngineResumer { settings: settings.clone(), start, deadline, retries, object };
            Content::Body(body.resumed_by(Box::new(resumer)))
        }
        content => content,
    };
    Response { meta, content, status_error }
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
    /// Returns the resume data for `position`: that of the request itself, if no byte was delivered since then.
    fn resume_data(&self, position: InterruptPosition, range: Option<ByteRange>) -> Option<Resume> {
        let is_unchanged = |resume: &&Resume| {
            position.is_before_first_byte()
                && resume.offset == position.offset
                && self.object.validator.as_ref() == Some(&resume.validator)
        };
        match self.start.request.resume().filter(is_unchanged) {
            Some(resume) => Some(resume.clone()),
            None => self.object.resume_data(position, range),
        }
    }

    async fn try_resume(
        &mut self,
        error: Error,
        position: InterruptPosition,
        may_restart: bool,
    ) -> Result<ResumedBody, Error> {
        let (offset, range) = (position.offset, self.start.request.wanted_range());
        let is_before_first_byte = position.is_before_first_byte() && !error.has_invalid_body();
        let resume = self.resume_data(position, range);
        // The object may have changed, so a restart requires resume data, `Meta::repetition` or
        // `--retry-all-errors`. A request that failed because of this client's pipelining is sent again if no byte was
        // delivered.
        let is_untouched = offset == 0 && error.allows_restart();
        let may_repeat = self.object.may_be_repeated(is_before_first_byte);
        let is_repeatable = resume.is_some() || may_repeat || self.settings.policy.retry.all_errors;
        let may_restart = is_untouched || may_restart && is_repeatable;
        // Without a delivered byte, the same version of the object can be delivered to every consumer.
        let may_begin_again = is_before_first_byte && may_repeat && self.object.validator.is_some();
        // The bytes before the error may be wrong if the server began at another offset.
        let resume = resume.filter(|_| !error.has_invalid_body());
        if resume.is_none() && !may_restart && !may_begin_again {
            return Err(error);
        }
        let (code, reason) = (error.code(), detail_of(&error));
        let start = if resume.is_some() { offset } else { 0 };
        self.retries.backoff(&self.start.request, error, start, &self.deadline).await?;
        let request = self.start.request.clone().resuming(resume.clone());
        let start = self.start.clone().with_request(request);
        let followed = follow_redirects(&self.settings, start, self.deadline, &mut self.retries).await;
        let response = match followed {
            Err(error) if range.is_some() && error.code() == Code::RangeRefused => {
                return Err(range_refused_error(code, &reason, &error));
            }
            followed => followed?.response,
        };
        if let Some(refusal) = response.status_error {
            return Err(refusal);
        }
        if offset > 0 && has_no_representation(&response.meta) {
            return Err(no_content_error(code, &reason));
        }
        let is_same = is_continuation(&response.meta, resume.as_ref())
            || may_begin_again && self.object.is_same_version(&response.meta, offset);
        let Content::Body(body) = response.content else { return Err(object_changed_error(code, &reason)) };
        let first = range.map_or(Some(0), |range| range.first_offset(response.meta.head.size));
        let is_restart = may_restart && first == Some(response.meta.offset);
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
fn ranges_ignored_error(code: Code, reason: &str) -> Error {
    let detail = format!("{reason}; cannot resume, because the server has ignored the byte range");
    Error::new(code, Phase::Body, detail).as_permanent()
}

/// Returns the error for a restart that is answered without a representation of the object.
fn no_content_error(code: Code, reason: &str) -> Error {
    let detail = format!("{reason}; cannot restart, because the response has no content");
    Error::new(code, Phase::Body, detail).as_permanent()
}

/// Returns the error for a server that no longer sends the range of which a part was delivered.
fn range_refused_error(code: Code, reason: &str, refusal: &Error) -> Error {
    let detail = format!("{reason}; cannot resume: {refusal}");
    let error = Error::new(code, Phase::Body, detail).as_permanent();
    if refusal.has_invalid_body() { error.with_invalid_body() } else { error }
}

/// Returns the error for an object that has changed after a part of it was delivered.
fn object_changed_error(code: Code, reason: &str) -> Error {
    let detail = format!("{reason}; cannot resume, because the object on the server has changed");
    Error::new(code, Phase::Body, detail).as_permanent()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn body_is_resumed_only_above_offset_0_and_with_a_validator() {
        let mut meta = Meta::new(fetch_url_core::parse("http://h/x").expect("a URL").into_owned().url);
        (meta.is_resumable, meta.validator) = (true, Some(Validator::ETag("\"1\"".to_owned())));
        let at = |meta: &Meta, offset| {
            ReceivedObject::new(meta).resume_data(InterruptPosition { offset, tail: Vec::new() }, None)
        };
        assert!(at(&meta, 0).is_none());
        assert_eq!(at(&meta, 1).map(|resume| resume.offset), Some(1));
        meta.is_resumable = false;
        assert!(at(&meta, 1).is_none());
        (meta.is_resumable, meta.validator) = (true, None);
        assert!(at(&meta, 1).is_none());
    }
}
