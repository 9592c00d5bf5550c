//! Writes a response to a sink: chunk by chunk, or, from a local file, with a copy by the kernel.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::pin::pin;
use std::time::Duration;

use crate::body::{Chunk, FileBody, size_limit_error, truncated_error};
use crate::credentials::masking::mask_secrets_in_error;
use crate::kernel_pipe::KernelPipe;
use crate::sink::saved_file::SavedFile;
use crate::sink::writer::Writer;
use crate::sink::{Finished, Target};
use crate::source_file::SourceFile;
use crate::time::Instant;
use crate::{Body, Code, Content, Error, Meta, Phase, Proof, Response, Sink, blocking_threads};

/// The maximum number of bytes that the kernel copies between two checks of the deadline.
const MAX_COPY: u64 = 32 * 1024 * 1024;
/// Files up to this size are copied on the current thread.
const MAX_INLINE_COPY: u64 = 256 * 1024;

/// Receives the progress of a download. It is implemented for closures `FnMut(u64, Option<u64>)` and for `()`.
pub trait Progress: Send {
    /// Reports that `done` bytes of the object are written. `total` is the size of the object, if it is
    /// known.
    fn update(&mut self, done: u64, total: Option<u64>);
}

impl Progress for () {
    fn update(&mut self, _: u64, _: Option<u64>) {}
}

impl<F: FnMut(u64, Option<u64>) + Send> Progress for F {
    fn update(&mut self, done: u64, total: Option<u64>) {
        self(done, total);
    }
}

/// The result of a successful download.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Receipt {
    /// The final URL after redirects, without a password.
    pub url: String,
    /// The number of bytes written by this call.
    pub bytes: u64,
    /// The number of bytes that a partial download had already.
    pub resumed_from: u64,
    /// The time from the call to the end of the download.
    pub elapsed: Duration,
    /// The number of redirects.
    pub redirects: u32,
    /// The number of retries.
    pub retries: u32,
    /// How the end of the object was detected.
    pub proof: Proof,
    /// Notes about harmless deviations of the server from its protocol.
    pub notes: Vec<Cow<'static, str>>,
    /// The name of the terminator that the server did not send, if the protocol requires one.
    pub missing_terminator: Option<&'static str>,
    /// The requested digest, in hexadecimal.
    pub digest: Option<String>,
    /// The written file, if the sink is [`Sink::file`] and not a device; otherwise `None`.
    pub file: Option<SavedFile>,
    /// The object does not match the condition of the request ([`Content::Unchanged`](crate::Content::Unchanged)), so
    /// nothing was written, and an existing file is as it was.
    pub unchanged: bool,
    /// If the download broke off and was restarted: the metadata of the response that the object comes from, instead of
    /// the one that was passed to [`save`].
    pub restarted: Option<Box<Meta>>,
}

impl Receipt {
    /// Returns `true` if the completeness of the object is not proven.
    pub const fn is_assumed(&self) -> bool {
        matches!(self.proof, Proof::Assumed(_)) || self.missing_terminator.is_some()
    }
}

/// Writes the object of `response` to `sink`. A listing is written as its names, one per line. If the object is unchanged
/// ([`Request::only_if`](crate::Request::only_if)), nothing is written.
///
/// # Errors
/// [`Code::Truncated`], [`Code::TimedOut`], [`Code::LimitReached`] or another error of the body; [`Code::SinkFailed`]
/// if writing fails; [`Code::ChecksumMismatch`]; [`Code::Unsupported`] if the response is advice (`telnet:`, `mailto:`)
/// and the sink a file; [`Code::Usage`] for the
/// response to [`Request::head`](crate::Request::head) and a file, and for a body of which chunks were read, unless
/// [`Body::with_prefix`] gives them back. On failure no file gets the final name. [`FileOptions`](crate::output::FileOptions) decide
/// whether a partial download is kept.
pub async fn save(response: Response, sink: Sink, progress: &mut dyn Progress) -> Result<Receipt, Error> {
    let started = Instant::now();
    if let (Content::Advice(_), true) = (&response.content, sink.is_file()) {
        let detail = "the URL does not name an object that can be stored";
        return Err(Error::new(Code::Unsupported, Phase::Deliver, detail).with_url(&response.meta.url));
    }
    if matches!(response.content, Content::Head) && sink.is_file() {
        let detail = "a request for the metadata alone has no object that can be stored";
        return Err(Error::new(Code::Usage, Phase::Deliver, detail).with_url(&response.meta.url));
    }
    let is_unchanged = matches!(response.content, Content::Unchanged);
    let (meta, body) = response.into_meta_and_body()?;
    if is_unchanged {
        return Ok(unchanged_receipt(&meta, body.proof(), started));
    }
    body.check_unread().map_err(|error| error.with_url(&meta.url))?;
    let deadline = body.deadline();
    let finished = {
        // Pinned here, because moving a future copies it.
        let running = pin!(transfer(&meta, body, sink, progress));
        match deadline {
            // A pipe whose reader does not read must not block the program forever.
            Some(deadline) => deadline.bound_with_clean_up(Phase::Body, running).await,
            None => running.await,
        }
    };
    let (finished, body_end) = finished
        .map_err(|error| mask_secrets_in_error(error.with_url(&meta.url), meta.repeated_secrets()))?;
    let last = body_end.restarted.as_deref().unwrap_or(&meta);
    let (url, redirects) = (last.url.redacted().to_string(), last.redirects);
    let mut notes = last.notes.clone();
    notes.extend(body_end.notes.into_iter().filter(|note| !last.notes.contains(note)));
    Ok(Receipt {
        url,
        bytes: finished.written,
        resumed_from: body_end.start,
        elapsed: started.elapsed(),
        redirects,
        retries: meta.retries.max(body_end.retries),
        proof: body_end.proof,
        notes,
        missing_terminator: body_end.missing,
        digest: finished.digest,
        file: finished.file,
        unchanged: false,
        restarted: body_end.restarted,
    })
}

/// Returns the receipt for an object that is not sent, because it is unchanged.
fn unchanged_receipt(meta: &Meta, proof: Proof, started: Instant) -> Receipt {
    Receipt {
        url: meta.url.redacted().to_string(),
        bytes: 0,
        resumed_from: 0,
        elapsed: started.elapsed(),
        redirects: meta.redirects,
        retries: meta.retries,
        proof,
        notes: meta.notes.clone(),
        missing_terminator: None,
        digest: None,
        file: None,
        unchanged: true,
        restarted: None,
    }
}

/// The part of the receipt that is known when the body has ended.
struct BodyEnd {
    proof: Proof,
    missing: Option<&'static str>,
    notes: Vec<Cow<'static, str>>,
    start: u64,
    retries: u32,
    restarted: Option<Box<Meta>>,
}

async fn transfer(
    meta: &Meta,
    body: Body,
    mut sink: Sink,
    progress: &mut dyn Progress,
) -> Result<(Finished, BodyEnd), Error> {
    if let Some(original) = body.local_file() {
        sink.check_source(&original.file)?;
        sink.limit_permissions(&original.file);
    }
    let target = sink.with_body_length(body.expected()).begin(meta)?;
    let (done, total) = (meta.offset, meta.head.size);
    let mut counter = ByteCounter { done, total, prefix: body.prefix.length(), progress };
    counter.add(0);
    if !target.supports_kernel_copy() || body.is_rate_limited() {
        return save_chunks(body, target, counter, meta).await;
    }
    let body_end = BodyEnd {
        proof: body.proof(),
        missing: None,
        notes: Vec::new(),
        start: meta.offset,
        retries: 0,
        restarted: None,
    };
    match body.into_file() {
        Ok(source) => copy_file(source, target, counter).await.map(|finished| (finished, body_end)),
        Err(body) => save_chunks(*body, target, counter, meta).await,
    }
}

struct ByteCounter<'w> {
    done: u64,
    total: Option<u64>,
    /// The number of bytes before the object, such as the header of `-i`, that are not written yet. They are not
    /// counted.
    prefix: u64,
    progress: &'w mut dyn Progress,
}

impl ByteCounter<'_> {
    fn add(&mut self, bytes: u64) {
        let uncounted = bytes.min(self.prefix);
        self.prefix -= uncounted;
        self.done += bytes - uncounted;
        self.progress.update(self.done, self.total);
    }

    fn restart(&mut self, meta: &Meta) {
        (self.done, self.total) = (meta.offset, meta.head.size);
        self.add(0);
    }
}

/// Writes the body chunk by chunk.
async fn save_chunks(
    mut body: Body,
    target: Target,
    mut counter: ByteCounter<'_>,
    meta: &Meta,
) -> Result<(Finished, BodyEnd), Error> {
    let (mut start, mut restarted) = (meta.offset, None);
    let can_restart = target.can_restart();
    if can_restart {
        body.allow_restart();
    }
    let mut writer = Writer::new(target);
    let mut pipe = OnceCell::new();
    loop {
        let usable_pipe =
            if body.is_large() && writer.supports_pipe() { create_once(&mut pipe) } else { None };
        match body.next_chunk(usable_pipe).await {
            Ok(Some(Chunk::InPipe(count))) => {
                body.set_tail(&writer.write_from_pipe(create_once(&mut pipe), count)?);
                counter.add(count as u64);
            }
            Ok(Some(Chunk::Bytes(chunk))) => {
                let length = chunk.len() as u64;
                writer.write(chunk).await?;
                counter.add(length);
            }
            Ok(Some(Chunk::Restart(meta))) => {
                start = meta.offset;
                counter.restart(&meta);
                restarted = Some(meta.clone());
                writer.restart(meta).await?;
            }
            Ok(None) => {
                let (proof, missing, notes) = (body.proof(), body.missing_terminator(), body.notes());
                let body_end = BodyEnd { proof, missing, notes, start, retries: body.retries(), restarted };
                return Ok((writer.finish().await?, body_end));
            }
            Err(error) => {
                if error.has_invalid_body() && can_restart {
                    writer.restart(Box::new(meta.clone())).await?;
                }
                writer.abandon().await;
                return Err(error);
            }
        }
    }
}

/// Returns the pipe of a transfer, which is created by the first call. Returns `None` if it cannot be created.
fn create_once(pipe: &mut OnceCell<Option<KernelPipe>>) -> Option<&mut KernelPipe> {
    pipe.get_or_init(KernelPipe::new);
    pipe.get_mut()?.as_mut()
}

/// Copies a local file to a file; the kernel copies the bytes.
async fn copy_file(
    body: FileBody,
    mut target: Target,
    mut counter: ByteCounter<'_>,
) -> Result<Finished, Error> {
    let FileBody { mut source, expected, max_size } = body;
    let in_place = !target.may_block() && expected.is_some_and(|expected| expected <= MAX_INLINE_COPY);
    let mut copied = 0;
    loop {
        let step = expected.map_or(MAX_COPY, |expected| expected - copied).min(MAX_COPY);
        let moved;
        if in_place {
            moved = target.copy(&mut source.file, step)?;
        } else {
            (source, target, moved) = copy_on_thread(source, target, step).await?;
        }
        copied += moved;
        counter.add(moved);
        if let Some(most) = max_size.filter(|&most| copied > most) {
            return Err(size_limit_error(most));
        }
        match expected {
            Some(expected) if copied == expected => {
                source.check_unchanged()?;
                return target.finish();
            }
            Some(expected) if moved == 0 => return Err(truncated_error(copied, expected)),
            None if moved == 0 => return target.finish(),
            _ => {}
        }
    }
}

async fn copy_on_thread(
    mut source: SourceFile,
    mut target: Target,
    step: u64,
) -> Result<(SourceFile, Target, u64), Error> {
    let copied = blocking_threads::run(move || {
        let moved = target.copy(&mut source.file, step)?;
        Ok((source, target, moved))
    });
    copied.await?
}
