//! Adds lines. Adding a line again changes nothing, so an interrupted run is simply repeated.

use std::time::{Duration, Instant};

use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::stream::DirectGetErrorKind;
use bytes::Bytes;
use fetch_url::url::mask_password;
use fetch_url::{Code, Error, Phase};
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};

use crate::bucket::bucket_of;
use crate::error::{Cause, cause};
use crate::record::payload;
use crate::reservations::{Owner, Reservations, conflict_entry};
use crate::session::MAX_UNCONFIRMED;
use crate::{Line, Queue};

/// The time within which a line is sent again if the server does not answer.
const RESEND_TIME: Duration = Duration::from_secs(55);
/// The number of characters of a URL that an error shows.
const MAX_URL_LENGTH: usize = 80;
/// The wait before a line is sent again.
const RESEND_WAIT: Duration = Duration::from_secs(1);

/// The number of lines that were added, by their state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddCounts {
    /// New lines.
    pub added: u64,
    /// Lines that were in the queue already and are not finished.
    pub waiting: u64,
    /// Lines that have been fetched.
    pub done: u64,
    /// Lines that have failed.
    pub failed: u64,
    /// Lines that were recorded as failed, because another line has their file.
    pub conflicts: u64,
}

impl AddCounts {
    /// Returns the number of all lines.
    pub const fn total(&self) -> u64 {
        self.added + self.waiting + self.done + self.failed + self.conflicts
    }
}

/// The state of a line after it was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    New,
    Waiting,
    Done,
    Failed,
    /// Another line has its file. It is recorded as failed.
    Conflict,
}

/// A line that is added.
struct NewLine {
    line: Line,
    digest: String,
    subject: String,
    message: Bytes,
    checks_record: bool,
}

/// Adds lines, many at a time.
pub struct Adder {
    queue: Queue,
    reservations: Reservations,
    /// The record has entries, so lines may be finished, or lines are set aside.
    checks_record: bool,
    unconfirmed: FuturesUnordered<BoxFuture<'static, Result<Added, Error>>>,
    counts: AddCounts,
}

impl Queue {
    /// Returns an adder of lines.
    ///
    /// # Errors
    /// If the server does not answer.
    pub async fn adder(&self) -> Result<Adder, Error> {
        let record = self.record.get_info().await;
        let record = record.map_err(|error| self.session.error("cannot read the record", &error))?;
        let checks_record = record.state.messages > 0 || self.has_set_aside().await?;
        let (unconfirmed, counts) = (FuturesUnordered::new(), AddCounts::default());
        let reservations = self.reservations();
        Ok(Adder { queue: self.clone(), reservations, checks_record, unconfirmed, counts })
    }

    /// Adds a line and waits until it is stored. Its files are reserved if `reservations` is given.
    pub(crate) async fn add_line(
        self,
        line: Line,
        checks_record: bool,
        reservations: Option<Reservations>,
    ) -> Result<Added, Error> {
        let digest = line.digest();
        let subject = self.subject_of(&line, &digest);
        let message = payload(&line.to_json());
        // A line that is added again or set aside is a little longer.
        let max_length = self.session.max_message();
        if message.len() > max_length {
            let detail = format!(
                "cannot add the line of {}: it has {} bytes, and the NATS server accepts lines of {max_length} bytes",
                short_url(&line),
                message.len()
            );
            return Err(Error::new(Code::LimitReached, Phase::Request, detail)
                .with_hint("increase max_payload of the NATS server"));
        }
        let new = NewLine { line, digest, subject, message, checks_record };
        let started = Instant::now();
        loop {
            match self.try_add(&new, reservations.as_ref()).await {
                Err(error) if error.code() == Code::TimedOut && started.elapsed() < RESEND_TIME => {
                    tokio::time::sleep(RESEND_WAIT).await;
                }
                Err(error) => return Err(self.not_found_if_deleted(error).await),
                added => return added,
            }
        }
    }

    /// Returns the sequence number of the message of this line, if the queue has one.
    pub(crate) async fn line_message(&self, line: &Line) -> Result<Option<u64>, Error> {
        self.message_of(&Owner::new(self.bucket(line), &line.digest())).await
    }

    /// Returns the sequence number of the message of a line, in its bucket or set aside. The bucket is read twice, because
    /// the line may be moved back at this moment.
    pub(crate) async fn message_of(&self, line: &Owner) -> Result<Option<u64>, Error> {
        let subject = self.subject("h", line.as_str());
        if let Some(sequence) = self.message_at(subject.clone()).await? {
            return Ok(Some(sequence));
        }
        match self.set_aside_message(line.digest()).await? {
            Some(sequence) => Ok(Some(sequence)),
            None => self.message_at(subject).await,
        }
    }

    /// Returns the sequence number of the message of the queue with this subject.
    pub(crate) async fn message_at(&self, subject: String) -> Result<Option<u64>, Error> {
        match self.lines.direct_get_last_for_subject(subject).await {
            Ok(message) => Ok(Some(message.sequence)),
            Err(error) if error.kind() == DirectGetErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.session.error("cannot read the queue", &error)),
        }
    }

    /// Returns the number of the bucket of a line.
    pub(crate) fn bucket(&self, line: &Line) -> u16 {
        bucket_of(line.urls().first().map_or("", String::as_str), self.buckets)
    }

    fn subject_of(&self, line: &Line, digest: &str) -> String {
        self.line_subject(self.bucket(line), digest)
    }

    async fn try_add(&self, new: &NewLine, reservations: Option<&Reservations>) -> Result<Added, Error> {
        if new.checks_record {
            if let Some(entry) = self.entry(&new.digest).await? {
                return Ok(if entry.is_failed() { Added::Failed } else { Added::Done });
            }
            if self.set_aside_message(&new.digest).await?.is_some() {
                return Ok(Added::Waiting);
            }
        }
        if let Some(reservations) = reservations
            && let Some(file) = reservations.reserve(&new.line).await?
        {
            self.store_entry(&new.digest, Some(&new.line), &conflict_entry(&file)).await?;
            return Ok(Added::Conflict);
        }
        let what = "cannot add a line";
        let sent = self.session.context().publish(new.subject.clone(), new.message.clone()).await;
        match sent.map_err(|error| self.session.error(what, &error))?.await {
            Ok(_) => Ok(Added::New),
            Err(error) if cause(&error) == Cause::SubjectTaken => Ok(Added::Waiting),
            // The connection was lost: the message may be stored or not, which the next attempt shows.
            Err(error) if error.kind() == PublishErrorKind::BrokenPipe => {
                Err(Error::new(Code::TimedOut, Phase::Reply, format!("{what}: the connection was lost")))
            }
            Err(error) => Err(self.session.error(what, &error)),
        }
    }
}

impl Adder {
    /// Adds a line. It is stored later, at the latest by [`Self::store_all`] or [`Self::finish`]. A line whose file is reserved by
    /// another line that has not failed is recorded as failed.
    ///
    /// # Errors
    /// Fails if an earlier line could not be stored: [`Code::LimitReached`] if the storage of the server is full,
    /// [`Code::Denied`] if a permission is missing, [`Code::TimedOut`] if the server does not answer for a minute.
    pub async fn add(&mut self, line: Line) -> Result<(), Error> {
        if self.unconfirmed.len() >= MAX_UNCONFIRMED {
            self.confirm_one().await?;
        }
        let reservations = Some(self.reservations.clone());
        let added = self.queue.clone().add_line(line, self.checks_record, reservations);
        self.unconfirmed.push(Box::pin(added));
        // Sends the new line, and takes what the server has confirmed.
        while let Some(Some(added)) = self.unconfirmed.next().now_or_never() {
            self.counts.count(added?);
        }
        Ok(())
    }

    /// Returns the counts of the stored lines.
    pub const fn counts(&self) -> AddCounts {
        self.counts
    }

    /// Waits until all lines are stored. Returns the counts.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub async fn finish(mut self) -> Result<AddCounts, Error> {
        self.store_all().await?;
        Ok(self.counts)
    }

    /// Waits until all lines are stored. The caller does this while it waits for more lines; it may be cancelled.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub async fn store_all(&mut self) -> Result<(), Error> {
        while !self.unconfirmed.is_empty() {
            self.confirm_one().await?;
        }
        Ok(())
    }

    async fn confirm_one(&mut self) -> Result<(), Error> {
        if let Some(added) = self.unconfirmed.next().await {
            self.counts.count(added?);
        }
        Ok(())
    }
}

/// Returns the start of the first URL of a line, without its password.
fn short_url(line: &Line) -> String {
    let url = line.urls().first().map_or("", String::as_str);
    let url = mask_password(url);
    match url.char_indices().nth(MAX_URL_LENGTH) {
        Some((end, _)) => format!("{}...", &url[..end]),
        None => url.to_string(),
    }
}

impl AddCounts {
    const fn count(&mut self, added: Added) {
        match added {
            Added::New => self.added += 1,
            Added::Waiting => self.waiting += 1,
            Added::Done => self.done += 1,
            Added::Failed => self.failed += 1,
            Added::Conflict => self.conflicts += 1,
        }
    }
}
