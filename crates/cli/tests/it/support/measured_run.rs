//! Runs fetch-url and samples its memory.

use std::ffi::OsStr;
use std::io::Read;
use std::process::Stdio;
use std::thread;

use fetch_url_tests::peak_memory;

use super::{RUN_TIMEOUT, RunResult, fetch_url_command, wait_until, without_retries};

/// Runs fetch-url, for at most [`RUN_TIMEOUT`]. Returns its peak memory in KiB and its result.
pub(crate) fn run_measuring_memory<I>(arguments: I) -> (u64, RunResult)
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    let mut command = fetch_url_command();
    command.args(without_retries(arguments)).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary can be started");
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let readers = [thread::spawn(move || read_pipe(stdout)), thread::spawn(move || read_pipe(stderr))];
    let mut peak = 0;
    let has_ended = wait_until(RUN_TIMEOUT, || {
        peak = peak_memory(child.id()).unwrap_or(peak);
        child.try_wait().expect("a child process").is_some()
    });
    if !has_ended {
        child.kill().expect("a running process");
    }
    let status = child.wait().expect("a child process");
    let [stdout, stderr] = readers.map(|reader| reader.join().expect("a pipe"));
    let stderr = String::from_utf8(stderr).expect("standard error is UTF-8");
    (peak / 1024, RunResult::new(status, stdout, stderr))
}

fn read_pipe(pipe: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    pipe.expect("a pipe").read_to_end(&mut bytes).expect("a readable pipe");
    bytes
}
