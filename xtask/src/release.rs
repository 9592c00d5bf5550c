//! `cargo xtask release --dry-run`: runs everything that a release needs, publishes nothing, and lists what would be
//! published.

use std::process::Command;

use crate::program::{cargo, command_output, root, run_command};
use crate::{api, dist, site, test};

/// A step of a release. It returns what was skipped.
type Step = (&'static str, fn() -> Result<Option<String>, String>);

const STEPS: [Step; 7] = [
    ("changelog", changelog),
    ("committed", committed),
    ("api", api::check),
    ("site", || site::run().map(|()| None)),
    ("crates", crates),
    ("dist", || dist::run(&[]).map(|()| None)),
    ("test", || test::run(&[]).map(|()| None)),
];

/// The crates in the order in which they are published: each after those that it needs.
const CRATES: [&str; 6] =
    ["fetch-url-core", "fetch-url-proto", "fetch-url", "fetch-url-serve", "fetch-url-queue", "fetch-url-cli"];

/// Runs all steps but those in `left_out`, and fails if one of them failed.
pub(crate) fn dry_run(left_out: &[&str]) -> Result<(), String> {
    if let Some(unknown) = left_out.iter().find(|name| STEPS.iter().all(|(step, _)| step != *name)) {
        let known: Vec<&str> = STEPS.iter().map(|(name, _)| *name).collect();
        return Err(format!("release: no step is called {unknown}; the steps are: {}", known.join(", ")));
    }
    let (mut failures, mut notes) = (Vec::new(), Vec::new());
    for (name, step) in STEPS {
        if left_out.contains(&name) {
            notes.push(format!("{name} was left out"));
            continue;
        }
        println!("== release: {name}");
        match step() {
            Ok(skipped) => notes.extend(skipped),
            Err(why) => failures.push(format!("{name}: {why}")),
        }
    }
    for note in &notes {
        println!("release: {note}");
    }
    if !failures.is_empty() {
        return Err(format!("release: {} steps failed:\n{}", failures.len(), failures.join("\n")));
    }
    println!("release: would publish, in this order: {}", CRATES.join(", "));
    println!("release: would upload the files of {}", root().join(dist::OUT).join("SHA256SUMS").display());
    Ok(())
}

/// Checks that the changelog has a section for this version.
fn changelog() -> Result<Option<String>, String> {
    let path = root().join("CHANGELOG.md");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    has_section(&text, env!("CARGO_PKG_VERSION")).map(|()| None)
}

fn has_section(changelog: &str, version: &str) -> Result<(), String> {
    let begins = |line: &str| {
        line.strip_prefix("## ").is_some_and(|title| title.split([' ', '[', ']']).any(|word| word == version))
    };
    if changelog.lines().any(begins) { Ok(()) } else { Err(format!("CHANGELOG.md has no section {version}")) }
}

/// Checks that everything is committed: what is published must be in the history.
fn committed() -> Result<Option<String>, String> {
    let mut git = Command::new("git");
    let changes = command_output(git.current_dir(root()).args(["status", "--porcelain"]))?;
    if changes.is_empty() { Ok(None) } else { Err(format!("not committed:\n{changes}")) }
}

/// Packs the crates, unpacks them, and builds each from its package. Cargo takes those that are not published yet from
/// the packages that it has just made.
fn crates() -> Result<Option<String>, String> {
    let mut package = cargo(["package", "--locked"]);
    for name in CRATES {
        package.args(["-p", name]);
    }
    run_command(&mut package).map(|()| None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_step_is_an_error() {
        let why = dry_run(&["tests"]).unwrap_err();
        assert!(why.starts_with("release: no step is called tests; the steps are: changelog, "), "{why}");
    }

    #[test]
    fn the_section_of_a_version_is_found() {
        assert_eq!(has_section("# C\n\n## 0.1.0 (2026-11-23)\n", "0.1.0"), Ok(()));
        assert_eq!(has_section("## [0.1.0]\n", "0.1.0"), Ok(()));
        assert_eq!(
            has_section("## Unreleased\n## 0.1.01\n", "0.1.0").unwrap_err(),
            "CHANGELOG.md has no section 0.1.0"
        );
    }
}
