//! The names of the temporary files of a download.
//!
//! Only the name shows that a file belongs to fetch-url, because on every file system a new file has its name from the
//! moment of its creation. A mode, an attribute or a second file would be set later, or not at all. So a process can be
//! killed at any moment, and the next run recognises the files that it left.
//!
//! The state file exists only while the `.fetch-url.part` file does: it is created after it and removed before it.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::digest::{Algorithm, Digest};
use super::dir_handle::DirHandle;
use super::leftovers::Leftovers;
use super::temporary_names::{NEW_SUFFIX, PART_SUFFIX, STATE_SUFFIX, is_temporary_name};
use crate::{Code, Error, Phase};

/// The maximum length of a file name in bytes.
const MAX_NAME: usize = 255;
/// The number of hexadecimal digits of the digest in a shortened name.
const DIGEST_DIGITS: usize = 16;

/// Fails with [`Code::Usage`] if `path` has the name of a temporary file.
pub fn check_permanent_name(path: &Path) -> Result<(), Error> {
    let name = path.file_name().unwrap_or_default();
    if !is_temporary_name(name.as_bytes()) {
        return Ok(());
    }
    let detail = format!("{}: this name is reserved for temporary files", path.display());
    let hint = format!("names must not end in {PART_SUFFIX}, {STATE_SUFFIX} or {NEW_SUFFIX}");
    Err(Error::new(Code::Usage, Phase::Deliver, detail).with_hint(hint))
}

/// The paths of the final file and of its temporary files.
#[derive(Clone, Debug)]
pub(super) struct PartPaths {
    pub(super) target: PathBuf,
    pub(super) part: PathBuf,
    /// The open directory that contains them, in a mirror.
    pub(super) directory: Option<DirHandle>,
    /// The cache that tells whether the directory contains temporary files, if the caller has one.
    pub(super) leftovers: Option<Arc<Leftovers>>,
}

impl PartPaths {
    /// Returns the paths for `target`. Fails if `target` has the name of a temporary file.
    pub(super) fn of(target: &Path) -> Result<Self, Error> {
        check_permanent_name(target)?;
        let part = with_suffix(target, PART_SUFFIX);
        Ok(Self { target: target.to_owned(), part, directory: None, leftovers: None })
    }

    /// Replaces the path through procfs in the error of a file in an open directory by the plain path.
    pub(super) fn with_display_path(&self, error: Error) -> Error {
        match &self.directory {
            Some(directory) => directory.with_display_path(error),
            None => error,
        }
    }

    /// Returns the metadata of `path`, which is one of these paths, without following a link.
    pub(super) fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        // Most files do not exist. `statat` in the open directory is faster than a lookup through procfs.
        if let (Some(directory), Some(name)) = (&self.directory, path.file_name()) {
            directory.check_exists(name)?;
        }
        fs::symlink_metadata(path)
    }

    /// Returns `true` if the `.part` file exists.
    pub(super) fn has_part(&self) -> bool {
        self.may_have_leftovers() && self.metadata(&self.part).is_ok()
    }

    /// Returns `true` if the state file exists.
    pub(super) fn has_state(&self) -> bool {
        self.may_have_leftovers() && self.metadata(&self.state()).is_ok()
    }

    fn may_have_leftovers(&self) -> bool {
        let directory = self.target.parent().unwrap_or(Path::new(""));
        self.leftovers.as_ref().is_none_or(|leftovers| leftovers.may_exist(directory))
    }

    /// Records that this process creates a temporary file.
    pub(super) fn record_own_part(&self) {
        if let Some(leftovers) = &self.leftovers {
            leftovers.record_own();
        }
    }

    /// Returns the path of the state file.
    pub(super) fn state(&self) -> PathBuf {
        with_suffix(&self.target, STATE_SUFFIX)
    }

    /// Returns the path at which a new version of the state file is written.
    pub(super) fn new_state(&self) -> PathBuf {
        new_path(&self.target)
    }

    /// Removes the state file, and the temporary file of an interrupted write of it.
    pub(super) fn remove_state(&self) {
        // Each of them may be missing.
        let _ = fs::remove_file(self.new_state());
        let _ = fs::remove_file(self.state());
    }
}

/// Returns the path at which a new version of the small file `path` is written.
pub(super) fn new_path(path: &Path) -> PathBuf {
    with_suffix(path, NEW_SUFFIX)
}

/// Returns `path` with `suffix`. A name that would be too long is shortened.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let short = path.file_name().and_then(shortened).map(|name| path.with_file_name(name));
    let mut path = short.unwrap_or_else(|| path.to_owned()).into_os_string();
    path.push(suffix);
    path.into()
}

/// Returns the beginning of `name` and a part of its digest, or `None` if it is short enough for a suffix.
fn shortened(name: &OsStr) -> Option<OsString> {
    let max_length = MAX_NAME - PART_SUFFIX.len();
    if name.len() <= max_length {
        return None;
    }
    let mut digest = Digest::new(Algorithm::Sha256);
    digest.update(name.as_bytes());
    let mut end = max_length - DIGEST_DIGITS - 1;
    // Do not cut within a UTF-8 character.
    while end > 0 && name.as_bytes()[end] & 0xc0 == 0x80 {
        end -= 1;
    }
    let mut short = OsStr::from_bytes(&name.as_bytes()[..end]).to_owned();
    short.push("~");
    short.push(&digest.hex()[..DIGEST_DIGITS]);
    Some(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_files_are_beside_the_target() {
        let paths = PartPaths::of(Path::new("d/x.iso")).expect("a name");
        assert_eq!(paths.part, Path::new("d/x.iso.fetch-url.part"));
        assert_eq!(paths.state(), Path::new("d/x.iso.fetch-url.json"));
        assert_eq!(paths.new_state(), Path::new("d/x.iso.fetch-url.new"));
    }

    #[test]
    fn reserved_names_are_refused() {
        for name in ["x.fetch-url.part", "x.fetch-url.json", "d/x.fetch-url.new", "x.Fetch-URL.PART"] {
            let error = PartPaths::of(Path::new(name)).expect_err(name);
            assert_eq!(error.code(), Code::Usage, "{name}");
        }
        for name in ["x.part", "x.part.json", "x.fetch-url", "fetch-url.part", "x.fetch-url.part.gz"] {
            assert!(PartPaths::of(Path::new(name)).is_ok(), "{name}");
        }
    }

    #[test]
    fn long_names_are_shortened_and_stay_different() {
        let part = |name: String| {
            let paths = PartPaths::of(Path::new(&name)).expect("a name");
            let names = [&paths.part, &paths.state(), &paths.new_state()]
                .map(|path| path.file_name().expect("a name").to_owned());
            assert!(names.iter().all(|name| name.len() <= MAX_NAME), "{names:?}");
            assert!(names.iter().all(|name| name.to_str().is_some()), "{names:?}");
            paths.part
        };
        for length in [200, 239, 240, 241, 250, 255] {
            let one = part(format!("{}1", "x".repeat(length - 1)));
            assert_ne!(one, part(format!("{}2", "x".repeat(length - 1))), "{length}");
            assert_eq!(one, part(format!("{}1", "x".repeat(length - 1))), "{length}");
        }
        (240..=255).for_each(|length| drop(part("\u{20ac}".repeat(85)[..length / 3 * 3].to_owned())));
    }
}
