//! The failed lines: they are listed, and added again.

use std::ops::ControlFlow;

use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use fetch_url::Error;
use futures_util::StreamExt as _;
use serde_json::Value;

use crate::add::Added;
use crate::record::payload;
use crate::{Entry, Line, Queue};

/// The number of entries that are requested at once.
const PAGE_SIZE: usize = 500;

/// A failed line.
#[derive(Clone, Debug)]
pub struct FailedLine {
    /// The line; `None` if the message was not a line.
    pub line: Option<Line>,
    /// Its final entry.
    pub entry: Entry,
    digest: String,
    /// The sequence number of the message in the list.
    sequence: u64,
}

/// The number of failed lines that were added again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetryCounts {
    /// Lines that were added again.
    pub added: u64,
    /// Lines that are in the queue already, because another retry has added them.
    pub waiting: u64,
    /// Lines that were fetched after another retry has added them.
    pub done: u64,
    /// Lines that cannot be added again, because the message was not a line, or because another line has their file.
    pub kept: u64,
}

/// The result of adding a failed line again.
enum Retried {
    Added,
    Waiting,
    Done,
    Kept,
}

impl Queue {
    /// Calls `each` with each failed line, until it returns a break.
    ///
    /// # Errors
    /// If the server does not answer.
    pub async fn for_each_failed(
        &self,
        mut each: impl FnMut(FailedLine) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let what = "cannot read the list of failed lines";
        let info = self.failed.get_info().await.map_err(|error| self.session.error(what, &error))?;
        let last = info.state.last_sequence;
        if info.state.messages == 0 {
            return Ok(());
        }
        let config = pull::Config {
            ack_policy: AckPolicy::None,
            deliver_policy: DeliverPolicy::All,
            inactive_threshold: std::time::Duration::from_secs(30),
            ..pull::Config::default()
        };
        let consumer = self.failed.create_consumer(config).await;
        let consumer = consumer.map_err(|error| self.session.error(what, &error))?;
        loop {
            let page = consumer.fetch().max_messages(PAGE_SIZE).messages().await;
            let mut page = page.map_err(|error| self.session.error(what, &error))?;
            let mut count = 0;
            while let Some(message) = page.next().await {
                let message = message.map_err(|error| self.session.boxed_error(what, &error))?;
                count += 1;
                let sequence = message.info().map_or(0, |info| info.stream_sequence);
                let failed = failed_line(&message.subject, sequence, &message.payload);
                if failed.is_some_and(|failed| each(failed).is_break()) {
                    return Ok(());
                }
                // Lines that fail while this runs are not waited for.
                if message.info().is_ok_and(|info| info.stream_sequence >= last || info.pending == 0) {
                    return Ok(());
                }
            }
            if count == 0 {
                return Ok(());
            }
        }
    }

    /// Adds all failed lines again.
    ///
    /// # Errors
    /// If the server does not answer. Lines that were not added again stay failed.
    pub async fn retry_failed(&self) -> Result<RetryCounts, Error> {
        let mut all = Vec::new();
        self.for_each_failed(|failed| {
            all.push((failed.digest, failed.sequence, failed.line));
            ControlFlow::Continue(())
        })
        .await?;
        let mut counts = RetryCounts::default();
        let reservations = self.reservations();
        for (digest, sequence, line) in all {
            let Some(line) = line else {
                counts.kept += 1;
                continue;
            };
            let retried = match reservations.reserve(&line).await? {
                Some(_) => Retried::Kept,
                None => self.retry_line(&digest, sequence, line).await?,
            };
            match retried {
                Retried::Added => counts.added += 1,
                Retried::Waiting => counts.waiting += 1,
                Retried::Done => counts.done += 1,
                Retried::Kept => counts.kept += 1,
            }
        }
        Ok(counts)
    }

    /// Adds a failed line again. At each moment, the line is in the list of failed lines, or in the queue. `listed` is
    /// the sequence number of its entry in the list.
    ///
    /// Other retries and the workers of the line may run at the same time. Messages are removed by their sequence
    /// numbers, so a message that replaced the one that was read is not removed.
    async fn retry_line(&self, digest: &str, mut listed: u64, mut line: Line) -> Result<Retried, Error> {
        let what = "cannot add a failed line again";
        loop {
            // The worker may not have acknowledged the failed message yet. This message is looked up before the entry,
            // because another retry adds its message after it has removed the entry.
            let old = self.line_message(&line).await?;
            let Some(recorded) = self.recorded(digest).await? else { break };
            match Entry::from_json(&recorded.value) {
                // Another retry, or an interrupted one, has added the line, and it was fetched.
                Some(entry) if !entry.is_failed() => {
                    self.unlist_failed(digest).await?;
                    return Ok(Retried::Done);
                }
                // Another retry may have removed the line from the list.
                Some(_) => listed = self.list_failed(digest, payload(&recorded.value)).await?,
                None => {}
            }
            if let Some(old) = old {
                // A late acknowledgement would remove the line from the queue if it kept its old message.
                self.remove_message(&self.lines, old, what).await?;
            }
            if self.remove_message(&self.record, recorded.sequence, what).await? {
                break;
            }
        }
        (line.is_retry, line.earlier_tries) = (true, 0);
        if self.clone().add_line(line, false, None).await? != Added::New {
            // Another program has added the line. It stays in the list until it is finished, because it is not known
            // whether it is acknowledged already.
            return Ok(Retried::Waiting);
        }
        self.remove_message(&self.failed, listed, what).await?;
        Ok(Retried::Added)
    }
}

fn failed_line(subject: &str, sequence: u64, payload: &[u8]) -> Option<FailedLine> {
    let value: Value = serde_json::from_slice(payload).ok()?;
    let entry = Entry::from_json(&value)?;
    let digest = subject.rsplit('.').next()?.to_owned();
    Some(FailedLine { line: Line::from_json(&value["line"]).ok(), entry, digest, sequence })
}
