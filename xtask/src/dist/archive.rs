//! Tar archives with the same bytes for the same files: sorted names, one time, no owner.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Release;
use crate::program::run_command;

/// Writes the tarball of the installation. `tar -C /usr/local --strip-components=1 -xf FILE` installs it.
pub(super) fn tarball(release: &Release) -> Result<PathBuf, String> {
    let name = format!("fetch-url-{}-{}", release.version, release.platform());
    let path = release.out.join(format!("{name}.tar"));
    let rename = format!("--transform=s,^\\./,{name}/,");
    tar(release, &release.stage, &path, &[&rename, "--exclude=./"])?;
    run_command(Command::new("gzip").args(["-9", "--no-name", "--force"]).arg(&path))?;
    Ok(release.out.join(format!("{name}.tar.gz")))
}

/// Packs the files below `folder` into an uncompressed archive.
pub(super) fn tar(release: &Release, folder: &Path, path: &Path, options: &[&str]) -> Result<(), String> {
    let mut tar = Command::new("tar");
    tar.args(["--create", "--format=ustar", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
    tar.arg(format!("--mtime=@{}", release.epoch)).args(["--mode=u=rwX,go=rX"]).args(options);
    run_command(tar.arg("--file").arg(path).arg("--directory").arg(folder).arg("."))
}
