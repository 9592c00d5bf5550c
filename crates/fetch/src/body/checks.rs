//! Checks each chunk and the end of a body against the announced size and the limits.

use std::borrow::Cow;

use super::surplus::Surplus;
use super::{Body, Chunk, Proof, ResumeState, Source, Tail, size_limit_error, truncated_error};
use crate::{Code, Error, Phase};

/// The text that is reported as the missing terminator of an object that has grown since its size was announced.
pub(crate) const MATCHING_SIZE: &str = "a size that matches the received bytes";

impl Body {
    /// Fails if bytes were read from the body and are not given back as its prefix.
    pub(crate) fn check_unread(&self) -> Result<(), Error> {
        if self.received <= self.prefix.length() {
            return Ok(());
        }
        let detail = format!("{} bytes of the body were read before and would be missing", self.received);
        Err(Error::new(Code::Usage, Phase::Deliver, detail).with_hint("Body::with_prefix gives them back"))
    }

    /// Sets the size that a listing states for the object. A body whose completeness is only assumed and that ends
    /// before this size is an error (`Code::Truncated`). A proven end counts more than a listing, and an object may
    /// have grown since it was listed.
    #[must_use]
    pub const fn with_listed_size(mut self, size: u64) -> Self {
        self.listed_size = Some(size);
        self
    }

    /// Accepts more bytes than announced: the object grew after its size was reported. Completeness is then assumed.
    pub(crate) const fn accepting_growth(mut self) -> Self {
        self.surplus = Surplus::Growth;
        self
    }

    /// Reports more bytes than announced as `Code::Truncated` instead of a protocol violation, because the server may
    /// have ignored the requested offset. No byte is valid then.
    pub(crate) const fn reporting_surplus_as_truncated(mut self) -> Self {
        self.surplus = Surplus::OtherOffset;
        self
    }

    /// Returns `true` if more bytes than announced are accepted.
    pub(crate) const fn accepts_growth(&self) -> bool {
        matches!(self.surplus, Surplus::Growth)
    }

    /// Returns the name of the terminator that was missing at the end of the body.
    pub(crate) fn missing_terminator(&self) -> Option<&'static str> {
        self.terminator_check.missing()
    }

    /// Returns the notes about the part of the body that was read.
    pub(crate) fn notes(&self) -> Vec<Cow<'static, str>> {
        self.terminator_check.notes()
    }

    pub(super) fn check_chunk(
        &mut self,
        chunk: Option<Result<Chunk, Error>>,
    ) -> Option<Result<Chunk, Error>> {
        let Some(chunk) = chunk else { return self.check_end() };
        Some(chunk.and_then(|chunk| {
            let received = self.received + chunk.length() as u64;
            match (self.max_size, self.expected) {
                (Some(max_size), _) if received > max_size => return Err(size_limit_error(max_size)),
                (_, Some(expected)) if received > expected && self.accepts_growth() => {
                    if self.limits.as_ref().is_some_and(|limits| limits.requires_proof()) {
                        let detail = format!(
                            "more bytes than the announced {expected}: the object grew during the transfer"
                        );
                        let error = Error::new(Code::Truncated, Phase::Body, detail);
                        return Err(error.as_permanent().with_invalid_body());
                    }
                    self.expected = None;
                    self.terminator_check.set_missing(MATCHING_SIZE);
                }
                (_, Some(expected)) if received > expected => {
                    return Err(self.surplus.error(expected));
                }
                _ => {}
            }
            self.received = received;
            if !matches!(self.resume_state, ResumeState::None) {
                match &chunk {
                    Chunk::Bytes(bytes) => self.tail.remember(bytes),
                    // The consumer sets the tail when it has taken the bytes from the pipe.
                    _ => self.tail = Tail::default(),
                }
            }
            Ok(chunk)
        }))
    }

    /// Adds the URL of the response to `error`, if the body has it.
    pub(super) fn name_url(&self, error: Error) -> Error {
        match &self.limits {
            Some(limits) => limits.name_url(error),
            None => error,
        }
    }

    fn check_end(&mut self) -> Option<Result<Chunk, Error>> {
        if let Some(expected) = self.expected.filter(|&expected| expected != self.received) {
            return Some(Err(truncated_error(self.received, expected)));
        }
        let requires_proof = self.limits.as_ref().is_some_and(|limits| limits.requires_proof());
        if let Err(error) = self.terminator_check.apply(requires_proof, &mut self.proof) {
            return Some(Err(error));
        }
        let size = self.offset + self.received;
        if let (Proof::Assumed(_), Some(listed)) =
            (self.proof, self.listed_size.filter(|&listed| size < listed))
        {
            let detail =
                format!("the connection ended after {size} bytes; the listing states {listed} bytes");
            return Some(Err(Error::new(Code::Truncated, Phase::Body, detail)));
        }
        match &self.source {
            Source::File(source) => source.check_unchanged().err().map(Err),
            Source::Stream(_) | Source::Failed => None,
        }
    }
}
