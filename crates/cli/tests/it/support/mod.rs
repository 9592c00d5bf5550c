//! Helpers of the integration tests: run the real binary with a time limit, inspect the files that it wrote, and
//! start HTTP servers on loopback.

pub(crate) mod curl;
pub(crate) mod fault_checks;
pub(crate) mod fault_runner;
pub(crate) mod md5;
mod measured_run;
pub(crate) mod mirror;
pub(crate) mod telnet_server;
pub(crate) mod virtual_terminal;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub(crate) use fetch_url_tests::check_in_parallel;
use fetch_url_tests::{FileHeaders, HttpRequest, HttpResponse, HttpServer, RangeSupport};
pub(crate) use measured_run::run_measuring_memory;

/// The number of bytes before the offset of a resume that are requested again and compared.
pub(crate) const OVERLAP: usize = 64;

/// The time limit of one run.
const RUN_TIMEOUT: Duration = Duration::from_secs(60);

/// The exit status and the output of one run of a program.
#[derive(Clone, Debug)]
pub(crate) struct RunResult {
    /// The exit status, or 128 + N if signal N ended the program, as in a shell.
    pub(crate) exit: i32,
    /// The signal that ended the program.
    pub(crate) signal: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl RunResult {
    fn new(status: ExitStatus, stdout: Vec<u8>, stderr: String) -> Self {
        let signal = status.signal();
        let exit = status.code().or_else(|| signal.map(|signal| 128 + signal)).unwrap_or(-1);
        Self { exit, signal, stdout, stderr }
    }

    /// Returns standard output as text.
    pub(crate) fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Panics with the output of the program if its exit status is not `status`.
    #[track_caller]
    pub(crate) fn assert_exit(&self, status: i32) -> &Self {
        let stdout = String::from_utf8_lossy(&self.stdout[..self.stdout.len().min(400)]);
        assert_eq!(self.exit, status, "stderr: {}\nstdout: {stdout}", self.stderr);
        self
    }

    /// Panics if standard error does not contain `text`.
    #[track_caller]
    pub(crate) fn assert_stderr_contains(&self, text: &str) -> &Self {
        assert!(self.stderr.contains(text), "{text:?} is missing in {:?}", self.stderr);
        self
    }
}

/// The path of the fetch-url binary under test.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_fetch-url");

/// Returns a command that starts fetch-url with an isolated environment.
pub(crate) fn fetch_url_command() -> Command {
    let mut command = Command::new(BINARY);
    isolate_environment(&mut command);
    command
}

/// Replaces the environment of the command by PATH and LC_ALL, and its standard input by the null device, so that the
/// result does not depend on the account that runs the tests.
#[allow(clippy::disallowed_methods, reason = "only the test process knows where coverage is counted")]
pub(crate) fn isolate_environment(command: &mut Command) {
    command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("LC_ALL", "C.UTF-8");
    // `cargo llvm-cov` names the file for the counts in this variable.
    command.envs(std::env::var_os("LLVM_PROFILE_FILE").map(|file| ("LLVM_PROFILE_FILE", file)));
    command.stdin(Stdio::null());
}

/// Adds `--retry 0` to the arguments of a transfer, unless they have `--retry`, because tests check the first attempt.
fn without_retries<I>(arguments: I) -> Vec<OsString>
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    let given: Vec<OsString> = arguments.into_iter().map(|argument| argument.as_ref().to_owned()).collect();
    let is_offline = given.first().is_some_and(|first| first == "explain" || first == "extract");
    let is_retry = |argument: &OsString| argument.to_str().is_some_and(|text| text.starts_with("--retry"));
    let added: &[&str] = if is_offline || given.iter().any(is_retry) { &[] } else { &["--retry", "0"] };
    added.iter().map(OsString::from).chain(given).collect()
}

/// Runs fetch-url with these arguments, and without retries unless they have `--retry`.
pub(crate) fn run_fetch_url<I>(arguments: I) -> RunResult
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    let mut command = fetch_url_command();
    command.args(without_retries(arguments));
    run_command(command)
}

/// Runs fetch-url as [`run_fetch_url`] does, with `directory` as its working directory.
pub(crate) fn run_fetch_url_in<I>(directory: &Path, arguments: I) -> RunResult
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    let mut command = fetch_url_command();
    command.args(without_retries(arguments)).current_dir(directory);
    run_command(command)
}

/// Runs a script with `sh`; `$F` is the fetch-url binary, `$1` and following are the arguments.
pub(crate) fn run_shell<I>(script: &str, arguments: I) -> RunResult
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    let mut command = Command::new("sh");
    isolate_environment(&mut command);
    command.env("F", BINARY).arg("-c").arg(script).arg("sh").args(arguments);
    run_command(command)
}

/// Runs a command to its end, for at most [`RUN_TIMEOUT`]. Panics if its standard error is not UTF-8.
pub(crate) fn run_command(command: Command) -> RunResult {
    let mut command = assert_cmd::Command::from_std(command);
    let output = command.timeout(RUN_TIMEOUT).output().expect("the command can be started");
    let stderr = String::from_utf8(output.stderr).expect("standard error is UTF-8");
    RunResult::new(output.status, output.stdout, stderr)
}

/// Starts fetch-url and returns at once. Standard output is discarded, standard error is kept for [`wait_for_exit`].
pub(crate) fn spawn_fetch_url<I>(arguments: I) -> Child
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    let mut command = fetch_url_command();
    command.args(without_retries(arguments)).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().expect("the binary can be started")
}

/// Waits for the end of a process, for at most [`RUN_TIMEOUT`].
pub(crate) fn wait_for_exit(mut child: Child) -> RunResult {
    let has_ended = wait_until(RUN_TIMEOUT, || child.try_wait().ok().flatten().is_some());
    assert!(has_ended, "the process is still running after {RUN_TIMEOUT:?}");
    let output = child.wait_with_output().expect("a process that ended");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    RunResult::new(output.status, output.stdout, stderr)
}

/// Sends a signal, such as `TERM`, to a process.
pub(crate) fn send_signal(child: &Child, name: &str) {
    let script = format!("kill -{name} {}", child.id());
    let status = Command::new("sh").arg("-c").arg(script).status();
    assert!(status.expect("sh runs").success());
}

/// Waits until `condition` returns `true`. Returns `false` if it does not within `limit`.
pub(crate) fn wait_until(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + limit;
    while !condition() {
        if Instant::now() >= end {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

/// Returns a new temporary directory. It is removed when the value is dropped.
pub(crate) fn temp_dir() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

/// Writes a file below `directory` and creates its parent directories.
pub(crate) fn write_file(directory: &Path, name: &str, content: &str) {
    let path = directory.join(name);
    fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
    fs::write(path, content).expect("a file");
}

/// Returns the content of a text file in `directory`.
pub(crate) fn read_text_file(directory: &Path, name: &str) -> String {
    fs::read_to_string(directory.join(name)).expect("a file")
}

/// Returns the content of a text file, or an empty string if the file cannot be read.
pub(crate) fn read_text_or_empty(directory: &Path, name: &str) -> String {
    fs::read_to_string(directory.join(name)).unwrap_or_default()
}

/// Returns the path of the temporary file of a download: `target` with the suffix `.part`.
pub(crate) fn part_path(target: &Path) -> PathBuf {
    with_suffix(target, ".fetch-url.part")
}

/// Returns the path of the metadata of an incomplete download: `target` with the suffix `.fetch-url.json`.
pub(crate) fn part_metadata_path(target: &Path) -> PathBuf {
    with_suffix(target, ".fetch-url.json")
}

fn with_suffix(target: &Path, suffix: &str) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Returns the names of the entries of a directory, sorted.
pub(crate) fn entry_names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
    let mut names: Vec<String> = entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Returns the header fields of a file with a strong entity tag (`"v1"`), no modification time, and correct byte ranges.
pub(crate) fn strong_etag_headers() -> FileHeaders {
    FileHeaders { etag: Some("\"v1\"".to_owned()), last_modified: None, ranges: RangeSupport::Correct }
}

/// Starts an HTTP server that answers every request with `handler`.
pub(crate) fn http_server(
    handler: impl Fn(&HttpRequest) -> HttpResponse + Send + Sync + 'static,
) -> HttpServer {
    HttpServer::start(handler).expect("a server on loopback")
}

/// Starts an HTTP server that answers the first request with `first` and every later request with `then`.
pub(crate) fn http_server_first_then(
    first: impl Fn(&HttpRequest) -> HttpResponse + Send + Sync + 'static,
    then: impl Fn(&HttpRequest) -> HttpResponse + Send + Sync + 'static,
) -> HttpServer {
    let requests = AtomicUsize::new(0);
    http_server(move |request| match requests.fetch_add(1, Ordering::SeqCst) {
        0 => first(request),
        _ => then(request),
    })
}

/// Starts an HTTP server whose response body is the request target.
pub(crate) fn echo_server() -> HttpServer {
    http_server(|request| HttpResponse::new(200).body(request.target.as_slice()))
}

/// Returns `Err` with the message if the condition is `false`.
pub(crate) fn ensure(condition: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if condition { Ok(()) } else { Err(message()) }
}
