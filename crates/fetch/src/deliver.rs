//! From an answer to a sink, by the fastest road for the pair of them.

use std::time::{Duration, Instant};

use tokio::task::spawn_blocking;

use crate::body::{FileBody, Piece, cut_short, too_large};
use crate::original::Original;
use crate::sink::drain::Drain;
use crate::sink::{Finished, Target};
use crate::{Body, Code, Content, Error, Meta, Phase, Proof, Response, Sink};

/// So many octets are copied by the kernel between two looks at the clock.
const COPY_STEP: u64 = 32 * 1024 * 1024;
/// Up to this size a file is copied in place.
const COPY_IN_PLACE: u64 = 256 * 1024;

/// Told how far a delivery is.
pub trait Watch: Send {
    /// `done` octets of the object are delivered, of `total` where that is known.
    fn moved(&mut self, done: u64, total: Option<u64>);
}

impl Watch for () {
    fn moved(&mut self, _: u64, _: Option<u64>) {}
}

impl<F: FnMut(u64, Option<u64>) + Send> Watch for F {
    fn moved(&mut self, done: u64, total: Option<u64>) {
        self(done, total);
    }
}

/// What was delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Receipt {
    /// Where the object was in the end, without a password.
    pub url: String,
    /// How many octets were delivered by this call.
    pub bytes: u64,
    /// How many were there already.
    pub resumed_from: u64,
    /// How long the delivery took.
    pub took: Duration,
    /// How often an answer pointed elsewhere.
    pub hops: u32,
    /// How often it was tried again.
    pub retries: u32,
    /// How the end is known to be the end.
    pub proof: Proof,
    /// What the caller should know: departures of the peer that lose nothing.
    pub notes: Vec<&'static str>,
    /// What should stand at the end that came, and is missing.
    pub missing: Option<&'static str>,
    /// The digest that was asked for, in hexadecimal.
    pub digest: Option<String>,
}

impl Receipt {
    /// Whether nothing proves that the end that came is the end.
    pub const fn is_assumed(&self) -> bool {
        matches!(self.proof, Proof::Assumed(_)) || self.missing.is_some()
    }
}

/// Delivers the object of `response`: a listing as its names, one a line.
///
/// # Errors
/// What ended the body before it was whole, or `sink_failed`. Nothing is then under the final name
/// that was not there before.
pub async fn deliver(response: Response, sink: Sink, watch: &mut dyn Watch) -> Result<Receipt, Error> {
    let Response { meta, content, .. } = response;
    let begun = Instant::now();
    let body = match content {
        Content::Advice(advice) => Body::from_bytes(advice.text),
        Content::Body(body) => body,
        Content::Head | Content::Unchanged => Body::from_bytes(bytes::Bytes::new()),
        Content::Listing(listing) => listing.into_body(|entry| [&entry.name[..], b"\n"].concat()),
        Content::Session(_) => return Err(no_object(&meta)),
    };
    let deadline = body.deadline();
    let running = run(&meta, body, sink, watch);
    let finished = match deadline {
        // A reader of ours who does not read holds nobody for ever.
        Some(deadline) => deadline.bound_late(Phase::Body, running).await,
        None => running.await,
    };
    let (finished, ending) = finished.map_err(|error| error.at(&meta.url))?;
    Ok(Receipt {
        url: meta.url.redacted().to_string(),
        bytes: finished.written,
        resumed_from: ending.start,
        took: begun.elapsed(),
        hops: meta.hops,
        retries: meta.retries.max(ending.retries),
        proof: ending.proof,
        notes: meta.notes.clone(),
        missing: ending.missing,
        digest: finished.digest,
    })
}

/// A session is held, not stored.
fn no_object(meta: &Meta) -> Error {
    Error::new(Code::Usage, Phase::Deliver, "the URL names no data object").at(&meta.url)
}

/// How a body was known to be whole, and where in the object it began.
struct Ending {
    proof: Proof,
    missing: Option<&'static str>,
    start: u64,
    retries: u32,
}

async fn run(
    meta: &Meta,
    body: Body,
    sink: Sink,
    watch: &mut dyn Watch,
) -> Result<(Finished, Ending), Error> {
    let target = sink.begin(meta)?;
    if body.original().is_some_and(|original| target.is_into(&original.file)) {
        return Err(Error::new(Code::SinkFailed, Phase::Deliver, "the file would be written into itself"));
    }
    let mut progress = Progress { done: meta.offset, total: meta.head.size, watch };
    progress.moved(0);
    if !target.takes_copies() || body.is_paced() {
        return stream(body, target, progress, meta).await;
    }
    let ending = Ending { proof: body.proof(), missing: None, start: meta.offset, retries: 0 };
    match body.into_file() {
        Ok(source) => copy(source, target, progress).await.map(|finished| (finished, ending)),
        Err(body) => stream(*body, target, progress, meta).await,
    }
}

struct Progress<'w> {
    done: u64,
    total: Option<u64>,
    watch: &'w mut dyn Watch,
}

impl Progress<'_> {
    fn moved(&mut self, octets: u64) {
        self.done += octets;
        self.watch.moved(self.done, self.total);
    }

    fn begin_anew(&mut self, meta: &Meta) {
        (self.done, self.total) = (meta.offset, meta.head.size);
        self.moved(0);
    }
}

/// Piece by piece.
async fn stream(
    mut body: Body,
    target: Target,
    mut progress: Progress<'_>,
    meta: &Meta,
) -> Result<(Finished, Ending), Error> {
    let mut start = meta.offset;
    let can_begin_anew = target.can_begin_anew();
    if can_begin_anew {
        body.allow_restart();
    }
    let mut drain = Drain::new(target);
    loop {
        match body.piece().await {
            Ok(Some(Piece::Octets(chunk))) => {
                let length = chunk.len() as u64;
                drain.write(chunk).await?;
                progress.moved(length);
            }
            Ok(Some(Piece::Anew(meta))) => {
                start = meta.offset;
                progress.begin_anew(&meta);
                drain.begin_anew(meta).await?;
            }
            Ok(None) => {
                let (proof, missing) = (body.proof(), body.missing());
                let ending = Ending { proof, missing, start, retries: body.retries() };
                return Ok((drain.finish().await?, ending));
            }
            Err(error) => {
                if error.is_void() && can_begin_anew {
                    drain.begin_anew(Box::new(meta.clone())).await?;
                }
                drain.abandon().await;
                return Err(error);
            }
        }
    }
}

/// File to file: the kernel copies.
async fn copy(body: FileBody, mut target: Target, mut progress: Progress<'_>) -> Result<Finished, Error> {
    let FileBody { original: mut source, expected, max_size } = body;
    let in_place = !target.may_wait() && expected.is_some_and(|expected| expected <= COPY_IN_PLACE);
    let mut copied = 0;
    loop {
        let step = expected.map_or(COPY_STEP, |expected| expected - copied).min(COPY_STEP);
        let moved;
        if in_place {
            moved = target.copy(&mut source.file, step)?;
        } else {
            (source, target, moved) = off_thread(source, target, step).await?;
        }
        copied += moved;
        progress.moved(moved);
        if let Some(most) = max_size.filter(|&most| copied > most) {
            return Err(too_large(most));
        }
        match expected {
            Some(expected) if copied == expected => {
                source.check_unchanged()?;
                return target.finish();
            }
            Some(expected) if moved == 0 => return Err(cut_short(copied, expected)),
            None if moved == 0 => return target.finish(),
            _ => {}
        }
    }
}

async fn off_thread(
    mut source: Original,
    mut target: Target,
    step: u64,
) -> Result<(Original, Target, u64), Error> {
    let copied = spawn_blocking(move || {
        let moved = target.copy(&mut source.file, step)?;
        Ok((source, target, moved))
    });
    copied.await.map_err(|error| Error::new(Code::Internal, Phase::Deliver, error.to_string()))?
}
