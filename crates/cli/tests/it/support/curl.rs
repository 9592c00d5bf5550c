//! Runs curl, where it is installed, against the same loopback server to compare its behaviour with fetch-url's.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use crate::support::{RunResult, isolate_environment, run_command};

/// The system's curl. An absolute path, so that no other program named `curl` on PATH is used.
const CURL: &str = "/usr/bin/curl";

/// Runs curl in `directory` without its configuration file. Returns `None`, and prints that the comparison is
/// skipped, if curl is not installed.
pub(crate) fn run_curl<I>(directory: &Path, arguments: I) -> Option<RunResult>
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    run_curl_with_env(directory, &[], arguments)
}

/// Runs curl as [`run_curl`] does, with additional environment variables.
#[allow(clippy::print_stdout, reason = "a test that was skipped must say so")]
pub(crate) fn run_curl_with_env<I>(
    directory: &Path,
    environment: &[(&str, &str)],
    arguments: I,
) -> Option<RunResult>
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    if !Path::new(CURL).exists() {
        println!("skipped: {CURL} is not installed, so there is nothing to compare with");
        return None;
    }
    let mut command = Command::new(CURL);
    isolate_environment(&mut command);
    command.envs(environment.iter().copied()).current_dir(directory);
    command.args(["-q", "-sS", "--max-time", "10"]).args(arguments);
    Some(run_command(command))
}
