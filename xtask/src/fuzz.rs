//! `cargo xtask fuzz [TARGET …] [--seconds N]`: runs the fuzz targets of `tests/fuzz`, as many at once as there are
//! processors, and prints a table of executions, coverage and findings.
//!
//! The corpus of each target is in `target/fuzz/corpus` and survives between runs; `tests/fuzz/seeds` is only read.

mod report;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use report::{RunReport, read_log, table};

use crate::program::{cargo, root, run_command};

/// Default time for each target, in seconds.
const DEFAULT_SECONDS: u64 = 60;
/// Time for each target in `cargo xtask test`, in seconds.
const SMOKE_SECONDS: u64 = 20;
/// A quick run tries the same inputs each time, as many as it has time for, so that a change fails only by what it
/// changes. `cargo xtask fuzz` tries others.
const QUICK_SEED: &str = "-seed=1";
/// Maximum memory of a target in MiB. No reader needs more than the 32 MiB of a page.
const MAX_MEMORY: &str = "-rss_limit_mb=512";
/// Maximum time for one input, in seconds.
const MAX_INPUT_TIME: &str = "-timeout=10";
/// A thread that is just ending looks like a leak. Memory that grows is found by the limit.
const NO_LEAKS: &str = "detect_leaks=0";
/// Maximum length of an input in bytes. Longer inputs are slower and reach little more: the limits of the readers are
/// tested by their unit tests.
const MAX_INPUT_LENGTH: &str = "-max_len=4096";

/// How the targets are built.
#[derive(Clone, Copy, Debug)]
enum Build {
    /// With AddressSanitizer and full optimisation: for long runs.
    Thorough,
    /// Built in a third of the time. The libraries forbid `unsafe`, so the sanitizer checks the dependencies only.
    Quick,
}

/// The arguments of `cargo xtask fuzz`.
#[derive(Debug, PartialEq, Eq)]
struct Options<'a> {
    /// Parts of target names; all targets if there are none.
    words: Vec<&'a str>,
    seconds: u64,
}

/// Runs the targets whose name contains one of the words; all targets if there are none.
pub(crate) fn run(arguments: &[&str]) -> Result<(), String> {
    let options = parse_arguments(arguments)?;
    let targets = choose(&target_names()?, &options.words)?;
    if let Some(missing) = missing_tool() {
        return Err(missing);
    }
    run_targets(&targets, options.seconds, Build::Thorough)
}

/// Runs all targets for a short time, as a step of `cargo xtask test`. Returns what was skipped.
pub(crate) fn smoke() -> Result<Option<String>, String> {
    if let Some(missing) = missing_tool() {
        return Ok(Some(format!("fuzz smoke skipped: {missing}")));
    }
    run_targets(&target_names()?, SMOKE_SECONDS, Build::Quick).map(|()| None)
}

fn parse_arguments<'a>(arguments: &[&'a str]) -> Result<Options<'a>, String> {
    let mut options = Options { words: Vec::new(), seconds: DEFAULT_SECONDS };
    let mut arguments = arguments.iter();
    while let Some(&argument) = arguments.next() {
        match argument {
            "--seconds" => {
                let seconds =
                    arguments.next().and_then(|text| text.parse().ok()).filter(|seconds| *seconds > 0);
                options.seconds = seconds.ok_or("--seconds needs a number of seconds, at least 1")?;
            }
            option if option.starts_with('-') => return Err(format!("fuzz has no option {option}")),
            word => options.words.push(word),
        }
    }
    Ok(options)
}

/// Returns the names of the targets, in alphabetical order.
fn target_names() -> Result<Vec<String>, String> {
    let folder = root().join("tests/fuzz/fuzz_targets");
    let failed = |error| format!("{}: {error}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}

/// Returns the names that contain one of the words; all names if there are no words.
fn choose(names: &[String], words: &[&str]) -> Result<Vec<String>, String> {
    if let Some(unknown) = words.iter().find(|word| !names.iter().any(|name| name.contains(**word))) {
        return Err(format!("no fuzz target is called {unknown}; the targets are: {}", names.join(", ")));
    }
    let is_wanted = |name: &&String| words.is_empty() || words.iter().any(|word| name.contains(word));
    Ok(names.iter().filter(is_wanted).cloned().collect())
}

/// Returns one line with the command that installs what is missing.
fn missing_tool() -> Option<String> {
    let answers = |arguments: [&str; 3]| {
        let mut command = cargo(arguments);
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    if !answers(["+nightly", "--version", "--quiet"]) {
        return Some("the nightly toolchain is not installed (rustup toolchain install nightly)".to_owned());
    }
    if !answers(["+nightly", "fuzz", "--version"]) {
        return Some("cargo-fuzz is not installed (cargo install cargo-fuzz --locked)".to_owned());
    }
    None
}

/// Builds the targets, runs them, and prints the table. Fails if there are findings.
fn run_targets(targets: &[String], seconds: u64, kind: Build) -> Result<(), String> {
    println!("fuzz: building {} targets", targets.len());
    build(targets, kind)?;
    let parallel = thread::available_parallelism().map_or(1, usize::from).min(targets.len());
    println!("fuzz: {} targets, {seconds} s each, {parallel} at once", targets.len());
    let (queue, reports) = (Mutex::new(targets.iter()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..parallel {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().ok().and_then(|mut queue| queue.next());
                    let Some(target) = next else { return };
                    let report = fuzz(target, seconds, kind);
                    if let Ok(mut reports) = reports.lock() {
                        reports.push(report);
                    }
                }
            });
        }
    });
    let mut reports = reports.into_inner().map_err(|error| error.to_string())?;
    reports.sort_by(|one, other| one.target.cmp(&other.target));
    print!("{}", table(&reports));
    let findings: Vec<String> = reports.iter().flat_map(RunReport::findings).collect();
    if findings.is_empty() {
        return Ok(());
    }
    Err(format!("fuzz: {} findings\n{}", findings.len(), findings.join("\n")))
}

/// Builds all targets, or the only one.
fn build(targets: &[String], kind: Build) -> Result<(), String> {
    let mut command = fuzz_command("build", kind);
    if let [only] = targets {
        command.arg(only);
    }
    run_command(&mut command)
}

/// Returns `cargo +nightly fuzz VERB` for the targets of `tests/fuzz`.
fn fuzz_command(verb: &str, kind: Build) -> Command {
    let mut command = cargo(["+nightly", "fuzz", verb, "--fuzz-dir", "tests/fuzz"]);
    match kind {
        Build::Thorough => command.arg("--target-dir").arg(folder()),
        Build::Quick => {
            command.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1").env("CARGO_PROFILE_RELEASE_DEBUG", "0");
            command.args(["--sanitizer", "none", "--target-dir"]).arg(folder().join("quick"))
        }
    };
    // Set by rustup for this process. A Rust of the environment would be used instead of nightly.
    command.env_remove("RUSTUP_TOOLCHAIN").env_remove("RUSTC").env_remove("RUSTFLAGS");
    command
}

/// Returns the directory of the builds, corpora, findings and logs.
fn folder() -> PathBuf {
    root().join("target/fuzz")
}

/// Runs one target and reads its log. An error is reported as a finding.
fn fuzz(target: &str, seconds: u64, kind: Build) -> RunReport {
    match run_logged(target, seconds, kind) {
        Ok((log, is_ok)) => {
            let text = fs::read(&log).unwrap_or_default();
            let reproduce = |input: &Path| {
                let input = input.strip_prefix(root()).unwrap_or(input).display();
                format!("cargo +nightly fuzz run --fuzz-dir tests/fuzz {target} {input}")
            };
            read_log(target, &String::from_utf8_lossy(&text), is_ok, &log, reproduce)
        }
        Err(why) => RunReport::failed(target, why),
    }
}

/// Runs one target. Returns the path of its log, and whether it succeeded.
fn run_logged(target: &str, seconds: u64, kind: Build) -> Result<(PathBuf, bool), String> {
    let [corpus, artifacts, logs] =
        ["corpus", "artifacts", "logs"].map(|name| folder().join(name).join(target));
    let failed = |error: std::io::Error| format!("{target}: {error}");
    for path in [&corpus, &artifacts] {
        fs::create_dir_all(path).map_err(failed)?;
    }
    fs::create_dir_all(folder().join("logs")).map_err(failed)?;
    let log = logs.with_extension("log");
    let mut command = fuzz_command("run", kind);
    command.env("ASAN_OPTIONS", NO_LEAKS).arg(target).arg(&corpus);
    let seeds = root().join("tests/fuzz/seeds").join(target);
    // The first directory is the corpus; the inputs of the others are only read.
    command.args(seeds.is_dir().then_some(seeds));
    command.args(["--", MAX_MEMORY, MAX_INPUT_TIME, MAX_INPUT_LENGTH, "-print_final_stats=1"]);
    command.arg(format!("-max_total_time={}", Duration::from_secs(seconds).as_secs()));
    if matches!(kind, Build::Quick) {
        command.arg(QUICK_SEED);
    }
    command.arg(format!("-artifact_prefix={}/", artifacts.display()));
    let output = File::create(&log).map_err(failed)?;
    let status =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(output).status().map_err(failed)?;
    Ok((log, status.success()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_words_and_seconds() {
        let default = Options { words: vec![], seconds: DEFAULT_SECONDS };
        assert_eq!(parse_arguments(&[]), Ok(default));
        let both = Options { words: vec!["a", "b"], seconds: 5 };
        assert_eq!(parse_arguments(&["a", "--seconds", "5", "b"]), Ok(both));
        for wrong in [&["--seconds"][..], &["--seconds", "0"], &["--seconds", "x"], &["--jobs"]] {
            assert!(parse_arguments(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn targets_are_chosen_by_a_part_of_their_name() {
        let names = ["ftp_list", "ftp_session", "netrc"].map(str::to_owned);
        assert_eq!(choose(&names, &[]), Ok(names.to_vec()));
        assert_eq!(choose(&names, &["ftp"]), Ok(names[..2].to_vec()));
        assert_eq!(choose(&names, &["netrc", "session"]), Ok(names[1..].to_vec()));
        let why = choose(&names, &["ftp", "nosuch"]).unwrap_err();
        assert_eq!(why, "no fuzz target is called nosuch; the targets are: ftp_list, ftp_session, netrc");
    }

    #[test]
    fn every_target_is_a_program_of_the_manifest_and_has_seeds() {
        let manifest = fs::read_to_string(root().join("tests/fuzz/Cargo.toml")).unwrap();
        for name in target_names().unwrap() {
            assert!(manifest.contains(&format!("name = \"{name}\"\n")), "{name} is not in Cargo.toml");
            let seeds = fs::read_dir(root().join("tests/fuzz/seeds").join(&name)).map(Iterator::count);
            assert!(seeds.is_ok_and(|count| (1..=60).contains(&count)), "{name} needs 1 to 60 seeds");
        }
    }
}
