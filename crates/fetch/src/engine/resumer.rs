//! Resumes a body that breaks off: from the same offset if the object is proven to be unchanged, otherwise from its
//! beginning if the consumer can start again.

use std::sync::Arc;

use super::exchange::follow_redirects;
use super::resume::continues;
use super::retry::RetryState;
use super::settings::Settings;
use crate::Deadline;
use crate::body::{BreakPoint, ResumeFuture, ResumedBody, Resumer};
use crate::resume::resource_key;
use crate::{ByteRange, Content, Error, Meta, Request, Response, Resume};

/// The resumer of one response.
struct EngineResumer {
    settings: Arc<Settings>,
    request: Request,
    deadline: Deadline,
    retries: RetryState,
    meta: Meta,
    /// The caller asked for a byte range, so that the body does not start at offset 0 of the object.
    is_part: bool,
}

/// Returns `response` with a body that resumes by itself.
pub(super) fn with_resumer(
    response: Response,
    settings: &Arc<Settings>,
    request: Request,
    deadline: Deadline,
    retries: RetryState,
) -> Response {
    let Response { meta, content, refusal } = response;
    let is_part = request.wanted_range().is_some();
    let content = match (content, without_open_range(request)) {
        (Content::Body(body), Some(request)) if refusal.is_none() => {
            let meta = meta.clone();
            let resumer =
                EngineResumer { settings: settings.clone(), request, deadline, retries, meta, is_part };
            Content::Body(body.resumed_by(Box::new(resumer)))
        }
        (content, _) => content,
    };
    Response { meta, content, refusal }
}

/// Returns the request without an open byte range, which the resume offset replaces, or `None` if its range cannot
/// be resumed.
fn without_open_range(request: Request) -> Option<Request> {
    match request.wanted_range() {
        None => Some(request),
        Some(ByteRange::Span { last: None, .. }) => Some(request.without_range()),
        Some(_) => None,
    }
}

impl Resumer for EngineResumer {
    fn resume(mut self: Box<Self>, error: Error, reached: BreakPoint, may_restart: bool) -> ResumeFuture {
        Box::pin(async move {
            let resumed = self.try_resume(error, reached, may_restart).await;
            (self as Box<dyn Resumer>, resumed)
        })
    }
}

impl EngineResumer {
    async fn try_resume(
        &mut self,
        error: Error,
        reached: BreakPoint,
        may_restart: bool,
    ) -> Result<ResumedBody, Error> {
        let offset = reached.offset;
        let resume = self.resume_at(reached);
        // Without a validator, starting again needs `--retry-all-errors`, because the object may have changed. If no
        // byte was delivered, that does not matter.
        let is_untouched = offset == 0;
        let may_restart = !self.is_part
            && (is_untouched || may_restart && (resume.is_some() || self.settings.policy.retry.all_errors));
        if resume.is_none() && !may_restart {
            return Err(error);
        }
        let (code, reason) = (error.code(), error.to_string());
        self.retries.backoff(&self.request, error, offset, &self.deadline).await?;
        let request = self.request.clone().resuming(resume.clone());
        let response = follow_redirects(&self.settings, request, self.deadline, &mut self.retries).await?;
        if let Some(refusal) = response.refusal {
            return Err(refusal);
        }
        let is_same = continues(&response.meta, resume.as_ref());
        let Content::Body(body) = response.content else { return Err(object_changed_error(code, &reason)) };
        let is_restart = may_restart && response.meta.offset == 0;
        if !is_same && !is_restart {
            return Err(object_changed_error(code, &reason));
        }
        self.meta = response.meta.clone();
        Ok(ResumedBody {
            meta: response.meta,
            body,
            is_restart: !is_same && !is_untouched,
            retries: self.retries.retries(),
        })
    }

    /// Returns the resume data for `offset`, or `None` if the server does not support it.
    fn resume_at(&self, BreakPoint { offset, tail }: BreakPoint) -> Option<Resume> {
        let validator = self.meta.validator.clone().filter(|_| self.meta.is_resumable && offset > 0)?;
        let place = Some(resource_key(&self.meta.url));
        Some(Resume { offset, size: self.meta.head.size, validator, resource: place, tail })
    }
}

/// The error for an object that changed while its first bytes had already been delivered.
fn object_changed_error(code: crate::Code, reason: &str) -> Error {
    let detail = format!("{reason}; cannot resume, because the object on the server has changed");
    Error::new(code, crate::Phase::Body, detail).lasting()
}
