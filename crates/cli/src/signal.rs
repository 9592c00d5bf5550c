//! Signals: the process ends by SIGINT, SIGTERM and SIGHUP after partial files are saved, and the terminal is restored.
//! A signal that was ignored when the process started stays ignored.

use std::fs::File;
use std::io::{IsTerminal as _, Read as _};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Once, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::iterator::{Handle, Signals};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Number of prompts that wait for an answer. Their transfers have no partial file to save.
static OPEN_PROMPTS: AtomicUsize = AtomicUsize::new(0);

/// Counts a prompt until the guard is dropped.
#[must_use]
pub(crate) fn start_prompt() -> impl Drop {
    OPEN_PROMPTS.fetch_add(1, Ordering::Relaxed);
    PromptGuard
}

/// The guard of [`start_prompt`].
struct PromptGuard;

impl Drop for PromptGuard {
    fn drop(&mut self) {
        OPEN_PROMPTS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Returns `true` while a prompt waits for an answer.
pub(crate) fn is_prompt_open() -> bool {
    OPEN_PROMPTS.load(Ordering::Relaxed) > 0
}

/// Time for the signal handler to act on a raised signal.
const SIGNAL_DELAY: Duration = Duration::from_millis(300);

/// The settings of the terminal before a password prompt.
static TERMINAL: Mutex<Option<Termios>> = Mutex::new(None);

/// Saves the settings of the terminal. Until the guard is dropped, a signal restores them.
pub(crate) fn keep_terminal() -> TerminalGuard {
    *TERMINAL.lock().unwrap_or_else(PoisonError::into_inner) = tcgetattr(std::io::stdin()).ok();
    TerminalGuard
}

/// The guard of [`keep_terminal`].
#[must_use]
pub(crate) struct TerminalGuard;

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        *TERMINAL.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Saves the settings of the terminal for a prompt that hides what is typed. Until the guard is dropped, every signal that
/// ends or stops the process restores them; after a stop, the input is hidden again.
pub(crate) fn keep_terminal_for_prompt() -> TerminalGuard {
    static WATCHER: Once = Once::new();
    WATCHER.call_once(|| {
        let kinds = SessionSignals::KINDS.into_iter().chain(ENDING_KINDS).filter(|kind| !is_ignored(*kind));
        let Ok(mut signals) = Signals::new(kinds) else { return };
        let is_own =
            |kind: &i32| !ENDING_KINDS.contains(kind) || !ENDING_SIGNALS_HANDLED.load(Ordering::Relaxed);
        let watch = move || signals.forever().filter(is_own).for_each(run_default_action_with_echo);
        // If the thread cannot be started, these signals are ignored, which changes no settings.
        let _ = std::thread::Builder::new().name("prompt".to_owned()).stack_size(WATCHDOG_STACK).spawn(watch);
    });
    keep_terminal()
}

/// Returns `true` if the parent of the process has chosen that it ignores the signal, as `nohup` and `trap '' INT` do, and
/// shells without job control for their background jobs. Systems without /proc do not tell. The first call must come
/// before the first handler is registered.
fn is_ignored(kind: i32) -> bool {
    /// The signals that are ignored at the start, one bit for each.
    static MASK: OnceLock<u64> = OnceLock::new();
    let mask = *MASK.get_or_init(|| {
        // One read of the usual size: this is part of each start.
        let mut status = Vec::with_capacity(4096);
        let file = File::open("/proc/self/status");
        let _ = file.and_then(|file| file.take(1024 * 1024).read_to_end(&mut status));
        let status = String::from_utf8_lossy(&status);
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    });
    u32::try_from(kind - 1).is_ok_and(|bit| mask.checked_shr(bit).is_some_and(|rest| rest & 1 == 1))
}

/// Registers a handler. Returns `None` if the signal is ignored, or if the handler cannot be registered.
fn handler(kind: SignalKind) -> Option<Signal> {
    if is_ignored(kind.as_raw_value()) { None } else { signal(kind).ok() }
}

/// Runs the default action of a signal. While a password is typed, the settings from before the prompt apply to it.
fn run_default_action_with_echo(kind: i32) {
    let saved = TERMINAL.lock().unwrap_or_else(PoisonError::into_inner);
    let hidden = saved.as_ref().and_then(|_| tcgetattr(std::io::stdin()).ok());
    if let Some(saved) = &*saved {
        // The signal is handled even if this fails.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, saved);
    }
    ReceivedSignal(kind).run_default_action();
    if let Some(hidden) = hidden {
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &hidden);
    }
}

/// Restores the terminal if a prompt is still open: its transfer has ended, such as by `--max-time`.
pub(crate) fn restore_terminal() {
    if let Some(terminal) = TERMINAL.lock().unwrap_or_else(PoisonError::into_inner).take() {
        restore_colours();
        // The process ends anyway.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &terminal);
    }
}

/// Restores the default colours. The sequence is written to standard error, since standard output may be blocked.
pub(crate) fn restore_colours() {
    if std::io::stdout().is_terminal() && std::io::stderr().is_terminal() {
        crate::render::reset_colours();
    }
}

/// The number of a received signal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceivedSignal(i32);

/// The signals that end the process, besides SIGHUP.
const ENDING_KINDS: [i32; 2] = [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM];

/// Set when [`wait_for_ending_signal`] handles these signals. A prompt before the first transfer handles them itself.
static ENDING_SIGNALS_HANDLED: AtomicBool = AtomicBool::new(false);

/// Waits for a signal that ends the process.
pub(crate) async fn wait_for_ending_signal() -> ReceivedSignal {
    ENDING_SIGNALS_HANDLED.store(true, Ordering::Relaxed);
    let mut interrupt = handler(SignalKind::interrupt());
    let mut terminate = handler(SignalKind::terminate());
    let kind = tokio::select! {
        () = received(&mut interrupt) => SignalKind::interrupt(),
        () = received(&mut terminate) => SignalKind::terminate(),
        () = hangup() => SignalKind::hangup(),
    };
    ReceivedSignal(kind.as_raw_value())
}

/// Time after the start from which SIGHUP is handled. Before it, there is little to save, and a short run is faster.
const HANGUP_DELAY: Duration = Duration::from_millis(200);

/// Waits for SIGHUP, such as at the end of a session over ssh. Never returns if it is ignored, as with `nohup`.
async fn hangup() {
    /// The start of the first group of `--next`.
    static START: OnceLock<Instant> = OnceLock::new();
    let start = START.get_or_init(Instant::now);
    tokio::time::sleep(HANGUP_DELAY.saturating_sub(start.elapsed())).await;
    let mut hangup = handler(SignalKind::hangup());
    if let (Some(_), Some(watchdog)) = (&hangup, WATCHDOG.get()) {
        // If this fails, SIGHUP is handled only while the main thread is not blocked.
        let _ = watchdog.add_signal(signal_hook::consts::SIGHUP);
    }
    received(&mut hangup).await;
}

/// Time after a signal until a process that does not react is ended.
const WATCHDOG_DELAY: Duration = Duration::from_secs(4);
/// Stack of the watchdog's thread, in bytes.
const WATCHDOG_STACK: usize = 64 * 1024;

/// The signals of the watchdog's thread.
static WATCHDOG: OnceLock<Handle> = OnceLock::new();

/// Starts a thread that ends the process by such a signal if [`wait_for_ending_signal`] does not, because the main
/// thread may be blocked by a write to a full pipe. Partial files are then not flushed. All groups of `--next` share it.
pub(crate) fn start_watchdog() {
    static STARTED: Once = Once::new();
    STARTED.call_once(watch_ending_signals);
}

fn watch_ending_signals() {
    let kinds = ENDING_KINDS.into_iter().filter(|kind| !is_ignored(*kind));
    let Ok(mut signals) = Signals::new(kinds) else { return };
    // The first one is that of the process.
    let _ = WATCHDOG.set(signals.handle());
    let watch = move || {
        for kind in signals.forever() {
            std::thread::sleep(WATCHDOG_DELAY);
            ReceivedSignal(kind).terminate_process();
        }
    };
    // If the thread cannot be started, signals are handled only while the main thread is not blocked.
    let _ = std::thread::Builder::new().name("signals".to_owned()).stack_size(WATCHDOG_STACK).spawn(watch);
}

/// Makes a write beyond the limit of the size of files (`ulimit -f`) an error, which is reported, instead of the end of the
/// process.
pub(crate) fn handle_file_size_limit() {
    static HANDLED: Once = Once::new();
    HANDLED.call_once(|| {
        // If this fails, SIGXFSZ ends the process.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    });
}

/// The signals SIGTSTP, SIGHUP and SIGQUIT, after which a telnet session must restore the terminal.
pub(crate) struct SessionSignals([Option<Signal>; 3]);

impl SessionSignals {
    const KINDS: [i32; 3] =
        [signal_hook::consts::SIGTSTP, signal_hook::consts::SIGHUP, signal_hook::consts::SIGQUIT];

    /// Registers handlers, which replace the default actions of these signals. Ignored signals stay ignored.
    pub(crate) fn register() -> Self {
        Self(Self::KINDS.map(|kind| handler(SignalKind::from_raw(kind))))
    }

    /// Waits for one of the signals.
    pub(crate) async fn wait(&mut self) -> ReceivedSignal {
        let [stop, hangup, quit] = &mut self.0;
        let which = tokio::select! {
            () = received(stop) => 0,
            () = received(hangup) => 1,
            () = received(quit) => 2,
        };
        ReceivedSignal(Self::KINDS[which])
    }
}

/// Waits for a signal. Never returns if it has no handler.
async fn received(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}

/// Raises SIGINT, for a Ctrl-C that was read as a character, and waits until the process has handled it.
pub(crate) fn raise_interrupt() {
    if signal_hook::low_level::raise(SignalKind::interrupt().as_raw_value()).is_ok() {
        std::thread::sleep(SIGNAL_DELAY);
    }
}

impl ReceivedSignal {
    /// Runs the default action of the signal. Returns when a stopped process continues.
    pub(crate) fn run_default_action(self) {
        let _ = signal_hook::low_level::emulate_default_handler(self.0);
    }

    /// Ends the process by the signal, so that its parent sees the signal. Restores the terminal before.
    pub(crate) fn terminate_process(self) -> u8 {
        restore_terminal();
        // It returns only on failure; the exit status is then that of shells.
        let _ = signal_hook::low_level::emulate_default_handler(self.0);
        u8::try_from(128 + self.0).unwrap_or(u8::MAX)
    }
}
