//! Builds the binary for distribution: with the profile `dist`, without paths of this machine.

use std::path::PathBuf;
use std::process::Command;

use super::{Release, copy, create_dir};
use crate::program::{cargo, command_output, root, run_command};

/// The forms of the binary.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Linkage {
    /// Linked with the C library of the system: for the packages and the tarball.
    Dynamic,
    /// Contains the C library: runs in an empty container.
    Static,
    /// As `Dynamic`, with the feature set `minimal` of `fetch-url-cli`.
    Minimal,
}

impl Linkage {
    const fn word(self) -> &'static str {
        match self {
            Self::Dynamic => "dynamic",
            Self::Static => "static",
            Self::Minimal => "minimal",
        }
    }
}

/// Builds one form of the binary and returns its path.
///
/// The forms have one target directory, so that they share build scripts and macros, and one name in it; therefore each
/// is copied.
pub(super) fn binary(release: &Release, linkage: Linkage) -> Result<PathBuf, String> {
    println!("dist: building the {} binary", linkage.word());
    let target = target_dir()?;
    let mut build =
        cargo(["build", "--locked", "--profile", "dist", "-p", "fetch-url-cli", "--bin", "fetch-url"]);
    build.args(["--target", &release.target]).arg("--target-dir").arg(&target);
    if linkage == Linkage::Minimal {
        build.args(["--no-default-features", "--features", "minimal"]);
    }
    // With a separator that no flag contains; RUSTFLAGS would split paths at spaces.
    build
        .env_remove("RUSTFLAGS")
        .env("CARGO_ENCODED_RUSTFLAGS", rust_flags(release, linkage)?.join("\u{1f}"));
    let mut c_flags: Vec<String> =
        hidden_paths()?.iter().map(|(path, name)| format!("-ffile-prefix-map={path}={name}")).collect();
    c_flags.push("-fno-asynchronous-unwind-tables".to_owned());
    build.env("CFLAGS", c_flags.join(" ")).env("SOURCE_DATE_EPOCH", &release.epoch);
    run_command(&mut build)?;

    let folder = target.join("binaries").join(linkage.word());
    create_dir(&folder)?;
    let binary = folder.join("fetch-url");
    copy(&target.join(&release.target).join("dist/fetch-url"), &binary)?;
    Ok(binary)
}

fn rust_flags(release: &Release, linkage: Linkage) -> Result<Vec<String>, String> {
    let hidden = hidden_paths()?;
    let mut flags: Vec<String> =
        hidden.iter().map(|(path, name)| format!("--remap-path-prefix={path}={name}")).collect();
    // With panic=abort only backtraces need the tables. Those of the standard library stay.
    flags.push("-Cforce-unwind-tables=no".to_owned());
    if release.target == "x86_64-unknown-linux-gnu" {
        // lld, with which Rust links for this target, joins functions with the same code.
        flags.push("-Clink-arg=-Wl,--icf=all".to_owned());
    }
    if linkage == Linkage::Static {
        flags.push("-Ctarget-feature=+crt-static".to_owned());
    }
    Ok(flags)
}

/// Returns the paths of this machine that compilers would write into the binary, and what they write instead. If several
/// match, the last one counts.
fn hidden_paths() -> Result<Vec<(String, &'static str)>, String> {
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    Ok(vec![
        (text(root().to_owned()), "/fetch-url"),
        (text(target_dir()?), "/target"),
        (text(cargo_home()?), "/cargo"),
    ])
}

/// Returns the target directory of cargo.
fn target_dir() -> Result<PathBuf, String> {
    let metadata = command_output(&mut cargo(["metadata", "--format-version=1", "--no-deps", "--offline"]))?;
    let metadata: serde_json::Value =
        serde_json::from_str(&metadata).map_err(|error| format!("cargo metadata: {error}"))?;
    metadata["target_directory"].as_str().map(PathBuf::from).ok_or_else(|| "no target directory".to_owned())
}

/// Returns the directory in which cargo keeps the sources of dependencies.
#[allow(clippy::disallowed_methods, reason = "cargo's own variables")]
fn cargo_home() -> Result<PathBuf, String> {
    if let Some(home) = std::env::var_os("CARGO_HOME") {
        return Ok(home.into());
    }
    let home = command_output(Command::new("sh").args(["-c", "printf %s \"$HOME\""]))?;
    Ok(PathBuf::from(home).join(".cargo"))
}
