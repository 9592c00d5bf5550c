//! Reads the rest of an unused response, if it is short, so that the connection can be reused.

use std::time::Duration;

use tokio::time::timeout;

use crate::{Content, Response};

/// Maximum number of body bytes that are read for this purpose.
const MAX_DRAIN: usize = 64 * 1024;
/// Maximum time that the reading may take.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(200);

/// Reads up to 64 KiB of `response` within 200 ms, so that its connection returns to the pool.
pub(super) async fn drain_for_reuse(response: Response) {
    let Content::Body(body) = response.content else { return };
    if body.expected().is_none_or(|expected| expected <= MAX_DRAIN as u64) {
        // If this fails, the connection is closed and the next request opens another.
        let _ = timeout(DRAIN_TIMEOUT, body.collect(MAX_DRAIN)).await;
    }
}
