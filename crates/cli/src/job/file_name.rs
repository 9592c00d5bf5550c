//! The file names of outputs that a user gives.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Returns `true` if `path` ends with a slash: it names a directory, but no file.
pub(super) fn lacks_file_name(path: &Path) -> bool {
    path.as_os_str().as_bytes().ends_with(b"/")
}
