//! The round-trip time to the server, and how long pipelined commands may stay without a reply.

use std::time::Duration;

use crate::RunContext;

/// Without a reply in this number of round trips, the server has probably dropped pipelined commands.
const PROBE_ROUND_TRIPS: u32 = 20;
const MIN_PROBE_TIME: Duration = Duration::from_millis(700);
const MAX_PROBE_TIME: Duration = Duration::from_secs(3);

/// Returns the time of the TCP handshake, or zero if it is not known.
pub(super) fn round_trip_time(ctx: &RunContext) -> Duration {
    let record = ctx.connector.connection_info().snapshot();
    let time = record.resolved.zip(record.connected).map(|(from, to)| to.saturating_duration_since(from));
    time.unwrap_or_default()
}

/// Returns the maximum time to wait for a reply to pipelined commands, before they are sent one at a time.
pub(super) fn probe_time(ctx: &RunContext) -> Duration {
    (round_trip_time(ctx) * PROBE_ROUND_TRIPS).clamp(MIN_PROBE_TIME, MAX_PROBE_TIME)
}
