//! SIGINT and SIGTERM: what came is kept for a later run, then the process dies of the signal.

use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::signal::unix::{Signal, SignalKind, signal};

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

/// A server may have coloured the terminal. Told by standard error, since standard output may be stuck.
pub(crate) fn restore_colours() {
    if std::io::stdout().is_terminal() && std::io::stderr().is_terminal() {
        crate::render::say("\x1b[0m");
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

/// Signals after which a terminal that was set otherwise must be as it was: the process stops, is left alone, or is
/// to die.
pub(crate) struct Leaving([Option<Signal>; 3]);

impl Leaving {
    const KINDS: [i32; 3] =
        [signal_hook::consts::SIGTSTP, signal_hook::consts::SIGHUP, signal_hook::consts::SIGQUIT];

    /// From now on these signals do nothing by themselves.
    pub(crate) fn heard() -> Self {
        Self(Self::KINDS.map(|kind| signal(SignalKind::from_raw(kind)).ok()))
    }

    /// One of them has come.
    pub(crate) async fn wanted(&mut self) -> Ending {
        let [stop, hangup, quit] = &mut self.0;
        let which = tokio::select! {
            () = received(stop) => 0,
            () = received(hangup) => 1,
            () = received(quit) => 2,
        };
        Ending(Self::KINDS[which])
    }
}

async fn received(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
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
    /// Does what the signal does by itself: the process stops, and this returns when it goes on, or dies.
    pub(crate) fn obey(self) {
        let _ = signal_hook::low_level::emulate_default_handler(self.0);
    }

    /// Dies of the signal, so that whoever started us knows.
    pub(crate) fn die(self) -> u8 {
        if let Some(terminal) = TERMINAL.lock().unwrap_or_else(PoisonError::into_inner).take() {
            restore_colours();
            // The process ends anyway.
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &terminal);
        }
        // Returns only when the system refuses: then by the shell's convention.
        let _ = signal_hook::low_level::emulate_default_handler(self.0);
        u8::try_from(128 + self.0).unwrap_or(u8::MAX)
    }
}
