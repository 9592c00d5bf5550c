//! The octets of an object: limit, count, idle guard and completeness check, in this order and the
//! same for all schemes.
//!
//! A body that ends without an error is complete, by the proof it names.

mod local_lines;
mod made;
mod mend;
mod proof;

use std::fmt;
use std::fs::File;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;

pub(crate) use local_lines::LocalLines;
use made::Once;
pub(crate) use mend::{Continuation, Mend, MendFuture, Piece, Reached};
use mend::{Mending, Tail};
pub(crate) use proof::EndMark;
pub use proof::Proof;

use crate::engine::deadline::Deadline;
use crate::engine::guard::Guard;
use crate::original::Original;
use crate::{Code, Error, Phase};

/// Where octets come from, piece by piece.
pub trait ByteSource: Send {
    /// The next piece; `None` at the end, which must only come when the body is whole.
    fn poll_chunk(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>>;
}

/// The octets of an object.
pub struct Body {
    source: Source,
    /// Where in the object its first octet is.
    start: u64,
    expected: Option<u64>,
    seen: u64,
    proof: Proof,
    /// The most octets of it.
    max_size: Option<u64>,
    guard: Option<Box<Guard>>,
    mark: EndMark,
    mending: Mending,
    prefix: Prefix,
    /// The last octets that came, for a mender that has to prove where it goes on.
    tail: Tail,
    /// How often it was tried again since it began to come.
    retries: u32,
}

enum Source {
    File(Original),
    Stream(Pin<Box<dyn ByteSource>>),
}

/// Octets in front of the object.
#[derive(PartialEq, Eq)]
enum Prefix {
    None,
    Waiting(Bytes),
    Gone,
}

impl Prefix {
    const fn after(&self) -> Self {
        match self {
            Self::None => Self::None,
            _ => Self::Gone,
        }
    }
}

impl Body {
    /// Pieces from `source`; `expected` octets, where the protocol says how many.
    pub fn from_source(source: impl ByteSource + 'static, expected: Option<u64>, proof: Proof) -> Self {
        Self::new(Source::Stream(Box::pin(source)), expected, proof)
    }

    /// Octets that are already here.
    pub fn from_bytes(octets: impl Into<Bytes>) -> Self {
        let octets = octets.into();
        let length = octets.len() as u64;
        Self::from_source(Once(Some(octets)), Some(length), Proof::Proven("its length"))
    }

    /// `length` octets of an open regular file, from where it stands. A file that changes while it
    /// is read is cut short.
    pub fn from_file(file: File, length: u64, proof: Proof) -> Self {
        Self::new(Source::File(Original::new(file)), Some(length), proof)
    }

    fn new(source: Source, expected: Option<u64>, proof: Proof) -> Self {
        Self {
            source,
            start: 0,
            expected,
            seen: 0,
            proof,
            max_size: None,
            guard: None,
            mark: EndMark::default(),
            mending: Mending::None,
            prefix: Prefix::None,
            tail: Tail::default(),
            retries: 0,
        }
    }

    /// How many octets will come, where that is known.
    pub const fn expected(&self) -> Option<u64> {
        self.expected
    }

    /// How its end is known to be the end.
    pub const fn proof(&self) -> Proof {
        self.proof
    }

    /// The next piece; `None` when the body is whole.
    ///
    /// # Errors
    /// `truncated`, `timed_out`, `limit_reached`, or what the protocol found.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        std::future::poll_fn(|cx| self.poll_chunk(cx)).await.transpose()
    }

    /// Everything, in memory: for bodies that are known to be small.
    ///
    /// # Errors
    /// As for [`Body::chunk`], and `limit_reached` beyond `most` octets.
    pub async fn collect(mut self, most: usize) -> Result<Vec<u8>, Error> {
        let mut octets = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            if octets.len() + chunk.len() > most {
                return Err(too_large(most as u64));
            }
            octets.extend_from_slice(&chunk);
        }
        Ok(octets)
    }

    /// Applies what the caller allows. The engine does this, once.
    /// `offset` octets of the object are there already.
    pub(crate) fn guarded(mut self, mut guard: Guard, offset: u64) -> Result<Self, Error> {
        if let Some(most) = guard.limits.max_size {
            let left = most.checked_sub(offset).ok_or_else(|| too_large(most))?;
            if self.expected.is_some_and(|expected| expected > left) {
                return Err(too_large(most));
            }
            guard.limits.max_size = Some(left);
        }
        self.start = offset;
        Ok(self.limited(guard))
    }

    /// The same for a body of unknown length, from its beginning.
    pub(crate) fn limited(mut self, guard: Guard) -> Self {
        self.max_size = guard.limits.max_size;
        self.guard = Some(Box::new(guard));
        self
    }

    /// At its end `mark` tells whether what should stand there is missing.
    pub(crate) fn ending_by(mut self, mark: EndMark) -> Self {
        self.mark = mark;
        self
    }

    /// What should stand at the end that came, and is missing.
    pub(crate) fn missing(&self) -> Option<&'static str> {
        self.mark.missing()
    }

    /// Puts `octets` in front: no part of the object, so that no limit counts them.
    #[must_use]
    pub fn with_prefix(mut self, octets: impl Into<Bytes>) -> Self {
        self.prefix = Prefix::Waiting(octets.into());
        self
    }

    /// How long things may take.
    pub(crate) fn deadline(&self) -> Option<Deadline> {
        self.guard.as_ref().map(|guard| guard.deadline())
    }

    /// When it breaks off, `mender` is asked for the rest.
    pub(crate) fn mended_by(mut self, mender: Box<dyn Mend>) -> Self {
        // A file of this machine that breaks off has changed.
        if matches!(self.source, Source::Stream(_)) {
            self.mending = Mending::Ready { mender, may_restart: false };
        }
        self
    }

    /// Whoever takes the octets can begin anew.
    pub(crate) fn allow_restart(&mut self) {
        // What was put in front belongs to one answer, and cannot be had of another.
        if self.prefix != Prefix::None {
            return;
        }
        if let Mending::Ready { may_restart, .. } = &mut self.mending {
            *may_restart = true;
        }
    }

    /// How often it was tried again since it began to come.
    pub(crate) const fn retries(&self) -> u32 {
        self.retries
    }

    /// The next piece, for a taker that allowed a restart.
    pub(crate) async fn piece(&mut self) -> Result<Option<Piece>, Error> {
        std::future::poll_fn(|cx| self.poll_piece(cx)).await.transpose()
    }

    /// The file that is read, when it is one.
    pub(crate) const fn original(&self) -> Option<&Original> {
        match &self.source {
            Source::File(original) => Some(original),
            Source::Stream(_) => None,
        }
    }

    /// The open file behind the body, for the road on which the kernel copies; the rest of the
    /// checks are then the caller's.
    pub(crate) fn into_file(self) -> Result<FileBody, Box<Self>> {
        match self.source {
            Source::File(original) => {
                Ok(FileBody { original, expected: self.expected, max_size: self.max_size })
            }
            Source::Stream(_) => Err(Box::new(self)),
        }
    }

    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let piece = ready!(self.poll_piece(cx));
        Poll::Ready(piece.map(|piece| {
            piece.and_then(|piece| match piece {
                Piece::Octets(octets) => Ok(octets),
                Piece::Anew(_) => Err(Error::new(Code::Internal, Phase::Body, "nobody allowed a restart")),
            })
        }))
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Piece, Error>>> {
        let after = self.prefix.after();
        if let Prefix::Waiting(octets) = std::mem::replace(&mut self.prefix, after) {
            return Poll::Ready(Some(Ok(Piece::Octets(octets))));
        }
        loop {
            if let Mending::Running { future, may_restart } = &mut self.mending {
                let (mender, mended) = ready!(future.as_mut().poll(cx));
                self.mending = Mending::Ready { mender, may_restart: *may_restart };
                match mended {
                    Ok(Continuation { meta, body, is_anew: true, retries }) => {
                        self.begin_anew(body);
                        self.retries = retries;
                        return Poll::Ready(Some(Ok(Piece::Anew(Box::new(meta)))));
                    }
                    Ok(Continuation { body, retries, .. }) => {
                        // What the rest says of its own length and end counts from now on.
                        self.expected = body.expected.and_then(|rest| self.seen.checked_add(rest));
                        (self.source, self.proof, self.retries) = (body.source, body.proof, retries);
                        (self.mark, self.guard) = (body.mark, body.guard);
                    }
                    Err(error) => {
                        self.mending = Mending::None;
                        return Poll::Ready(Some(Err(error)));
                    }
                }
            }
            let next = ready!(self.poll_source(cx));
            let Some(Err(error)) = next else { return Poll::Ready(next.map(|next| next.map(Piece::Octets))) };
            let Mending::Ready { mender, may_restart } = std::mem::take(&mut self.mending) else {
                return Poll::Ready(Some(Err(error)));
            };
            let reached = Reached { offset: self.start + self.seen, tail: self.tail.octets() };
            let future = mender.mend(error, reached, may_restart);
            self.mending = Mending::Running { future, may_restart };
        }
    }

    /// The octets of `body` take the place of all that came.
    fn begin_anew(&mut self, body: Self) {
        (self.source, self.expected, self.proof) = (body.source, body.expected, body.proof);
        (self.start, self.seen, self.max_size) = (body.start, 0, body.max_size);
        (self.mark, self.guard) = (body.mark, body.guard);
        self.tail = Tail::default();
    }

    /// Whether the pace of what comes matters.
    pub(crate) fn is_paced(&self) -> bool {
        self.guard.as_ref().is_some_and(|guard| guard.is_paced())
    }

    fn poll_source(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        if let Some(guard) = &mut self.guard
            && let Err(error) = ready!(guard.poll_free(cx))
        {
            return Poll::Ready(Some(Err(error)));
        }
        let polled = match &mut self.source {
            Source::Stream(stream) => stream.as_mut().poll_chunk(cx),
            Source::File(original) => Poll::Ready(original.read(self.expected.map(|all| all - self.seen))),
        };
        match (polled, &mut self.guard) {
            (Poll::Ready(chunk), Some(guard)) => {
                guard.came(chunk.as_ref().map_or(0, |chunk| chunk.as_ref().map_or(0, Bytes::len)));
                let in_time = guard.check();
                Poll::Ready(in_time.map_or_else(|error| Some(Err(error)), |()| self.checked(chunk)))
            }
            (Poll::Ready(chunk), None) => Poll::Ready(self.checked(chunk)),
            (Poll::Pending, Some(guard)) => {
                let expired = ready!(guard.poll_expired(cx));
                Poll::Ready(Some(Err(expired)))
            }
            (Poll::Pending, None) => Poll::Pending,
        }
    }

    fn checked(&mut self, chunk: Option<Result<Bytes, Error>>) -> Option<Result<Bytes, Error>> {
        let Some(chunk) = chunk else { return self.check_end() };
        Some(chunk.and_then(|chunk| {
            let seen = self.seen + chunk.len() as u64;
            match (self.max_size, self.expected) {
                (Some(most), _) if seen > most => return Err(too_large(most)),
                (_, Some(expected)) if seen > expected => {
                    let detail = format!("more than the {expected} octets it announced");
                    return Err(Error::new(Code::PeerMisbehaved, Phase::Body, detail));
                }
                _ => {}
            }
            self.seen = seen;
            if !matches!(self.mending, Mending::None) {
                self.tail.remember(&chunk);
            }
            Ok(chunk)
        }))
    }

    fn check_end(&mut self) -> Option<Result<Bytes, Error>> {
        if let Some(expected) = self.expected.filter(|&expected| expected != self.seen) {
            return Some(Err(cut_short(self.seen, expected)));
        }
        let requires_proof = self.guard.as_ref().is_some_and(|guard| guard.requires_proof());
        if let Err(error) = self.mark.check(requires_proof, &mut self.proof) {
            return Some(Err(error));
        }
        match &self.source {
            Source::File(original) => original.check_unchanged().err().map(Err),
            Source::Stream(_) => None,
        }
    }
}

/// A body that ended after `seen` of `expected` octets.
pub(crate) fn cut_short(seen: u64, expected: u64) -> Error {
    Error::new(Code::Truncated, Phase::Body, format!("{seen} of {expected} octets came"))
}

pub(crate) fn too_large(most: u64) -> Error {
    Error::new(Code::LimitReached, Phase::Body, format!("the object has more than {most} octets"))
}

impl Stream for Body {
    type Item = Result<Bytes, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Self::poll_chunk(&mut self, cx)
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Body({} of {:?} octets, {})", self.seen, self.expected, self.proof)
    }
}

/// An open file, and what a body would have checked on its way.
pub(crate) struct FileBody {
    pub(crate) original: Original,
    pub(crate) expected: Option<u64>,
    pub(crate) max_size: Option<u64>,
}

impl ByteSource for Body {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        Self::poll_chunk(&mut self, cx)
    }
}
