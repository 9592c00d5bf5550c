//! `cargo xtask test [STEP …]`: all checks, step by step. All steps run also after a failure, which is printed again at the end.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::program::{cargo, command_output, root, run_command, version};
use crate::{api, chaos, complexity, demo, fuzz, generated, servers, site, tidy};

/// One step. It returns a description of what was skipped, or nothing.
struct Step {
    name: &'static str,
    run: fn() -> Result<Option<String>, String>,
}

const fn step(name: &'static str, run: fn() -> Result<Option<String>, String>) -> Step {
    Step { name, run }
}

const STEPS: [Step; 21] = [
    step("format", || all(["fmt", "--all", "--check"])),
    step("lints", || all(["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])),
    step("tidy", || tidy::run().map(|()| None)),
    step("generated files", || generated::check().map(|()| None)),
    step("docs", docs),
    step("tests", tests),
    step("queue", queue),
    step("doc tests", || all(["test", "--quiet", "--workspace", "--doc"])),
    step("examples", examples),
    step("demo", || demo::run().map(|()| None)),
    step("chaos", || chaos::run(&[]).map(|()| None)),
    step("complexity", || complexity::run("")),
    step("documentation site", site::check),
    step("public API", api::check),
    step("wasm32", wasm),
    step("ring", || all(["check", "-p", "fetch-url", "--no-default-features", "--features", "ring"])),
    step("features alone", features_alone),
    step("fuzz targets", fuzz_targets),
    step("fuzz smoke", fuzz::smoke),
    step("licences and advisories", deny),
    step("live tests", live),
];

const WASM: &str = "wasm32-unknown-unknown";

/// The port of nginx of `docker/`. If it answers before the step, the servers were already running.
const LIVE_PORT: u16 = 17080;

/// Runs the steps whose name contains one of `names`; all steps if there are none. Repeats the failures at the end, each
/// with the command that runs its step again.
pub(crate) fn run(names: &[&str]) -> Result<(), String> {
    let is_wanted = |step: &&Step| names.is_empty() || names.iter().any(|name| step.name.contains(name));
    let steps: Vec<&Step> = STEPS.iter().filter(is_wanted).collect();
    if steps.is_empty() {
        let known: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        return Err(format!("no step is called {}; the steps are: {}", names.join(" "), known.join(", ")));
    }
    let started = Instant::now();
    let (mut left_out, mut failures) = (Vec::new(), Vec::new());
    for (number, Step { name, run }) in steps.iter().enumerate() {
        println!("== {}/{} {name}", number + 1, steps.len());
        let step_started = Instant::now();
        let outcome = run();
        let seconds = step_started.elapsed().as_secs_f32();
        match outcome {
            Ok(None) => println!("== {name}: {seconds:.1} s"),
            Ok(Some(what)) => {
                println!("== {name}: {seconds:.1} s; {what}");
                left_out.push(what);
            }
            Err(why) => {
                let failure = format!("== {name}: FAILED after {seconds:.1} s: {why}");
                println!("{failure}");
                failures.push(format!("{failure}\n   run it again: cargo xtask test \"{name}\""));
            }
        }
    }
    if failures.is_empty() {
        println!("{}", summary(steps.len(), started.elapsed(), &left_out));
        return Ok(());
    }
    Err(format!("{} of {} steps failed:\n{}", failures.len(), steps.len(), failures.join("\n")))
}

fn summary(count: usize, took: Duration, left_out: &[String]) -> String {
    let mut line = format!("test: all {count} steps passed in {:.0} s", took.as_secs_f32());
    if !left_out.is_empty() {
        line = format!("{line}; skipped: {}", left_out.join("; "));
    }
    line
}

/// Returns a cargo command for all packages, targets and features.
fn all<const N: usize>(arguments: [&str; N]) -> Result<Option<String>, String> {
    run_command(&mut cargo(arguments)).map(|()| None)
}

fn has_nextest() -> bool {
    version("cargo-nextest", "--version").is_some()
}

fn tests() -> Result<Option<String>, String> {
    if has_nextest() {
        return all(["nextest", "run", "--workspace", "--no-fail-fast"]);
    }
    all(["test", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast"])
}

/// Lints and tests the feature `queue` of the command line, which is not a default.
fn queue() -> Result<Option<String>, String> {
    let cli = ["-p", "fetch-url-cli", "--features", "queue"];
    let mut lints = cargo(["clippy", "--all-targets", "--locked"]);
    run_command(lints.args(cli).args(["--", "-D", "warnings"]))?;
    let mut tests = if has_nextest() {
        let mut tests = cargo(["nextest", "run", "--no-fail-fast", "-E", "test(/queue/)"]);
        tests.args(cli);
        tests
    } else {
        let mut tests = cargo(["test", "--lib", "--test", "it"]);
        tests.args(cli).args(["--", "queue"]);
        tests
    };
    run_command(&mut tests).map(|()| None)
}

/// Runs every example of the library to its end.
fn examples() -> Result<Option<String>, String> {
    let names = example_names(&root().join("crates/fetch/examples"))?;
    for name in &names {
        println!("-- example {name}");
        all(["run", "--quiet", "-p", "fetch-url", "--example", name])?;
    }
    Ok(names.is_empty().then(|| "crates/fetch has no examples".to_owned()))
}

fn example_names(folder: &Path) -> Result<Vec<String>, String> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut names = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| format!("{}: {error}", folder.display()))?.path();
        if let (Some("rs"), Some(name)) = (extension(&path), path.file_stem()) {
            names.push(name.to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn extension(path: &Path) -> Option<&str> {
    path.extension()?.to_str()
}

/// Checks the library with each driver and each part of HTTP alone, and with none, and the command with few of them.
fn features_alone() -> Result<Option<String>, String> {
    let drivers = ["", ",ftp", ",gopher", ",mailto", ",news", ",prospero", ",telnet", ",wais"];
    let parts = [",brotli", ",html", ",http2", ",public-suffix", ",zstd"];
    for feature in drivers.iter().chain(&parts) {
        let features = format!("ring{feature}");
        all(["check", "--quiet", "-p", "fetch-url", "--no-default-features", "--features", &features])?;
    }
    all(["check", "--quiet", "-p", "fetch-url-cli", "--no-default-features", "--features", "minimal"])
}

/// Checks that the fuzz targets compile; they are a workspace of their own. `cargo fuzz` needs a nightly toolchain to
/// run them (step "fuzz smoke"), but not to compile them.
fn fuzz_targets() -> Result<Option<String>, String> {
    let fuzz = root().join("tests/fuzz");
    let mut command = cargo(["check", "--quiet", "--locked", "--target-dir"]);
    command.arg(root().join("target/fuzz")).current_dir(fuzz);
    run_command(&mut command).map(|()| None)
}

/// Documents the libraries only: the program `fetch-url` and the library `fetch_url` would write the same pages.
fn docs() -> Result<Option<String>, String> {
    let mut command = cargo(["doc", "--workspace", "--no-deps", "--lib"]);
    run_command(command.env("RUSTDOCFLAGS", "-Dwarnings")).map(|()| None)
}

fn wasm() -> Result<Option<String>, String> {
    let mut rustc = Command::new("rustc");
    rustc.current_dir(root()).args(["--print", "target-libdir", "--target", WASM]);
    if !Path::new(command_output(&mut rustc)?.trim()).is_dir() {
        return Ok(Some(format!("wasm32 skipped: the target {WASM} is not installed")));
    }
    all(["build", "-p", "fetch-url-core", "-p", "fetch-url-proto", "--target", WASM])
}

fn deny() -> Result<Option<String>, String> {
    if version("cargo-deny", "--version").is_none() {
        return Ok(Some("licences and advisories skipped: cargo-deny is not installed".to_owned()));
    }
    all(["deny", "check", "licenses", "bans", "sources"])?;
    // The advisory database is downloaded, which is not possible on every machine.
    let fetched = cargo(["deny", "fetch", "db"]).stdin(Stdio::null()).stderr(Stdio::null()).status();
    if !fetched.is_ok_and(|status| status.success()) {
        return Ok(Some("advisories skipped: their database cannot be fetched".to_owned()));
    }
    all(["deny", "check", "advisories"])
}

/// Runs the tests against the servers of `docker/`. The servers are stopped afterwards only if this step started them.
///
/// The test target `live` is built with the whole workspace: built alone, its dependencies would have other features and
/// be compiled again.
fn live() -> Result<Option<String>, String> {
    let count = live_count()?;
    if !servers::engine_answers() {
        let line = format!("live tests skipped: no Docker engine answers ({count} tests)");
        return if on_ci() { Err(line) } else { Ok(Some(line)) };
    }
    let were_up = is_up();
    let started = servers::up();
    let outcome = started.and_then(|()| match has_nextest() {
        true => all([
            "nextest",
            "run",
            "--workspace",
            "--test",
            "live",
            "--run-ignored",
            "only",
            "--no-fail-fast",
        ]),
        false => all(["test", "--workspace", "--test", "live", "--", "--ignored"]),
    });
    // Also after a start that failed, which leaves the other servers running.
    if !were_up {
        servers::down()?;
    }
    outcome
}

fn live_count() -> Result<usize, String> {
    let mut list = cargo(["test", "--quiet", "--workspace", "--test", "live"]);
    let names = command_output(list.args(["--", "--ignored", "--list"]))?;
    Ok(names.lines().filter(|line| line.ends_with(": test")).count())
}

fn is_up() -> bool {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, LIVE_PORT));
    TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok()
}

/// Returns `true` in CI. A skipped step fails there, because its message would not be noticed.
#[allow(clippy::disallowed_methods, reason = "CI is recognised by an environment variable")]
fn on_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_names_skipped_steps() {
        let took = Duration::from_millis(2400);
        assert_eq!(summary(16, took, &[]), "test: all 16 steps passed in 2 s");
        let line = summary(16, took, &["a skipped".to_owned(), "b skipped".to_owned()]);
        assert_eq!(line, "test: all 16 steps passed in 2 s; skipped: a skipped; b skipped");
    }

    #[test]
    fn examples_are_found_and_a_missing_folder_has_none() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.rs", "a.rs", "data.txt"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(example_names(folder.path()).unwrap(), ["a", "b"]);
        assert_eq!(example_names(&folder.path().join("none")).unwrap(), [""; 0]);
    }
}
