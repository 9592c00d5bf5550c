//! Owner, group, access list and permissions of a file that replaces another one.

use std::fs::{File, Metadata};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
use std::path::Path;

/// The permissions of the group. If a file has an access list, they are its mask: the most that any entry grants, except
/// those of the owner and of other users.
const GROUP_BITS: u32 = 0o070;

/// Gives `file` the group and the access list (ACL) of the file at `target`, which it will replace, and whose metadata are
/// `replaced`. Returns the permissions for `file`: those of the replaced file, without set-user-ID and set-group-ID. If the
/// group or the access list cannot be copied, the permissions of the group are removed, because they would be given to
/// others.
pub(super) fn copy_permissions(file: &File, target: &Path, replaced: &Metadata) -> u32 {
    let mode = replaced.permissions().mode() & 0o777;
    let is_same = file.metadata().is_ok_and(|own| own.gid() == replaced.gid());
    let has_group = is_same || fchown(file, None, Some(replaced.gid())).is_ok();
    // Without permissions of the group, an access list grants nothing.
    let is_copied = mode & GROUP_BITS == 0 || access_list::copy(file, target);
    if has_group && is_copied { mode } else { mode & !GROUP_BITS }
}

/// Gives `file` the owner of the file that it has replaced. Only privileged processes can do that; in others, the owner
/// stays the user of the process.
pub(super) fn copy_owner(file: &File, replaced: &Metadata) {
    if file.metadata().is_ok_and(|own| own.uid() != replaced.uid()) {
        let _ = fchown(file, Some(replaced.uid()), None);
    }
}

#[cfg(target_os = "linux")]
mod access_list {
    use std::fs::File;
    use std::path::Path;

    use rustix::fs::{XattrFlags, fremovexattr, fsetxattr, lgetxattr};
    use rustix::io::Errno;

    /// The extended attribute with the access list of POSIX 1003.1e.
    const NAME: &str = "system.posix_acl_access";
    /// Maximum length of an access list in bytes. It has 4 bytes and 8 for each entry.
    const MAX_LENGTH: usize = 4096;

    /// Gives `file` the access list of the file at `target`, or none if that has none: in a directory with a default
    /// access list, `file` was created with one. Returns `false` if `file` may have another one than that file.
    pub(super) fn copy(file: &File, target: &Path) -> bool {
        let mut list = [0; MAX_LENGTH];
        match lgetxattr(target, NAME, &mut list) {
            Ok(length) => fsetxattr(file, NAME, &list[..length], XattrFlags::empty()).is_ok(),
            Err(Errno::NODATA) => matches!(fremovexattr(file, NAME), Ok(()) | Err(Errno::NODATA)),
            // The file system has no access lists.
            Err(error) => error == Errno::NOTSUP,
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod access_list {
    use std::fs::File;
    use std::path::Path;

    /// Access lists of other systems are not copied.
    pub(super) const fn copy(_file: &File, _target: &Path) -> bool {
        true
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::OpenOptionsExt as _;

    use rustix::fs::{OFlags, XattrFlags};

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
        let writable = File::options().write(true).open(&path).expect("a file");
        assert_eq!(copy_permissions(&writable, &path, &own), mode_bits(&own), "the same group");
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
            assert_eq!(copy_permissions(&file, &path, &replaced), mode_bits(&replaced) & 0o707);
        }
    }

    /// Returns an access list that grants `rw-` to the owner and to user 65,533, and nothing to the owning group and others.
    fn list_for_one_user() -> Vec<u8> {
        let unused = u32::MAX;
        let entries =
            [(1u16, 6u16, unused), (2, 6, 65_533), (4, 0, unused), (16, 6, unused), (32, 0, unused)];
        let bytes = entries.map(|(tag, permissions, id)| {
            [&tag.to_le_bytes()[..], &permissions.to_le_bytes(), &id.to_le_bytes()].concat()
        });
        [&2u32.to_le_bytes()[..], &bytes.concat()].concat()
    }

    fn list_of(path: &Path) -> Option<Vec<u8>> {
        let mut list = [0; 256];
        let length = rustix::fs::lgetxattr(path, "system.posix_acl_access", &mut list).ok()?;
        Some(list[..length].to_vec())
    }

    /// The permissions of the group in the metadata are the mask of the list, not those of the owning group.
    #[test]
    fn access_list_of_the_replaced_file_is_kept_and_one_of_the_directory_is_not_added() {
        let directory = tempfile::tempdir().expect("a directory");
        let (old, new) = (directory.path().join("old"), directory.path().join("new"));
        std::fs::write(&old, "").expect("a file");
        let set =
            |path: &Path, name| rustix::fs::setxattr(path, name, &list_for_one_user(), XattrFlags::empty());
        if set(&old, "system.posix_acl_access").is_err() {
            // The file system has no access lists.
            return;
        }
        let copy = || {
            let _ = std::fs::remove_file(&new);
            let file = File::create(&new).expect("a file");
            let mode = copy_permissions(&file, &old, &std::fs::metadata(&old).expect("a file"));
            file.set_permissions(std::fs::Permissions::from_mode(mode)).expect("permissions");
            (mode, list_of(&new))
        };
        assert_eq!(copy(), (0o660, Some(list_for_one_user())));
        std::fs::remove_file(&old).expect("a file");
        std::fs::write(&old, "").expect("a file");
        std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o640)).expect("permissions");
        set(directory.path(), "system.posix_acl_default").expect("a default list");
        assert_eq!(copy(), (0o640, None));
    }
}
