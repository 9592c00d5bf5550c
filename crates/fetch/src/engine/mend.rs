//! A body that breaks off is asked for again from where it broke, when the object can be proven to be
//! the same; otherwise from its beginning, when whoever takes it can begin anew.

use std::sync::Arc;

use super::deadline::Deadline;
use super::resume::{continues, place};
use super::retry::Patience;
use super::{Inner, travel};
use crate::body::{Continuation, Mend, MendFuture, Reached};
use crate::{ByteRange, Content, Error, Meta, Request, Response, Resume};

/// What is needed to ask again.
struct Mender {
    inner: Arc<Inner>,
    request: Request,
    deadline: Deadline,
    patience: Patience,
    meta: Meta,
    /// Only a part was asked for: its beginning is not the object's.
    is_part: bool,
}

/// The same answer, and its body mends itself.
pub(super) fn mending(
    response: Response,
    inner: &Arc<Inner>,
    request: Request,
    deadline: Deadline,
    patience: Patience,
) -> Response {
    let Response { meta, content, refusal } = response;
    let is_part = request.wanted_range().is_some();
    let content = match (content, unbounded(request)) {
        (Content::Body(body), Some(request)) if refusal.is_none() => {
            let meta = meta.clone();
            let mender = Mender { inner: inner.clone(), request, deadline, patience, meta, is_part };
            Content::Body(body.mended_by(Box::new(mender)))
        }
        (content, _) => content,
    };
    Response { meta, content, refusal }
}

/// The request without what a resume takes the place of; none when a resume could not stand for it.
fn unbounded(request: Request) -> Option<Request> {
    match request.wanted_range() {
        None => Some(request),
        Some(ByteRange::Span { last: None, .. }) => Some(request.without_range()),
        Some(_) => None,
    }
}

impl Mend for Mender {
    fn mend(mut self: Box<Self>, error: Error, reached: Reached, may_restart: bool) -> MendFuture {
        Box::pin(async move {
            let mended = self.again(error, reached, may_restart).await;
            (self as Box<dyn Mend>, mended)
        })
    }
}

impl Mender {
    async fn again(
        &mut self,
        error: Error,
        reached: Reached,
        may_restart: bool,
    ) -> Result<Continuation, Error> {
        let offset = reached.offset;
        let resume = self.resume_at(reached);
        // From the start only by the caller's special wish: it takes the octets that came back.
        let may_restart =
            may_restart && !self.is_part && (resume.is_some() || self.inner.policy.retry.all_errors);
        if resume.is_none() && !may_restart {
            return Err(error);
        }
        let (code, reason) = (error.code(), error.to_string());
        self.patience.wait(&self.request, error, offset, &self.deadline).await?;
        let request = self.request.clone().resuming(resume.clone());
        let response = travel(&self.inner, request, self.deadline, &mut self.patience).await?;
        if let Some(refusal) = response.refusal {
            return Err(refusal);
        }
        let is_same = continues(&response.meta, resume.as_ref());
        let Content::Body(body) = response.content else { return Err(changed(code, &reason)) };
        let is_anew = may_restart && response.meta.offset == 0;
        if !is_same && !is_anew {
            return Err(changed(code, &reason));
        }
        self.meta = response.meta.clone();
        Ok(Continuation { meta: response.meta, body, is_anew: !is_same, retries: self.patience.retries() })
    }

    /// How to ask for the octets from `offset` on, when that can be done.
    fn resume_at(&self, Reached { offset, tail }: Reached) -> Option<Resume> {
        let validator = self.meta.validator.clone().filter(|_| self.meta.is_resumable && offset > 0)?;
        let place = Some(place(&self.meta.url));
        Some(Resume { offset, size: self.meta.head.size, validator, place, tail })
    }
}

/// The object is another one now, and what was delivered of the first cannot be taken back.
fn changed(code: crate::Code, reason: &str) -> Error {
    let detail = format!("{reason}; the rest cannot be had, the object is another one now");
    Error::new(code, crate::Phase::Body, detail).lasting()
}
