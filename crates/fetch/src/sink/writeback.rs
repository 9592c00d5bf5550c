//! Syncs of a file to the disk, and their errors. The kernel reports a failed write to the disk once: the next sync succeeds
//! although the bytes are lost, so that nothing that was written since the last successful sync counts as stored.

use std::fs::File;
use std::io;

use rustix::io::Errno;

use super::network_disk::is_on_network;

/// The syncs of one file.
#[derive(Default)]
pub(super) struct Writeback {
    has_failed: bool,
    /// Runs before each sync, and can fail in its place.
    #[cfg(test)]
    pub(super) before_sync: Option<Box<dyn FnMut() -> io::Result<()> + Send>>,
}

impl Writeback {
    /// Syncs the bytes. Fails without a sync if an earlier one has failed.
    pub(super) fn sync_data(&mut self, file: &File) -> io::Result<()> {
        self.sync(|| file.sync_data())
    }

    /// Syncs the bytes and the metadata. Fails without a sync if an earlier one has failed.
    pub(super) fn sync_all(&mut self, file: &File) -> io::Result<()> {
        self.sync(|| file.sync_all())
    }

    fn sync(&mut self, sync: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        if self.has_failed {
            return Err(io::Error::other("bytes of the file may be lost"));
        }
        #[cfg(test)]
        let injected = self.before_sync.as_mut().map_or(Ok(()), |before_sync| before_sync());
        #[cfg(not(test))]
        let injected = Ok(());
        let synced = injected.and_then(|()| sync());
        self.has_failed = synced.is_err();
        synced
    }

    /// Records the error of a write to `file`: it may be that of earlier bytes. A full disk is an error of the write
    /// itself, but file systems of a server find out later that theirs is full.
    pub(super) fn record_write_error(&mut self, file: &File, error: &io::Error) {
        let Some(code) = error.raw_os_error().map(Errno::from_raw_os_error) else { return };
        let is_full = matches!(code, Errno::NOSPC | Errno::DQUOT | Errno::FBIG);
        self.has_failed |= !is_full || is_on_network(file);
    }

    /// Returns `true` if bytes that were written since the last successful sync may be lost.
    pub(super) const fn may_have_lost_bytes(&self) -> bool {
        self.has_failed
    }
}
