//! The wire trace (`-v`, `--trace`): lines sent (`>`), lines received (`<`), and decisions (`*`).
//!
//! Callers pass no secrets. Bytes of the peer are escaped, so that they cannot control a terminal.

use std::fmt::Display;

use fetch_url_proto::text::{escape_non_ascii, sanitise};
use tracing::Level;

/// The `tracing` target of the lines of the trace.
const TARGET: &str = "fetch_url::dialogue";
/// The `tracing` target of the raw bytes that were received. Their level is not TRACE, which the command line leaves out at
/// compile time: the trace events of h2 and hyper are 170 KB of the program.
const RAW_TARGET: &str = "fetch_url::octets";
/// Maximum number of raw bytes on one line of the trace.
const MAX_RAW_BYTES: usize = 4096;

/// Returns `true` if the trace is enabled.
pub(crate) fn is_enabled() -> bool {
    tracing::enabled!(target: TARGET, Level::INFO)
}

/// Traces one line that was sent.
pub(crate) fn sent(line: &dyn Display) {
    tracing::info!(target: TARGET, "> {line}");
}

/// Traces one line that was received.
pub(crate) fn received(line: &[u8]) {
    if is_enabled() {
        tracing::info!(target: TARGET, "< {}", sanitise(line));
    }
}

/// Traces bytes as they were received, lines and bodies alike, so that a trace can be replayed.
pub(crate) fn raw(bytes: &[u8]) {
    if tracing::enabled!(target: RAW_TARGET, Level::DEBUG) {
        for piece in bytes.chunks(MAX_RAW_BYTES) {
            tracing::debug!(target: RAW_TARGET, "<< {}", escape_non_ascii(piece));
        }
    }
}

/// Traces a decision of the client.
pub(crate) fn note(text: &dyn Display) {
    if is_enabled() {
        tracing::info!(target: TARGET, "* {}", sanitise(text.to_string().as_bytes()));
    }
}
