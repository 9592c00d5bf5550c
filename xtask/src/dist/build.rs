//! Builds the binary for distribution: with the profile `dist`, without paths of this machine.

use std::fs;
use std::path::{Path, PathBuf};
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
        // A sixth smaller than `s`. A start costs 1.6 million instructions more.
        build.env("CARGO_PROFILE_DIST_OPT_LEVEL", "z");
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
    check_that_it_runs(&binary)?;
    Ok(binary)
}

/// Runs the binary once: a linker option that the C library of this machine does not support ends it at its start.
fn check_that_it_runs(binary: &Path) -> Result<(), String> {
    let version = command_output(Command::new(binary).arg("--version"))?;
    let expected = format!("fetch-url {}", env!("CARGO_PKG_VERSION"));
    if version.trim() == expected {
        Ok(())
    } else {
        Err(format!("{}: it prints {version:?}", binary.display()))
    }
}

fn rust_flags(release: &Release, linkage: Linkage) -> Result<Vec<String>, String> {
    let hidden = hidden_paths()?;
    let mut flags: Vec<String> =
        hidden.iter().map(|(path, name)| format!("--remap-path-prefix={path}={name}")).collect();
    flags.push("-Cforce-unwind-tables=no".to_owned());
    // Only small functions are copied into their callers: 4 % smaller, 2 % more instructions at each start.
    flags.push("-Cllvm-args=-inline-threshold=20".to_owned());
    // lld, with which Rust links for this target.
    let is_linked_by_lld = release.target == "x86_64-unknown-linux-gnu";
    if is_linked_by_lld {
        // Joins functions with the same code.
        flags.push("-Clink-arg=-Wl,--icf=all".to_owned());
        flags.push("-Clink-arg=-Wl,--no-eh-frame-hdr".to_owned());
        flags.push(format!("-Clink-arg=-Wl,-T,{}", linker_script()?.display()));
    }
    if linkage == Linkage::Static {
        flags.push("-Ctarget-feature=+crt-static".to_owned());
    }
    if linkage == Linkage::Static && is_linked_by_lld {
        // Relative relocations in a short form, which the C library inside supports. Those of other systems may be older
        // than glibc 2.36.
        flags.push("-Clink-arg=-Wl,--pack-dyn-relocs=relr".to_owned());
    }
    Ok(flags)
}

/// Writes the linker script that leaves out the tables for unwinding, also those of the standard library. With
/// panic=abort only backtraces need them.
fn linker_script() -> Result<PathBuf, String> {
    let path = target_dir()?.join("without-unwind-tables.ld");
    fs::write(&path, "SECTIONS { /DISCARD/ : { *(.eh_frame) *(.eh_frame_hdr) } } INSERT AFTER .comment;\n")
        .map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
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
