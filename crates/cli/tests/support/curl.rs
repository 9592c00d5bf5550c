//! curl as a second opinion: what it does on the same loopback server, where it is installed.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use crate::support::{Ran, alone, ran};

/// Where Debian and its like have it; a test must not take whatever else is first on PATH.
const CURL: &str = "/usr/bin/curl";

/// Runs curl without a configuration of its own, in a directory; `None`, and a word about it, when there is
/// no curl.
pub(crate) fn curl_in<I>(directory: &Path, arguments: I) -> Option<Ran>
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    curl_with(directory, &[], arguments)
}

/// The same, with these variables in the environment.
#[allow(clippy::print_stdout, reason = "a test that was skipped must say so")]
pub(crate) fn curl_with<I>(directory: &Path, environment: &[(&str, &str)], arguments: I) -> Option<Ran>
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    if !Path::new(CURL).exists() {
        println!("skipped: there is no {CURL} to compare with");
        return None;
    }
    let mut command = Command::new(CURL);
    alone(&mut command);
    command.envs(environment.iter().copied()).current_dir(directory);
    command.args(["-q", "-sS", "--max-time", "10"]).args(arguments);
    Some(ran(command))
}
