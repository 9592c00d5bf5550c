//! The identity of a file (device and inode), and the error of an operation on a file.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::{Code, Error, Phase};

/// Returns device and inode, which identify a file.
pub(super) fn file_id(metadata: &fs::Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Returns `true` if `path` names the file with this device and inode. Symbolic links are not followed.
pub(super) fn is_file_at(id: (u64, u64), path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| file_id(&metadata) == id)
}

/// Returns the error of an operation on the file.
pub(super) fn file_error(target: &Path, error: io::Error) -> Error {
    Error::io(Code::SinkFailed, Phase::Deliver, &target.display().to_string(), error)
}
