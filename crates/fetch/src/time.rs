//! Time limits: the deadline of a request, a timer for repeated waits, and their clock.

pub(crate) mod deadline;
pub(crate) mod idle_end;
pub(crate) mod suspension;
pub(crate) mod timer;

/// The clock of the timers. Under paused time it stands still with them, unlike the one of `std`.
pub(crate) use tokio::time::Instant;
