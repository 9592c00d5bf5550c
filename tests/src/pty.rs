//! A program in a terminal where a person types (a pseudo-terminal of expectrl).
//!
//! ```no_run
//! use fetch_url_tests::Terminal;
//!
//! let mut terminal = Terminal::run("fetch-url", &["--ask-password", "http://me@127.0.0.1:8080/"], 80)?;
//! terminal.expect("Password")?;
//! terminal.type_secret("secret")?;
//! assert_eq!(terminal.exit()?, 0);
//! assert!(!terminal.screen().contains("secret"));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Every wait ends after 10 seconds, with what the terminal shows in the error.

use std::fmt;
use std::io::{Error, ErrorKind, Result, Write as _};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use expectrl::Session;
use expectrl::process::unix::WaitStatus;
use expectrl::process::{Healthcheck as _, Termios as _};
use expectrl::session::OsSession;

const LIMIT: Duration = Duration::from_secs(10);
const TICK: Duration = Duration::from_millis(2);
/// The program does not begin before its terminal has its size and echoes, as a person's does; then this
/// says so.
const SETTLE: &str = "stty rows 24 cols \"$1\" echo && printf '\\036' && shift && exec \"$@\"";
const SETTLED: &str = "\x1e";

/// A running program and its terminal. Dropping it ends the program.
pub struct Terminal {
    session: OsSession,
    shown: Vec<u8>,
    /// So much of `shown` was expected.
    expected: usize,
    ended: bool,
}

impl Terminal {
    /// Starts a program in a terminal of so many columns and 24 lines.
    pub fn run(program: &str, arguments: &[&str], columns: u16) -> Result<Self> {
        let mut command = Command::new(program);
        command.args(arguments);
        Self::start(&command, columns)
    }

    /// Starts what is described by a command: its arguments, its folder, its changes of the environment. That
    /// the environment was cleared cannot be read from a command: use `env -i`.
    pub fn start(command: &Command, columns: u16) -> Result<Self> {
        let mut shell = Command::new("sh");
        shell.args(["-c", SETTLE, "sh", &columns.to_string()]);
        shell.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        if let Some(folder) = command.get_current_dir() {
            shell.current_dir(folder);
        }
        let session = Session::spawn(shell).map_err(Error::other)?;
        let mut this = Self { session, shown: Vec::new(), expected: 0, ended: false };
        this.expect(SETTLED)?;
        this.shown.drain(..this.expected);
        this.expected = 0;
        Ok(this)
    }

    /// Waits until the terminal shows this, after what was expected before.
    pub fn expect(&mut self, text: &str) -> Result<()> {
        let found = |this: &Self| {
            let rest = &this.shown[this.expected..];
            let at = rest.windows(text.len()).position(|window| window == text.as_bytes());
            at.map(|at| this.expected + at + text.len())
        };
        self.expected = self.wait_for(&format!("`{text}`"), found)?;
        Ok(())
    }

    /// Types a line.
    pub fn type_line(&mut self, line: &str) -> Result<()> {
        self.type_octets(format!("{line}\n").as_bytes())
    }

    /// Waits until the terminal shows nothing of what is typed, and types a line.
    pub fn type_secret(&mut self, line: &str) -> Result<()> {
        self.wait_for("an end of the echo", |this| match this.session.is_echo() {
            Ok(false) => Some(()),
            _ => None,
        })?;
        self.type_line(line)
    }

    /// Types these octets: 3 is Ctrl-C, 4 is Ctrl-D.
    pub fn type_octets(&mut self, octets: &[u8]) -> Result<()> {
        self.session.write_all(octets).and_then(|()| self.session.flush())
    }

    /// All that was shown so far, with LF for CR LF.
    #[must_use]
    pub fn screen(&self) -> String {
        String::from_utf8_lossy(&self.shown).replace("\r\n", "\n")
    }

    /// All that was shown so far, octet for octet.
    #[must_use]
    pub fn octets(&self) -> &[u8] {
        &self.shown
    }

    /// Waits for the program's end: its exit status, or as a negative number the signal that it died of.
    pub fn exit(&mut self) -> Result<i32> {
        self.wait_for("an end", |this| this.ended.then_some(()))?;
        // What it wrote has been read; the program itself may end a little later.
        self.wait_for("an exit status", |this| match this.session.get_status() {
            Ok(WaitStatus::Exited(_, status)) => Some(Ok(status)),
            Ok(WaitStatus::Signaled(_, signal, _)) => Some(Ok(-(signal as i32))),
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        })?
    }

    /// Reads until there is what is looked for, within the limit.
    fn wait_for<T>(&mut self, what: &str, mut look: impl FnMut(&Self) -> Option<T>) -> Result<T> {
        let begun = Instant::now();
        loop {
            self.read()?;
            if let Some(found) = look(self) {
                return Ok(found);
            }
            // At the end only the exit status can still come.
            if begun.elapsed() > LIMIT || self.ended && what.starts_with('`') {
                let shown = self.shown.escape_ascii();
                return Err(Error::new(ErrorKind::TimedOut, format!("no {what} in: {shown}")));
            }
            sleep(TICK);
        }
    }

    /// Takes what is there now.
    fn read(&mut self) -> Result<()> {
        let mut buffer = [0; 4096];
        while !self.ended {
            match self.session.try_read(&mut buffer) {
                Ok(0) => self.ended = true,
                Ok(count) => self.shown.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // EIO: Linux says so when nobody has the other side open any more.
                Err(error) if error.raw_os_error() == Some(5) => self.ended = true,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terminal").field("screen", &self.screen()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str) -> Terminal {
        Terminal::run("sh", &["-c", line], 80).unwrap()
    }

    #[test]
    fn a_secret_is_typed_and_not_shown() {
        let mut terminal = shell("stty -echo; printf 'Secret? '; read x; echo; echo got $x | tr a-z A-Z");
        terminal.expect("Secret? ").unwrap();
        terminal.type_secret("sesame").unwrap();
        terminal.expect("GOT SESAME").unwrap();
        assert_eq!(terminal.exit().unwrap(), 0);
        assert_eq!(terminal.screen(), "Secret? \nGOT SESAME\n");
    }

    #[test]
    fn other_lines_are_shown_as_they_are_typed() {
        let mut terminal = shell("read x; echo got $x; exit 7");
        terminal.type_line("open").unwrap();
        assert_eq!(terminal.exit().unwrap(), 7);
        assert_eq!(
            (terminal.screen().as_str(), terminal.octets()),
            ("open\ngot open\n", &b"open\r\ngot open\r\n"[..])
        );
    }

    #[test]
    fn all_three_are_a_terminal_of_the_asked_size() {
        let line = "test -t 0 && test -t 1 && test -t 2 && stty size </dev/tty; pwd; echo $MINE";
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir(folder.path()).env("MINE", "ours");
        let mut terminal = Terminal::start(&command, 117).unwrap();
        assert_eq!(terminal.exit().unwrap(), 0);
        let folder = folder.path().canonicalize().unwrap();
        assert_eq!(terminal.screen(), format!("24 117\n{}\nours\n", folder.display()));
    }

    #[test]
    fn expectations_come_in_their_order() {
        let mut terminal = shell("echo one; echo two; echo one");
        for word in ["one", "two", "one"] {
            terminal.expect(word).unwrap();
        }
        let error = terminal.expect("two").unwrap_err().to_string();
        assert_eq!(error, "no `two` in: one\\r\\ntwo\\r\\none\\r\\n");
    }

    #[test]
    fn an_interrupt_kills() {
        let mut terminal = shell("echo begun; exec sleep 20");
        terminal.expect("begun").unwrap();
        terminal.type_octets(&[3]).unwrap();
        assert_eq!(terminal.exit().unwrap(), -2);
    }
}
