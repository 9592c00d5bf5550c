//! Downloads one object over several connections. Each connection fetches a segment, and all write into one
//! `.part` file.
//!
//! This requires the size of the object, a validator, which must be the same for all segments of a server, and a
//! server that supports ranges. Servers of copies of the object can share the segments; a checksum then shows that the
//! copies are the same. If the download fails, the bytes from the start up to the first gap are kept in the
//! `.part` file for a resume, unless they are of several servers.

mod assembly;
mod checks;
mod layout;
mod offset_proof;
mod running;
mod source;

use std::future::{Future as _, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};

use self::assembly::{Assembly, locked, read_segment};
use self::checks::{announces_ranges, check_size_limit, refuses_ranges, supports_ranges};
use self::layout::{MAX_SEGMENTS, Segment, divide};
use self::running::join_segments;
use self::source::{SegmentRequest, Source, plan_copies};
use crate::blocking_threads;
use crate::body::MATCHING_SIZE;
use crate::engine::host_limiter::HostPermit;
use crate::engine::retry::RetryState;
use crate::request::SpareConnections;
use crate::sink::{Finished, Target};
use crate::started_future::StartedFuture;
use crate::time::Instant;
use crate::{
    Body, Code, Content, Deadline, Error, Fetcher, Meta, Phase, Progress, Proof, Receipt, Request, Response,
    Sink,
};

/// The plan of a download in segments.
pub struct Segments {
    object: Object,
    segments: Vec<Segment>,
    /// The requests that were sent by [`start`](Self::start), one for each segment.
    started: Vec<Option<StartedResponse>>,
}

/// A request for a segment, or its response.
type StartedResponse = StartedFuture<Result<Response, Error>>;

/// The state that all segments share.
struct Object {
    fetcher: Fetcher,
    /// The object itself, then its copies on other servers.
    sources: Vec<Source>,
    size: u64,
    /// The deadline of the whole download.
    deadline: Deadline,
    /// The connections that are opened while the metadata is requested.
    spares: Arc<SpareConnections>,
}

impl Segments {
    /// Requests the metadata and divides the object. Returns `None` if it cannot be fetched in `max_segments` segments
    /// (64 at most), is too small, or if the server refuses the request for the metadata (HEAD). For HTTP, the
    /// connections for the segments are opened meanwhile.
    ///
    /// # Errors
    /// As for [`Fetcher::fetch`], and [`Code::LimitReached`] if the object is larger than the policy allows.
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
        // Many transfers at the same time would open many connections, for small files in vain.
        let is_alone = request.host_permit().is_none_or(HostPermit::is_alone);
        let count = if is_alone { usize::from(max_segments.min(MAX_SEGMENTS)) - 1 } else { 0 };
        let spares = SpareConnections::new(count);
        let request = request.clone().with_spare_connections(spares.clone());
        let source = match Source::of(fetcher, request).await {
            Err(error) if error.may_refuse_only_head() => return Ok(None),
            source => source?,
        };
        let meta = &source.meta;
        let Some(size) = meta.head.size.filter(|_| meta.validator.is_some()) else { return Ok(None) };
        let segments = divide(size, max_segments);
        if segments.len() < 2 {
            return Ok(None);
        }
        check_size_limit(meta, fetcher.settings().policy.limits.max_size)?;
        let object = Object { fetcher: fetcher.clone(), sources: vec![source], size, deadline, spares };
        Ok(Some(Self { object, segments, started: Vec::new() }))
    }

    /// Adds servers of copies of the object, which then share the segments. A copy is used if its server states the same
    /// size, and a validator; others are left out, and so are more copies than segments: a document or server can name
    /// any number. Copies can differ although their sizes are equal, so that [`save`](Self::save) needs a checksum.
    pub async fn with_copies(mut self, mut copies: Vec<Request>) -> Self {
        copies.truncate(self.segments.len());
        let copies = plan_copies(&self.object.fetcher, copies, self.object.size).await;
        self.object.sources.extend(copies);
        // They were for the first server.
        self.started.clear();
        self
    }

    /// Requests the segments, and checks by the response for the second one that the server supports ranges. Returns
    /// `None` if it does not. The responses are read by [`save`](Self::save), which should follow at once.
    ///
    /// # Errors
    /// As for [`Fetcher::fetch`].
    pub async fn start(mut self) -> Result<Option<Self>, Error> {
        self.started = match self.object.sources.as_slice() {
            [source] if announces_ranges(&source.meta) => {
                self.segments.iter().map(|segment| Some(self.object.begin(segment))).collect()
            }
            // Each segment is requested from its own server, or none before it is known that there are ranges.
            _ => self.segments.iter().map(|_| None).collect(),
        };
        self.started[1] = None;
        let second = self.object.request(&self.segments[1], &mut self.started);
        let second = self.object.deadline.bound_total(Phase::Reply, second).await;
        // Requests that were sent with the second one have taken theirs.
        self.object.spares.close();
        let second = match second {
            Err(error) if refuses_ranges(&error) => return Ok(None),
            Err(error) if refuses_connection(&error) && may_have_response(&self.started) => {
                self.started[1] = Some(StartedFuture::Ready(Err(error)));
                return Ok(Some(self));
            }
            second => second?,
        };
        if !self.object.sources[0].has_sent(&second.meta, self.segments[1].request_offset()) {
            return Ok(None);
        }
        self.started[1] = Some(StartedFuture::Ready(Ok(second)));
        Ok(Some(self))
    }

    /// Returns `true` if [`with_copies`](Self::with_copies) added a server.
    pub const fn has_copies(&self) -> bool {
        self.object.sources.len() > 1
    }

    /// Returns the metadata of the object.
    pub fn meta(&self) -> &Meta {
        self.object.meta()
    }

    /// Fetches all segments in parallel into a file.
    ///
    /// # Errors
    /// As for [`save`](crate::output::save); [`Code::RangeRefused`] if the server does not support ranges and
    /// [`start`](Self::start) did not check it; [`Code::Usage`] if the sink is not a file, or if there are copies and the
    /// sink has no checksum. On failure, no file gets its
    /// final name, and the bytes up to the first gap are kept in the `.part` file. If the segments do not fit together,
    /// [`Error::has_invalid_body`] is `true`: the object can be fetched over one connection.
    pub async fn save(self, sink: Sink, progress: &mut dyn Progress) -> Result<Receipt, Error> {
        let Self { object, segments, started } = self;
        let url = object.meta().url.clone();
        object.save(segments, started, sink, progress).await.map_err(|error| error.with_url(&url))
    }
}

impl Object {
    const fn proof(&self) -> &'static str {
        match self.sources.len() {
            1 => "all segments have the same validator, and their overlaps match",
            _ => {
                "the segments of each server have the same validator, their overlaps match, and the checksum is right"
            }
        }
    }

    fn meta(&self) -> &Meta {
        &self.sources[0].meta
    }

    async fn save(
        self,
        segments: Vec<Segment>,
        mut started: Vec<Option<StartedResponse>>,
        sink: Sink,
        progress: &mut dyn Progress,
    ) -> Result<Receipt, Error> {
        let began = Instant::now();
        let has_checksum = sink.has_checksum();
        if self.sources.len() > 1 && !has_checksum {
            let detail = "segments of several servers need a checksum";
            return Err(Error::new(Code::Usage, Phase::Deliver, detail));
        }
        let target = sink.with_body_length(Some(self.size)).begin(&self.meta_of_segments())?;
        if !target.supports_random_writes() {
            return Err(Error::new(Code::Usage, Phase::Deliver, "only a file can be written in segments"));
        }
        started.resize_with(segments.len(), || None);
        let may_ignore_offsets = self.sources.iter().any(Source::is_ftp);
        let assembly = Assembly::new(target, segments, self.size, progress, may_ignore_offsets);
        let assembly = Mutex::new(assembly);
        locked(&assembly).add_progress(0);
        let fetch = |index, started| self.fetch_segment(index, started, &assembly);
        let fetching = join_segments(started, fetch, refuses_connection);
        self.deadline.bound_total(Phase::Body, fetching).await?;
        if !has_checksum {
            self.deadline.bound_total(Phase::Body, self.prove_offsets(&assembly)).await?;
        }
        let mut assembly = assembly.into_inner().unwrap_or_else(PoisonError::into_inner);
        let bytes = assembly.complete()?;
        let completed = self.finish(assembly.target).await?;
        Ok(Receipt {
            notes: Vec::new(),
            missing_terminator: (bytes != self.size).then_some(MATCHING_SIZE),
            url: self.meta().url.redacted().to_string(),
            bytes,
            resumed_from: 0,
            elapsed: began.elapsed(),
            redirects: self.meta().redirects,
            retries: self.meta().retries,
            proof: Proof::Assumed(self.proof()),
            digest: completed.digest,
            file: completed.file,
            unchanged: false,
            restarted: None,
        })
    }

    /// Returns the metadata by which the partial file is kept. That of the object describes the response to HEAD, which
    /// cannot be resumed.
    fn meta_of_segments(&self) -> Meta {
        let mut meta = self.meta().clone();
        // That the bytes of copies belong together is known only at the end, by the checksum.
        meta.is_resumable = self.sources.len() == 1 && !has_field(&meta, "content-encoding");
        meta
    }

    /// Verifies the checksum and renames the file, on a thread.
    async fn finish(&self, mut target: Target) -> Result<Finished, Error> {
        let digest =
            async { blocking_threads::run(move || target.digest_segments().map(|()| target)).await? };
        let target = self.deadline.bound_total(Phase::Deliver, digest).await?;
        // Not bounded: the file would get its name although the download is reported as failed.
        blocking_threads::run(move || target.finish()).await?
    }

    /// Requests `segment` from the first server. The requests for the `others` are sent meanwhile.
    async fn request(
        &self,
        segment: &Segment,
        others: &mut [Option<StartedResponse>],
    ) -> Result<Response, Error> {
        let mut requested = pin!(self.sources[0].request.fetch(&self.fetcher, segment));
        poll_fn(|cx| {
            let response = requested.as_mut().poll(cx);
            others.iter_mut().flatten().for_each(|other| other.poll_progress(cx));
            response
        })
        .await
    }

    /// Returns a request for `segment` from the first server.
    fn begin(&self, segment: &Segment) -> StartedResponse {
        let (request, segment) = (self.sources[0].request.clone(), segment.clone());
        let fetcher = self.fetcher.clone();
        StartedFuture::new(async move { request.fetch(&fetcher, &segment).await })
    }

    /// Fetches one segment: from its server, and if that fails, the rest from each other server in turn.
    async fn fetch_segment(
        &self,
        index: usize,
        mut started: Option<StartedResponse>,
        assembly: &Mutex<Assembly<'_>>,
    ) -> Result<(), Error> {
        // The second segment has been requested from the first server, so the second server gets the first segment.
        let first = match index {
            0 => 1,
            1 => 0,
            _ => index,
        };
        let mut turn = 0;
        loop {
            let source = &self.sources[(first + turn) % self.sources.len()];
            turn += 1;
            let is_last = turn == self.sources.len();
            let request = source.request.clone();
            let request = if is_last { request } else { request.tried_once() };
            let started = started.take();
            match self.fetch_segment_from(source, request, index, started, assembly).await {
                Err(error) if !is_last && error.code() != Code::SinkFailed => {}
                fetched => return fetched,
            }
        }
    }

    /// Fetches one segment from one server. If the transfer breaks off, the rest is requested again, within the limits
    /// of retries.
    async fn fetch_segment_from(
        &self,
        source: &Source,
        request: SegmentRequest,
        index: usize,
        mut started: Option<StartedResponse>,
        assembly: &Mutex<Assembly<'_>>,
    ) -> Result<(), Error> {
        let mut retry_state =
            RetryState::new(request.original.retry_rules(self.fetcher.settings().policy.retry));
        loop {
            let segment = locked(assembly).segments[index].clone();
            if segment.next_offset > segment.last {
                return Ok(());
            }
            let response = match started.take() {
                Some(started) => started.output().await?,
                None => request.fetch(&self.fetcher, &segment).await?,
            };
            let body = segment_body(source, response, &segment, self.size)?;
            if let Err(error) = read_segment(index, body.without_resumer(), assembly).await {
                let reached = locked(assembly).segments[index].next_offset;
                retry_state.backoff(&request.original, error, reached, &self.deadline).await?;
            }
        }
    }
}

/// Returns the body of the response to the request for `segment` of an object of `size` bytes.
fn segment_body(source: &Source, response: Response, segment: &Segment, size: u64) -> Result<Body, Error> {
    if !source.has_sent(&response.meta, segment.request_offset()) {
        let detail = "the object changed between two segments";
        return Err(Error::new(Code::Truncated, Phase::Body, detail).with_invalid_body());
    }
    let Content::Body(body) = response.content else {
        let detail = "the response to the request for a segment is not a file";
        return Err(Error::new(Code::PeerMisbehaved, Phase::Body, detail));
    };
    let is_growing = segment.last + 1 == size && may_have_grown(&response.meta);
    Ok(if is_growing { body.accepting_growth() } else { body })
}

/// Returns `true` if the object can have more bytes than the response states: FTP states the size before the transfer,
/// by another command.
fn may_have_grown(meta: &Meta) -> bool {
    meta.protocol == Some("FTP")
}

fn has_field(meta: &Meta, name: &str) -> bool {
    meta.fields.iter().any(|(field, _)| field.eq_ignore_ascii_case(name))
}

/// Returns `true` if the server may allow fewer connections or simultaneous requests, but serve the segment after
/// another one. A request over HTTP has been retried before.
fn refuses_connection(error: &Error) -> bool {
    error.code() == Code::Busy
}

/// Returns `true` if the server has begun to send one of the segments, or has not answered a request yet.
fn may_have_response(started: &[Option<StartedResponse>]) -> bool {
    started.iter().flatten().any(|response| !matches!(response, StartedFuture::Ready(Err(_))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn save_future_is_send() {
        fn can_be_sent<T: Send>(_: &T) {}
        let _ =
            |segments: Segments, sink: Sink| can_be_sent(&async move { segments.save(sink, &mut ()).await });
    }
}
