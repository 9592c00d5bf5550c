//! An answer that nobody wants is read to its end, when that is near: its connection can then be used
//! again.

use std::time::Duration;

use tokio::time::timeout;

use crate::{Content, Response};

/// The most octets that are read for a connection.
const MOST: usize = 64 * 1024;
/// The longest that a connection is worth.
const PATIENCE: Duration = Duration::from_millis(200);

/// Reads the rest of an answer, if that is little and comes soon.
pub(super) async fn finish(answer: Response) {
    let Content::Body(body) = answer.content else { return };
    if body.expected().is_none_or(|expected| expected <= MOST as u64) {
        // What cannot be had so cheaply costs a new connection.
        let _ = timeout(PATIENCE, body.collect(MOST)).await;
    }
}
