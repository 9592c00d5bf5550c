//! A session with a server, held at the terminal or by a pipe.

use std::io::{self, IsTerminal as _, Read as _, Write};
use std::thread;

use fetch_url::{Code, Error, Phase, Session};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;

use crate::render::screen::Screen;
use crate::signal;

/// Ctrl-].
const LEAVE: u8 = 0x1d;
/// Ctrl-D.
const END: u8 = 0x04;
/// A terminal that is gone has no end of ends.
const MOST_ENDS: u32 = 64;
/// So many lines may wait.
const WAITING: usize = 16;

/// Holds the session until the server closes it or the person leaves it.
pub(super) async fn hold(mut session: Session) -> Result<(), Error> {
    let terminal = TypingTerminal::set();
    let mut typed = typed();
    let mut output = Output::open();
    let mut is_listening = true;
    let mut last_line = Vec::new();
    let mut echo = Echo::default();
    let mut leaving = terminal.as_ref().map(|_| signal::Leaving::heard());
    loop {
        tokio::select! {
            signal = wanted(&mut leaving) => if let Some(terminal) = &terminal {
                terminal.leave(signal);
            },
            heard = session.hear() => match heard? {
                None => return session.in_time(output.finish()).await,
                Some(text) => {
                    let text = echo.left_out(&text);
                    remember(&mut last_line, &text);
                    session.in_time(output.show(text)).await?;
                    if let Some(terminal) = &terminal {
                        terminal.shows_typing(!asks_for_password(&last_line));
                    }
                }
            },
            line = typed.recv(), if is_listening && !session.is_saying() => match line {
                // The server may have more to say to what came so far.
                None => {
                    session.say_end();
                    is_listening = false;
                }
                Some(line) => {
                    last_line.clear();
                    // The end of a line that was hidden was hidden, too.
                    if terminal.as_ref().is_some_and(TypingTerminal::shows_again) {
                        session.in_time(output.show(b"\n".to_vec())).await?;
                    }
                    if terminal.is_some() && line.contains(&LEAVE) {
                        return session.in_time(output.finish()).await;
                    }
                    if terminal.is_some() && session.may_echo() {
                        echo.expect(&line);
                    }
                    session.say(&line);
                }
            },
        }
    }
}

/// A signal by which the terminal is left, where there is one.
async fn wanted(leaving: &mut Option<signal::Leaving>) -> signal::Ending {
    match leaving {
        Some(leaving) => leaving.wanted().await,
        None => std::future::pending().await,
    }
}

/// Standard output, written by a thread of its own: whoever reads it may stop reading, and signals and clocks still
/// count.
struct Output {
    texts: Sender<Vec<u8>>,
    ended: oneshot::Receiver<io::Result<()>>,
}

impl Output {
    fn open() -> Self {
        let (texts, mut waiting) = channel::<Vec<u8>>(WAITING);
        let (sender, ended) = oneshot::channel();
        // Without the thread nothing is shown, which is told.
        let _ = thread::Builder::new().name("shown".to_owned()).spawn(move || {
            let mut stdout = stdout();
            let mut written = Ok(());
            while let (Ok(()), Some(text)) = (&written, waiting.blocking_recv()) {
                written = stdout.write_all(&text).and_then(|()| stdout.flush());
            }
            let _ = sender.send(written);
        });
        Self { texts, ended }
    }

    async fn show(&mut self, text: Vec<u8>) -> Result<(), Error> {
        match self.texts.send(text).await {
            Ok(()) => Ok(()),
            Err(_) => Err(unwritten((&mut self.ended).await)),
        }
    }

    /// All of it is written.
    async fn finish(self) -> Result<(), Error> {
        drop(self.texts);
        match self.ended.await {
            Ok(Ok(())) => Ok(()),
            failed => Err(unwritten(failed)),
        }
    }
}

/// What is typed, as it comes; read by a thread of its own, which nobody waits for. At a terminal an end (Ctrl-D) is a
/// character like others, and more may follow.
fn typed() -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel(WAITING);
    // Without the thread nothing is typed, as with an empty pipe.
    let _ = thread::Builder::new().name("typed".to_owned()).spawn(move || {
        let mut stdin = io::stdin().lock();
        let mut octets = [0; 4096];
        let mut ends = if stdin.is_terminal() { MOST_ENDS } else { 0 };
        while let Ok(count) = stdin.read(&mut octets) {
            if count == 0 {
                let Some(left) = ends.checked_sub(1) else { return };
                ends = left;
            }
            let text = if count == 0 { vec![END] } else { octets[..count].to_vec() };
            if sender.blocking_send(text).is_err() {
                return;
            }
        }
    });
    receiver
}

fn stdout() -> Box<dyn Write> {
    match io::stdout().is_terminal() {
        true => Box::new(Screen::default()),
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

/// Keeps the line that is not over yet.
fn remember(last_line: &mut Vec<u8>, text: &[u8]) {
    match text.iter().rposition(|&octet| octet == b'\n') {
        Some(end) => *last_line = text[end + 1..].to_vec(),
        None => last_line.extend_from_slice(text),
    }
    // The end of it tells.
    last_line.drain(..last_line.len().saturating_sub(256));
}

/// Whether the server waits for something that nobody is to see. It would hide it itself by the option ECHO, which is
/// refused as all are.
fn asks_for_password(line: &[u8]) -> bool {
    let line = without_sequences(&String::from_utf8_lossy(line).to_lowercase());
    line.trim_end().ends_with(':')
        && ["password", "passphrase", "passcode"].iter().any(|word| line.contains(word))
}

/// What a line shows, without its colours.
fn without_sequences(line: &str) -> String {
    let mut pieces = line.split("\x1b[");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |shown, piece| {
        let end =
            piece.find(|character: char| matches!(character, '@'..='~')).map_or(piece.len(), |at| at + 1);
        shown + &piece[end..]
    })
}

/// What a person has typed stands on the screen already: a server that repeats it all the same is not shown twice.
#[derive(Default)]
struct Echo {
    expected: Vec<u8>,
    /// So much of it has come.
    come: usize,
}

impl Echo {
    fn expect(&mut self, line: &[u8]) {
        *self = Self { expected: line.to_vec(), come: 0 };
    }

    /// What the server says, without the repetition that is expected. Of what begins like one nothing is lost.
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

/// A terminal where a person types line by line, and Ctrl-] ends a line at once.
struct TypingTerminal {
    before: Termios,
    is_hidden: std::cell::Cell<bool>,
    _signals: signal::Kept,
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
        // What cannot be set stays as it is: the session is held all the same.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &now);
    }

    /// Obeys the signal, with the terminal as it was before; what is set here is set again if the process goes on.
    fn leave(&self, signal: signal::Ending) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
        signal.obey();
        self.apply(self.is_hidden.get());
    }

    fn shows_typing(&self, shows: bool) {
        if self.is_hidden.get() == shows {
            self.apply(!shows);
        }
    }

    /// Shows what is typed, from now on; whether it was hidden before.
    fn shows_again(&self) -> bool {
        let was_hidden = self.is_hidden.get();
        self.shows_typing(true);
        was_hidden
    }
}

impl Drop for TypingTerminal {
    fn drop(&mut self) {
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
