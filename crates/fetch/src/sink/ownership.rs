//! Owner, group and permissions of a file that replaces another one.

use std::fs::{File, Metadata};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};

/// The permissions of the group.
const GROUP_BITS: u32 = 0o070;

/// Gives `file` the group of the file that it replaces. Returns the permissions for `file`: those of the replaced file,
/// without set-user-ID and set-group-ID. If the group cannot be changed, the permissions of the group are removed,
/// because they were given to another group.
pub(super) fn copy_group(file: &File, replaced: &Metadata) -> u32 {
    let mode = replaced.permissions().mode() & 0o777;
    let is_same = file.metadata().is_ok_and(|own| own.gid() == replaced.gid());
    if is_same || fchown(file, None, Some(replaced.gid())).is_ok() { mode } else { mode & !GROUP_BITS }
}

/// Gives `file` the owner of the file that it has replaced. Only privileged processes can do that; in others, the owner
/// stays the user of the process.
pub(super) fn copy_owner(file: &File, replaced: &Metadata) {
    if file.metadata().is_ok_and(|own| own.uid() != replaced.uid()) {
        let _ = fchown(file, Some(replaced.uid()), None);
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::OpenOptionsExt as _;

    use rustix::fs::OFlags;

    use super::*;

    /// The group of a file that is only open as a path cannot be changed, not even by root.
    #[test]
    fn group_that_cannot_be_kept_gets_no_permissions() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("x");
        std::fs::write(&path, "").expect("a file");
        let flags = OFlags::PATH.bits().cast_signed();
        let file = File::options().read(true).custom_flags(flags).open(&path).expect("a file");
        let mode_bits = |metadata: &Metadata| metadata.permissions().mode() & 0o777;
        let own = std::fs::metadata(&path).expect("a file");
        assert_eq!(copy_group(&file, &own), mode_bits(&own), "the same group");
        // Only root can give a file to any group. The root directory is of another group than a user's file.
        let replaced = if rustix::process::geteuid().is_root() {
            let other = directory.path().join("other");
            std::fs::write(&other, "").expect("a file");
            std::os::unix::fs::chown(&other, None, Some(65_534)).expect("another group");
            std::fs::metadata(other)
        } else {
            std::fs::metadata("/")
        };
        let replaced = replaced.expect("metadata");
        if replaced.gid() != own.gid() {
            assert_eq!(copy_group(&file, &replaced), mode_bits(&replaced) & 0o707);
        }
    }
}
