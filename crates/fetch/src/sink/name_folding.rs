//! Finds out whether a directory distinguishes names that differ only in case. Device and inode do not show it on every
//! file system: those of FUSE may have an inode for each spelling of a name.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt as _;

use rustix::fs::{AtFlags, Mode, OFlags, openat, statat, unlinkat};

use super::dir_handle::DirHandle;
use super::file_id::file_id;
use super::temporary_names::NEW_SUFFIX;
use crate::{Code, Error, Phase};

/// The file that is created in a directory without names to look up. No download has it as a temporary name, because the
/// name before the suffix is empty.
const CASE_PROBE: &str = NEW_SUFFIX;
/// The maximum number of attempts, while other processes create and remove files.
const MAX_ATTEMPTS: usize = 16;
/// The maximum number of names that are looked up in another spelling.
const MAX_NAMES: usize = 64;

impl DirHandle {
    /// Returns `true` if names that differ only in case are the same in the directory. If it contains no name to look
    /// up in another spelling, an empty file is created and removed.
    ///
    /// # Errors
    /// [`Code::SinkFailed`] if that file cannot be created.
    pub fn folds_names(&self) -> Result<bool, Error> {
        match self.entries_fold_names() {
            Some(folds_names) => Ok(folds_names),
            None => (0..MAX_ATTEMPTS).find_map(|_| self.created_file_folds_names()).unwrap_or(Ok(false)),
        }
    }

    /// Returns whether names that differ only in case are the same in the directory, or `None` if it contains no name
    /// with ASCII letters to look up in the other case. Nothing is created.
    pub fn entries_fold_names(&self) -> Option<bool> {
        let names = || {
            fs::read_dir(self.path("")).ok().map(|entries| entries.flatten().map(|entry| entry.file_name()))
        };
        names()?.take(MAX_NAMES).find_map(|name| {
            let other = swap_case(name.as_bytes())?;
            if !self.exists(&other) {
                return self.exists(name.as_bytes()).then_some(false);
            }
            let are_two_files = names()?.any(|listed| listed.as_bytes() == other);
            (!are_two_files).then_some(true)
        })
    }

    /// Looks up another spelling of a new file. Returns `None` if another process has removed the file meanwhile.
    fn created_file_folds_names(&self) -> Option<Result<bool, Error>> {
        let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let created = openat(&self.directory, CASE_PROBE, flags, Mode::RUSR | Mode::WUSR);
        let file = match created.map_err(io::Error::from).and_then(|file| fs::File::from(file).metadata()) {
            Ok(file) => file,
            Err(error) => {
                let detail = format!("{}: {error}", self.display_path.display());
                return Some(Err(Error::new(Code::SinkFailed, Phase::Deliver, detail)));
            }
        };
        let folds_names = self.exists(CASE_PROBE.to_ascii_uppercase().as_bytes());
        let is_known = folds_names || self.leads_to(&file);
        // The file of a run that was killed is empty. A file with content is not ours.
        if file.is_file() && file.len() == 0 {
            let _ = unlinkat(&self.directory, CASE_PROBE, AtFlags::empty());
        }
        is_known.then_some(Ok(folds_names))
    }

    /// Returns `true` if the name of the created file still leads to `file`.
    fn leads_to(&self, file: &Metadata) -> bool {
        let at_name = fs::symlink_metadata(self.path(CASE_PROBE));
        at_name.is_ok_and(|at_name| file_id(&at_name) == file_id(file))
    }

    fn exists(&self, name: &[u8]) -> bool {
        statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }
}

/// Returns the name with the other case of its ASCII letters, or `None` if it has none.
fn swap_case(name: &[u8]) -> Option<Vec<u8>> {
    let swapped = name.iter().map(|&byte| match byte {
        b'a'..=b'z' => byte.to_ascii_uppercase(),
        byte => byte.to_ascii_lowercase(),
    });
    Some(swapped.collect::<Vec<_>>()).filter(|swapped| swapped != name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn handle(directory: &Path) -> DirHandle {
        DirHandle::open_or_create(directory, "").expect("the directory")
    }

    fn create(directory: &Path, names: &[&str]) {
        names.iter().for_each(|name| fs::write(directory.join(name), "").expect("a file"));
    }

    /// Returns `true` if the temporary directory of the tests folds case.
    fn system_folds_case() -> bool {
        let dir = tempfile::tempdir().expect("a directory");
        create(dir.path(), &["name"]);
        dir.path().join("NAME").exists()
    }

    #[test]
    fn empty_directory_is_probed_with_a_file_that_is_removed() {
        let dir = tempfile::tempdir().expect("a directory");
        assert_eq!(handle(dir.path()).entries_fold_names(), None);
        assert_eq!(handle(dir.path()).folds_names().expect("known"), system_folds_case());
        assert_eq!(fs::read_dir(dir.path()).expect("the names").count(), 0, "nothing is left");
    }

    #[test]
    fn file_of_a_killed_run_is_removed_and_one_with_content_is_kept() {
        let dir = tempfile::tempdir().expect("a directory");
        create(dir.path(), &[CASE_PROBE]);
        let probe = || handle(dir.path()).created_file_folds_names().expect("known").expect("created");
        assert_eq!(probe(), system_folds_case());
        assert!(!dir.path().join(CASE_PROBE).exists());
        fs::write(dir.path().join(CASE_PROBE), "the user's").expect("a file");
        assert_eq!(probe(), system_folds_case());
        assert_eq!(fs::read(dir.path().join(CASE_PROBE)).expect("the user's file"), b"the user's");
    }

    #[test]
    fn other_spelling_that_is_found_shows_that_case_is_folded() {
        let dir = tempfile::tempdir().expect("a directory");
        // On a system that distinguishes case, this file is found like the other spelling of the created one.
        create(dir.path(), &[&CASE_PROBE.to_ascii_uppercase()]);
        let folds_names = handle(dir.path()).created_file_folds_names().expect("known");
        assert!(folds_names.expect("created"));
    }

    #[test]
    fn entries_with_both_spellings_do_not_show_that_case_is_folded() {
        let dir = tempfile::tempdir().expect("a directory");
        create(dir.path(), &["1", "readme"]);
        assert_eq!(handle(dir.path()).entries_fold_names(), Some(system_folds_case()));
        create(dir.path(), &["README"]);
        assert_ne!(handle(dir.path()).entries_fold_names(), Some(!system_folds_case()));
    }

    #[test]
    fn directory_in_which_no_file_can_be_created_is_an_error() {
        let dir = tempfile::tempdir().expect("a directory");
        let handle = handle(dir.path());
        fs::remove_dir(dir.path()).expect("removed");
        assert_eq!(handle.folds_names().expect_err("an error").code(), Code::SinkFailed);
    }

    #[test]
    fn link_at_the_name_of_the_created_file_is_not_followed() {
        let dir = tempfile::tempdir().expect("a directory");
        std::os::unix::fs::symlink("target", dir.path().join(CASE_PROBE)).expect("a link");
        let probed = handle(dir.path()).created_file_folds_names().expect("an answer");
        assert_eq!(probed.expect_err("an error").code(), Code::SinkFailed);
        assert!(!dir.path().join("target").exists());
    }

    #[test]
    fn case_is_found_out_by_several_threads_at_once() {
        let dir = tempfile::tempdir().expect("a directory");
        let (handle, folds_names) = (handle(dir.path()), system_folds_case());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    (0..50).for_each(|_| assert_eq!(handle.folds_names().expect("known"), folds_names));
                });
            }
        });
    }
}
