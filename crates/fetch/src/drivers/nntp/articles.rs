//! Articles as a body: one article, or those of a range of numbers, one after another.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::ops::RangeInclusive;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use fetch_url_proto::nntp::{ArticleAddress, ArticlePart, GroupName, HeaderReader, NewsRequest};
use fetch_url_proto::{Entry, Event, Rejection, Step};

use super::active_request::ActiveRequest;
use super::article_format::ArticleConverter;
use super::connection::{FirstReply, MAX_QUEUED, NntpConnection, unexpected_step_error};
use super::options::ArticleFormat;
use super::plan::{ALL_NUMBERS, NewsOperation};
use super::rejection::{is_missing_article, rejection_error};
use super::response::{outcome, response_meta};
use super::skipped_numbers::SkippedNumbers;
use crate::body::TerminatorCheck;
use crate::tree::{content_id, content_id_of};
use crate::{Body, ByteSource, Content, Error, Outcome, Phase, Proof, Response};

/// Maximum number of bytes of an article in which the Date field is searched.
const MAX_HEADER_BYTES: usize = 64 * 1024;
/// How the end of an article is known.
const PROOF: Proof = Proof::Proven("the final line with a single dot");

/// Returns the article whose reply has arrived. If its header is requested, the header is read ahead, to get date and
/// Message-ID.
pub(super) async fn single_article(
    connection: NntpConnection,
    request: &Arc<ActiveRequest>,
) -> Result<Outcome, Error> {
    let plan = &request.plan;
    let mut meta = response_meta(plan);
    meta.content_id = connection.session().message_id().and_then(content_id_of);
    let mut source = ArticleSource::new(connection, request, None);
    if plan.options.part != ArticlePart::Body {
        let header = source.read_header().await?;
        meta.head.modified = header.modified;
        meta.content_id = meta.content_id.or_else(|| content_id(&header));
    }
    let is_wanted = plan.condition.is_none_or(|condition| condition.is_met_by(meta.head.modified));
    let content =
        if is_wanted { Content::Body(Body::from_source(source, None, PROOF)) } else { Content::Unchanged };
    Ok(Outcome::Response(Response::new(meta, content)))
}

/// Returns the articles of a range, after the reply for the first article has arrived.
pub(super) fn article_range(
    connection: NntpConnection,
    request: &Arc<ActiveRequest>,
) -> Result<Outcome, Error> {
    let remaining = RemainingArticles::after_first(&connection, request)?;
    Ok(range_outcome(connection, request, remaining))
}

fn range_outcome(
    connection: NntpConnection,
    request: &Arc<ActiveRequest>,
    remaining: RemainingArticles,
) -> Outcome {
    let source = ArticleSource::new(connection, request, Some(remaining));
    let notes = source.notes.clone();
    let body = Body::from_source(source, None, PROOF).with_terminator_check(notes);
    outcome(&request.plan, Content::Body(body))
}

/// Returns the articles of a range whose first number was rejected: the body starts with the first article that exists.
pub(super) async fn article_range_after_rejection(
    rejection: &Rejection,
    mut connection: NntpConnection,
    request: &Arc<ActiveRequest>,
) -> Result<Outcome, Error> {
    let ActiveRequest { plan, ctx, .. } = &**request;
    if connection.session().selected().is_some_and(|group| group.count == 0) {
        return empty_range_outcome(rejection, request);
    }
    if !is_missing_article(rejection) {
        return Err(rejection_error(rejection, request));
    }
    let mut remaining = RemainingArticles::after_first(&connection, request)?;
    remaining.record_first_skipped(rejection, &connection);
    loop {
        remaining.queue_requests(&mut connection);
        if connection.session().pending_requests().len() == 0 {
            request.keep(connection);
            return empty_range_outcome(rejection, request);
        }
        connection = match connection.next_reply(plan, ctx).await? {
            FirstReply::Accepted(connection) => return Ok(range_outcome(*connection, request, remaining)),
            FirstReply::Rejected(rejection, connection) if is_missing_article(&rejection) => {
                remaining.skipped.record(rejection.code);
                *connection
            }
            FirstReply::Rejected(rejection, _) => return Err(rejection_error(&rejection, request)),
        };
    }
}

/// Returns an empty body for a whole group without articles, and an error for a range of numbers without articles.
fn empty_range_outcome(rejection: &Rejection, request: &ActiveRequest) -> Result<Outcome, Error> {
    let plan = &request.plan;
    let is_all =
        matches!(&plan.operation, NewsOperation::ArticleRange(_, numbers) if *numbers == ALL_NUMBERS);
    // Only in this format a URL can mean the whole group.
    if is_all && plan.options.format == ArticleFormat::Mbox {
        return Ok(outcome(plan, Content::Body(Body::from_bytes(Bytes::new()))));
    }
    Err(rejection_error(rejection, request))
}

/// The articles of a range that are not requested yet.
struct RemainingArticles {
    group: GroupName,
    first: u64,
    numbers: RangeInclusive<u64>,
    part: ArticlePart,
    skipped: SkippedNumbers,
}

impl RemainingArticles {
    /// Returns the numbers after the first one, limited to those that the server reported for the group.
    fn after_first(connection: &NntpConnection, request: &ActiveRequest) -> Result<Self, Error> {
        let plan = &request.plan;
        let NewsOperation::ArticleRange(group, numbers) = &plan.operation else {
            return Err(unexpected_step_error());
        };
        let selected = connection.session().selected();
        let (low, high) = selected.map_or((0, u64::MAX), |group| (group.low, group.high));
        let first = *numbers.start();
        let numbers = (first + 1).max(low)..=high.min(*numbers.end());
        let skipped = SkippedNumbers::default();
        Ok(Self { group: group.clone(), first, numbers, part: plan.options.part, skipped })
    }

    /// Records that the first number was rejected, unless the group has no such number.
    fn record_first_skipped(&mut self, rejection: &Rejection, connection: &NntpConnection) {
        let selected = connection.session().selected();
        if selected.is_some_and(|group| (group.low..=group.high).contains(&self.first)) {
            self.skipped.record(rejection.code);
        }
    }

    /// Queues more requests in the session once half of the queue is free.
    fn queue_requests(&mut self, connection: &mut NntpConnection) {
        let session = connection.session_mut();
        let queued = session.pending_requests().len();
        if queued > MAX_QUEUED / 2 {
            return;
        }
        for number in self.numbers.by_ref().take(MAX_QUEUED - queued) {
            session.add_request(NewsRequest::Article(
                ArticleAddress::Number(self.group.clone(), number),
                self.part,
            ));
        }
    }
}

/// A TLS handshake on the connection.
type Handshake = Pin<Box<dyn Future<Output = Result<NntpConnection, Error>> + Send>>;

/// The bytes of articles as they arrive, in the requested format.
struct ArticleSource {
    /// Chunks that were received while the header was read.
    read_ahead: VecDeque<Bytes>,
    /// Collects the header, while it is read for date and Message-ID.
    header: Option<HeaderReader>,
    /// `None` after the end, and during a handshake.
    connection: Option<NntpConnection>,
    /// The handshake before a login that the server requires after the first article.
    handshake: Option<Handshake>,
    converter: ArticleConverter,
    /// `None` for a single article.
    remaining: Option<RemainingArticles>,
    notes: TerminatorCheck,
    request: Arc<ActiveRequest>,
}

impl ArticleSource {
    fn new(
        connection: NntpConnection,
        request: &Arc<ActiveRequest>,
        remaining: Option<RemainingArticles>,
    ) -> Self {
        Self {
            read_ahead: VecDeque::new(),
            header: None,
            connection: Some(connection),
            handshake: None,
            converter: ArticleConverter::new(request.plan.options.format),
            remaining,
            notes: TerminatorCheck::default(),
            request: request.clone(),
        }
    }

    /// Reads ahead until the end of the header.
    async fn read_header(&mut self) -> Result<Entry, Error> {
        let (deadline, mut count) = (self.request.ctx.deadline, 0);
        self.header = Some(HeaderReader::new(0));
        while count < MAX_HEADER_BYTES && self.header.as_ref().is_some_and(|header| !header.is_done()) {
            let chunk = deadline.bound(Phase::Body, poll_fn(|cx| self.poll_converted(cx))).await?;
            let Some(chunk) = chunk else { break };
            count += chunk.len();
            self.read_ahead.push_back(chunk);
        }
        Ok(self.header.take().unwrap_or_else(|| HeaderReader::new(0)).finish())
    }

    /// Returns the next chunk in the requested format, or `None` at the end.
    fn poll_converted(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Error>> {
        loop {
            if let Some(handshake) = &mut self.handshake {
                let result = ready!(handshake.as_mut().poll(cx));
                self.handshake = None;
                self.connection = Some(result?);
            }
            let Some(connection) = &mut self.connection else { return Poll::Ready(Ok(None)) };
            if let Some(remaining) = &mut self.remaining {
                remaining.queue_requests(connection);
            }
            match ready!(connection.poll_step(cx))? {
                Step::Emit(Event::Body(chunk)) => {
                    if let Some(header) = &mut self.header {
                        header.push(&chunk);
                    }
                    let converted = self.converter.push(chunk);
                    if !converted.is_empty() {
                        return Poll::Ready(Ok(Some(converted)));
                    }
                }
                Step::Done => {
                    let separator = self.separator();
                    self.release_connection_at_end();
                    let converted = [self.converter.push(separator), self.converter.finish()].concat();
                    if !converted.is_empty() {
                        return Poll::Ready(Ok(Some(converted.into())));
                    }
                }
                Step::Emit(Event::Head(_)) if self.remaining.is_some() => {}
                Step::StartTls => self.start_tls(),
                Step::Emit(Event::Rejected(rejection)) => self.skip_number(&rejection)?,
                _ => return Poll::Ready(Err(unexpected_step_error())),
            }
        }
    }

    fn start_tls(&mut self) {
        let (request, connection) = (self.request.clone(), self.connection.take());
        self.handshake = connection.map(|connection| -> Handshake {
            Box::pin(async move { connection.upgrade_to_tls(&request.plan, &request.ctx).await })
        });
    }

    /// Skips a number without an article.
    fn skip_number(&mut self, rejection: &Rejection) -> Result<(), Error> {
        let Some(remaining) = &mut self.remaining else { return Err(unexpected_step_error()) };
        if !is_missing_article(rejection) {
            return Err(rejection_error(rejection, &self.request));
        }
        remaining.skipped.record(rejection.code);
        self.release_connection_at_end();
        Ok(())
    }

    /// Returns the empty line that separates the headers of several articles, if only headers are requested.
    fn separator(&self) -> Bytes {
        let only_headers =
            self.remaining.as_ref().is_some_and(|remaining| remaining.part == ArticlePart::Head);
        Bytes::from_static(if only_headers { b"\r\n" } else { b"" })
    }

    /// Keeps the connection for the next URL, and notes the skipped numbers, if no article of the range is left.
    fn release_connection_at_end(&mut self) {
        if let (Some(remaining), Some(connection)) = (&mut self.remaining, &mut self.connection) {
            remaining.queue_requests(connection);
            if connection.session().pending_requests().len() > 0 {
                return;
            }
            remaining.skipped.note().into_iter().for_each(|note| self.notes.add_note(note.into()));
        }
        if let Some(connection) = self.connection.take() {
            self.request.keep(connection);
        }
    }
}

impl ByteSource for ArticleSource {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        if let Some(chunk) = self.read_ahead.pop_front() {
            return Poll::Ready(Some(Ok(chunk)));
        }
        let chunk = ready!(self.poll_converted(cx));
        if chunk.is_err() {
            self.connection = None;
        }
        Poll::Ready(chunk.transpose())
    }
}
