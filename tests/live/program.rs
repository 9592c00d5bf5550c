//! Runs the program under test with a time limit and a minimal environment.

use std::env;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The time limit of one run.
const LIMIT: Duration = Duration::from_secs(20);

/// A running program.
pub(crate) struct Running {
    child: Child,
    command: String,
    out: File,
    err: File,
    begun: Instant,
}

/// The result of a run.
pub(crate) struct RunResult {
    command: String,
    /// The exit status, or the negative signal number if a signal ended the program.
    pub(crate) exit: i32,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
    pub(crate) took: Duration,
}

/// Returns the path of `fetch-url`: `FETCH_URL_BIN`, or the `target/` directory of this test.
#[allow(clippy::disallowed_methods, reason = "a test, not the program: the caller may name another build")]
pub(crate) fn fetch_url() -> PathBuf {
    let named = env::var_os("FETCH_URL_BIN").map(PathBuf::from);
    let beside = || Some(env::current_exe().ok()?.parent()?.parent()?.join("fetch-url"));
    let path = named.or_else(beside).expect("a test executable has a path");
    let hint = "run `cargo build -p fetch-url-cli`, or name it in FETCH_URL_BIN";
    assert!(path.is_file(), "there is no {}: {hint}", path.display());
    path
}

/// Starts `fetch-url` in `folder`.
pub(crate) fn start(folder: &Path, arguments: &[&str]) -> Running {
    start_other(fetch_url(), folder, arguments)
}

/// Starts another program in `folder`, with PATH as its only environment variable.
#[allow(clippy::disallowed_methods, reason = "a test, not the program: curl may be installed anywhere")]
pub(crate) fn start_other(program: impl AsRef<OsStr>, folder: &Path, arguments: &[&str]) -> Running {
    let program = program.as_ref();
    let file = || tempfile::tempfile().expect("a temporary file");
    let (out, err) = (file(), file());
    let handle = |file: &File| Stdio::from(file.try_clone().expect("a second handle"));
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env_clear().stdin(Stdio::null());
    command.envs(env::var_os("PATH").map(|path| ("PATH", path)));
    let child = command.stdout(handle(&out)).stderr(handle(&err)).spawn();
    let name = Path::new(program).file_name().unwrap_or(program).to_string_lossy().into_owned();
    let child = child.unwrap_or_else(|error| panic!("{name}: {error}"));
    Running { child, command: format!("{name} {}", arguments.join(" ")), out, err, begun: Instant::now() }
}

impl Running {
    /// Sends the signal with this name.
    pub(crate) fn signal(&self, name: &str) {
        let line = format!("kill -{name} {}", self.child.id());
        let sent = Command::new("sh").args(["-c", &line]).status().expect("sh runs");
        assert!(sent.success(), "{line}");
    }

    /// Waits for the end of the program.
    pub(crate) fn wait(mut self) -> RunResult {
        use std::os::unix::process::ExitStatusExt as _;
        let status = loop {
            match self.child.try_wait().expect("our own child") {
                Some(status) => break status,
                None if self.begun.elapsed() > LIMIT => {
                    self.child.kill().expect("our own child");
                    panic!("`{}` runs for more than {LIMIT:?}", self.command);
                }
                None => sleep(Duration::from_millis(2)),
            }
        };
        let took = self.begun.elapsed();
        let exit = status.code().unwrap_or_else(|| -status.signal().expect("it exits or is killed"));
        let (out, err) = (all(&mut self.out), all(&mut self.err));
        let err = String::from_utf8_lossy(&err).into_owned();
        RunResult { command: self.command, exit, out, err, took }
    }
}

fn all(file: &mut File) -> Vec<u8> {
    let mut bytes = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut bytes)).expect("a temporary file can be read");
    bytes
}

impl RunResult {
    /// Asserts the exit status.
    #[track_caller]
    pub(crate) fn assert_exit(self, expected: i32) -> Self {
        let Self { command, exit, err, .. } = &self;
        assert_eq!(*exit, expected, "exit of `{command}`\n{err}");
        self
    }

    /// Asserts exit status 0, exactly this standard output, and empty standard error.
    #[track_caller]
    pub(crate) fn assert_success(self, expected: impl AsRef<[u8]>) -> Self {
        let this = self.assert_exit(0).assert_stdout(expected);
        assert_eq!(this.err, "", "standard error of `{}`", this.command);
        this
    }

    /// Asserts exactly this standard output.
    #[track_caller]
    pub(crate) fn assert_stdout(self, expected: impl AsRef<[u8]>) -> Self {
        let expected = expected.as_ref();
        let shown = |bytes: &[u8]| bytes[..bytes.len().min(2000)].escape_ascii().to_string();
        let (got, wanted) = (shown(&self.out), shown(expected));
        assert!(self.out == expected, "`{}` wrote\n{got}\ninstead of\n{wanted}\n{}", self.command, self.err);
        self
    }

    /// Asserts that standard error contains this text.
    #[track_caller]
    pub(crate) fn assert_stderr_contains(self, expected: &str) -> Self {
        let Self { command, err, .. } = &self;
        assert!(err.contains(expected), "`{command}` does not print `{expected}` but\n{err}");
        self
    }

    /// Asserts that standard error does not contain this text.
    #[track_caller]
    pub(crate) fn assert_stderr_omits(self, secret: &str) -> Self {
        let Self { command, err, .. } = &self;
        assert!(!err.contains(secret), "`{command}` shows `{secret}`:\n{err}");
        self
    }

    /// Asserts the number of GET requests in the trace of `-v`.
    #[track_caller]
    pub(crate) fn assert_get_count(self, expected: usize) -> Self {
        let Self { command, err, .. } = &self;
        assert_eq!(err.matches("> GET ").count(), expected, "requests of `{command}`\n{err}");
        self
    }

    /// Returns standard output as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }
}
