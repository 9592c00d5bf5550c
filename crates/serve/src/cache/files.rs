//! Opens the files of the cache. Another program of this user may have put a FIFO, a device or a symbolic link in the place
//! of one: opening it must not wait for a writer, and must not lead out of the directory.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

/// Returns the options for files that only this user may read.
pub(super) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    options
}

/// Opens a file for reading.
///
/// # Errors
/// As [`open_regular`].
pub(super) fn open_to_read(path: &Path) -> io::Result<File> {
    open_regular(path, OpenOptions::new().read(true))
}

/// Opens a file with `options`.
///
/// # Errors
/// `InvalidData` if `path` is not a regular file; the errors of the system.
pub(super) fn open_regular(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let is_special = |error: &io::Error| {
        let number = error.raw_os_error();
        [Errno::LOOP, Errno::NXIO].iter().any(|special| number == Some(special.raw_os_error()))
    };
    let file = match options.custom_flags(flags.bits().cast_signed()).open(path) {
        Err(error) if is_special(&error) => return Err(not_regular()),
        opened => opened?,
    };
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_regular()) }
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a file of the cache is not a regular file")
}

/// Returns `true` if `path` is a regular file.
pub(super) fn is_regular(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// Returns the size of a file, which is 0 if there is none.
pub(super) fn size_of(path: &Path) -> u64 {
    fs::symlink_metadata(path).map_or(0, |metadata| metadata.len())
}

/// Removes a file and returns its size, which is 0 if it stays.
pub(super) fn remove_file(path: &Path) -> u64 {
    let size = size_of(path);
    if fs::remove_file(path).is_ok() { size } else { 0 }
}
