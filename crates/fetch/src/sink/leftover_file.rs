//! Recognises and removes temporary files that a killed or failed run left in a mirror.
//!
//! The name shows that fetch-url created the file (see `part_paths`). The other conditions show that no process needs it.

use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;

use rustix::fs::{Mode, OFlags, openat};

use super::dir_handle::DirHandle;
use super::file_id::{file_id, is_file_at};
use super::state::State;
use super::temporary_names::{NEW_SUFFIX, PART_SUFFIX, STATE_SUFFIX};
use crate::{Code, Error, Phase};

impl DirHandle {
    /// Returns the name of the download whose temporary file `name` is, if the file can be removed: it is a regular file
    /// of this user with one link, no process is downloading to it, and its metadata, if there are any, name a URL that
    /// starts with `url_prefix`. The partial file of another URL may be resumed by another command.
    pub fn leftover_target<'n>(&self, name: &'n str, url_prefix: &str) -> Option<&'n str> {
        let target = target_of(name)?;
        self.lock_leftover(name, target, url_prefix).map(|_| target)
    }

    /// Removes the temporary file `name`, under the conditions of [`Self::leftover_target`].
    ///
    /// # Errors
    /// [`Code::SinkFailed`] if the file cannot be removed, or if a condition no longer holds.
    pub fn remove_leftover(&self, name: &str, url_prefix: &str) -> Result<(), Error> {
        // The locks are held until the file is removed.
        let locks = target_of(name).and_then(|target| self.lock_leftover(name, target, url_prefix));
        if locks.is_none() {
            let detail = format!("{}: another process may need it", self.display_path.join(name).display());
            return Err(Error::new(Code::SinkFailed, Phase::Deliver, detail));
        }
        self.remove_file(name)
    }

    /// Locks the temporary file `name` and the `.part` file of the same download. Returns `None` if the file must not be
    /// removed.
    fn lock_leftover(&self, name: &str, target: &str, url_prefix: &str) -> Option<[Option<File>; 2]> {
        let file = self.lock_own_file(name)?;
        let part_name = format!("{target}{PART_SUFFIX}");
        let part = match name == part_name || fs::symlink_metadata(self.path(&part_name)).is_err() {
            true => None,
            false => Some(self.lock_own_file(&part_name)?),
        };
        let state = State::read(&self.path(&format!("{target}{STATE_SUFFIX}")));
        let is_from_elsewhere = state.is_some_and(|state| !state.url.starts_with(url_prefix));
        (!is_from_elsewhere).then_some([Some(file), part])
    }

    /// Opens and locks a regular file of this user with one link. Returns `None` if it is another file or locked.
    fn lock_own_file(&self, name: &str) -> Option<File> {
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::RDWR;
        let opened: OwnedFd = openat(&self.directory, name, flags, Mode::empty()).ok()?;
        let file = File::from(opened);
        file.try_lock().ok()?;
        let metadata = file.metadata().ok()?;
        let is_own = metadata.uid() == rustix::process::geteuid().as_raw();
        let is_removable = is_own && metadata.is_file() && metadata.nlink() == 1;
        // Another process may have finished the download between opening and locking.
        (is_removable && is_file_at(file_id(&metadata), &self.path(name))).then_some(file)
    }
}

/// Returns the name without the suffix of a temporary file, or `None` if it has none, or if nothing is left.
fn target_of(name: &str) -> Option<&str> {
    let target = [PART_SUFFIX, STATE_SUFFIX, NEW_SUFFIX].iter().find_map(|suffix| name.strip_suffix(suffix));
    target.filter(|target| !target.is_empty())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const URL_PREFIX: &str = "http://h/d/";

    #[test]
    fn temporary_files_that_no_process_needs_are_removed() {
        let dir = tempfile::tempdir().expect("a directory");
        let handle = DirHandle::open_or_create(dir.path(), "").expect("a directory");
        let at = |name: &str| dir.path().join(name);
        let target = |name: &str| handle.leftover_target(name, URL_PREFIX).map(str::to_owned);
        for name in ["x.fetch-url.part", "x.fetch-url.json", "x.fetch-url.new"] {
            assert_eq!(target(name), None, "{name} does not exist");
            fs::write(at(name), "").expect("a file");
            assert_eq!(target(name).as_deref(), Some("x"));
        }
        for name in ["x", "x.part", ".fetch-url.new", "x.fetch-url.part.gz", "x.FETCH-URL.PART"] {
            fs::write(at(name), "").expect("a file");
            assert_eq!(target(name), None, "{name}");
            assert!(handle.remove_leftover(name, URL_PREFIX).is_err() && at(name).exists());
        }
        // The `.part` file is locked: none of the files of the download is removed.
        let part = File::open(at("x.fetch-url.part")).expect("a file");
        part.lock().expect("a lock");
        for name in ["x.fetch-url.part", "x.fetch-url.json", "x.fetch-url.new"] {
            assert_eq!(target(name), None, "{name}");
        }
        drop(part);
        fs::hard_link(at("x.fetch-url.new"), at("copy")).expect("a link");
        symlink("copy", at("y.fetch-url.part")).expect("a link");
        fs::create_dir(at("z.fetch-url.part")).expect("a directory");
        assert_eq!(["x", "y", "z"].map(|name| target(&format!("{name}.fetch-url.new"))), [const { None }; 3]);
        assert_eq!(["y", "z"].map(|name| target(&format!("{name}.fetch-url.part"))), [const { None }; 2]);
        for name in ["x.fetch-url.part", "x.fetch-url.json"] {
            handle.remove_leftover(name, URL_PREFIX).expect("removed");
            assert!(!at(name).exists());
        }
    }

    #[test]
    fn partial_download_of_another_url_is_kept() {
        let dir = tempfile::tempdir().expect("a directory");
        let handle = DirHandle::open_or_create(dir.path(), "").expect("a directory");
        for (url, target) in [("http://h/d/x", Some("x")), ("http://h/x", None), ("ftp://h/d/x", None)] {
            let state =
                format!("{{\"url\":\"{url}\",\"size\":9,\"octets\":1,\"tail_sha256\":\"\",\"mode\":384}}");
            fs::write(dir.path().join("x.fetch-url.part"), "1").expect("a file");
            fs::write(dir.path().join("x.fetch-url.json"), state).expect("a file");
            for name in ["x.fetch-url.part", "x.fetch-url.json"] {
                assert_eq!(handle.leftover_target(name, URL_PREFIX), target, "{url}");
            }
        }
    }
}
