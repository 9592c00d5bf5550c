//! The temporary file `NAME.part` and its state file, until the download is complete.

use std::fs::{self, File, Permissions};
use std::io::{self, Seek as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::dir_handle::DirHandle;
use super::file::{FileOptions, SyncMode};
use super::state::{self, State};
use crate::resume::resource_key;
use crate::{Code, Error, Meta, Phase};

/// Interval at which the state file is written: a killed process loses at most this much of the download.
const STATE_INTERVAL: Duration = Duration::from_secs(5);
/// Number of bytes to free on a full disk for the state file.
const STATE_RESERVE: u64 = 64 * 1024;
/// Minimum size in bytes of files that are synced before they are renamed.
const LARGE_FILE_SIZE: u64 = 1024 * 1024;

/// The paths of the final file, the `.part` file and the state file.
#[derive(Clone, Debug)]
pub(super) struct PartPaths {
    pub(super) target: PathBuf,
    pub(super) part: PathBuf,
    pub(super) state: PathBuf,
    /// The open directory that contains them, in a mirror.
    pub(super) directory: Option<DirHandle>,
}

impl PartPaths {
    pub(super) fn of(target: &Path) -> Self {
        let with_suffix = |suffix: &str| {
            let mut name = target.as_os_str().to_owned();
            name.push(suffix);
            PathBuf::from(name)
        };
        Self {
            target: target.to_owned(),
            part: with_suffix(".part"),
            state: with_suffix(".part.json"),
            directory: None,
        }
    }
}

/// An open, locked `.part` file.
pub(crate) struct Part {
    pub(super) file: File,
    /// Device and inode.
    pub(super) file_id: (u64, u64),
    pub(super) paths: PartPaths,
    pub(super) state: State,
    pub(super) options: FileOptions,
    /// The modification time of the object.
    pub(super) modified: Option<i64>,
    pub(super) is_resumable: bool,
    /// The time at which the state file was last written.
    pub(super) state_written: Instant,
    pub(super) stage: PartStage,
    /// A state file of this program exists.
    pub(super) has_state_file: bool,
    /// The final file existed when the `.part` file was opened, and is replaced.
    pub(super) replaces: bool,
}

/// The progress of a `.part` file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartStage {
    /// Created by this run and empty.
    Fresh,
    /// Left by an earlier run and not changed yet.
    Found,
    /// Being written by this run.
    Filling,
    /// Renamed to its final name.
    Done,
}

impl Part {
    /// Removes the state file, because the bytes that it describes are replaced.
    pub(super) fn remove_state_file(&self) {
        // The state file may not exist.
        let _ = fs::remove_file(&self.paths.state);
    }

    /// Starts writing the body that `meta` describes at offset `start`. The state file of an earlier run describes
    /// the bytes before `start`; it is valid until this run writes its own.
    pub(super) fn begin(&mut self, meta: &Meta, start: u64) {
        self.stage = PartStage::Filling;
        let is_wanted = self.options.resume || self.options.keep_part;
        self.is_resumable = is_wanted && meta.is_resumable && meta.offset == start;
        self.modified = meta.head.modified;
        self.state = State {
            url: meta.requested_url.redacted().to_string(),
            size: meta.head.size,
            validator: meta.validator.clone(),
            resource: Some(resource_key(&meta.url)),
            bytes: start,
            tail_digest: String::new(),
            mode: self.state.mode,
        };
    }

    /// Returns `true` if the file can be emptied and fetched again: bytes that were kept from an existing file
    /// (`keep`) cannot be fetched again.
    pub(super) const fn can_restart(&self) -> bool {
        self.options.keep == 0
    }

    /// Empties the file to receive another version of the object, which `meta` describes.
    pub(super) fn restart(&mut self, meta: &Meta) -> io::Result<()> {
        self.remove_state_file();
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.begin(meta, 0);
        Ok(())
    }

    /// Discards the file and its state.
    pub(super) fn discard(mut self: Box<Self>) {
        self.is_resumable = false;
        self.remove_state_file();
    }

    pub(super) const fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Records that `bytes` more bytes were written.
    pub(super) fn advance(&mut self, bytes: u64) -> io::Result<()> {
        self.state.bytes += bytes;
        if self.is_resumable && self.state_written.elapsed() >= STATE_INTERVAL {
            self.save_state()?;
        }
        Ok(())
    }

    /// Syncs the data, then writes the state file that describes it.
    fn save_state(&mut self) -> io::Result<()> {
        self.file.sync_data()?;
        self.state.tail_digest = state::tail_digest(&mut self.file, self.state.bytes)?;
        self.has_state_file = true;
        self.state.write(&self.paths.state)?;
        self.state_written = Instant::now();
        Ok(())
    }

    /// On a full disk: truncates the data to free space for the state file.
    fn save_state_on_full_disk(&mut self) -> io::Result<()> {
        self.state.bytes = self.state.bytes.checked_sub(STATE_RESERVE).ok_or(io::ErrorKind::StorageFull)?;
        self.file.set_len(self.state.bytes)?;
        self.save_state()
    }

    /// Renames the complete file to its final name.
    pub(super) fn finish(mut self: Box<Self>) -> Result<(), Error> {
        let failed = |what: &str, error: io::Error| Error::io(Code::SinkFailed, Phase::Deliver, what, error);
        let must_sync = match self.options.sync {
            SyncMode::Always => true,
            SyncMode::Auto => self.state.bytes >= LARGE_FILE_SIZE,
            SyncMode::Never => false,
        };
        self.file
            .set_permissions(Permissions::from_mode(self.final_mode()))
            .map_err(|error| failed("permissions", error))?;
        if let Some(modified) = self.modified.filter(|_| self.options.remote_time).and_then(system_time) {
            self.file.set_modified(modified).map_err(|error| failed("the time", error))?;
        }
        if must_sync {
            self.file.sync_all().map_err(|error| failed("sync", error))?;
        }
        if !is_file_at(self.file_id, &self.paths.part) {
            return Err(Error::new(
                Code::SinkFailed,
                Phase::Deliver,
                "another process removed the .part file",
            ));
        }
        self.rename()?;
        self.stage = PartStage::Done;
        // Removes the state file if this run may own one: it has written or found one, resume was requested, or the
        // file is large.
        if self.has_state_file || self.options.resume || self.state.bytes >= LARGE_FILE_SIZE {
            let _ = fs::remove_file(&self.paths.state);
        }
        Ok(())
    }

    /// Returns the permissions of the final file: those of the replaced file, or for a new one those of the umask.
    fn final_mode(&self) -> u32 {
        let replaced = if self.replaces { fs::metadata(&self.paths.target).ok() } else { None };
        replaced.map_or(self.state.mode, |metadata| metadata.permissions().mode() & 0o777)
    }

    /// Renames the file to its final name.
    fn rename(&self) -> Result<(), Error> {
        let PartPaths { target, part, .. } = &self.paths;
        let renamed = if self.options.no_clobber {
            renameat_with(CWD, part, CWD, target, RenameFlags::NOREPLACE).map_err(io::Error::from)
        } else {
            fs::rename(part, target)
        };
        renamed.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => super::file::exists_error(target),
            _ => Error::io(Code::SinkFailed, Phase::Deliver, &target.display().to_string(), error),
        })
    }
}

impl Drop for Part {
    /// If the file is not finished: keeps it if it can be resumed, otherwise removes it. Only a file that is open and
    /// locked here is removed; an unchanged file of an earlier run is kept.
    fn drop(&mut self) {
        match self.stage {
            PartStage::Done | PartStage::Found => return,
            PartStage::Filling if self.is_resumable && self.state.bytes > 0 => {
                if self.save_state().is_ok() || self.save_state_on_full_disk().is_ok() {
                    return;
                }
            }
            PartStage::Filling | PartStage::Fresh => {}
        }
        if is_file_at(self.file_id, &self.paths.part) {
            let _ = fs::remove_file(&self.paths.part);
            let _ = fs::remove_file(&self.paths.state);
        }
    }
}

/// Returns device and inode, which identify a file.
pub(super) fn file_id(metadata: &fs::Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Returns `true` if `path` names the file with this device and inode. Symbolic links are not followed.
pub(super) fn is_file_at(id: (u64, u64), path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| file_id(&metadata) == id)
}

/// Converts seconds since 1970-01-01 UTC, which may be negative.
fn system_time(seconds: i64) -> Option<SystemTime> {
    let since_epoch = Duration::from_secs(seconds.unsigned_abs());
    if seconds >= 0 { UNIX_EPOCH.checked_add(since_epoch) } else { UNIX_EPOCH.checked_sub(since_epoch) }
}
