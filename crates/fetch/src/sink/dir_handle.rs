//! An open directory below another one, reached without following links. Files go to the opened directory, whatever
//! its names mean later.

use std::fs::{self, Metadata};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, open, openat, unlinkat};
use rustix::io::Errno;

use crate::{Code, Error, Phase};

/// A handle of an open directory.
#[derive(Clone, Debug)]
pub struct DirHandle {
    directory: Arc<OwnedFd>,
    shown: PathBuf,
}

impl DirHandle {
    /// Opens the directory `below` (names with `/` between them) in `root`; `root` itself may be reached through
    /// links. Missing directories are created.
    ///
    /// # Errors
    /// [`Code::SinkFailed`] if a link or a file is in the way.
    pub fn open(root: &Path, below: &str) -> Result<Self, Error> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
        let mut shown = root.to_path_buf();
        let mut directory = open(root, flags, Mode::empty()).map_err(|errno| failed(&shown, errno))?;
        for name in below.split('/').filter(|name| !name.is_empty()) {
            shown.push(name);
            let made = mkdirat(&directory, name, Mode::from_raw_mode(0o777));
            if let Err(errno) = made
                && errno != Errno::EXIST
            {
                return Err(failed(&shown, errno));
            }
            directory = openat(&directory, name, flags | OFlags::NOFOLLOW, Mode::empty())
                .map_err(|errno| failed(&shown, errno))?;
        }
        Ok(Self { directory: Arc::new(directory), shown })
    }

    /// A path to `name` in it, as long as this or a clone of it lives; where the system has no such paths, the usual one.
    pub fn path(&self, name: &str) -> PathBuf {
        let held = PathBuf::from(self.held());
        if cfg!(target_os = "linux") && held.exists() { held.join(name) } else { self.shown.join(name) }
    }

    /// The facts of the file `name` in it; no link is followed.
    pub fn file(&self, name: &str) -> Option<Metadata> {
        fs::symlink_metadata(self.path(name)).ok().filter(Metadata::is_file)
    }

    /// Removes the file `name` in it.
    ///
    /// # Errors
    /// `sink_failed`.
    pub fn remove_file(&self, name: &str) -> Result<(), Error> {
        let removed = unlinkat(&self.directory, name, AtFlags::empty());
        removed.map_err(|errno| failed(&self.shown.join(name), errno))
    }

    /// Removes the directory `name` in it, when nothing is in it; whether it did.
    pub fn remove_directory(&self, name: &str) -> bool {
        unlinkat(&self.directory, name, AtFlags::REMOVEDIR).is_ok()
    }

    fn held(&self) -> String {
        format!("/proc/self/fd/{}", self.directory.as_raw_fd())
    }

    /// An error in which its paths stand as people know them.
    pub fn known(&self, error: Error) -> Error {
        error.with_other_words(&format!("{}/", self.held()), &format!("{}/", self.shown.display()))
    }
}

fn failed(path: &Path, errno: Errno) -> Error {
    let words = match errno {
        Errno::LOOP | Errno::NOTDIR => "it is there, and no directory".to_owned(),
        errno => std::io::Error::from(errno).to_string(),
    };
    Error::new(Code::SinkFailed, Phase::Deliver, format!("{}: {words}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn no_link_is_followed_and_what_is_open_stays() {
        let home = tempfile::tempdir().expect("a directory");
        let at = |name: &str| home.path().join(name);
        let held = DirHandle::open(home.path(), "a/b").expect("directories");
        fs::rename(at("a"), at("moved")).expect("a move");
        fs::create_dir(at("elsewhere")).expect("a directory");
        symlink(at("elsewhere"), at("a")).expect("a link");
        fs::write(held.path("f"), "f").expect("a file");
        assert!(at("moved/b/f").exists());
        for below in ["a", "a/b", "moved/b/f"] {
            assert!(DirHandle::open(home.path(), below).is_err(), "{below}");
        }
        fs::create_dir(at("elsewhere/b")).expect("a directory");
        assert!(held.file("f").is_some() && held.file("g").is_none());
        held.remove_file("f").expect("a file less");
        assert!(held.remove_file("f").is_err() && !at("moved/b/f").exists());
        let above = DirHandle::open(home.path(), "moved").expect("a directory");
        assert!(above.remove_directory("b") && !above.remove_directory("b") && at("elsewhere/b").exists());
        fs::remove_dir(at("elsewhere/b")).expect("a directory");
        assert_eq!(fs::read_dir(at("elsewhere")).expect("a directory").count(), 0);
        assert!(DirHandle::open(&at("a"), "x").is_ok(), "the first may be a link");
    }
}
