//! Detects that the process did not run for a while.

use std::time::Duration;

/// A timer that is handled later than this shows that the process did not run: it was stopped (SIGSTOP), the machine
/// slept, or a system call blocked.
const MAX_DELAY: Duration = Duration::from_millis(250);

/// Returns `true` if a timer is handled with such a delay that the process cannot have run when it expired. Data may have
/// arrived in the meantime, so the timeout must start again.
pub(crate) fn is_suspension(delay: Duration) -> bool {
    delay > MAX_DELAY
}
