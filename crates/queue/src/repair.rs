//! Finds lines that the server keeps but no longer hands out, and makes it hand them out again.
//!
//! A server that was killed may have stored that a consumer is past a line, but not that the line was removed (seen with
//! nats-server 2.9.10). Such a line may have been fetched or not: the record shows which.

use std::time::{Duration, Instant};

use futures_util::TryStreamExt as _;

use crate::worker::Shared;

impl Shared {
    /// Opens consumers anew that know fewer lines than their bucket has, and removes messages that have no bucket. Returns
    /// `true` if there may be one.
    ///
    /// `is_repeated` is `true` if the last call returned `true`, too: a line that was added a moment ago may not be
    /// counted yet. A line that is under way in such a bucket is handed out twice; its `.part` file is locked, so the
    /// second worker gives it back.
    pub(crate) async fn hand_out_stuck_lines(&self, lines: u64, is_repeated: bool) -> bool {
        let mut known = 0;
        let consumers = (0..self.queue.buckets).map(|bucket| self.queue.consumer_name(bucket));
        for consumer in consumers.chain([self.queue.set_aside_consumer()]) {
            let Some(count) = self.known_lines(&consumer).await else { return false };
            known += count;
        }
        if lines <= known {
            return false;
        }
        if is_repeated {
            self.remove_orphaned_messages().await;
        }
        for bucket in (0..self.queue.buckets).filter(|_| is_repeated) {
            let (consumer, subject) =
                (self.queue.consumer_name(bucket), self.queue.line_subject(bucket, "*"));
            if !self.is_stuck(&consumer, &subject).await.unwrap_or(false) {
                continue;
            }
            // A new consumer begins with the first line of the stream. It does not exist for a moment, in which requests
            // of other workers fail and are repeated. An error is repeated with the next check.
            let _deleted = self.queue.lines.delete_consumer(&consumer).await;
            let _opened = self.queue.consumer(bucket, self.options.host_limit).await;
            // The server does not answer requests that waited at the old consumer.
            self.new_consumers.send_modify(|count| *count += 1);
        }
        let (consumer, subject) = (self.queue.set_aside_consumer(), self.queue.set_aside_subject("*"));
        if is_repeated && self.is_stuck(&consumer, &subject).await.unwrap_or(false) {
            let _deleted = self.queue.lines.delete_consumer(&consumer).await;
            let _opened = self.queue.open_set_aside().await;
        }
        true
    }

    /// Returns `true` if a consumer knows fewer lines than its subject has, before and after.
    async fn is_stuck(&self, consumer: &str, subject: &str) -> Option<bool> {
        let before = self.lines_at(subject).await?;
        let known = self.known_lines(consumer).await?;
        let after = self.lines_at(subject).await?;
        Some(before.min(after) > known)
    }

    /// Returns the number of lines that a consumer hands out, or waits for.
    async fn known_lines(&self, consumer: &str) -> Option<u64> {
        let info = self.queue.lines.consumer_info(consumer).await.ok()?;
        Some(info.num_pending + u64::try_from(info.num_ack_pending).ok()?)
    }

    /// Returns the number of lines whose subject matches `subject`.
    async fn lines_at(&self, subject: &str) -> Option<u64> {
        let subjects = self.queue.lines.info_with_subjects(subject).await.ok()?;
        let count = subjects.try_fold(0, |count, _| std::future::ready(Ok(count + 1))).await;
        count.ok()
    }
}

/// The times of the checks for lines that the server has forgotten. A check is one request for each bucket, so while other
/// workers fetch the last lines, the time between two checks grows to the lease.
pub(crate) struct StuckCheck {
    last: Option<Instant>,
    interval: Duration,
    longest: Duration,
}

impl StuckCheck {
    pub(crate) fn new(shortest: Duration, lease: Duration) -> Self {
        Self { last: None, interval: shortest, longest: lease.max(shortest) }
    }

    /// Returns `true` if a check is due, which begins now. One that has found something is repeated at once.
    pub(crate) fn is_due(&mut self, now: Instant, has_found: bool) -> bool {
        if !has_found && self.last.is_some_and(|last| now.duration_since(last) < self.interval) {
            return false;
        }
        if self.last.replace(now).is_some() && !has_found {
            self.interval = (self.interval * 2).min(self.longest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_between_two_checks_grows_to_the_lease_and_a_find_is_checked_again_at_once() {
        let start = Instant::now();
        let mut check = StuckCheck::new(Duration::from_millis(500), Duration::from_secs(30));
        let halves = |count| start + Duration::from_millis(500 * count);
        let due: Vec<u64> = (0..300).filter(|&count| check.is_due(halves(count), false)).collect();
        assert_eq!(due, [0, 1, 3, 7, 15, 31, 63, 123, 183, 243]);
        assert!(!check.is_due(halves(300), false));
        assert!(check.is_due(halves(301), true));
    }
}
