//! The failed lines: they are listed, and added again.

use std::ops::ControlFlow;

use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use fetch_url::Error;
use futures_util::StreamExt as _;
use serde_json::Value;

use crate::add::Added;
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
}

/// The number of failed lines that were added again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetryCounts {
    /// Lines that were added again.
    pub added: u64,
    /// Lines that cannot be added again, because the message was not a line.
    pub kept: u64,
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
                let failed = failed_line(&message.subject, &message.payload);
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
            all.push((failed.digest, failed.line));
            ControlFlow::Continue(())
        })
        .await?;
        let mut counts = RetryCounts::default();
        for (digest, line) in all {
            match line {
                Some(line) => {
                    self.retry_line(&digest, line).await?;
                    counts.added += 1;
                }
                None => counts.kept += 1,
            }
        }
        Ok(counts)
    }

    /// Adds a failed line again. At each moment, the line is in the list of failed lines, or in the queue.
    async fn retry_line(&self, digest: &str, mut line: Line) -> Result<(), Error> {
        // After an interrupted retry, the line may have been fetched in the meantime.
        if self.entry(digest).await?.is_some_and(|entry| !entry.is_failed()) {
            return self.unlist_failed(digest).await;
        }
        let purged = self.record.purge().filter(self.record_subject(digest)).await;
        purged.map_err(|error| self.session.error("cannot write the record", &error))?;
        line.is_retry = true;
        let added = self.clone().add_line(line, false).await?;
        debug_assert!(matches!(added, Added::New | Added::Waiting), "the record was not asked");
        self.unlist_failed(digest).await
    }
}

fn failed_line(subject: &str, payload: &[u8]) -> Option<FailedLine> {
    let value: Value = serde_json::from_slice(payload).ok()?;
    let entry = Entry::from_json(&value)?;
    let digest = subject.rsplit('.').next()?.to_owned();
    Some(FailedLine { line: Line::from_json(&value["line"]).ok(), entry, digest })
}
