//! A disk that ignores case and Unicode forms of names, as those of macOS and Windows do, for a round.

use std::io::Result;
use std::path::Path;

/// A disk in memory that ignores case and Unicode forms. It is unmounted when it is dropped.
#[derive(Debug)]
pub(super) struct Disk {
    #[cfg(target_os = "linux")]
    _disk: fetch_url_tests::FoldingDisk,
}

#[cfg(target_os = "linux")]
impl Disk {
    /// Mounts an empty disk at `path`, an empty directory.
    pub(super) fn mount(path: &Path) -> Result<Self> {
        let folding = fetch_url_tests::Folding { case: true, form: true };
        Ok(Self { _disk: fetch_url_tests::FoldingDisk::mount_at(path, folding)? })
    }
}

#[cfg(not(target_os = "linux"))]
impl Disk {
    pub(super) fn mount(_: &Path) -> Result<Self> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}

/// Mounts a disk for a moment; the error says why it is not possible.
pub(super) fn can_mount() -> Result<()> {
    let folder = tempfile::tempdir()?;
    Disk::mount(folder.path()).map(drop)
}
