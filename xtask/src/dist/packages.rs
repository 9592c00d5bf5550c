//! The packages that other tools make: `.deb`, `.rpm` and the list of components. Their metadata is in
//! `crates/cli/Cargo.toml`.

use std::fs;
use std::process::Command;

use super::{Release, missing, read, write};
use crate::program::{cargo, root, run_command, version};

/// Makes the Debian package. `cargo deb` finds the dependencies with `dpkg-shlibdeps`.
pub(super) fn deb(release: &Release) -> Result<Option<String>, String> {
    if let Some(skipped) = missing(".deb", "cargo-deb", "cargo install cargo-deb --locked") {
        return Ok(Some(skipped));
    }
    let mut deb = cargo(["deb", "--no-build", "--no-strip", "--locked", "--profile", "dist"]);
    deb.args(["-p", "fetch-url-cli", "--deb-revision", "1", "--compress-type", "xz", "--output"]);
    let path = release.out.join(format!("fetch-url_{}-1_{}.deb", release.version, debian_architecture()?));
    run_command(deb.arg(&path).env("SOURCE_DATE_EPOCH", &release.epoch))?;
    if version("lintian", "--version").is_none() {
        return Ok(Some("lintian skipped: it is not installed".to_owned()));
    }
    // As root, lintian prints a warning that is not about the package.
    run_command(Command::new("lintian").args(["--allow-root", "--fail-on", "error"]).arg(&path))
        .map(|()| None)
}

fn debian_architecture() -> Result<String, String> {
    let name = crate::program::command_output(Command::new("dpkg").arg("--print-architecture"))?;
    Ok(name.trim().to_owned())
}

/// Makes the RPM package, and reads it with `rpm` where that is installed.
pub(super) fn rpm(release: &Release) -> Result<Option<String>, String> {
    if let Some(skipped) = missing(".rpm", "cargo-generate-rpm", "cargo install cargo-generate-rpm --locked")
    {
        return Ok(Some(skipped));
    }
    let architecture = release.target.split('-').next().unwrap_or_default();
    let path = release.out.join(format!("fetch-url-{}-1.{architecture}.rpm", release.version));
    let mut rpm =
        cargo(["generate-rpm", "-p", "crates/cli", "--arch", architecture, "--auto-req", "builtin"]);
    rpm.args(["--payload-compress", "xz", "--source-date", &release.epoch, "--output"]).arg(&path);
    run_command(rpm.env("SOURCE_DATE_EPOCH", &release.epoch))?;
    if version("rpm", "--version").is_none() {
        return Ok(Some("the check of the .rpm skipped: rpm is not installed".to_owned()));
    }
    run_command(Command::new("rpm").args(["-qp", "--info", "--list", "--requires"]).arg(&path)).map(|()| None)
}

/// Writes the list of components of the binary in the format CycloneDX.
pub(super) fn sbom(release: &Release) -> Result<Option<String>, String> {
    let install = "cargo install cargo-cyclonedx --locked";
    if let Some(skipped) = missing("the SBOM", "cargo-cyclonedx", install) {
        return Ok(Some(skipped));
    }
    // The tool writes beside each manifest, and cannot write elsewhere.
    let name = "fetch-url.cdx";
    let mut cyclonedx = cargo(["cyclonedx", "--format", "json", "--all", "--override-filename", name]);
    cyclonedx.args(["--target", &release.target, "--manifest-path", "crates/cli/Cargo.toml"]);
    let made = run_command(cyclonedx.env("SOURCE_DATE_EPOCH", &release.epoch));
    let file = format!("{name}.json");
    let copied = made.and_then(|()| {
        let to = release.out.join(format!("fetch-url-{}.cdx.json", release.version));
        let text = read(&root().join("crates/cli").join(&file))?;
        // The components of the workspace are named by the paths of their sources.
        let text = String::from_utf8_lossy(&text).replace(&*root().to_string_lossy(), "/fetch-url");
        write(&to, text.as_bytes())
    });
    for member in [
        "crates/core",
        "crates/proto",
        "crates/fetch",
        "crates/serve",
        "crates/queue",
        "crates/cli",
        "xtask",
        "tests",
    ] {
        let _ = fs::remove_file(root().join(member).join(&file));
    }
    copied.map(|()| None)
}
