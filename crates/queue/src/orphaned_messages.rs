//! Removes messages that no consumer hands out, because another program has published them to a bucket that the queue
//! does not have. They would keep the queue from becoming empty.

use futures_util::{StreamExt as _, TryStreamExt as _};

use crate::line::BadMessage;
use crate::pull::unsupported_version_error;
use crate::queue::kind;
use crate::set_aside::SET_ASIDE;
use crate::worker::Shared;
use crate::{Entry, Line, Outcome};

impl Shared {
    /// Records the messages of buckets that do not exist as failed, and removes them. Failed requests are retried at the
    /// next check.
    pub(crate) async fn remove_orphaned_messages(&self) {
        let all = self.queue.lines.info_with_subjects(self.queue.subject(kind::LINE, "*.*")).await;
        let Ok(subjects) = all else { return };
        let buckets = self.queue.buckets;
        let orphaned: Vec<(String, usize)> = subjects
            .into_stream()
            .filter_map(|subject| std::future::ready(subject.ok()))
            .filter(|(subject, _)| std::future::ready(!has_bucket(subject, buckets)))
            .collect()
            .await;
        for (subject, _) in orphaned {
            self.remove_orphaned_message(&subject).await;
        }
    }

    /// Records a message as failed and removes it.
    pub(crate) async fn remove_orphaned_message(&self, subject: &str) {
        let Ok(message) = self.queue.lines.direct_get_last_for_subject(subject).await else { return };
        // The subject of another program may contain a wildcard and so match other messages.
        if message.subject.as_str() != subject {
            return;
        }
        let digest = subject.rsplit('.').next().unwrap_or_default();
        let line = match Line::from_message(&message.payload) {
            Ok(line) => Some(line).filter(|line| line.digest() == digest),
            Err(BadMessage::Invalid(_)) => None,
            Err(BadMessage::UnsupportedVersion(version)) => {
                return self.slots.report_unsupported(subject, unsupported_version_error(version));
            }
        };
        let message_text = "the message is not a line of a queue: its bucket does not exist".to_owned();
        let outcome = Outcome::Failed { code: "usage".to_owned(), exit_status: 2, message: message_text };
        let entry = Entry { outcome, tries: 0, worker: self.options.name.clone() };
        let can_be_recorded = digest.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if can_be_recorded && self.queue.store_entry(digest, line.as_ref(), &entry).await.is_err() {
            return;
        }
        let removed =
            self.queue.remove_message(&self.queue.lines, message.sequence, "cannot remove a message");
        if removed.await.is_ok_and(|is_removed| is_removed) {
            self.totals().count(&entry.outcome);
        }
    }
}

/// Returns `true` if the bucket of a subject `NAME.h.ID.BUCKET.DIGEST` has a consumer.
fn has_bucket(subject: &str, buckets: u16) -> bool {
    let bucket = subject.rsplit('.').nth(1).unwrap_or_default();
    let is_number = |number: u16| number < buckets && number.to_string() == bucket;
    bucket == SET_ASIDE || bucket.parse().is_ok_and(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subject_of_another_bucket_has_no_consumer() {
        for bucket in ["0", "63", "later"] {
            assert!(has_bucket(&format!("q.h.7f.{bucket}.1"), 64), "{bucket}");
        }
        for bucket in ["64", "999", "07", "+7", "x", "*", "", "70000"] {
            assert!(!has_bucket(&format!("q.h.7f.{bucket}.1"), 64), "{bucket}");
        }
    }
}
