//! `cargo xtask dist --twice`: shows that the files depend on the commit only, not on the directory of the build.

use std::process::Command;

use super::{OUT, Release, create_dir, read};
use crate::program::{root, run_command};

/// Makes all files here and from a copy of the commit in another directory, with another target directory, and compares
/// the two lists of checksums.
pub(super) fn run() -> Result<(), String> {
    let changed = crate::program::command_output(
        Command::new("git").current_dir(root()).args(["status", "--porcelain"]),
    )?;
    if !changed.is_empty() {
        return Err(format!("dist --twice compares commits, and these files are not committed:\n{changed}"));
    }
    let release = Release::new()?;
    super::make()?;
    let copy = tempfile::tempdir().map_err(|error| format!("no temporary directory: {error}"))?;
    let (sources, target) = (copy.path().join("sources"), copy.path().join("build"));
    create_dir(&sources)?;
    let archive = copy.path().join("sources.tar");
    let mut pack = Command::new("git");
    pack.current_dir(root()).args(["archive", "--format=tar", "HEAD", "--output"]).arg(&archive);
    run_command(&mut pack)?;
    run_command(Command::new("tar").arg("--extract").arg("--file").arg(&archive).arg("-C").arg(&sources))?;
    // A workspace of its own, so not the cargo command of this one.
    let mut again = Command::new("cargo");
    again.current_dir(&sources).args(["run", "--quiet", "--package", "xtask", "--", "dist"]);
    again.env("CARGO_TARGET_DIR", &target).env("SOURCE_DATE_EPOCH", &release.epoch);
    for variable in ["CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "CARGO_PKG_NAME"] {
        again.env_remove(variable);
    }
    run_command(&mut again)?;
    let sums = |folder: &std::path::Path| read(&folder.join("SHA256SUMS"));
    compare(&sums(&release.out)?, &sums(&sources.join(OUT))?)?;
    println!("dist --twice: both builds have the same bytes");
    Ok(())
}

/// Compares two lists of checksums.
fn compare(one: &[u8], other: &[u8]) -> Result<(), String> {
    let (one, other) = (String::from_utf8_lossy(one), String::from_utf8_lossy(other));
    let differs = |line: &&str| !other.lines().any(|other| other == *line);
    let different: Vec<&str> = one.lines().filter(differs).collect();
    if one == other { Ok(()) } else { Err(format!("the second build differs: {}", different.join(", "))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_different_checksum_is_named() {
        assert_eq!(compare(b"1 a\n2 b\n", b"1 a\n2 b\n"), Ok(()));
        assert_eq!(compare(b"1 a\n2 b\n", b"1 a\n3 b\n").unwrap_err(), "the second build differs: 2 b");
        assert!(compare(b"1 a\n", b"1 a\n2 b\n").is_err());
    }
}
