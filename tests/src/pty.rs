//! Runs a program in a pseudo-terminal (expectrl) and types into it.
//!
//! ```no_run
//! use fetch_url_tests::Terminal;
//!
//! let mut terminal = Terminal::run("fetch-url", &["--ask-password", "http://me@127.0.0.1:8080/"], 80)?;
//! terminal.expect("Password")?;
//! terminal.type_secret("secret")?;
//! assert_eq!(terminal.exit_status()?, 0);
//! assert!(!terminal.screen().contains("secret"));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Every wait fails after 10 seconds; the error contains the output of the program.

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
/// Sets the size and the echo of the terminal, prints [`READY`], and runs the program. It first waits for a line,
/// because expectrl sets a size of its own after the process has started.
const SETUP: &str = "read -r _ && stty rows 24 cols \"$1\" echo && printf '\\036' && shift && exec \"$@\"";
const READY: &str = "\x1e";

/// Output that arrived at the same time.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The time since the recording began.
    pub time: Duration,
    /// The number of bytes of the whole output up to the end of this piece.
    pub end: usize,
}

/// A running program and its terminal. Dropping it kills the program.
pub struct Terminal {
    session: OsSession,
    /// All output of the terminal.
    shown: Vec<u8>,
    /// The number of bytes of `shown` up to the end of the last expected text.
    expected: usize,
    has_ended: bool,
}

impl Terminal {
    /// Starts a program in a terminal of `columns` columns and 24 lines.
    pub fn run(program: &str, arguments: &[&str], columns: u16) -> Result<Self> {
        let mut command = Command::new(program);
        command.args(arguments);
        Self::start(&command, columns)
    }

    /// Starts the program of a command with its arguments, its directory and its environment variables, in a
    /// terminal of `columns` columns and 24 lines. `Command::env_clear` has no effect: run `env -i` instead.
    pub fn start(command: &Command, columns: u16) -> Result<Self> {
        let mut shell = Command::new("sh");
        shell.args(["-c", SETUP, "sh", &columns.to_string()]);
        shell.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        if let Some(dir) = command.get_current_dir() {
            shell.current_dir(dir);
        }
        let session = Session::spawn(shell).map_err(Error::other)?;
        let mut this = Self { session, shown: Vec::new(), expected: 0, has_ended: false };
        this.type_line("")?;
        this.expect(READY)?;
        this.shown.drain(..this.expected);
        this.expected = 0;
        Ok(this)
    }

    /// Waits until the terminal shows this text after the previously expected text.
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
        self.type_bytes(format!("{line}\n").as_bytes())
    }

    /// Waits until the program has switched the echo off, and types a line.
    pub fn type_secret(&mut self, line: &str) -> Result<()> {
        self.wait_for("echo off", |this| match this.session.is_echo() {
            Ok(false) => Some(()),
            _ => None,
        })?;
        self.type_line(line)
    }

    /// Types these bytes. 3 is Ctrl-C, 4 is Ctrl-D.
    pub fn type_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.session.write_all(bytes).and_then(|()| self.session.flush())
    }

    /// Returns all output so far, with CR LF replaced by LF.
    #[must_use]
    pub fn screen(&self) -> String {
        String::from_utf8_lossy(&self.shown).replace("\r\n", "\n")
    }

    /// Returns all output so far, unchanged.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.shown
    }

    /// Waits for the end of the output. Returns when each piece of it arrived.
    pub fn arrivals(&mut self) -> Result<Vec<Arrival>> {
        let (start, mut arrivals) = (Instant::now(), Vec::<Arrival>::new());
        self.wait_for("end of output", |this| {
            let end = this.shown.len();
            if arrivals.last().map_or(0, |last| last.end) < end {
                arrivals.push(Arrival { time: start.elapsed(), end });
            }
            this.has_ended.then_some(())
        })?;
        Ok(arrivals)
    }

    /// Waits for the end of the program. Returns its exit status, or the negative number of the signal that killed
    /// it.
    pub fn exit_status(&mut self) -> Result<i32> {
        self.wait_for("end of output", |this| this.has_ended.then_some(()))?;
        // The program may exit shortly after its last output.
        self.wait_for("exit status", |this| match this.session.get_status() {
            Ok(WaitStatus::Exited(_, status)) => Some(Ok(status)),
            Ok(WaitStatus::Signaled(_, signal, _)) => Some(Ok(-(signal as i32))),
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        })?
    }

    /// Reads output until `look` returns a value, for at most [`LIMIT`].
    fn wait_for<T>(&mut self, what: &str, mut look: impl FnMut(&Self) -> Option<T>) -> Result<T> {
        let start = Instant::now();
        loop {
            self.read_available()?;
            if let Some(found) = look(self) {
                return Ok(found);
            }
            // At the end of the output, only the exit status can still change.
            if start.elapsed() > LIMIT || self.has_ended && what.starts_with('`') {
                let shown = self.shown.escape_ascii();
                return Err(Error::new(ErrorKind::TimedOut, format!("no {what} in: {shown}")));
            }
            sleep(TICK);
        }
    }

    /// Reads the available output.
    fn read_available(&mut self) -> Result<()> {
        let mut buffer = [0; 4096];
        while !self.has_ended {
            match self.session.try_read(&mut buffer) {
                Ok(0) => self.has_ended = true,
                Ok(count) => self.shown.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // EIO: on Linux, no process has the other side of the pseudo-terminal open any more.
                Err(error) if error.raw_os_error() == Some(5) => self.has_ended = true,
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
    fn secret_is_typed_without_echo() {
        let mut terminal = shell("stty -echo; printf 'Secret? '; read x; echo; echo got $x | tr a-z A-Z");
        terminal.expect("Secret? ").unwrap();
        terminal.type_secret("sesame").unwrap();
        terminal.expect("GOT SESAME").unwrap();
        assert_eq!(terminal.exit_status().unwrap(), 0);
        assert_eq!(terminal.screen(), "Secret? \nGOT SESAME\n");
    }

    #[test]
    fn typed_line_is_echoed() {
        let mut terminal = shell("read x; echo got $x; exit 7");
        terminal.type_line("open").unwrap();
        assert_eq!(terminal.exit_status().unwrap(), 7);
        assert_eq!(
            (terminal.screen().as_str(), terminal.bytes()),
            ("open\ngot open\n", &b"open\r\ngot open\r\n"[..])
        );
    }

    #[test]
    fn standard_streams_are_a_terminal_of_the_given_size() {
        let line = "test -t 0 && test -t 1 && test -t 2 && stty size </dev/tty; pwd; echo $WORD";
        let dir = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir(dir.path()).env("WORD", "set");
        let mut terminal = Terminal::start(&command, 117).unwrap();
        assert_eq!(terminal.exit_status().unwrap(), 0);
        let dir = dir.path().canonicalize().unwrap();
        assert_eq!(terminal.screen(), format!("24 117\n{}\nset\n", dir.display()));
    }

    #[test]
    fn texts_are_expected_in_order() {
        let mut terminal = shell("echo one; echo two; echo one");
        for word in ["one", "two", "one"] {
            terminal.expect(word).unwrap();
        }
        let error = terminal.expect("two").unwrap_err().to_string();
        assert_eq!(error, "no `two` in: one\\r\\ntwo\\r\\none\\r\\n");
    }

    #[test]
    fn pieces_of_output_have_the_time_of_their_arrival() {
        let mut terminal = shell("printf one; sleep 0.2; printf two");
        let arrivals = terminal.arrivals().unwrap();
        let [first, .., last] = arrivals[..] else { panic!("{arrivals:?}") };
        assert_eq!((&terminal.bytes()[..first.end], last.end), (&b"one"[..], 6));
        assert!(last.time >= first.time + Duration::from_millis(100), "{arrivals:?}");
    }

    #[test]
    fn ctrl_c_kills_the_program() {
        let mut terminal = shell("echo started; exec sleep 20");
        terminal.expect("started").unwrap();
        terminal.type_bytes(&[3]).unwrap();
        assert_eq!(terminal.exit_status().unwrap(), -2);
    }
}
