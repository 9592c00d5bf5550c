//! Finds lines that the server keeps but no longer hands out, and makes it hand them out again.
//!
//! A server that was killed may have stored that a consumer is past a line, but not that the line was removed (seen with
//! nats-server 2.9.10). Such a line may have been fetched or not: the record shows which.

use crate::worker::Shared;

impl Shared {
    /// Opens the consumers anew if the queue has lines, but no consumer has one to hand out or waits for a result.
    /// Returns `true` if the queue has lines that no consumer knows.
    ///
    /// `is_repeated` is `true` if the last call returned `true`, too: a line that was added a moment ago may not be
    /// counted yet.
    pub(crate) async fn hand_out_stuck_lines(&self, is_repeated: bool) -> bool {
        for bucket in 0..self.queue.buckets {
            if !self.is_idle(bucket).await {
                return false;
            }
        }
        if !is_repeated {
            return true;
        }
        for bucket in 0..self.queue.buckets {
            if !self.has_lines(bucket).await || !self.is_idle(bucket).await {
                continue;
            }
            // A new consumer begins with the first line of the stream. It does not exist for a moment, in which requests
            // of other workers fail and are repeated. An error is repeated with the next check.
            let _deleted = self.queue.lines.delete_consumer(&format!("b{bucket}")).await;
            let _opened = self.queue.consumer(bucket, self.options.host_limit).await;
            // The server does not answer requests that waited at the old consumer.
            self.new_consumers.send_modify(|count| *count += 1);
        }
        true
    }

    async fn is_idle(&self, bucket: u16) -> bool {
        let info = self.queue.lines.consumer_info(format!("b{bucket}")).await;
        info.is_ok_and(|info| info.num_pending == 0 && info.num_ack_pending == 0)
    }

    /// Returns `true` if the stream has lines of this bucket.
    async fn has_lines(&self, bucket: u16) -> bool {
        let subject = self.queue.line_subject(bucket, "*");
        let found = self.queue.lines.get_last_raw_message_by_subject(&subject).await;
        found.is_ok()
    }
}
