//! `cargo xtask dist`: everything that a release offers for download, in `target/packages`: a tarball, a static binary, a
//! Debian package, an RPM package, a container image, a list of the components (SBOM) and `SHA256SUMS`.
//!
//! The same commit and the same toolchain give the same bytes: `--twice` builds in a second directory and compares.
//! `--try` installs the packages in fresh Debian systems and uses them there.

mod archive;
mod build;
mod image;
mod notices;
mod packages;
mod stage;
mod try_out;
mod twice;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::{command_output, root, version};
use build::Linkage;

/// The directory of the finished files, below the directory of the workspace. `crates/cli/Cargo.toml` names it, too.
pub(crate) const OUT: &str = "target/packages";

/// The maximum sizes of the binaries in bytes. The static one contains the C library.
const MAX_BINARY: u64 = 8 * 1024 * 1024;
const MAX_STATIC: u64 = MAX_BINARY + 512 * 1024;
const MAX_MINIMAL: u64 = 5_000_000;

/// Facts about this release that names and times of the files depend on.
struct Release {
    version: String,
    /// The target triple of the compiler, such as `x86_64-unknown-linux-gnu`.
    target: String,
    /// The time that every file gets, in seconds since 1970.
    epoch: String,
    /// The directory of the finished files.
    out: PathBuf,
    /// The directory with the installed files, as they are below `/usr`.
    stage: PathBuf,
}

/// Runs `cargo xtask dist` with its options.
pub(crate) fn run(options: &[&str]) -> Result<(), String> {
    match options {
        [] => make().map(drop),
        ["--try"] => try_out::run(),
        ["--twice"] => twice::run(),
        _ => Err("usage: cargo xtask dist [--try | --twice]".to_owned()),
    }
}

/// Makes all files. Parts whose tool is missing are left out with a message.
fn make() -> Result<(), String> {
    let release = Release::new()?;
    let _ = fs::remove_dir_all(&release.out);
    create_dir(&release.out)?;
    let mut skipped = Vec::new();

    let dynamic = build::binary(&release, Linkage::Dynamic)?;
    stage::fill(&release, &dynamic)?;
    archive::tarball(&release)?;
    skipped.extend(packages::deb(&release)?);
    skipped.extend(packages::rpm(&release)?);
    skipped.extend(packages::sbom(&release)?);

    let static_binary = build::binary(&release, Linkage::Static)?;
    let name = format!("fetch-url-{}-{}-static", release.version, release.platform());
    copy(&static_binary, &release.out.join(name))?;
    image::write_image(&release, &static_binary)?;
    let minimal = build::binary(&release, Linkage::Minimal)?;
    let name = format!("fetch-url-{}-{}-minimal", release.version, release.platform());
    copy(&minimal, &release.out.join(name))?;

    println!("{}", checksums(&release)?);
    skipped.iter().for_each(|what| println!("dist: {what}"));
    println!("dist: in {}", release.out.display());
    // All files are made and can be tried, also if one is too large.
    let sizes = [(&dynamic, MAX_BINARY), (&static_binary, MAX_STATIC), (&minimal, MAX_MINIMAL)];
    let too_large: Vec<String> =
        sizes.into_iter().filter_map(|(file, most)| check_size(file, most).err()).collect();
    if too_large.is_empty() { Ok(()) } else { Err(format!("dist: too large: {}", too_large.join(", "))) }
}

impl Release {
    fn new() -> Result<Self, String> {
        let out = root().join(OUT);
        let rustc = command_output(Command::new("rustc").arg("-vV"))?;
        let host = rustc.lines().find_map(|line| line.strip_prefix("host: "));
        let target = host.ok_or("rustc -vV names no host")?.to_owned();
        if !target.contains("-linux-") {
            return Err(format!("dist: packages are made on Linux only, this is {target}"));
        }
        let epoch = match source_date_epoch() {
            Some(epoch) => epoch,
            None => {
                command_output(Command::new("git").current_dir(root()).args(["log", "-1", "--format=%ct"]))?
            }
        };
        let stage = out.join("stage");
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Ok(Self { version, target, epoch: epoch.trim().to_owned(), out, stage })
    }

    /// The platform in file names: `x86_64-linux-gnu`.
    fn platform(&self) -> String {
        self.target.replace("-unknown-", "-")
    }
}

#[allow(clippy::disallowed_methods, reason = "the standard variable of reproducible builds")]
fn source_date_epoch() -> Option<String> {
    std::env::var("SOURCE_DATE_EPOCH").ok()
}

/// Returns a message if a program is missing that `install` would install.
fn missing(what: &str, program: &str, install: &str) -> Option<String> {
    // cargo-cyclonedx has no --version.
    version(program, "--help")
        .is_none()
        .then(|| format!("{what} skipped: {program} is not installed (`{install}`)"))
}

fn check_size(binary: &Path, most: u64) -> Result<(), String> {
    let size = fs::metadata(binary).map_err(|error| format!("{}: {error}", binary.display()))?.len();
    println!("dist: {}: {size} bytes, at most {most}", binary.display());
    if size > most { Err(format!("{}: {size} bytes, at most {most}", binary.display())) } else { Ok(()) }
}

/// Writes `SHA256SUMS` of the finished files and returns its text.
fn checksums(release: &Release) -> Result<String, String> {
    let mut names: Vec<String> = Vec::new();
    let unreadable = |error: std::io::Error| format!("{}: {error}", release.out.display());
    for entry in fs::read_dir(&release.out).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        if entry.path().is_file() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    let text = command_output(Command::new("sha256sum").current_dir(&release.out).arg("--").args(&names))?;
    write(&release.out.join("SHA256SUMS"), text.as_bytes())?;
    Ok(text)
}

fn create_dir(path: &Path) -> Result<(), String> {
    fs::create_dir_all(path).map_err(|error| format!("cannot create {}: {error}", path.display()))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    fs::write(path, bytes).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let copied = fs::copy(from, to);
    copied.map(drop).map_err(|error| format!("cannot copy {} to {}: {error}", from.display(), to.display()))
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}
