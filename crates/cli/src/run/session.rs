//! A session with a server, held at the terminal or by a pipe.

use std::io::{self, IsTerminal as _, Read as _, Write};
use std::thread;

use fetch_url::{Code, Error, Phase, Session};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use tokio::sync::mpsc::{Receiver, channel};

use crate::render::screen::Screen;
use crate::signal;

/// Ctrl-].
const LEAVE: u8 = 0x1d;
/// So many lines may wait.
const WAITING: usize = 16;

/// Holds the session until the server closes it or the person leaves it.
pub(super) async fn hold(mut session: Session) -> Result<(), Error> {
    let terminal = TypingTerminal::set();
    let mut typed = typed();
    let mut output = output();
    let mut is_listening = true;
    let mut last_line = Vec::new();
    loop {
        tokio::select! {
            heard = session.hear() => match heard? {
                None => return output.flush().map_err(unwritten),
                Some(text) => {
                    output.write_all(&text).and_then(|()| output.flush()).map_err(unwritten)?;
                    remember(&mut last_line, &text);
                    if let Some(terminal) = &terminal {
                        terminal.shows_typing(!asks_for_password(&last_line));
                    }
                }
            },
            line = typed.recv(), if is_listening => match line {
                // The server may have more to say to what came so far.
                None => is_listening = false,
                Some(line) => {
                    last_line.clear();
                    if let Some(terminal) = &terminal {
                        terminal.line_typed(&mut output)?;
                    }
                    match line.iter().position(|&octet| octet == LEAVE).filter(|_| terminal.is_some()) {
                        Some(_) => return Ok(()),
                        None => session.say(&line),
                    }
                }
            },
        }
    }
}

/// What is typed, as it comes; read by a thread of its own, which nobody waits for.
fn typed() -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel(WAITING);
    // Without the thread nothing is typed, as with an empty pipe.
    let _ = thread::Builder::new().name("typed".to_owned()).spawn(move || {
        let mut stdin = io::stdin().lock();
        let mut octets = [0; 4096];
        while let Ok(count) = stdin.read(&mut octets) {
            if count == 0 || sender.blocking_send(octets[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}

fn output() -> Box<dyn Write> {
    match io::stdout().is_terminal() {
        true => Box::new(Screen::default()),
        false => Box::new(io::stdout()),
    }
}

fn unwritten(error: io::Error) -> Error {
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
    let line = String::from_utf8_lossy(line).to_lowercase();
    line.trim_end().ends_with(':')
        && ["password", "passphrase", "passcode"].iter().any(|word| line.contains(word))
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

    fn shows_typing(&self, shows: bool) {
        if self.is_hidden.get() == shows {
            self.apply(!shows);
        }
    }

    /// The end of a line that was hidden was hidden, too.
    fn line_typed(&self, output: &mut dyn Write) -> Result<(), Error> {
        if self.is_hidden.get() {
            self.apply(false);
            output.write_all(b"\n").and_then(|()| output.flush()).map_err(unwritten)?;
        }
        Ok(())
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
    fn passwords_are_asked_for_in_these_words() {
        for line in ["Password: ", "alice's password:", "Enter passphrase for key: "] {
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
