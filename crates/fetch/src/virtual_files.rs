//! Recognises files that the kernel generates when they are read (`/proc`, `/sys`): size and modification time in their
//! metadata are not those of the content.

use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Returns `true` if the open `file` is on a virtual file system.
pub(crate) fn is_virtual_file(file: &File) -> bool {
    virtual_file_systems::has_file(file)
}

/// Returns `true` if the file that `path` leads to is on a virtual file system.
pub(crate) fn is_virtual_path(path: &Path) -> bool {
    virtual_file_systems::has_path(path)
}

/// The file system of a directory, with which those of its entries are compared.
pub(crate) struct DirectoryFileSystem {
    device: Option<u64>,
    is_virtual: bool,
}

impl DirectoryFileSystem {
    /// Returns the file system of the directory at `path`.
    pub(crate) fn of(path: &Path) -> Self {
        Self { device: path.metadata().ok().map(|own| own.dev()), is_virtual: is_virtual_path(path) }
    }

    /// Returns `true` if the entry with this metadata at `path` is on a virtual file system. A file system that is
    /// mounted on the entry is another one than that of the directory.
    pub(crate) fn is_virtual_entry(&self, path: &Path, metadata: &Metadata) -> bool {
        if self.device == Some(metadata.dev()) { self.is_virtual } else { is_virtual_path(path) }
    }
}

#[cfg(target_os = "linux")]
mod virtual_file_systems {
    use std::fs::File;
    use std::path::Path;

    use rustix::fs::{StatFs, fstatfs, statfs};

    /// Magic numbers of linux/magic.h: proc, sysfs, debugfs, tracefs, cgroup, cgroup2.
    const MAGIC_NUMBERS: [u64; 6] = [0x9fa0, 0x6265_6572, 0x6462_6720, 0x7472_6163, 0x0027_e0eb, 0x6367_7270];

    pub(super) fn has_file(file: &File) -> bool {
        fstatfs(file).is_ok_and(|file_system| is_virtual(&file_system))
    }

    pub(super) fn has_path(path: &Path) -> bool {
        statfs(path).is_ok_and(|file_system| is_virtual(&file_system))
    }

    fn is_virtual(file_system: &StatFs) -> bool {
        MAGIC_NUMBERS.contains(&(file_system.f_type as u64))
    }
}

#[cfg(not(target_os = "linux"))]
mod virtual_file_systems {
    pub(super) const fn has_file(_: &std::fs::File) -> bool {
        false
    }

    pub(super) const fn has_path(_: &std::path::Path) -> bool {
        false
    }
}
