//! Time limits: the deadline of a request, a timer for repeated waits, and their clock.

pub(crate) mod deadline;
pub(crate) mod idle_end;
pub(crate) mod suspension;
pub(crate) mod timer;

/// The clock of the timers. With the paused time of tokio's tests, the clock of `std` would continue while the timers stop.
pub(crate) use tokio::time::Instant;
