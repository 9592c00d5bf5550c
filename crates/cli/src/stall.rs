//! Ends the process if its output is not read: a blocking write to a full pipe would outlast `--max-time`.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Number of started writes to standard output, standard error and the file of `--events`.
static BEGUN: AtomicU64 = AtomicU64::new(0);
/// Number of completed writes.
static ENDED: AtomicU64 = AtomicU64::new(0);

/// How often the writes are checked.
const INTERVAL: Duration = Duration::from_millis(200);
/// Time that a write may take beyond `--max-time`.
const GRACE: Duration = Duration::from_secs(1);
/// Stack of the watchdog's thread, in bytes.
const WATCHDOG_STACK: usize = 64 * 1024;

/// Counts a write until it is dropped.
#[must_use]
pub(crate) struct WriteGuard(());

/// Begins a write that may block.
pub(crate) fn begin_write() -> WriteGuard {
    BEGUN.fetch_add(1, Ordering::Relaxed);
    WriteGuard(())
}

impl Drop for WriteGuard {
    fn drop(&mut self) {
        ENDED.fetch_add(1, Ordering::Relaxed);
    }
}

/// A writer whose writes are watched.
pub(crate) struct StallGuardedWriter<W>(pub(crate) W);

impl<W: Write> Write for StallGuardedWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _guard = begin_write();
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        let _guard = begin_write();
        self.0.flush()
    }
}

/// Ends its thread when it is dropped.
#[must_use]
pub(crate) struct Watchdog(Arc<AtomicBool>);

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Starts a thread that ends the process with exit status 28 if a write takes 1 second longer than `max_time`. Partial
/// files are not flushed, because the main thread may be the blocked one.
#[allow(clippy::exit, reason = "the main thread is blocked")]
pub(crate) fn start_watchdog(max_time: Duration) -> Watchdog {
    let has_ended = Arc::new(AtomicBool::new(false));
    let watchdog = Watchdog(has_ended.clone());
    let watch = move || {
        let mut stalled = Duration::ZERO;
        let mut last_ended = 0;
        loop {
            std::thread::sleep(INTERVAL);
            if has_ended.load(Ordering::Relaxed) {
                return;
            }
            let ended = ENDED.load(Ordering::Relaxed);
            let is_stalled = ended == last_ended && BEGUN.load(Ordering::Relaxed) > ended;
            // Sleep times are added up, because the clock continues while the process is stopped (SIGSTOP).
            stalled = if is_stalled { stalled + INTERVAL } else { Duration::ZERO };
            last_ended = ended;
            if stalled > max_time.saturating_add(GRACE) {
                std::process::exit(28);
            }
        }
    };
    // If the thread cannot be started, a full pipe blocks the process, as it does without `--max-time`.
    let _ = std::thread::Builder::new().name("stall".to_owned()).stack_size(WATCHDOG_STACK).spawn(watch);
    watchdog
}
