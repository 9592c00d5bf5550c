//! What the tests of the command line share: running the real binary with a limit on its time, looking at
//! the target, and servers that change their mind between two requests.

#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::expect_used, reason = "a helper of tests")]

pub(crate) mod mirrored;
pub(crate) mod outcome;
pub(crate) mod sound;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use fetch_url_tests::{FileFacts, HttpReply, HttpRequest, HttpServer, Ranges};

/// The longest that one run may take.
const PATIENCE: Duration = Duration::from_secs(25);

/// How a run ended and what it said.
#[derive(Clone, Debug)]
pub(crate) struct Ran {
    /// The exit status; 128 + N for death of signal N.
    pub(crate) exit: i32,
    /// The signal it died of.
    pub(crate) signal: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Ran {
    /// Standard output as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Panics with everything the run said if its exit status is another.
    #[track_caller]
    pub(crate) fn exits(&self, status: i32) -> &Self {
        assert_eq!(self.exit, status, "stderr: {}\nstdout: {}", self.stderr, clipped(&self.stdout));
        self
    }

    /// Panics unless standard error holds this.
    #[track_caller]
    pub(crate) fn says(&self, words: &str) -> &Self {
        assert!(self.stderr.contains(words), "no {words:?} in {:?}", self.stderr);
        self
    }
}

fn clipped(octets: &[u8]) -> String {
    String::from_utf8_lossy(&octets[..octets.len().min(400)]).into_owned()
}

/// The path of the binary.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_fetch-url");

/// The binary, without the environment of whoever runs the tests.
pub(crate) fn command() -> Command {
    let mut command = Command::new(BINARY);
    alone(&mut command);
    command
}

/// Takes environment and standard input away.
pub(crate) fn alone(command: &mut Command) {
    command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("LC_ALL", "C.UTF-8");
    command.stdin(Stdio::null());
}

/// The arguments with no retry, unless they say how often: what a test looks at is the first attempt.
fn once<I>(arguments: I) -> Vec<OsString>
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    let given: Vec<OsString> = arguments.into_iter().map(|argument| argument.as_ref().to_owned()).collect();
    let is_verb = given.first().is_some_and(|first| first == "explain" || first == "extract");
    let says = given.iter().any(|argument| argument.to_str().is_some_and(|text| text.starts_with("--retry")));
    let own: &[&str] = if is_verb || says { &[] } else { &["--retry", "0"] };
    own.iter().map(OsString::from).chain(given).collect()
}

/// Runs the binary with these arguments.
pub(crate) fn fetch<I>(arguments: I) -> Ran
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    let mut command = command();
    command.args(once(arguments));
    ran(command)
}

/// Runs the binary in a directory.
pub(crate) fn fetch_in<I>(directory: &Path, arguments: I) -> Ran
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    let mut command = command();
    command.args(once(arguments)).current_dir(directory);
    ran(command)
}

/// Runs a command of `sh`, where `$F` is the binary and `$1` and so on are the arguments.
pub(crate) fn shell<I>(script: &str, arguments: I) -> Ran
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    let mut command = Command::new("sh");
    alone(&mut command);
    command.env("F", BINARY).arg("-c").arg(script).arg("sh").args(arguments);
    ran(command)
}

/// Runs a command to its end, which comes within the limit.
pub(crate) fn ran(command: Command) -> Ran {
    let mut command = assert_cmd::Command::from_std(command);
    let output = command.timeout(PATIENCE).output().expect("the command can be started");
    let signal = output.status.signal();
    Ran {
        exit: output.status.code().or_else(|| signal.map(|signal| 128 + signal)).unwrap_or(-1),
        signal,
        stdout: output.stdout,
        stderr: String::from_utf8(output.stderr).expect("what it says is UTF-8"),
    }
}

/// Starts the binary and returns at once; standard error is kept for [`ended`].
pub(crate) fn started<I>(arguments: I) -> Child
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    let mut command = command();
    command.args(once(arguments)).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().expect("the binary can be started")
}

/// Waits, within the limit, for the end of a process.
pub(crate) fn ended(mut child: Child) -> Ran {
    assert!(until(PATIENCE, || child.try_wait().ok().flatten().is_some()), "it does not end");
    let output = child.wait_with_output().expect("a child that ended");
    let signal = output.status.signal();
    Ran {
        exit: output.status.code().or_else(|| signal.map(|signal| 128 + signal)).unwrap_or(-1),
        signal,
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Sends a signal, such as `TERM`, to a child.
pub(crate) fn send_signal(child: &Child, name: &str) {
    let script = format!("kill -{name} {}", child.id());
    let status = Command::new("sh").arg("-c").arg(script).status();
    assert!(status.expect("sh runs").success());
}

/// Waits until something is so; whether it came to be.
pub(crate) fn until(limit: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + limit;
    while !is_so() {
        if Instant::now() >= end {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

/// The path with `.part` behind it.
pub(crate) fn part_of(target: &Path) -> PathBuf {
    with_suffix(target, ".part")
}

/// The path with `.part.json` behind it.
pub(crate) fn journal_of(target: &Path) -> PathBuf {
    with_suffix(target, ".part.json")
}

fn with_suffix(target: &Path, suffix: &str) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The names in a directory, sorted.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
    let mut names: Vec<String> = entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A strong entity tag and honest ranges.
pub(crate) fn tagged() -> FileFacts {
    FileFacts { etag: Some("\"v1\"".to_owned()), last_modified: None, ranges: Ranges::Honest }
}

/// A server whose first request is answered by `first`, and every later one by `then`.
pub(crate) fn first_then(
    first: impl Fn(&HttpRequest) -> HttpReply + Send + Sync + 'static,
    then: impl Fn(&HttpRequest) -> HttpReply + Send + Sync + 'static,
) -> HttpServer {
    let asked = AtomicUsize::new(0);
    let handler = move |request: &HttpRequest| match asked.fetch_add(1, Ordering::SeqCst) {
        0 => first(request),
        _ => then(request),
    };
    HttpServer::start(handler).expect("a server on loopback")
}

/// A server that always answers the same.
pub(crate) fn serving(handler: impl Fn(&HttpRequest) -> HttpReply + Send + Sync + 'static) -> HttpServer {
    HttpServer::start(handler).expect("a server on loopback")
}

/// Runs `check` for every row on several threads; the panics of all rows are told together.
pub(crate) fn in_parallel<T: Sync>(
    rows: &[T],
    threads: usize,
    check: impl Fn(&T) -> Result<(), String> + Sync,
) {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut complaints = Vec::new();
        while let Some(row) = rows.get(next.fetch_add(1, Ordering::SeqCst)) {
            complaints.extend(check(row).err());
        }
        complaints
    };
    let complaints: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker does not panic")).collect()
    });
    assert!(complaints.is_empty(), "{} of {} rows:\n{}", complaints.len(), rows.len(), complaints.join("\n"));
}

/// `Err` with the words when the condition does not hold.
pub(crate) fn ensure(holds: bool, words: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(words()) }
}

/// Answers with the request target.
pub(crate) fn mirror() -> HttpServer {
    serving(|request| HttpReply::new(200).body(request.target.as_slice()))
}

pub(crate) fn content_of(directory: &Path, name: &str) -> String {
    fs::read_to_string(directory.join(name)).expect("a file")
}
