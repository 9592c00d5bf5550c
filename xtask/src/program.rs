//! Runs other programs: cargo and installed tools. `servers.rs` runs the Docker commands itself.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// Returns the directory of the workspace.
pub(crate) fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask)
}

/// Returns a cargo command in the directory of the workspace.
///
/// The variables that `cargo run` sets for this package are removed: some build scripts (ring's) read them, and would
/// run again each time `xtask` and a developer alternate.
pub(crate) fn cargo<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new("cargo");
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command.current_dir(root()).args(arguments);
    command
}

/// Runs a command with the standard streams of this process.
pub(crate) fn run_command(command: &mut Command) -> Result<(), String> {
    let status =
        command.stdin(Stdio::null()).status().map_err(|error| failed(command, &error.to_string()))?;
    if status.success() { Ok(()) } else { Err(failed(command, &status.to_string())) }
}

/// Runs a command and returns its standard output; its standard error is that of this process.
pub(crate) fn command_output(command: &mut Command) -> Result<String, String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| failed(command, &error.to_string()))?;
    if !output.status.success() {
        return Err(failed(command, &output.status.to_string()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the first line that `program ARGUMENT` prints, or nothing if the program is not installed.
pub(crate) fn version(program: &str, argument: &str) -> Option<String> {
    let output = Command::new(program).arg(argument).stdin(Stdio::null()).output().ok()?;
    // nginx prints its version to standard error.
    let text = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    let first = String::from_utf8_lossy(&text).lines().next().unwrap_or_default().trim().to_owned();
    output.status.success().then_some(first)
}

/// Builds the command line and returns the path of `fetch-url`.
pub(crate) fn fetch_url(options: &[&str]) -> Result<PathBuf, String> {
    let mut command = cargo(["build", "-p", "fetch-url-cli", "--bin", "fetch-url"]);
    let messages = command_output(command.args(options).arg("--message-format=json-render-diagnostics"))?;
    let built = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let executables = built.filter(|message| message["target"]["name"] == "fetch-url");
    executables
        .filter_map(|message| message["executable"].as_str().map(PathBuf::from))
        .next_back()
        .ok_or_else(|| "cargo build named no executable `fetch-url`".to_owned())
}

/// Formats a failed command for people: `program argument argument: why`.
fn failed(command: &Command, why: &str) -> String {
    let mut words = vec![command.get_program().to_string_lossy()];
    words.extend(command.get_args().map(OsStr::to_string_lossy));
    format!("`{}`: {why}", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_the_workspace() {
        assert!(root().join("Cargo.lock").is_file());
    }

    #[test]
    fn a_missing_program_has_no_version_and_a_failed_one_is_named() {
        assert_eq!(version("no-such-program", "--version"), None);
        let why = run_command(Command::new("no-such-program").arg("x")).unwrap_err();
        assert!(why.starts_with("`no-such-program x`: "), "{why}");
    }
}
