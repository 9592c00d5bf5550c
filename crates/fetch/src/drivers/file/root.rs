//! A directory that `file:` URLs cannot leave.

use std::fs::File;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;

use crate::{Code, Error, Phase};

/// A directory that the `file:` URL of a request cannot leave: an extra of [`Request`](crate::Request), added by
/// [`Request::with_extra`](crate::Request::with_extra).
///
/// The kernel resolves the path below the open directory, so neither `..` nor a symbolic link leads out, even if a link
/// is changed while it is resolved. Links with an absolute target are refused. It needs Linux 5.6 and procfs; without
/// them every request fails with [`Code::Unsupported`](crate::Code::Unsupported).
#[derive(Clone, Debug)]
pub struct FileRoot {
    directory: Arc<OwnedFd>,
    /// The path as the caller gave it, made absolute, and with all links resolved.
    paths: [PathBuf; 2],
}

impl FileRoot {
    /// Opens the directory at `path`.
    ///
    /// # Errors
    /// `Code::Usage` if it is no directory or cannot be opened.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let failed = |error: std::io::Error| {
            Error::new(Code::Usage, Phase::Plan, format!("{}: {error}", path.display()))
        };
        let paths = [std::path::absolute(path).map_err(failed)?, path.canonicalize().map_err(failed)?];
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        let directory = open(path, flags, Mode::empty()).map_err(|errno| failed(errno.into()))?;
        Ok(Self { directory: Arc::new(directory), paths })
    }

    /// Opens what is at the absolute `path`, for its identity only.
    ///
    /// # Errors
    /// `Code::NotFound` if it is not below the directory, or leads out of it.
    pub(super) fn open_beneath(&self, path: &Path) -> Result<File, Error> {
        let below = self.paths.iter().find_map(|root| path.strip_prefix(root).ok());
        let below = below.ok_or_else(outside)?;
        let below = if below.as_os_str().is_empty() { Path::new(".") } else { below };
        open_beneath(&self.directory, below).map(File::from).map_err(|errno| match errno {
            Errno::ACCESS | Errno::PERM => {
                Error::new(Code::Denied, Phase::Request, std::io::Error::from(errno).to_string())
            }
            Errno::NOSYS => Error::unsupported("paths below a directory need openat2 (Linux 5.6)"),
            // The same answer for every other path does not show which files exist elsewhere.
            _ => outside(),
        })
    }
}

fn outside() -> Error {
    Error::new(Code::NotFound, Phase::Plan, "no such file below the directory that is served")
}

/// Returns a path that leads to the open `file`, even if its name is changed or removed.
pub(super) fn proc_path(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

#[cfg(target_os = "linux")]
fn open_beneath(directory: &OwnedFd, below: &Path) -> Result<OwnedFd, Errno> {
    use rustix::fs::{ResolveFlags, openat2};
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let mut attempts = 0;
    loop {
        match openat2(directory, below, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve) {
            // A directory was renamed while `..` was resolved.
            Err(Errno::AGAIN) if attempts < 100 => attempts += 1,
            result => return result,
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn open_beneath(_: &OwnedFd, _: &Path) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn paths_and_links_that_lead_out_are_not_found() {
        let folder = tempfile::tempdir().expect("a directory");
        let root = folder.path().join("served");
        fs::create_dir_all(root.join("a b")).expect("a directory");
        fs::write(root.join("a b/f"), "x").expect("a file");
        fs::write(folder.path().join("secret"), "x").expect("a file");
        symlink("../secret", root.join("out")).expect("a link");
        symlink(root.join("a b/f"), root.join("absolute")).expect("a link");
        symlink("a b/f", root.join("in")).expect("a link");
        let files = FileRoot::open(&root).expect("a directory");
        for path in ["", "a b", "a b/f", "a b/../a b/f", "in", "./in"] {
            assert!(files.open_beneath(&root.join(path)).is_ok(), "{path}");
        }
        for path in ["../secret", "a b/../../secret", "out", "absolute", "missing", "in/x", "/etc/passwd"] {
            let error = files.open_beneath(&root.join(path)).expect_err(path);
            assert_eq!(error.code(), Code::NotFound, "{path}");
        }
        assert_eq!(FileRoot::open(&root.join("in")).expect_err("a file").code(), Code::Usage);
        // Another spelling of the directory.
        symlink(&root, folder.path().join("alias")).expect("a link");
        let files = FileRoot::open(&folder.path().join("alias")).expect("a directory");
        for root in [root, folder.path().join("alias")] {
            assert!(files.open_beneath(&root.join("in")).is_ok(), "{}", root.display());
        }
    }
}
