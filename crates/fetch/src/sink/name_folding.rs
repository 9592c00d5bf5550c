//! Finds out whether a directory distinguishes names that differ only in case, or only in their Unicode form (composed or
//! decomposed letters, UAX #15). Device and inode do not show it on every file system: those of FUSE may have an inode for
//! each spelling of a name.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt as _;

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use rustix::fs::{AtFlags, Mode, OFlags, openat, statat, unlinkat};
use rustix::io::Errno;

use super::dir_handle::DirHandle;
use super::file_id::file_id;
use super::temporary_names::NEW_SUFFIX;
use crate::{Code, Error, Phase};

/// A difference between names that a file system may ignore.
#[derive(Clone, Copy)]
struct Difference {
    /// The file that is created in a directory without names to look up. No download has it as a temporary name, or only
    /// one of that strange name.
    probe: &'static str,
    /// Returns another spelling of a name, or `None` if it has none.
    other: fn(&[u8]) -> Option<Vec<u8>>,
}

const CASE: Difference = Difference { probe: NEW_SUFFIX, other: swap_case };
const FORM: Difference = Difference { probe: "fetch-url-probe-\u{e9}.fetch-url.new", other: other_form };

/// The maximum number of attempts, while other processes create and remove files.
const MAX_ATTEMPTS: usize = 16;
/// The maximum number of names that are looked up in another spelling.
const MAX_NAMES: usize = 64;

impl DirHandle {
    /// Returns `true` if names that differ only in case are the same in the directory, or names that differ only in their
    /// Unicode form, unless the names in question `are_ascii`. If it contains no name to look up in another spelling, an
    /// empty file is created and removed.
    ///
    /// # Errors
    /// [`Code::SinkFailed`] if that file cannot be created.
    pub fn folds_names(&self, are_ascii: bool) -> Result<bool, Error> {
        Ok(self.ignores(CASE)? || !are_ascii && self.ignores(FORM)?)
    }

    /// Like [`folds_names`](Self::folds_names), but nothing is created. Returns `None` if the directory contains no name to
    /// look up in another spelling.
    pub fn entries_fold_names(&self, are_ascii: bool) -> Option<bool> {
        let ignores_form = || if are_ascii { Some(false) } else { self.entries_show(FORM) };
        match self.entries_show(CASE) {
            // If no name has another form, there are no names that differ in it.
            Some(false) => ignores_form().or(Some(false)),
            None => ignores_form().filter(|ignores_form| *ignores_form),
            ignores_case => ignores_case,
        }
    }

    /// Returns `true` if the directory ignores the difference.
    fn ignores(&self, difference: Difference) -> Result<bool, Error> {
        match self.entries_show(difference) {
            Some(is_ignored) => Ok(is_ignored),
            None => (0..MAX_ATTEMPTS).find_map(|_| self.created_file_shows(difference)).unwrap_or(Ok(false)),
        }
    }

    /// Looks up the other spelling of existing names. Returns `None` if no name has one.
    fn entries_show(&self, difference: Difference) -> Option<bool> {
        let names = || {
            fs::read_dir(self.path("")).ok().map(|entries| entries.flatten().map(|entry| entry.file_name()))
        };
        let spellings = names()?.filter_map(|name| Some(((difference.other)(name.as_bytes())?, name)));
        spellings.take(MAX_NAMES).find_map(|(other, name)| {
            if !self.exists(&other) {
                return self.exists(name.as_bytes()).then_some(false);
            }
            let (mut is_listed, mut is_other_listed) = (false, false);
            for listed in names()? {
                is_listed |= listed == name;
                is_other_listed |= listed.as_bytes() == other;
            }
            match (is_listed, is_other_listed) {
                (true, true) => Some(false),
                // The file was renamed meanwhile.
                (false, true) => None,
                (_, false) => Some(true),
            }
        })
    }

    /// Looks up the other spelling of a new file. Returns `None` if another process has removed the file meanwhile.
    fn created_file_shows(&self, difference: Difference) -> Option<Result<bool, Error>> {
        let Difference { probe, other } = difference;
        let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let created = openat(&self.directory, probe, flags, Mode::RUSR | Mode::WUSR);
        let file = match created.map_err(io::Error::from).and_then(|file| fs::File::from(file).metadata()) {
            Ok(file) => file,
            // The file system has no such names.
            Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::ILSEQ | Errno::INVAL)) => {
                return Some(Ok(false));
            }
            Err(error) => {
                let detail = format!("{}: {error}", self.display_path.display());
                return Some(Err(Error::new(Code::SinkFailed, Phase::Deliver, detail)));
            }
        };
        let is_ignored = other(probe.as_bytes()).is_some_and(|other| self.exists(&other));
        let is_known = is_ignored || self.leads_to(probe, &file);
        // The file of a run that was killed is empty. A file with content is not ours.
        if file.is_file() && file.len() == 0 {
            let _ = unlinkat(&self.directory, probe, AtFlags::empty());
        }
        is_known.then_some(Ok(is_ignored))
    }

    /// Returns `true` if the name of the created file still leads to `file`.
    fn leads_to(&self, probe: &str, file: &Metadata) -> bool {
        let at_name = fs::symlink_metadata(self.path(probe));
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

/// Returns the name in the other Unicode form, or `None` if it has none.
fn other_form(name: &[u8]) -> Option<Vec<u8>> {
    let name = str::from_utf8(name).ok().filter(|name| !name.is_ascii())?;
    let decomposed = DecomposingNormalizerBorrowed::new_nfd().normalize(name);
    let composed = ComposingNormalizerBorrowed::new_nfc().normalize(name);
    [decomposed, composed].into_iter().find(|form| form != name).map(|form| form.into_owned().into_bytes())
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
        assert_eq!(handle(dir.path()).entries_fold_names(true), None);
        assert_eq!(handle(dir.path()).folds_names(true).expect("known"), system_folds_case());
        assert_eq!(fs::read_dir(dir.path()).expect("the names").count(), 0, "nothing is left");
    }

    #[test]
    fn file_of_a_killed_run_is_removed_and_one_with_content_is_kept() {
        let dir = tempfile::tempdir().expect("a directory");
        create(dir.path(), &[CASE.probe]);
        let probe = || handle(dir.path()).created_file_shows(CASE).expect("known").expect("created");
        assert_eq!(probe(), system_folds_case());
        assert!(!dir.path().join(CASE.probe).exists());
        fs::write(dir.path().join(CASE.probe), "the user's").expect("a file");
        assert_eq!(probe(), system_folds_case());
        assert_eq!(fs::read(dir.path().join(CASE.probe)).expect("the user's file"), b"the user's");
    }

    #[test]
    fn other_spelling_that_is_found_shows_that_case_is_folded() {
        let dir = tempfile::tempdir().expect("a directory");
        // On a system that distinguishes case, this file is found like the other spelling of the created one.
        create(dir.path(), &[&CASE.probe.to_ascii_uppercase()]);
        let folds_names = handle(dir.path()).created_file_shows(CASE).expect("known");
        assert!(folds_names.expect("created"));
    }

    #[test]
    fn entries_with_both_spellings_do_not_show_that_case_is_folded() {
        let dir = tempfile::tempdir().expect("a directory");
        create(dir.path(), &["1", "readme"]);
        assert_eq!(handle(dir.path()).entries_fold_names(true), Some(system_folds_case()));
        create(dir.path(), &["README"]);
        assert_eq!(handle(dir.path()).entries_fold_names(true), Some(system_folds_case()));
        // Now each name with letters has a file of the other case.
        fs::remove_file(dir.path().join("1")).expect("the file");
        assert_eq!(handle(dir.path()).entries_fold_names(true), Some(system_folds_case()));
    }

    #[test]
    fn directory_in_which_no_file_can_be_created_is_an_error() {
        let dir = tempfile::tempdir().expect("a directory");
        let handle = handle(dir.path());
        fs::remove_dir(dir.path()).expect("removed");
        assert_eq!(handle.folds_names(true).expect_err("an error").code(), Code::SinkFailed);
    }

    #[test]
    fn link_at_the_name_of_the_created_file_is_not_followed() {
        let dir = tempfile::tempdir().expect("a directory");
        std::os::unix::fs::symlink("target", dir.path().join(CASE.probe)).expect("a link");
        let probed = handle(dir.path()).created_file_shows(CASE).expect("an answer");
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
                    (0..50).for_each(|_| assert_eq!(handle.folds_names(true).expect("known"), folds_names));
                });
            }
        });
    }
}
