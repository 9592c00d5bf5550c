//! An open directory below another one, opened without following links. Files are created in this directory even if
//! it is renamed or replaced later.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io::{self, Read as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, open, openat, statat, unlinkat};
use rustix::io::Errno;

use super::file_id::{file_error, file_id};
use super::leftovers::Leftovers;
use crate::{Code, Error, Phase};

/// The system has procfs.
static HAS_PROCFS: LazyLock<bool> =
    LazyLock::new(|| cfg!(target_os = "linux") && Path::new("/proc/self/fd").exists());

/// A handle of an open directory.
#[derive(Clone, Debug)]
pub struct DirHandle {
    pub(super) directory: Arc<OwnedFd>,
    /// Device and inode of the directory.
    id: (u64, u64),
    pub(super) display_path: PathBuf,
    leftovers: Arc<Leftovers>,
}

impl DirHandle {
    /// Opens the directory with the relative path `below` in `root`. Missing directories are created. Symbolic links
    /// are followed in `root` but not in `below`.
    ///
    /// # Errors
    /// [`Code::SinkFailed`] if a component of the path is `..`, a link or a file, or cannot be opened.
    pub fn open_or_create(root: &Path, below: &str) -> Result<Self, Error> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
        let mut display_path = root.to_path_buf();
        let mut directory = open(root, flags, Mode::empty()).map_err(|errno| failed(&display_path, errno))?;
        for name in below.split('/').filter(|name| !name.is_empty()) {
            display_path.push(name);
            if name == ".." {
                return Err(failed(&display_path, Errno::INVAL));
            }
            let made = mkdirat(&directory, name, Mode::from_raw_mode(0o777));
            if let Err(errno) = made
                && errno != Errno::EXIST
            {
                return Err(failed(&display_path, errno));
            }
            directory = openat(&directory, name, flags | OFlags::NOFOLLOW, Mode::empty())
                .map_err(|errno| failed(&display_path, errno))?;
        }
        let directory = fs::File::from(directory);
        let own = directory.metadata().map_err(|error| file_error(&display_path, error))?;
        Ok(Self {
            id: file_id(&own),
            directory: Arc::new(directory.into()),
            display_path,
            leftovers: Arc::default(),
        })
    }

    /// Returns a path to `name` through `/proc/self/fd`, which is valid while a handle exists. Without procfs, returns
    /// the plain path.
    pub fn path(&self, name: &str) -> PathBuf {
        if *HAS_PROCFS { Path::new(&self.proc_path()).join(name) } else { self.display_path.join(name) }
    }

    /// Returns `true` if [`Self::path`] leads to this directory also after it was moved or replaced.
    pub(super) fn has_lasting_paths() -> bool {
        *HAS_PROCFS
    }

    /// Returns `true` if the path with which the directory was opened still leads to it.
    pub fn is_at_its_path(&self) -> bool {
        fs::metadata(&self.display_path).is_ok_and(|at_path| file_id(&at_path) == self.id)
    }

    /// Returns the descriptor of the directory.
    #[cfg(target_os = "linux")]
    pub(crate) fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        std::os::fd::AsFd::as_fd(&*self.directory)
    }

    pub(super) const fn leftovers(&self) -> &Arc<Leftovers> {
        &self.leftovers
    }

    /// Fails if nothing has the name `name`. Links are not followed.
    pub(crate) fn check_exists(&self, name: &OsStr) -> io::Result<()> {
        statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW).map(drop).map_err(io::Error::from)
    }

    /// Returns the metadata of the regular file `name`, without following links. `None` if there is none, and for a name
    /// that is empty, `.`, `..` or contains `/`.
    pub fn file_metadata(&self, name: &str) -> Option<Metadata> {
        check_name(name).ok()?;
        fs::symlink_metadata(self.path(name)).ok().filter(Metadata::is_file)
    }

    /// Returns the content of the regular file `name`, or `None` if it has more than `max_size` bytes. Links are not
    /// followed.
    ///
    /// # Errors
    /// [`Code::SinkFailed`] if the file cannot be read, or for a name that is empty, `.`, `..` or contains `/`.
    pub fn read_file(&self, name: &str, max_size: u64) -> Result<Option<Vec<u8>>, Error> {
        let display_path = self.display_path.join(name);
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::RDONLY;
        let file = check_name(name).and_then(|()| openat(&self.directory, name, flags, Mode::empty()));
        let file = fs::File::from(file.map_err(|errno| failed(&display_path, errno))?);
        let mut content = Vec::new();
        let read = file.metadata().and_then(|metadata| match metadata.is_file() {
            true => file.take(max_size + 1).read_to_end(&mut content),
            false => Err(io::Error::other("not a regular file")),
        });
        match read {
            Ok(length) => Ok(Some(content).filter(|_| length as u64 <= max_size)),
            Err(error) => {
                let detail = format!("{}: {error}", display_path.display());
                Err(Error::new(Code::SinkFailed, Phase::Deliver, detail))
            }
        }
    }

    /// Removes the file `name`.
    ///
    /// # Errors
    /// [`Code::SinkFailed`] if the file cannot be removed, or for a name that is empty, `.`, `..` or contains `/`.
    pub fn remove_file(&self, name: &str) -> Result<(), Error> {
        let removed = check_name(name).and_then(|()| unlinkat(&self.directory, name, AtFlags::empty()));
        removed.map_err(|errno| failed(&self.display_path.join(name), errno))
    }

    /// Removes the directory `name` if it is empty. Returns `true` if it was removed.
    pub fn remove_directory(&self, name: &str) -> bool {
        check_name(name).and_then(|()| unlinkat(&self.directory, name, AtFlags::REMOVEDIR)).is_ok()
    }

    /// Returns the path of the open directory in procfs.
    fn proc_path(&self) -> String {
        format!("/proc/self/fd/{}", self.directory.as_raw_fd())
    }

    /// Replaces the `/proc/self/fd` path in an error by the plain path.
    pub fn with_display_path(&self, error: Error) -> Error {
        error.replace_in_detail(
            &format!("{}/", self.proc_path()),
            &format!("{}/", self.display_path.display()),
        )
    }
}

fn failed(path: &Path, errno: Errno) -> Error {
    let words = match errno {
        Errno::LOOP | Errno::NOTDIR => "it exists and is not a directory".to_owned(),
        errno => io::Error::from(errno).to_string(),
    };
    Error::new(Code::SinkFailed, Phase::Deliver, format!("{}: {words}", path.display()))
}

/// Fails unless `name` names an entry of a directory.
fn check_name(name: &str) -> Result<(), Errno> {
    match name.as_bytes() {
        b"" | b"." | b".." => Err(Errno::INVAL),
        bytes if bytes.contains(&b'/') => Err(Errno::INVAL),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_not_followed_and_open_directories_stay_valid() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        let handle = DirHandle::open_or_create(dir.path(), "a/b").expect("directories");
        assert!(handle.is_at_its_path());
        fs::rename(at("a"), at("moved")).expect("a move");
        assert!(!handle.is_at_its_path());
        fs::create_dir(at("elsewhere")).expect("a directory");
        symlink(at("elsewhere"), at("a")).expect("a link");
        assert!(!handle.is_at_its_path());
        fs::write(handle.path("f"), "f").expect("a file");
        assert!(at("moved/b/f").exists());
        for below in ["a", "a/b", "moved/b/f"] {
            assert!(DirHandle::open_or_create(dir.path(), below).is_err(), "{below}");
        }
        fs::create_dir(at("elsewhere/b")).expect("a directory");
        assert!(handle.file_metadata("f").is_some() && handle.file_metadata("g").is_none());
        assert_eq!(handle.read_file("f", 1).expect("a file"), Some(b"f".to_vec()));
        assert_eq!(handle.read_file("f", 0).expect("a file"), None);
        symlink("f", handle.path("link")).expect("a link");
        assert!(handle.read_file("link", 9).is_err() && handle.read_file("g", 9).is_err());
        let (kind, mode) = (rustix::fs::FileType::Fifo, Mode::from_raw_mode(0o600));
        rustix::fs::mknodat(&handle.directory, "fifo", kind, mode, 0).expect("a FIFO");
        assert!(handle.read_file("fifo", 9).is_err(), "a FIFO without a writer does not block");
        handle.remove_file("fifo").expect("a FIFO less");
        handle.remove_file("link").expect("a link less");
        handle.remove_file("f").expect("a file less");
        assert!(handle.remove_file("f").is_err() && !at("moved/b/f").exists());
        let parent = DirHandle::open_or_create(dir.path(), "moved").expect("a directory");
        assert!(parent.remove_directory("b") && !parent.remove_directory("b") && at("elsewhere/b").exists());
        fs::remove_dir(at("elsewhere/b")).expect("a directory");
        assert_eq!(fs::read_dir(at("elsewhere")).expect("a directory").count(), 0);
        assert!(DirHandle::open_or_create(&at("a"), "x").is_ok(), "the root may be a link");
    }

    #[test]
    fn names_do_not_lead_out_of_the_directory() {
        let dir = tempfile::tempdir().expect("a directory");
        let root = dir.path().join("root");
        fs::create_dir_all(root.join("below")).expect("directories");
        fs::write(dir.path().join("outside"), "x").expect("a file");
        for below in ["..", "../new", "below/../../new"] {
            assert!(DirHandle::open_or_create(&root, below).is_err(), "{below}");
        }
        assert!(!dir.path().join("new").exists());
        let handle = DirHandle::open_or_create(&root, "").expect("a directory");
        let absolute = dir.path().join("outside").display().to_string();
        for name in ["../outside", absolute.as_str(), "below/../../outside"] {
            assert!(handle.file_metadata(name).is_none() && handle.read_file(name, 9).is_err(), "{name}");
            assert!(handle.remove_file(name).is_err() && dir.path().join("outside").exists(), "{name}");
        }
        assert!(!handle.remove_directory("../root") && !handle.remove_directory(".") && root.exists());
    }
}
