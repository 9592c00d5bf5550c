//! `cargo xtask api`: the public API of the libraries as text, in `docs/api`. A change of the API shows in the diff of a
//! commit, and `--check` fails if the listing is outdated.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::program::{cargo, command_output, root, version};

/// The libraries, with the features that are listed. The cryptography does not change the API; ring builds faster.
const PACKAGES: [(&str, &[&str]); 5] = [
    ("fetch-url-core", &["--features", "idn"]),
    ("fetch-url-proto", &[]),
    (
        "fetch-url",
        &["--no-default-features", "--features", "ring,ftp,gopher,mailto,news,prospero,telnet,wais"],
    ),
    (
        "fetch-url-serve",
        &["--no-default-features", "--features", "ring,ftp,gopher,mailto,news,prospero,telnet,wais"],
    ),
    ("fetch-url-queue", &["--no-default-features", "--features", "ring"]),
];

const INSTALL: &str = "cargo install cargo-public-api --locked && rustup toolchain install nightly";

/// Writes the listings.
pub(crate) fn write() -> Result<(), String> {
    if let Some(why) = missing() {
        return Err(why);
    }
    for (package, features) in PACKAGES {
        let path = path(package);
        let folder = path.parent().unwrap_or(root());
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, listing(package, features)?));
        written.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        println!("api: wrote {}", path.display());
    }
    Ok(())
}

/// Compares the listings with the code. Returns what was skipped.
pub(crate) fn check() -> Result<Option<String>, String> {
    if let Some(why) = missing() {
        return Ok(Some(format!("public API skipped: {why}")));
    }
    let mut changes = String::new();
    for (package, features) in PACKAGES {
        let old = fs::read_to_string(path(package)).unwrap_or_default();
        let new = listing(package, features).map_err(|error| error.to_string())?;
        changes += &difference(package, &old, &new);
    }
    if changes.is_empty() {
        Ok(None)
    } else {
        Err(format!("{changes}run `cargo xtask api` and commit docs/api"))
    }
}

fn missing() -> Option<String> {
    let has_tool = version("cargo-public-api", "--version").is_some();
    let has_nightly = version("rustup", "--version").is_some()
        && Command::new("rustup")
            .args(["run", "nightly", "rustc", "-V"])
            .output()
            .is_ok_and(|o| o.status.success());
    (!has_tool || !has_nightly).then(|| format!("cargo-public-api or nightly is not installed (`{INSTALL}`)"))
}

fn path(package: &str) -> PathBuf {
    root().join("docs/api").join(format!("{package}.txt"))
}

fn listing(package: &str, features: &[&str]) -> std::io::Result<String> {
    let mut command = cargo(["public-api", "-p", package, "-sss", "--color", "never"]);
    // This command runs under the stable toolchain, which the tool would take over.
    command.args(features).env("RUSTUP_TOOLCHAIN", "nightly");
    let text = command_output(&mut command).map_err(std::io::Error::other)?;
    Ok(text.lines().map(|line| format!("{line}\n")).collect())
}

/// Returns the lines that only one of the listings has.
fn difference(package: &str, old: &str, new: &str) -> String {
    let lacks = |text: &str, line: &str| !text.lines().any(|other| other == line);
    let gone = old.lines().filter(|line| lacks(new, line)).map(|line| format!("{package}: - {line}\n"));
    let added = new.lines().filter(|line| lacks(old, line)).map(|line| format!("{package}: + {line}\n"));
    gone.chain(added).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_and_added_items_are_named() {
        assert_eq!(difference("p", "a\nb\n", "a\nb\n"), "");
        assert_eq!(difference("p", "a\nb\n", "b\nc\n"), "p: - a\np: + c\n");
    }
}
