//! The files of an installation, as they are below `/usr` or `/usr/local`.

use std::fs;
use std::path::Path;

use super::{Release, copy, create_dir, notices, read, write};
use crate::program::root;

/// A file of the repository, its place in the installation, and its mode.
type File = (&'static str, &'static str, u32);

/// The pages whose names begin so are of a sub-command that the packages do not have: its feature is not a default.
#[cfg(test)]
const NOT_INSTALLED: &str = "fetch-url-queue";

/// The folders of completions are those that the shells of Debian and Fedora read.
const FILES: [File; 15] = [
    ("assets/fetch-url-open", "bin/fetch-url-open", 0o755),
    ("docs/fetch-url.1", "share/man/man1/fetch-url.1", 0o644),
    ("docs/fetch-url-completions.1", "share/man/man1/fetch-url-completions.1", 0o644),
    ("docs/fetch-url-explain.1", "share/man/man1/fetch-url-explain.1", 0o644),
    ("docs/fetch-url-extract.1", "share/man/man1/fetch-url-extract.1", 0o644),
    ("docs/fetch-url-mirror.1", "share/man/man1/fetch-url-mirror.1", 0o644),
    ("docs/fetch-url-serve.1", "share/man/man1/fetch-url-serve.1", 0o644),
    ("docs/completions/bash", "share/bash-completion/completions/fetch-url", 0o644),
    ("docs/completions/zsh", "share/zsh/site-functions/_fetch-url", 0o644),
    ("docs/completions/fish", "share/fish/vendor_completions.d/fetch-url.fish", 0o644),
    ("assets/fetch-url.desktop", "share/applications/fetch-url.desktop", 0o644),
    ("README.md", "share/doc/fetch-url/README.md", 0o644),
    ("CHANGELOG.md", "share/doc/fetch-url/CHANGELOG.md", 0o644),
    ("LICENSE-APACHE", "share/doc/fetch-url/LICENSE-APACHE", 0o644),
    ("LICENSE-MIT", "share/doc/fetch-url/LICENSE-MIT", 0o644),
];

/// Where the licences of the dependencies are.
const NOTICES: &str = "share/doc/fetch-url/THIRD-PARTY-NOTICES";

/// Fills the directory `stage` with the installed files.
pub(super) fn fill(release: &Release, binary: &Path) -> Result<(), String> {
    install(binary, &release.stage.join("bin/fetch-url"), 0o755)?;
    for (from, to, mode) in FILES {
        install(&root().join(from), &release.stage.join(to), mode)?;
    }
    let notices = release.stage.join(NOTICES);
    write(&notices, notices::text(&release.target)?.as_bytes())?;
    set_mode(&notices, 0o644)?;
    copyright(release)
}

fn install(from: &Path, to: &Path, mode: u32) -> Result<(), String> {
    create_dir(to.parent().unwrap_or(to))?;
    copy(from, to)?;
    set_mode(to, mode)
}

/// Sets the mode of a file, which must not depend on the umask of whoever builds.
pub(super) fn set_mode(path: &Path, mode: u32) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt as _;
    let set = fs::set_permissions(path, fs::Permissions::from_mode(mode));
    set.map_err(|error| format!("cannot set the mode of {}: {error}", path.display()))
}

/// Writes Debian's `copyright` and `changelog`. Outside of `stage`, because only the Debian package has them. The licences
/// of the dependencies are in a file of their own: `copyright` must not contain the Apache License.
fn copyright(release: &Release) -> Result<(), String> {
    let mut text = b"Copyright 2026 The fetch-url developers\n\n\
        fetch-url is licensed under the MIT licence or the Apache License 2.0, at your choice.\n\
        On Debian systems the Apache License 2.0 is in /usr/share/common-licenses/Apache-2.0.\n\
        The licences of the crates in the program are in THIRD-PARTY-NOTICES in this directory.\n\n\
        The MIT licence:\n\n"
        .to_vec();
    text.extend(read(&root().join("LICENSE-MIT"))?);
    let folder = release.out.join("debian");
    create_dir(&folder)?;
    write(&folder.join("copyright"), &text)?;
    let changelog = format!(
        "fetch-url ({}) stable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- The fetch-url developers <fetch-url@users.noreply.github.com>  {}\n",
        release.version,
        rfc_2822(&release.epoch)?
    );
    write(&folder.join("changelog"), changelog.as_bytes())
}

/// Formats a time as the changelog of Debian needs it: `Thu, 01 Dec 1994 12:34:56 +0000`.
fn rfc_2822(epoch: &str) -> Result<String, String> {
    let seconds = epoch.parse().map_err(|_| format!("SOURCE_DATE_EPOCH is no number: {epoch:?}"))?;
    let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
    Ok(fetch_url_tests::http_date(time).replace("GMT", "+0000"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_installed_file_exists_and_every_man_page_is_installed() {
        for (from, _, _) in FILES {
            assert!(root().join(from).is_file(), "{from}");
        }
        for entry in fs::read_dir(root().join("docs")).unwrap() {
            let name = entry.unwrap().file_name().to_string_lossy().into_owned();
            let is_installed = FILES.iter().any(|(from, ..)| *from == format!("docs/{name}"));
            let is_page = name.ends_with(".1") && !name.starts_with(NOT_INSTALLED);
            assert!(is_installed || !is_page, "{name}");
            assert!(!is_installed || !name.starts_with(NOT_INSTALLED), "{name}");
        }
    }

    #[test]
    fn changelog_time_is_formatted_and_a_bad_one_is_an_error() {
        assert_eq!(rfc_2822("786285296").unwrap(), "Thu, 01 Dec 1994 12:34:56 +0000");
        assert_eq!(rfc_2822("yesterday").unwrap_err(), "SOURCE_DATE_EPOCH is no number: \"yesterday\"");
    }
}
