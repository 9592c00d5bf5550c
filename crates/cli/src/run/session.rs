//! An interactive session, at a terminal or through pipes.

use std::io::{self, IsTerminal as _, Read as _, Write};
use std::thread;

use bytes::Bytes;
use fetch_url::telnet::Session;
use fetch_url::{Code, Error, Phase};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;

use crate::render::screen::SessionScreen;
use crate::signal;

/// Ctrl-].
const LEAVE: u8 = 0x1d;
/// Ctrl-D.
const END: u8 = 0x04;
/// A terminal that is gone returns end of file forever; this many are accepted.
const MOST_ENDS: u32 = 64;
/// The maximum number of waiting lines.
const WAITING: usize = 16;

/// Runs the session until the server closes it or the user leaves it.
pub(super) async fn hold(mut session: Session) -> Result<(), Error> {
    let deadline = session.deadline();
    let mut talk = Talk::begin();
    let mut typed = typed();
    let mut output = Output::open();
    let texts = output.texts.clone();
    let mut leaving = talk.terminal.as_ref().map(|_| signal::SessionSignals::register());
    while !talk.is_over || talk.waiting.is_some() {
        let (is_showing, is_hearing) = (talk.waiting.is_some(), talk.waiting.is_none());
        tokio::select! {
            signal = wanted(&mut leaving) => talk.leave(signal),
            failed = output.failed() => return Err(failed),
            // Received text is shown before more is read.
            shown = deadline.bound_total(Phase::Body, show(&texts, &mut talk.waiting)), if is_showing => shown?,
            text = session.receive(), if is_hearing => talk.show(text?),
            line = typed.recv(), if talk.is_listening && !session.is_sending() => match line {
                Some(line) if talk.is_left_by(&line) => return Ok(()),
                line => talk.typed(line, &mut session),
            },
        }
    }
    drop(texts);
    deadline.bound_total(Phase::Body, output.finish()).await
}

/// The state of the session.
struct Talk {
    /// `None` if standard input is not a terminal.
    terminal: Option<TypingTerminal>,
    /// More input may follow.
    is_listening: bool,
    /// The server has closed the session.
    is_over: bool,
    /// Text that waits to be shown.
    waiting: Option<Vec<u8>>,
    /// The last unfinished line of the server.
    last_line: Vec<u8>,
    echo: Echo,
}

impl Talk {
    fn begin() -> Self {
        Self {
            terminal: TypingTerminal::set(),
            is_listening: true,
            is_over: false,
            waiting: None,
            last_line: Vec::new(),
            echo: Echo::default(),
        }
    }

    fn leave(&self, signal: signal::ReceivedSignal) {
        if let Some(terminal) = &self.terminal {
            terminal.leave(signal);
        }
    }

    /// Handles text of the server, or the end of the session.
    fn show(&mut self, text: Option<Bytes>) {
        self.is_over = text.is_none();
        let text = match text {
            Some(text) => self.echo.left_out(&text),
            None => self.echo.given_up(),
        };
        remember(&mut self.last_line, &text);
        // Hide the input before the prompt is shown.
        if let Some(terminal) = &self.terminal {
            terminal.shows_typing(!asks_for_password(&self.last_line));
        }
        self.waiting = Some(text);
    }

    fn is_left_by(&self, line: &[u8]) -> bool {
        self.terminal.is_some() && line.contains(&LEAVE)
    }

    /// Handles a typed line, or the end of input; the server may still send.
    fn typed(&mut self, line: Option<Vec<u8>>, session: &mut Session) {
        let Some(line) = line else {
            session.finish_sending();
            self.is_listening = false;
            return;
        };
        self.last_line.clear();
        // The line end of a hidden line was hidden, too.
        if self.terminal.as_ref().is_some_and(TypingTerminal::shows_again) && io::stdout().is_terminal() {
            self.waiting.get_or_insert_default().push(b'\n');
        }
        if self.terminal.is_some() && session.may_echo() {
            self.echo.expect(&line);
        }
        session.send(&line);
    }
}

/// Waits for a signal that ends the session.
async fn wanted(leaving: &mut Option<signal::SessionSignals>) -> signal::ReceivedSignal {
    match leaving {
        Some(leaving) => leaving.wait().await,
        None => std::future::pending().await,
    }
}

/// Standard output, written by a thread, so that a reader that stops does not block signals and deadlines.
struct Output {
    texts: Sender<Vec<u8>>,
    ended: oneshot::Receiver<io::Result<()>>,
}

impl Output {
    fn open() -> Self {
        let (texts, mut waiting) = channel::<Vec<u8>>(WAITING);
        let (sender, ended) = oneshot::channel();
        // If the thread cannot be started, that is reported.
        let _ = thread::Builder::new().name("shown".to_owned()).spawn(move || {
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
        Self { texts, ended }
    }

    /// Waits for a write error.
    async fn failed(&mut self) -> Error {
        unwritten((&mut self.ended).await)
    }

    /// Waits until everything is written.
    async fn finish(self) -> Result<(), Error> {
        drop(self.texts);
        match self.ended.await {
            Ok(Ok(())) => Ok(()),
            failed => Err(unwritten(failed)),
        }
    }
}

/// Passes waiting text to the thread; may be cancelled. [`Output::failed`] tells why nobody takes it.
async fn show(texts: &Sender<Vec<u8>>, waiting: &mut Option<Vec<u8>>) -> Result<(), Error> {
    match texts.reserve().await {
        Ok(room) => room.send(waiting.take().unwrap_or_default()),
        Err(_) => std::future::pending().await,
    }
    Ok(())
}

/// Returns the typed lines, read by a thread. At a terminal end of file (Ctrl-D) is a character, and more may follow.
fn typed() -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel(WAITING);
    // If the thread cannot be started, that is reported.
    let _ = thread::Builder::new().name("typed".to_owned()).spawn(move || {
        let mut stdin = io::stdin().lock();
        let mut bytes = [0; 4096];
        let mut ends = if stdin.is_terminal() { MOST_ENDS } else { 0 };
        while let Ok(count) = stdin.read(&mut bytes) {
            if count == 0 {
                let Some(left) = ends.checked_sub(1) else { return };
                ends = left;
            }
            let text = if count == 0 { vec![END] } else { bytes[..count].to_vec() };
            if sender.blocking_send(text).is_err() {
                return;
            }
        }
    });
    receiver
}

fn stdout() -> Box<dyn Write> {
    match io::stdout().is_terminal() {
        true => Box::new(SessionScreen::default()),
        false => Box::new(io::stdout()),
    }
}

fn unwritten(ended: Result<io::Result<()>, oneshot::error::RecvError>) -> Error {
    let error = match ended {
        Ok(Err(error)) => error,
        _ => io::Error::other("nobody writes it"),
    };
    Error::new(Code::SinkFailed, Phase::Deliver, error.to_string()).with_source(error)
}

/// Keeps the unfinished last line.
fn remember(last_line: &mut Vec<u8>, text: &[u8]) {
    match text.iter().rposition(|&byte| byte == b'\n') {
        Some(end) => *last_line = text[end + 1..].to_vec(),
        None => last_line.extend_from_slice(text),
    }
    // Its end is enough.
    last_line.drain(..last_line.len().saturating_sub(256));
}

/// Returns `true` if the line asks for a password. Servers would hide it with the option ECHO, which is refused as all
/// options are.
fn asks_for_password(line: &[u8]) -> bool {
    let line = without_sequences(&String::from_utf8_lossy(line).to_lowercase());
    line.trim_end().ends_with(':')
        && ["password", "passphrase", "passcode"].iter().any(|word| line.contains(word))
}

/// Returns the line without escape sequences.
fn without_sequences(line: &str) -> String {
    let mut pieces = line.split("\x1b[");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |shown, piece| {
        let end =
            piece.find(|character: char| matches!(character, '@'..='~')).map_or(piece.len(), |at| at + 1);
        shown + &piece[end..]
    })
}

/// Text that the user typed is on the screen already; a repetition by the server is not shown again.
#[derive(Default)]
struct Echo {
    expected: Vec<u8>,
    /// The number of bytes that were repeated so far.
    come: usize,
}

impl Echo {
    fn expect(&mut self, line: &[u8]) {
        *self = Self { expected: line.to_vec(), come: 0 };
    }

    /// Gives up a repetition that has begun: it was none.
    fn given_up(&mut self) -> Vec<u8> {
        let Self { expected, come } = std::mem::take(self);
        if come < expected.len() { expected[..come].to_vec() } else { Vec::new() }
    }

    /// Returns the text without the expected repetition; nothing else is lost.
    fn left_out(&mut self, text: &[u8]) -> Vec<u8> {
        let awaited = &self.expected[self.come..];
        let same = awaited.iter().zip(text).take_while(|(one, other)| one == other).count();
        if same == awaited.len() || same == text.len() {
            self.come += same;
            return text[same..].to_vec();
        }
        let begun = &self.expected[..self.come];
        let shown = [begun, text].concat();
        *self = Self::default();
        shown
    }
}

/// A terminal for line input, where Ctrl-] ends a line at once.
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
        now.special_codes[SpecialCodeIndex::VEOL] = LEAVE;
        if hides {
            now.local_modes.remove(LocalModes::ECHO);
        }
        self.is_hidden.set(hides);
        // A mode that cannot be set stays as it is.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &now);
    }

    /// Obeys the signal with the terminal restored; the mode is set again if the process continues.
    fn leave(&self, signal: signal::ReceivedSignal) {
        signal::restore_colours();
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
        signal.run_default_action();
        self.apply(self.is_hidden.get());
    }

    fn shows_typing(&self, shows: bool) {
        if self.is_hidden.get() == shows {
            self.apply(!shows);
        }
    }

    /// Shows typed text again. Returns whether it was hidden.
    fn shows_again(&self) -> bool {
        let was_hidden = self.is_hidden.get();
        self.shows_typing(true);
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
    fn an_echo_is_left_out_and_nothing_else() {
        let mut echo = Echo::default();
        assert_eq!(echo.left_out(b"abc"), b"abc");
        echo.expect(b"ls\n");
        assert_eq!(echo.left_out(b"l"), b"");
        assert_eq!(echo.left_out(b"s\nfile\n"), b"file\n");
        assert_eq!(echo.left_out(b"ls\n"), b"ls\n");
        echo.expect(b"ls\n");
        assert_eq!(echo.left_out(b"l"), b"");
        assert_eq!(echo.left_out(b"ogin: "), b"login: ");
        assert_eq!(echo.left_out(b"ls\n"), b"ls\n");
    }

    #[test]
    fn passwords_are_asked_for_in_these_words() {
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
