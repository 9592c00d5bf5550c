//! SIGINT and SIGTERM: what came is kept for a later run, then the process dies of the signal.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::signal::unix::{SignalKind, signal};

/// How many questions wait for an answer: nothing has come yet for them that could be kept.
static ASKING: AtomicUsize = AtomicUsize::new(0);

/// Until this is dropped, somebody is being asked.
#[must_use]
pub(crate) fn asking() -> impl Drop {
    ASKING.fetch_add(1, Ordering::Relaxed);
    Asked
}

struct Asked;

impl Drop for Asked {
    fn drop(&mut self) {
        ASKING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether somebody is being asked for a password.
pub(crate) fn is_asking() -> bool {
    ASKING.load(Ordering::Relaxed) > 0
}

/// In this time a process notices its signal.
const NOTICED: std::time::Duration = std::time::Duration::from_millis(300);

/// How the terminal was before somebody typed a password there.
static TERMINAL: Mutex<Option<Termios>> = Mutex::new(None);

/// Until this is dropped, a signal leaves the terminal as it is now.
pub(crate) fn keep_terminal() -> Kept {
    *TERMINAL.lock().unwrap_or_else(PoisonError::into_inner) = tcgetattr(std::io::stdin()).ok();
    Kept
}

/// While it lives, a signal leaves the terminal as it was.
#[must_use]
pub(crate) struct Kept;

impl Drop for Kept {
    fn drop(&mut self) {
        *TERMINAL.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// A signal that ends the process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending(i32);

/// Waits for a signal that ends the process.
pub(crate) async fn ending() -> Ending {
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => Ending(SignalKind::interrupt().as_raw_value()),
        _ = terminate.recv() => Ending(SignalKind::terminate().as_raw_value()),
    }
}

/// Somebody typed Ctrl-C where it was read as a character: it means what it always means. Waits
/// until the process has noticed.
pub(crate) fn interrupt() {
    if signal_hook::low_level::raise(SignalKind::interrupt().as_raw_value()).is_ok() {
        std::thread::sleep(NOTICED);
    }
}

impl Ending {
    /// Dies of the signal, so that whoever started us knows.
    pub(crate) fn die(self) -> u8 {
        if let Some(terminal) = TERMINAL.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // The process ends anyway.
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &terminal);
        }
        // Returns only when the system refuses: then by the shell's convention.
        let _ = signal_hook::low_level::emulate_default_handler(self.0);
        u8::try_from(128 + self.0).unwrap_or(u8::MAX)
    }
}
