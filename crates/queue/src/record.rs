//! The record: one final entry for each finished line.

use async_nats::HeaderMap;
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::stream::{DirectGetErrorKind, Stream};
use bytes::Bytes;
use fetch_url::Error;
use serde_json::Value;

use crate::error::{Cause, cause};
use crate::{Entry, Line, Queue, entry};

/// With this header, a message is stored only if the last message of its subject has this sequence number.
const EXPECTED_SEQUENCE: &str = "Nats-Expected-Last-Subject-Sequence";

/// A message of the record.
pub(crate) struct Recorded {
    pub(crate) sequence: u64,
    /// The entry; null if the message is not JSON.
    pub(crate) value: Value,
}

impl Recorded {
    /// Returns `true` for an entry of this version or a newer one. Another program may have published other messages,
    /// which do not finish the line.
    fn is_entry(&self) -> bool {
        Entry::from_json(&self.value).is_some() || entry::is_newer(&self.value)
    }
}

impl Queue {
    /// Returns the final entry of the line `digest`.
    pub(crate) async fn entry(&self, digest: &str) -> Result<Option<Entry>, Error> {
        Ok(self.recorded(digest).await?.and_then(|recorded| Entry::from_json(&recorded.value)))
    }

    /// Returns the message of the record for the line `digest`.
    pub(crate) async fn recorded(&self, digest: &str) -> Result<Option<Recorded>, Error> {
        match self.record.direct_get_last_for_subject(self.record_subject(digest)).await {
            Ok(message) => {
                let value = serde_json::from_slice(&message.payload).unwrap_or(Value::Null);
                Ok(Some(Recorded { sequence: message.sequence, value }))
            }
            Err(error) if error.kind() == DirectGetErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.session.error("cannot read the record", &error)),
        }
    }

    /// Returns `true` if the line `digest` has a final entry, and completes what a worker that ended in between has
    /// left: a failed line is listed, and a line that was fetched after a retry is not listed any more.
    pub(crate) async fn remove_if_recorded(&self, digest: &str, line: Option<&Line>) -> Result<bool, Error> {
        let recorded = self.recorded(digest).await?.filter(Recorded::is_entry);
        let Some(Recorded { value, .. }) = recorded else { return Ok(false) };
        match Entry::from_json(&value) {
            Some(entry) if entry.is_failed() => {
                self.list_failed(digest, payload(&value)).await?;
            }
            Some(_) if line.is_some_and(|line| line.is_retry) => self.unlist_failed(digest).await?,
            _ => {}
        }
        Ok(true)
    }

    /// Stores the final entry of a line. The first entry wins, so a line that two workers fetched has one entry. A
    /// message that is not an entry is replaced.
    pub(crate) async fn store_entry(
        &self,
        digest: &str,
        line: Option<&Line>,
        entry: &Entry,
    ) -> Result<(), Error> {
        let what = "cannot write the record";
        let message = entry.to_message(line, self.session.max_message());
        let mut last_sequence = 0;
        while !self.publish_after(last_sequence, self.record_subject(digest), message.clone(), what).await? {
            if self.remove_if_recorded(digest, line).await? {
                return Ok(());
            }
            let foreign = self.recorded(digest).await?.filter(|recorded| !recorded.is_entry());
            last_sequence = foreign.map_or(0, |foreign| foreign.sequence);
        }
        if entry.is_failed() {
            self.list_failed(digest, message).await?;
            return Ok(());
        }
        if line.is_some_and(|line| line.is_retry) {
            self.unlist_failed(digest).await?;
        }
        Ok(())
    }

    /// Stores an entry in the list of failed lines, in place of an earlier one. Returns its sequence number.
    pub(crate) async fn list_failed(&self, digest: &str, entry: Bytes) -> Result<u64, Error> {
        let what = "cannot write the list of failed lines";
        let sent = self.session.context().publish(self.failed_subject(digest), entry).await;
        let stored = sent.map_err(|error| self.session.error(what, &error))?.await;
        stored.map(|stored| stored.sequence).map_err(|error| self.session.error(what, &error))
    }

    /// Removes a line that was fetched from the list of failed lines.
    pub(crate) async fn unlist_failed(&self, digest: &str) -> Result<(), Error> {
        let purged = self.failed.purge().filter(self.failed_subject(digest)).await;
        purged
            .map(|_| ())
            .map_err(|error| self.session.error("cannot write the list of failed lines", &error))
    }

    /// Removes one message of a stream. Returns `false` if it does not exist.
    pub(crate) async fn remove_message(
        &self,
        stream: &Stream,
        sequence: u64,
        what: &str,
    ) -> Result<bool, Error> {
        match stream.delete_message(sequence).await {
            Ok(is_removed) => Ok(is_removed),
            Err(error) if cause(&error) == Cause::NotFound => Ok(false),
            Err(error) => Err(self.session.error(what, &error)),
        }
    }

    /// Stores a message if its subject has none. Returns `false` if it has one.
    pub(crate) async fn publish_first(
        &self,
        subject: String,
        payload: Bytes,
        what: &str,
    ) -> Result<bool, Error> {
        self.publish_after(0, subject, payload, what).await
    }

    /// Stores a message if the last message of its subject has this sequence number, which is 0 for none. Returns `false`
    /// if it has another one.
    pub(crate) async fn publish_after(
        &self,
        last_sequence: u64,
        subject: String,
        payload: Bytes,
        what: &str,
    ) -> Result<bool, Error> {
        let headers = headers_after(last_sequence);
        let sent = self.session.context().publish_with_headers(subject, headers, payload).await;
        match sent.map_err(|error| self.session.error(what, &error))?.await {
            Ok(_) => Ok(true),
            Err(error)
                if error.kind() == PublishErrorKind::WrongLastSequence
                    || cause(&error) == Cause::WrongSequence =>
            {
                Ok(false)
            }
            Err(error) => Err(self.session.error(what, &error)),
        }
    }
}

/// Returns the headers of a message that is stored only if its subject has no message.
pub(crate) fn headers_for_first() -> HeaderMap {
    headers_after(0)
}

fn headers_after(last_sequence: u64) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(EXPECTED_SEQUENCE, last_sequence.to_string());
    headers
}

pub(crate) fn payload(value: &Value) -> Bytes {
    Bytes::from(value.to_string())
}
