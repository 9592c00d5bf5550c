//! Reads a response that is not used to its end, if the end is near, so that its connection can be reused.

use std::time::Duration;

use tokio::time::timeout;

use crate::{Content, Response};

/// The most bytes that are read to keep a connection.
const MAX_DRAIN: usize = 64 * 1024;
/// The longest time that is spent to keep a connection.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(200);

/// Reads up to 64 KiB of `answer` within 200 ms, so that its connection returns to the pool.
pub(super) async fn drain_for_reuse(answer: Response) {
    let Content::Body(body) = answer.content else { return };
    if body.expected().is_none_or(|expected| expected <= MAX_DRAIN as u64) {
        // If this fails, the connection is closed and the next request opens another.
        let _ = timeout(DRAIN_TIMEOUT, body.collect(MAX_DRAIN)).await;
    }
}
