//! One object over several connections: each fetches a segment, and all write into one `.part` file.
//!
//! It needs the size of the object, a validator that proves that all segments are of the same version, and a server
//! that has shown that it can start in the middle. If it fails, the bytes from the start up to the first gap are kept
//! for a resume.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Instant;

use fetch_url_core::Url;

use crate::engine::retry::RetryState;
use crate::sink::{Finished, Target};
use crate::{
    Body, ByteRange, Code, Content, Deadline, Error, Fetcher, Meta, Phase, Progress, Proof, Receipt, Request,
    Response, Resume, Sink,
};

/// The number of bytes before each segment that are requested again. If they differ from those of the segment before,
/// the server did not start where it was told to; not every protocol says where it starts.
const OVERLAP: usize = Resume::TAIL;
/// The minimum size of a segment: below it, a connection costs more than it gains.
const SMALLEST: u64 = 1024 * 1024;

/// The download of one segment.
type Fetching<'s> = Pin<Box<dyn Future<Output = Result<(), Error>> + Send + 's>>;

/// The plan of a download in segments.
pub struct Segments {
    object: Object,
    parts: Vec<Part>,
    /// The response for the second segment, which has shown that the server can start in the middle.
    second: Response,
}

/// What all segments share.
struct Object {
    fetcher: Fetcher,
    request: Request,
    meta: Meta,
    size: u64,
    /// The deadline of the whole download.
    deadline: Deadline,
}

/// The position of a segment, including its last byte, and its progress.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    at: u64,
    last: u64,
    /// The bytes received before the segment.
    before: Vec<Overlap>,
}

/// Bytes that were requested again.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Overlap {
    at: u64,
    octets: Vec<u8>,
}

impl Segments {
    /// Requests the metadata and checks that the server can start in the middle. Returns `None` if the object cannot
    /// be fetched in `most` segments, or is too small.
    ///
    /// # Errors
    /// As for [`Fetcher::fetch`].
    pub async fn plan(fetcher: &Fetcher, request: &Request, most: u16) -> Result<Option<Self>, Error> {
        let is_whole = request.wanted_range().is_none() && request.resume().is_none();
        // No protocol proves that segments belong together; only the validator does.
        let must_be_proven = fetcher.settings().policy.limits.requires_proof;
        // Some protocols have no ranges.
        let has_parts = !matches!(request.url(), Url::Gopher(_) | Url::News(_) | Url::Nntp(_) | Url::Wais(_));
        if most < 2 || !has_parts || !is_whole || request.condition().is_some() || must_be_proven {
            return Ok(None);
        }
        let deadline = Deadline::start(fetcher.settings().policy.timeouts);
        let meta = fetcher.fetch(request.clone().head()).await?.meta;
        let Some(size) = meta.head.size.filter(|_| meta.validator.is_some()) else { return Ok(None) };
        let parts = parts(size, u64::from(most));
        let Some(second) = parts.get(1).cloned() else { return Ok(None) };
        let second = match fetcher.fetch(request.clone().range(second.range())).await {
            Ok(response) => is_part_of(&response.meta, &meta, second.asked_at()).then_some(response),
            Err(error) if error.code() == Code::RangeRefused => None,
            Err(error) => return Err(error),
        };
        let object = Object { fetcher: fetcher.clone(), request: request.clone(), meta, size, deadline };
        Ok(second.map(|second| Self { object, parts, second }))
    }

    /// Returns the metadata of the object.
    pub const fn meta(&self) -> &Meta {
        &self.object.meta
    }

    /// Fetches all segments in parallel into a file.
    ///
    /// # Errors
    /// As for [`save`](crate::output::save); [`Code::Usage`] if the sink is not a file. No file is created on failure.
    pub async fn save(self, sink: Sink, watch: &mut dyn Progress) -> Result<Receipt, Error> {
        let Self { object, parts, second } = self;
        let url = object.meta.url.clone();
        object.save(parts, second, sink, watch).await.map_err(|error| error.at(&url))
    }
}

impl Object {
    async fn save(
        self,
        parts: Vec<Part>,
        second: Response,
        sink: Sink,
        watch: &mut dyn Progress,
    ) -> Result<Receipt, Error> {
        let begun = Instant::now();
        let target = sink.begin(&self.meta)?;
        if !target.takes_parts() {
            return Err(Error::new(Code::Usage, Phase::Deliver, "only a file can be written in parts"));
        }
        let count = parts.len();
        let assembly = Mutex::new(Assembly { target, parts, done: 0, size: self.size, watch });
        locked(&assembly).moved(0);
        let fetching = all(self.fetch_parts(count, second, &assembly));
        self.deadline.bound_total(Phase::Body, fetching).await?;
        let Assembly { mut target, parts, .. } =
            assembly.into_inner().unwrap_or_else(PoisonError::into_inner);
        for overlap in parts.iter().flat_map(|part| &part.before) {
            if target.read_at(overlap.at, overlap.octets.len())? != overlap.octets {
                target.settle(0);
                let detail = "the server does not begin where it is told to, or the object changed";
                return Err(Error::new(Code::RangeRefused, Phase::Body, detail));
            }
        }
        target.settle(self.size);
        let finished = self.deadline.bound_total(Phase::Deliver, finished(target)).await?;
        Ok(Receipt {
            notes: Vec::new(),
            missing: None,
            url: self.meta.url.redacted().to_string(),
            bytes: self.size,
            resumed_from: 0,
            took: begun.elapsed(),
            hops: self.meta.redirects,
            retries: self.meta.retries,
            proof: Proof::Assumed("its parts are of the same version and their ends agree"),
            digest: finished.digest,
        })
    }

    fn fetch_parts<'s>(
        &'s self,
        count: usize,
        second: Response,
        assembly: &'s Mutex<Assembly<'_>>,
    ) -> Vec<Fetching<'s>> {
        let mut second = Some(second);
        let mut fetching: Vec<Fetching<'s>> = Vec::new();
        for index in 0..count {
            let asked = if index == 1 { second.take() } else { None };
            fetching.push(Box::pin(self.fetch_part(index, asked, assembly)));
        }
        fetching
    }

    /// Fetches one segment. When it breaks off, the rest is requested, with the usual number of retries.
    async fn fetch_part(
        &self,
        index: usize,
        mut asked: Option<Response>,
        assembly: &Mutex<Assembly<'_>>,
    ) -> Result<(), Error> {
        let mut patience = RetryState::new(self.fetcher.settings().policy.retry);
        loop {
            let part = locked(assembly).parts[index].clone();
            if part.at > part.last {
                return Ok(());
            }
            let response = match asked.take() {
                Some(response) => response,
                None => self.fetcher.fetch(self.request.clone().range(part.range())).await?,
            };
            if !is_part_of(&response.meta, &self.meta, part.asked_at()) {
                return Err(Error::new(Code::Truncated, Phase::Body, "the object changed between two parts"));
            }
            let Content::Body(body) = response.content else {
                return Err(Error::new(Code::PeerMisbehaved, Phase::Body, "a part of it is no file"));
            };
            if let Err(error) = read_part(index, body, assembly).await {
                let reached = locked(assembly).parts[index].at;
                patience.backoff(&self.request, error, reached, &self.deadline).await?;
            }
        }
    }
}

/// Checks the checksum and gives the file its name, on a thread of its own.
async fn finished(mut target: Target) -> Result<Finished, Error> {
    let finish = move || target.digest_parts().and_then(|()| target.finish());
    let finished = tokio::task::spawn_blocking(finish).await;
    finished.map_err(|error| Error::new(Code::Internal, Phase::Deliver, error.to_string()))?
}

impl Part {
    /// The position from which the segment is requested.
    const fn asked_at(&self) -> u64 {
        self.at.saturating_sub(OVERLAP as u64)
    }

    const fn range(&self) -> ByteRange {
        ByteRange::Span { first: self.asked_at(), last: Some(self.last) }
    }
}

/// Divides `size` bytes into segments of equal length, except for the last one.
fn parts(size: u64, most: u64) -> Vec<Part> {
    if size == 0 {
        return Vec::new();
    }
    let count = most.min(size / SMALLEST).max(1);
    let length = size.div_ceil(count);
    (0..count)
        .map(|index| Part {
            at: index * length,
            last: ((index + 1) * length).min(size) - 1,
            before: Vec::new(),
        })
        .filter(|part| part.at <= part.last)
        .collect()
}

/// Returns the number of bytes from the start without a gap.
fn without_gap(parts: &[Part]) -> u64 {
    let broken = parts.iter().find(|part| part.at <= part.last);
    broken.map_or_else(|| parts.last().map_or(0, |part| part.at), |part| part.at)
}

/// Returns `true` if a response is the segment at `at` of the same version.
fn is_part_of(answer: &Meta, object: &Meta, at: u64) -> bool {
    answer.offset == at && answer.head.size == object.head.size && answer.validator == object.validator
}

/// The file that the segments are written to.
struct Assembly<'w> {
    target: Target,
    parts: Vec<Part>,
    done: u64,
    size: u64,
    watch: &'w mut dyn Progress,
}

impl Assembly<'_> {
    fn moved(&mut self, octets: u64) {
        self.done += octets;
        self.watch.moved(self.done, Some(self.size));
    }

    fn write(&mut self, index: usize, octets: &[u8]) -> Result<(), Error> {
        let part = &mut self.parts[index];
        let length = octets.len() as u64;
        if length > (part.last + 1).saturating_sub(part.at) {
            return Err(Error::new(
                Code::PeerMisbehaved,
                Phase::Body,
                "more than the part that was asked for",
            ));
        }
        self.target.write_at(part.at, octets)?;
        part.at += length;
        self.target.settle(without_gap(&self.parts));
        self.moved(length);
        Ok(())
    }
}

fn locked<'a, 'w>(assembly: &'a Mutex<Assembly<'w>>) -> MutexGuard<'a, Assembly<'w>> {
    assembly.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads the bytes before the segment, then the segment.
async fn read_part(index: usize, mut body: Body, assembly: &Mutex<Assembly<'_>>) -> Result<(), Error> {
    let at = locked(assembly).parts[index].asked_at();
    let count = usize::try_from(locked(assembly).parts[index].at - at).unwrap_or(OVERLAP);
    let mut before = Vec::with_capacity(count);
    while let Some(mut octets) = body.chunk().await? {
        if before.len() < count {
            let few = octets.len().min(count - before.len());
            before.extend_from_slice(&octets.split_to(few));
            if before.len() == count {
                let overlap = Overlap { at, octets: before.clone() };
                locked(assembly).parts[index].before.push(overlap);
            }
        }
        locked(assembly).write(index, &octets)?;
    }
    Ok(())
}

/// Waits for all, or for the first failure.
async fn all(mut running: Vec<Fetching<'_>>) -> Result<(), Error> {
    poll_fn(move |cx| {
        let mut index = 0;
        while index < running.len() {
            match running[index].as_mut().poll(cx) {
                Poll::Pending => index += 1,
                Poll::Ready(Ok(())) => drop(running.swap_remove(index)),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            }
        }
        if running.is_empty() { Poll::Ready(Ok(())) } else { Poll::Pending }
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_object() {
        for (size, most, count) in [
            (0, 4, 0),
            (1, 4, 1),
            (SMALLEST, 4, 1),
            (2 * SMALLEST, 4, 2),
            (4 * SMALLEST - 1, 4, 3),
            (10 * SMALLEST + 7, 4, 4),
            (u64::MAX / 2, 3, 3),
        ] {
            let parts = parts(size, most);
            assert_eq!(parts.len(), count, "{size} in {most}");
            let mut next = 0;
            for part in &parts {
                assert_eq!(part.at, next);
                next = part.last + 1;
            }
            assert_eq!(next, size);
        }
    }

    #[test]
    fn it_can_be_done_on_any_thread() {
        fn can_be_sent<T: Send>(_: &T) {}
        let _ =
            |segments: Segments, sink: Sink| can_be_sent(&async move { segments.save(sink, &mut ()).await });
    }

    #[test]
    fn what_has_no_gap() {
        let part = |at, last| Part { at, last, before: Vec::new() };
        assert_eq!(without_gap(&[part(5, 9), part(20, 19)]), 5);
        assert_eq!(without_gap(&[part(10, 9), part(12, 19)]), 12);
        assert_eq!(without_gap(&[part(10, 9), part(20, 19)]), 20);
        assert_eq!(without_gap(&[part(0, 9), part(20, 19)]), 0);
    }
}
