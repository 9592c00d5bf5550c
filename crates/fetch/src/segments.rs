//! Downloads one object over several connections. Each connection fetches a segment, and all write into one
//! `.part` file.
//!
//! This requires the size of the object, a validator, which must be the same for all segments, and a server
//! that supports ranges. If the download fails, the bytes from the start up to the first gap are kept in the
//! `.part` file for a resume.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Instant;

use fetch_url_core::SchemeFamily;

use crate::engine::retry::RetryState;
use crate::sink::{Finished, Target};
use crate::{
    Body, ByteRange, Code, Content, Deadline, Error, Fetcher, Meta, Phase, Progress, Proof, Receipt, Request,
    Response, Resume, Sink,
};

/// Each segment is requested with this many bytes of overlap. Not every protocol reports the offset of the data that it
/// sends, so the overlap is compared with the end of the previous segment.
const OVERLAP_LEN: usize = Resume::TAIL;
/// The minimum size of a segment: below it, a connection costs more than it gains.
const MIN_SEGMENT_SIZE: u64 = 1024 * 1024;

/// The download of one segment.
type Fetching<'s> = Pin<Box<dyn Future<Output = Result<(), Error>> + Send + 's>>;

/// The plan of a download in segments.
pub struct Segments {
    object: Object,
    segments: Vec<Segment>,
    /// The response for the second segment, which proved that the server supports ranges.
    second: Response,
}

/// The state that all segments share.
struct Object {
    fetcher: Fetcher,
    request: Request,
    meta: Meta,
    size: u64,
    /// The deadline of the whole download.
    deadline: Deadline,
}

/// A segment that is being fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Segment {
    /// The offset of the next byte to fetch.
    next_offset: u64,
    /// The offset of the last byte of the segment.
    last: u64,
    /// The overlaps received before the segment, one for each request.
    overlaps: Vec<Overlap>,
}

/// Bytes at `offset` that belong to the previous segment.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Overlap {
    offset: u64,
    bytes: Vec<u8>,
}

impl Segments {
    /// Requests the metadata, and checks with the second segment that the server supports ranges. Returns
    /// `None` if the object cannot be fetched in `max_segments` segments, or is too small.
    ///
    /// # Errors
    /// As for [`Fetcher::fetch`].
    pub async fn plan(
        fetcher: &Fetcher,
        request: &Request,
        max_segments: u16,
    ) -> Result<Option<Self>, Error> {
        let is_whole = request.wanted_range().is_none() && request.resume().is_none();
        // The validator shows that all segments are of one version, but this is no proof of completeness.
        let must_be_proven = fetcher.settings().policy.limits.requires_proof;
        if max_segments < 2
            || !supports_ranges(request.url().scheme().family)
            || !is_whole
            || request.condition().is_some()
            || must_be_proven
        {
            return Ok(None);
        }
        let deadline = Deadline::start(fetcher.settings().policy.timeouts);
        let meta = fetcher.fetch(request.clone().head()).await?.meta;
        let Some(size) = meta.head.size.filter(|_| meta.validator.is_some()) else { return Ok(None) };
        let segments = segments(size, u64::from(max_segments));
        let Some(second) = segments.get(1).cloned() else { return Ok(None) };
        let second = match fetcher.fetch(request.clone().range(second.range())).await {
            Ok(response) => is_segment_of(&response.meta, &meta, second.request_offset()).then_some(response),
            Err(error) if error.code() == Code::RangeRefused => None,
            Err(error) => return Err(error),
        };
        let object = Object { fetcher: fetcher.clone(), request: request.clone(), meta, size, deadline };
        Ok(second.map(|second| Self { object, segments, second }))
    }

    /// Returns the metadata of the object.
    pub const fn meta(&self) -> &Meta {
        &self.object.meta
    }

    /// Fetches all segments in parallel into a file.
    ///
    /// # Errors
    /// As for [`save`](crate::output::save); [`Code::Usage`] if the sink is not a file. On failure, no file gets its
    /// final name, and the bytes up to the first gap are kept in the `.part` file.
    pub async fn save(self, sink: Sink, progress: &mut dyn Progress) -> Result<Receipt, Error> {
        let Self { object, segments, second } = self;
        let url = object.meta.url.clone();
        object.save(segments, second, sink, progress).await.map_err(|error| error.with_url(&url))
    }
}

impl Object {
    async fn save(
        self,
        segments: Vec<Segment>,
        second: Response,
        sink: Sink,
        progress: &mut dyn Progress,
    ) -> Result<Receipt, Error> {
        let started = Instant::now();
        let target = sink.begin(&self.meta)?;
        if !target.supports_random_writes() {
            return Err(Error::new(Code::Usage, Phase::Deliver, "only a file can be written in segments"));
        }
        let count = segments.len();
        let assembly = Mutex::new(Assembly { target, segments, done: 0, size: self.size, progress });
        locked(&assembly).add_progress(0);
        let fetching = try_join_all(self.fetch_segments(count, second, &assembly));
        self.deadline.bound_total(Phase::Body, fetching).await?;
        let Assembly { mut target, segments, .. } =
            assembly.into_inner().unwrap_or_else(PoisonError::into_inner);
        for overlap in segments.iter().flat_map(|segment| &segment.overlaps) {
            if target.read_at(overlap.offset, overlap.bytes.len())? != overlap.bytes {
                target.set_valid_length(0);
                let detail = "the server did not start at the requested offset, or the object changed";
                return Err(Error::new(Code::RangeRefused, Phase::Body, detail));
            }
        }
        target.set_valid_length(self.size);
        let completed = self.deadline.bound_total(Phase::Deliver, finish_on_blocking_thread(target)).await?;
        Ok(Receipt {
            notes: Vec::new(),
            missing_terminator: None,
            url: self.meta.url.redacted().to_string(),
            bytes: self.size,
            resumed_from: 0,
            elapsed: started.elapsed(),
            redirects: self.meta.redirects,
            retries: self.meta.retries,
            proof: Proof::Assumed("all segments have the same validator, and their overlaps match"),
            digest: completed.digest,
        })
    }

    fn fetch_segments<'s>(
        &'s self,
        count: usize,
        second: Response,
        assembly: &'s Mutex<Assembly<'_>>,
    ) -> Vec<Fetching<'s>> {
        let mut second = Some(second);
        let mut fetching: Vec<Fetching<'s>> = Vec::new();
        for index in 0..count {
            let first_response = if index == 1 { second.take() } else { None };
            fetching.push(Box::pin(self.fetch_segment(index, first_response, assembly)));
        }
        fetching
    }

    /// Fetches one segment. If the transfer breaks off, the rest is requested again, within the limits of
    /// retries.
    async fn fetch_segment(
        &self,
        index: usize,
        mut first_response: Option<Response>,
        assembly: &Mutex<Assembly<'_>>,
    ) -> Result<(), Error> {
        let mut retry_state = RetryState::new(self.fetcher.settings().policy.retry);
        loop {
            let segment = locked(assembly).segments[index].clone();
            if segment.next_offset > segment.last {
                return Ok(());
            }
            let response = match first_response.take() {
                Some(response) => response,
                None => self.fetcher.fetch(self.request.clone().range(segment.range())).await?,
            };
            if !is_segment_of(&response.meta, &self.meta, segment.request_offset()) {
                return Err(Error::new(
                    Code::Truncated,
                    Phase::Body,
                    "the object changed between two segments",
                ));
            }
            let Content::Body(body) = response.content else {
                return Err(Error::new(
                    Code::PeerMisbehaved,
                    Phase::Body,
                    "the response to the request for a segment is not a file",
                ));
            };
            if let Err(error) = read_segment(index, body, assembly).await {
                let reached = locked(assembly).segments[index].next_offset;
                retry_state.backoff(&self.request, error, reached, &self.deadline).await?;
            }
        }
    }
}

/// Verifies the checksum and renames the file, on a blocking thread.
async fn finish_on_blocking_thread(mut target: Target) -> Result<Finished, Error> {
    let digest_and_rename = move || target.digest_segments().and_then(|()| target.finish());
    let outcome = tokio::task::spawn_blocking(digest_and_rename).await;
    outcome.map_err(|error| Error::new(Code::Internal, Phase::Deliver, error.to_string()))?
}

impl Segment {
    /// Returns the offset from which the segment is requested, which is the start of the overlap.
    const fn request_offset(&self) -> u64 {
        self.next_offset.saturating_sub(OVERLAP_LEN as u64)
    }

    const fn range(&self) -> ByteRange {
        ByteRange::Span { first: self.request_offset(), last: Some(self.last) }
    }
}

/// Divides `size` bytes into at most `max_segments` segments of equal length; the last one can be shorter.
fn segments(size: u64, max_segments: u64) -> Vec<Segment> {
    if size == 0 {
        return Vec::new();
    }
    let count = max_segments.min(size / MIN_SEGMENT_SIZE).max(1);
    let length = size.div_ceil(count);
    (0..count)
        .map(|index| Segment {
            next_offset: index * length,
            last: ((index + 1) * length).min(size) - 1,
            overlaps: Vec::new(),
        })
        .filter(|segment| segment.next_offset <= segment.last)
        .collect()
}

/// Returns `true` if the protocol can return a byte range of an object whose size it reports.
const fn supports_ranges(family: SchemeFamily) -> bool {
    use SchemeFamily as F;
    match family {
        F::Gopher | F::News | F::Nntp | F::Wais => false,
        // The drivers of the other schemes report an error if they do not support ranges.
        F::File | F::Ftp | F::Http | F::Mailto | F::Prospero | F::Telnet | F::Other => true,
    }
}

/// Returns the number of bytes from the start without a gap.
fn contiguous_length(segments: &[Segment]) -> u64 {
    let broken = segments.iter().find(|segment| segment.next_offset <= segment.last);
    broken.map_or_else(
        || segments.last().map_or(0, |segment| segment.next_offset),
        |segment| segment.next_offset,
    )
}

/// Returns `true` if a response starts at `offset` and is of the same version as the object.
fn is_segment_of(answer: &Meta, object: &Meta, offset: u64) -> bool {
    answer.offset == offset && answer.head.size == object.head.size && answer.validator == object.validator
}

/// The file that the segments are written to.
struct Assembly<'w> {
    target: Target,
    segments: Vec<Segment>,
    done: u64,
    size: u64,
    progress: &'w mut dyn Progress,
}

impl Assembly<'_> {
    fn add_progress(&mut self, bytes: u64) {
        self.done += bytes;
        self.progress.update(self.done, Some(self.size));
    }

    fn write(&mut self, index: usize, bytes: &[u8]) -> Result<(), Error> {
        let segment = &mut self.segments[index];
        let length = bytes.len() as u64;
        if length > (segment.last + 1).saturating_sub(segment.next_offset) {
            return Err(Error::new(
                Code::PeerMisbehaved,
                Phase::Body,
                "the server sent more bytes than the requested range",
            ));
        }
        self.target.write_at(segment.next_offset, bytes)?;
        segment.next_offset += length;
        self.target.set_valid_length(contiguous_length(&self.segments));
        self.add_progress(length);
        Ok(())
    }
}

fn locked<'a, 'w>(assembly: &'a Mutex<Assembly<'w>>) -> MutexGuard<'a, Assembly<'w>> {
    assembly.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads the bytes before the segment, then the segment.
async fn read_segment(index: usize, mut body: Body, assembly: &Mutex<Assembly<'_>>) -> Result<(), Error> {
    let at = locked(assembly).segments[index].request_offset();
    let count = usize::try_from(locked(assembly).segments[index].next_offset - at).unwrap_or(OVERLAP_LEN);
    let mut before = Vec::with_capacity(count);
    while let Some(mut bytes) = body.chunk().await? {
        if before.len() < count {
            let overlap_len = bytes.len().min(count - before.len());
            before.extend_from_slice(&bytes.split_to(overlap_len));
            if before.len() == count {
                let overlap = Overlap { offset: at, bytes: before.clone() };
                locked(assembly).segments[index].overlaps.push(overlap);
            }
        }
        locked(assembly).write(index, &bytes)?;
    }
    Ok(())
}

/// Waits until all downloads are complete or one fails.
async fn try_join_all(mut running: Vec<Fetching<'_>>) -> Result<(), Error> {
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
    fn segments_cover_the_object() {
        for (size, max_segments, count) in [
            (0, 4, 0),
            (1, 4, 1),
            (MIN_SEGMENT_SIZE, 4, 1),
            (2 * MIN_SEGMENT_SIZE, 4, 2),
            (4 * MIN_SEGMENT_SIZE - 1, 4, 3),
            (10 * MIN_SEGMENT_SIZE + 7, 4, 4),
            (u64::MAX / 2, 3, 3),
        ] {
            let segments = segments(size, max_segments);
            assert_eq!(segments.len(), count, "{size} in {max_segments}");
            let mut next = 0;
            for segment in &segments {
                assert_eq!(segment.next_offset, next);
                next = segment.last + 1;
            }
            assert_eq!(next, size);
        }
    }

    #[test]
    fn save_future_is_send() {
        fn can_be_sent<T: Send>(_: &T) {}
        let _ =
            |segments: Segments, sink: Sink| can_be_sent(&async move { segments.save(sink, &mut ()).await });
    }

    #[test]
    fn contiguous_length_ends_at_the_first_incomplete_segment() {
        let segment = |next_offset, last| Segment { next_offset, last, overlaps: Vec::new() };
        assert_eq!(contiguous_length(&[segment(5, 9), segment(20, 19)]), 5);
        assert_eq!(contiguous_length(&[segment(10, 9), segment(12, 19)]), 12);
        assert_eq!(contiguous_length(&[segment(10, 9), segment(20, 19)]), 20);
        assert_eq!(contiguous_length(&[segment(0, 9), segment(20, 19)]), 0);
    }
}
