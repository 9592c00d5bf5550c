//! An interactive session, at a terminal or through pipes.

use std::io::{self, IsTerminal as _, Read as _, Write};
use std::thread;

use bytes::Bytes;
use fetch_url::internal::thread_error;
use fetch_url::telnet::Session;
use fetch_url::{Code, Error, Phase};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;

use crate::render::screen::SessionScreen;
use crate::render::stdio::UnbufferedStdout;
use crate::signal;

/// Ctrl-].
const CTRL_BRACKET: u8 = 0x1d;
/// Ctrl-D.
const CTRL_D: u8 = 0x04;
/// Maximum number of ends of file from a terminal: a terminal that was closed returns them without end.
const MAX_ENDS_OF_FILE: u32 = 64;
/// Capacity of the queues of typed lines and of output.
const QUEUE_CAPACITY: usize = 16;

/// Runs the session until the server closes it or the user ends it.
pub(super) async fn run_session(mut session: Session) -> Result<(), Error> {
    let deadline = session.deadline();
    let mut state = SessionState::begin();
    let mut typed = spawn_stdin_reader()?;
    let mut output = StdoutThread::open()?;
    let texts = output.texts.clone();
    let mut leaving = state.terminal.as_ref().map(|_| signal::SessionSignals::register());
    while !state.is_closed || state.waiting.is_some() {
        let (is_showing, is_receiving) = (state.waiting.is_some(), state.waiting.is_none());
        tokio::select! {
            signal = next_signal(&mut leaving) => state.handle_signal(signal),
            failed = output.failed() => return Err(failed),
            // Received text is shown before more is read.
            shown = deadline.bound_total(Phase::Body, send_to_output_thread(&texts, &mut state.waiting)), if is_showing => shown?,
            text = session.receive(), if is_receiving => state.show(text?),
            line = typed.recv(), if state.accepts_input && !session.is_sending() => match line {
                Some(line) if state.is_escape(&line) => return Ok(()),
                line => state.typed(line, &mut session),
            },
        }
    }
    drop(texts);
    deadline.bound_total(Phase::Body, output.finish()).await
}

/// The state of the session.
struct SessionState {
    /// `None` if standard input is not a terminal.
    terminal: Option<TypingTerminal>,
    /// The end of input has not been reached.
    accepts_input: bool,
    /// The server has closed the session.
    is_closed: bool,
    /// Text that was received but not passed to the output thread.
    waiting: Option<Vec<u8>>,
    /// The last unfinished line of the server.
    last_line: Vec<u8>,
    echo: Echo,
}

impl SessionState {
    fn begin() -> Self {
        Self {
            terminal: TypingTerminal::set(),
            accepts_input: true,
            is_closed: false,
            waiting: None,
            last_line: Vec::new(),
            echo: Echo::default(),
        }
    }

    fn handle_signal(&self, signal: signal::ReceivedSignal) {
        if let Some(terminal) = &self.terminal {
            terminal.leave(signal);
        }
    }

    /// Handles text of the server, or the end of the session.
    fn show(&mut self, text: Option<Bytes>) {
        self.is_closed = text.is_none();
        let text = match text {
            Some(text) => self.echo.without_echo(&text),
            None => self.echo.take_withheld(),
        };
        remember(&mut self.last_line, &text);
        // Hide the input before the prompt is shown.
        if let Some(terminal) = &self.terminal {
            terminal.set_echo(!asks_for_password(&self.last_line));
        }
        self.waiting = Some(text);
    }

    fn is_escape(&self, line: &[u8]) -> bool {
        self.terminal.is_some() && line.contains(&CTRL_BRACKET)
    }

    /// Sends a typed line. `None` is the end of input; the session then continues until the server closes it.
    fn typed(&mut self, line: Option<Vec<u8>>, session: &mut Session) {
        let Some(line) = line else {
            session.finish_sending();
            self.accepts_input = false;
            return;
        };
        self.last_line.clear();
        // The terminal did not show the line end of a hidden line.
        if self.terminal.as_ref().is_some_and(TypingTerminal::restore_echo) && io::stdout().is_terminal() {
            self.waiting.get_or_insert_default().push(b'\n');
        }
        if self.terminal.is_some() && session.may_echo() {
            self.echo.expect(&line);
        }
        session.send(&line);
    }
}

/// Waits for a signal that ends the session.
async fn next_signal(leaving: &mut Option<signal::SessionSignals>) -> signal::ReceivedSignal {
    match leaving {
        Some(leaving) => leaving.wait().await,
        None => std::future::pending().await,
    }
}

/// Standard output, written by a thread, so that a blocked pipe does not delay signals and deadlines.
struct StdoutThread {
    texts: Sender<Vec<u8>>,
    ended: oneshot::Receiver<io::Result<()>>,
}

impl StdoutThread {
    fn open() -> Result<Self, Error> {
        let (texts, mut waiting) = channel::<Vec<u8>>(QUEUE_CAPACITY);
        let (sender, ended) = oneshot::channel();
        let started = thread::Builder::new().name("shown".to_owned()).spawn(move || {
            let mut stdout = stdout();
            let mut written = Ok(());
            while let Some(text) = waiting.blocking_recv() {
                written = stdout.write_all(&text).and_then(|()| stdout.flush());
                if written.is_err() {
                    break;
                }
            }
            drop(stdout);
            let _ = sender.send(written);
        });
        started.map_err(|error| thread_error(Phase::Plan, error))?;
        Ok(Self { texts, ended })
    }

    /// Waits for a write error.
    async fn failed(&mut self) -> Error {
        write_error((&mut self.ended).await)
    }

    /// Waits until everything is written.
    async fn finish(self) -> Result<(), Error> {
        drop(self.texts);
        match self.ended.await {
            Ok(Ok(())) => Ok(()),
            failed => Err(write_error(failed)),
        }
    }
}

/// Passes pending text to the output thread; cancel safe. [`Output::failed`] returns the error of the thread.
async fn send_to_output_thread(texts: &Sender<Vec<u8>>, waiting: &mut Option<Vec<u8>>) -> Result<(), Error> {
    match texts.reserve().await {
        Ok(room) => room.send(waiting.take().unwrap_or_default()),
        Err(_) => std::future::pending().await,
    }
    Ok(())
}

/// Reads typed lines on a thread. At a terminal, end of file (Ctrl-D) is a character, and reading continues.
fn spawn_stdin_reader() -> Result<Receiver<Vec<u8>>, Error> {
    let (sender, receiver) = channel(QUEUE_CAPACITY);
    let started = thread::Builder::new().name("typed".to_owned()).spawn(move || {
        let mut stdin = io::stdin().lock();
        let mut bytes = [0; 4096];
        let mut ends = if stdin.is_terminal() { MAX_ENDS_OF_FILE } else { 0 };
        while let Ok(count) = stdin.read(&mut bytes) {
            if count == 0 {
                let Some(left) = ends.checked_sub(1) else { return };
                ends = left;
            }
            let text = if count == 0 { vec![CTRL_D] } else { bytes[..count].to_vec() };
            if sender.blocking_send(text).is_err() {
                return;
            }
        }
    });
    started.map_err(|error| thread_error(Phase::Plan, error))?;
    Ok(receiver)
}

fn stdout() -> Box<dyn Write> {
    match io::stdout().is_terminal() {
        true => Box::new(SessionScreen::default()),
        false => Box::new(UnbufferedStdout),
    }
}

fn write_error(ended: Result<io::Result<()>, oneshot::error::RecvError>) -> Error {
    let error = match ended {
        Ok(Err(error)) => error,
        _ => io::Error::other("the output thread has ended"),
    };
    Error::new(Code::SinkFailed, Phase::Deliver, error.to_string()).with_source(error)
}

/// Keeps the last, unfinished line of the output.
fn remember(last_line: &mut Vec<u8>, text: &[u8]) {
    match text.iter().rposition(|&byte| byte == b'\n') {
        Some(end) => *last_line = text[end + 1..].to_vec(),
        None => last_line.extend_from_slice(text),
    }
    // The last 256 bytes are enough to detect a password prompt.
    last_line.drain(..last_line.len().saturating_sub(256));
}

/// Returns `true` if the line is a password prompt. Servers request hidden input with the option ECHO, which is refused
/// like every other option.
fn asks_for_password(line: &[u8]) -> bool {
    let line = strip_escape_sequences(&String::from_utf8_lossy(line).to_lowercase());
    line.trim_end().ends_with(':')
        && ["password", "passphrase", "passcode"].iter().any(|word| line.contains(word))
}

/// Returns the line without escape sequences.
fn strip_escape_sequences(line: &str) -> String {
    let mut pieces = line.split("\x1b[");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |shown, piece| {
        let end =
            piece.find(|character: char| matches!(character, '@'..='~')).map_or(piece.len(), |at| at + 1);
        shown + &piece[end..]
    })
}

/// Removes the server's echo of typed text, which the terminal shows already.
#[derive(Default)]
struct Echo {
    expected: Vec<u8>,
    /// Number of bytes of `expected` that were received so far.
    matched: usize,
}

impl Echo {
    fn expect(&mut self, line: &[u8]) {
        *self = Self { expected: line.to_vec(), matched: 0 };
    }

    /// Returns the bytes that were withheld as a partial echo, at the end of the session.
    fn take_withheld(&mut self) -> Vec<u8> {
        let Self { expected, matched } = std::mem::take(self);
        if matched < expected.len() { expected[..matched].to_vec() } else { Vec::new() }
    }

    /// Returns the text without the expected echo. Text that differs from it is returned unchanged.
    fn without_echo(&mut self, text: &[u8]) -> Vec<u8> {
        let remaining = &self.expected[self.matched..];
        let matching = remaining.iter().zip(text).take_while(|(one, other)| one == other).count();
        if matching == remaining.len() || matching == text.len() {
            self.matched += matching;
            return text[matching..].to_vec();
        }
        let withheld = &self.expected[..self.matched];
        let shown = [withheld, text].concat();
        *self = Self::default();
        shown
    }
}

/// The terminal in line mode, where Ctrl-] ends a line like Enter.
struct TypingTerminal {
    before: Termios,
    is_hidden: std::cell::Cell<bool>,
    _signals: signal::TerminalGuard,
}

impl TypingTerminal {
    fn set() -> Option<Self> {
        let before = tcgetattr(io::stdin()).ok()?;
        let signals = signal::keep_terminal();
        let this = Self { before, is_hidden: std::cell::Cell::new(false), _signals: signals };
        this.apply(false);
        Some(this)
    }

    fn apply(&self, hides: bool) {
        let mut now = self.before.clone();
        now.special_codes[SpecialCodeIndex::VEOL] = CTRL_BRACKET;
        if hides {
            now.local_modes.remove(LocalModes::ECHO);
        }
        self.is_hidden.set(hides);
        // A mode that cannot be set stays unchanged.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &now);
    }

    /// Restores the terminal and runs the default action of the signal. If the process continues, sets the mode again.
    fn leave(&self, signal: signal::ReceivedSignal) {
        signal::restore_colours();
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
        signal.run_default_action();
        self.apply(self.is_hidden.get());
    }

    fn set_echo(&self, shows: bool) {
        if self.is_hidden.get() == shows {
            self.apply(!shows);
        }
    }

    /// Turns on the display of typed text. Returns `true` if it was off.
    fn restore_echo(&self) -> bool {
        let was_hidden = self.is_hidden.get();
        self.set_echo(true);
        was_hidden
    }
}

impl Drop for TypingTerminal {
    fn drop(&mut self) {
        signal::restore_colours();
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_echo_is_removed() {
        let mut echo = Echo::default();
        assert_eq!(echo.without_echo(b"abc"), b"abc");
        echo.expect(b"ls\n");
        assert_eq!(echo.without_echo(b"l"), b"");
        assert_eq!(echo.without_echo(b"s\nfile\n"), b"file\n");
        assert_eq!(echo.without_echo(b"ls\n"), b"ls\n");
        echo.expect(b"ls\n");
        assert_eq!(echo.without_echo(b"l"), b"");
        assert_eq!(echo.without_echo(b"ogin: "), b"login: ");
        assert_eq!(echo.without_echo(b"ls\n"), b"ls\n");
    }

    #[test]
    fn password_prompts_are_recognised() {
        for line in
            ["Password: ", "\x1b[1mPassword:\x1b[0m ", "alice's password:", "Enter passphrase for key: "]
        {
            assert!(asks_for_password(line.as_bytes()), "{line}");
        }
        for line in ["login: ", "Password changed", "", "> "] {
            assert!(!asks_for_password(line.as_bytes()), "{line}");
        }
        let mut line = b"Pass".to_vec();
        remember(&mut line, b"word: ");
        assert!(asks_for_password(&line));
        remember(&mut line, b"\nlogin: ");
        assert_eq!(line, b"login: ");
    }
}
