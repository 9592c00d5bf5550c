//! Files with passwords, which other users must not be able to read.

use std::fs::File;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::option_file::read_at_most;

/// The maximum size of a netrc or password file.
pub(super) const MAX_FILE_SIZE: u64 = 1024 * 1024;

/// Returns `true` if group or others have a permission for a regular file. Pipes and devices are exempt.
pub(crate) fn is_open_to_others(file: &File) -> io::Result<bool> {
    let metadata = file.metadata()?;
    Ok(metadata.is_file() && metadata.permissions().mode() & 0o077 != 0)
}

/// Reads a file that other users must not be able to read, of at most [`MAX_FILE_SIZE`] bytes.
pub(super) fn read_private_file(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    if is_open_to_others(&file)? {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "other users can read the file; run chmod 600",
        ));
    }
    read_at_most(MAX_FILE_SIZE, file)
}
