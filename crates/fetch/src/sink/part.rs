//! The file of a download until it is complete: first a file without a name, then `NAME.fetch-url.part` with its state
//! file.

use std::fs::{self, File};
use std::io::{self, Seek as _};
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fetch_url_core::Url;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::file::{FileOptions, SyncMode, exists_error};
use super::file_id::{file_error, file_id, is_file_at};
use super::network_disk::is_on_network;
use super::open_part::{PART_MODE, copy_to_part, link_part};
use super::ownership::{copy_owner, copy_permissions};
use super::part_paths::PartPaths;
use super::private::set_mode;
use super::saved_file::SavedFile;
use super::state::{self, State};
use super::writeback::Writeback;
use super::{RenameHook, failed, unnamed_file};
use crate::resume::resource_key;
use crate::{Code, Error, Meta, Phase};

/// Interval at which the state file is written. A killed process loses at most the bytes of one interval.
const STATE_INTERVAL: Duration = Duration::from_secs(5);
/// Number of bytes to free on a full disk for the state file.
const STATE_RESERVE: u64 = 64 * 1024;
/// Minimum size in bytes of files that are synced before they are renamed.
const LARGE_FILE_SIZE: u64 = 1024 * 1024;

/// Maximum size in bytes of a file without a name. A larger one gets its `.part` name, so that a killed process loses
/// at most this much.
const MAX_UNNAMED_SIZE: u64 = 64 * 1024;
/// Maximum time for which a file that receives bytes has no name.
const MAX_UNNAMED_TIME: Duration = Duration::from_secs(1);

/// The file of a download: without a name as long as it is small, then an open, locked `.part` file.
pub(crate) struct Part {
    pub(super) file: File,
    /// Device and inode of the `.part` file, or `None` as long as the file has no name.
    pub(super) file_id: Option<(u64, u64)>,
    pub(super) paths: PartPaths,
    pub(super) state: State,
    /// The requested URL and the URL of the response, for the state file.
    pub(super) urls: Option<(Url<'static>, Url<'static>)>,
    pub(super) options: FileOptions,
    /// The modification time of the object.
    pub(super) modified: Option<SystemTime>,
    pub(super) is_resumable: bool,
    /// The time at which the state file was last written, at first the start of the body.
    pub(super) state_written: Instant,
    pub(super) stage: PartStage,
    /// A state file may exist: an earlier run left it, or this run has written it.
    pub(super) may_have_state_file: bool,
    /// The state file describes synced bytes of this file: this run has written it, or continues from it.
    pub(super) has_own_state: bool,
    pub(super) writeback: Writeback,
    /// The file that had the final name when the `.part` file was opened, and is replaced.
    pub(super) replaced: Option<fs::Metadata>,
}

/// The progress of a download.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartStage {
    /// Created by this run and empty.
    New,
    /// Left by an earlier run and not changed yet.
    Existing,
    /// Being written by this run.
    Writing,
    /// Complete, with its final name.
    Finished,
}

impl Part {
    /// Starts writing the body that `meta` describes at offset `start`. The state file of an earlier run describes
    /// the bytes before `start`; it is valid until this run writes its own.
    pub(super) fn begin(&mut self, meta: &Meta, start: u64, has_earlier_start: bool) {
        (self.stage, self.state_written) = (PartStage::Writing, Instant::now());
        // Bytes kept from an existing file belong to the object for certain only if the caller has compared them
        // (`resume`).
        let FileOptions { resume, keep_part, keep_bytes, .. } = self.options;
        let is_wanted = resume || keep_part && keep_bytes == 0;
        let can_be_resumed = meta.is_resumable && meta.validator.is_some();
        self.is_resumable = is_wanted && can_be_resumed && meta.offset == start;
        self.modified = match (meta.head.modified, self.options.listed_time) {
            (Some(seconds), _) => system_time(seconds, meta.head.modified_nanoseconds),
            (None, listed) => listed.and_then(|seconds| system_time(seconds, 0)),
        };
        self.urls = Some((meta.requested_url.clone(), meta.url.clone()));
        self.state = State {
            size: meta.head.size,
            validator: meta.validator.clone(),
            bytes: start,
            has_earlier_start,
            mode: self.state.mode,
            ..State::default()
        };
    }

    /// Returns `true` if the file can be emptied and fetched again. Bytes that were kept from an existing file without
    /// comparing them (`keep_bytes` without `resume`) may belong to another object.
    pub(super) const fn can_restart(&self) -> bool {
        self.options.keep_bytes == 0 || self.options.resume
    }

    /// Empties the file to receive another version of the object, which `meta` describes.
    pub(super) fn restart(&mut self, meta: &Meta) -> io::Result<()> {
        self.remove_state();
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.begin(meta, 0, false);
        Ok(())
    }

    /// Discards the file and its state.
    pub(super) fn discard(mut self: Box<Self>) {
        self.is_resumable = false;
        self.paths.remove_state();
    }

    pub(super) const fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Returns the error for a failed write to the file, and records it.
    pub(super) fn write_failed(&mut self, error: io::Error) -> Error {
        self.writeback.record_write_error(&self.file, &error);
        failed(error)
    }

    fn remove_state(&mut self) {
        self.paths.remove_state();
        self.has_own_state = false;
    }

    /// Records that `bytes` more bytes were written.
    pub(super) fn advance(&mut self, bytes: u64) -> Result<(), Error> {
        self.set_length(self.state.bytes + bytes)
    }

    /// Records that the first `bytes` bytes were written.
    pub(super) fn set_length(&mut self, bytes: u64) -> Result<(), Error> {
        self.state.bytes = bytes;
        if self.is_resumable && self.state_written.elapsed() >= STATE_INTERVAL {
            self.save_state().map_err(failed)?;
        }
        self.name_if_large(self.state.bytes)
    }

    /// Gives a file without a name its `.part` name if `size` exceeds [`MAX_UNNAMED_SIZE`], or [`MAX_UNNAMED_TIME`] has
    /// passed.
    pub(super) fn name_if_large(&mut self, size: u64) -> Result<(), Error> {
        let is_small = size <= MAX_UNNAMED_SIZE && self.state_written.elapsed() < MAX_UNNAMED_TIME;
        if self.file_id.is_some() || is_small { Ok(()) } else { self.give_part_name() }
    }

    /// Gives a file without a name its `.part` name.
    fn give_part_name(&mut self) -> Result<(), Error> {
        let metadata = self.file.metadata().map_err(failed)?;
        if self.state.mode == 0 {
            self.state.mode = metadata.permissions().mode() & 0o777;
        }
        set_mode(&self.file, PART_MODE).map_err(failed)?;
        if link_part(&self.file, &self.paths)? {
            self.file_id = Some(file_id(&metadata));
            return Ok(());
        }
        self.move_to_part_file()
    }

    /// Copies a file that cannot be linked to a `.part` file and continues there.
    pub(super) fn move_to_part_file(&mut self) -> Result<(), Error> {
        let (copy, metadata) = copy_to_part(&mut self.file, self.state.bytes, &self.paths)?;
        (self.file, self.file_id) = (copy, Some(file_id(&metadata)));
        Ok(())
    }

    /// Syncs the data, then writes the state file that describes it.
    fn save_state(&mut self) -> io::Result<()> {
        if self.file_id.is_none() {
            self.give_part_name().map_err(io::Error::other)?;
        }
        self.writeback.sync_data(&self.file)?;
        if let Some((requested, url)) = &self.urls {
            self.state.url = requested.redacted().to_string();
            self.state.resource = Some(resource_key(url));
        }
        self.state.tail_digest = state::tail_digest(&mut self.file, self.state.bytes)?;
        self.may_have_state_file = true;
        self.state.write(&self.paths)?;
        (self.state_written, self.has_own_state) = (Instant::now(), true);
        Ok(())
    }

    /// Keeps an unfinished file with its state. Returns `false` if that is not possible. If the sync fails, the last state
    /// file still describes the synced prefix.
    fn keep(&mut self) -> bool {
        // The file may already have its final permissions.
        let is_private = self.file_id.is_none() || set_mode(&self.file, PART_MODE).is_ok();
        let is_saved = is_private && (self.save_state().is_ok() || self.save_state_on_full_disk().is_ok());
        is_saved || self.writeback.may_have_lost_bytes() && self.has_own_state && self.is_at_part_name()
    }

    /// Truncates the data on a full disk, to free space for the state file, and writes the state file.
    fn save_state_on_full_disk(&mut self) -> io::Result<()> {
        if self.writeback.may_have_lost_bytes() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.state.bytes = self.state.bytes.checked_sub(STATE_RESERVE).ok_or(io::ErrorKind::StorageFull)?;
        self.file.set_len(self.state.bytes)?;
        self.save_state()
    }

    /// Gives the complete file its final name, after a call of `before_rename`. Returns its metadata, if they can be read.
    pub(super) fn finish(
        mut self: Box<Self>,
        before_rename: Option<RenameHook>,
    ) -> Result<Option<SavedFile>, Error> {
        self.give_final_name(before_rename)?;
        Ok(SavedFile::of(&self.file).ok())
    }

    fn give_final_name(&mut self, mut before_rename: Option<RenameHook>) -> Result<(), Error> {
        let replaced = self.current_target_metadata();
        self.set_final_metadata(replaced.as_ref())?;
        if self.file_id.is_none() {
            before_rename.take().map_or(Ok(()), |hook| hook())?;
            match unnamed_file::link(&self.file, &self.paths.target, &self.paths) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    // The file of the other process stays, so there is nothing to resume.
                    self.is_resumable = false;
                    return Err(self.target_created_error());
                }
                Err(_) => self.give_part_name().and_then(|()| self.set_final_metadata(None))?,
                Ok(()) => {
                    self.stage = PartStage::Finished;
                    if self.may_have_state_file {
                        self.remove_state();
                    }
                    return Ok(());
                }
            }
        }
        if !self.is_at_part_name() {
            return Err(Error::new(
                Code::SinkFailed,
                Phase::Deliver,
                "another process removed the .part file",
            ));
        }
        self.check_target()?;
        before_rename.take().map_or(Ok(()), |hook| hook())?;
        // The state file is removed before the rename, so that a killed process never leaves it without its `.part`
        // file.
        if self.may_have_state_file {
            self.remove_state();
        }
        self.rename()?;
        self.stage = PartStage::Finished;
        // The owner is changed after the rename: before it, a killed process would leave a `.part` file of another
        // user, which no run continues.
        if let Some(replaced) = &replaced {
            copy_owner(&self.file, replaced);
        }
        Ok(())
    }

    /// Sets permissions and modification time, and syncs the file if that is required. The file gets the group and the
    /// permissions of the file that it replaces, whose metadata are `replaced`.
    fn set_final_metadata(&mut self, replaced: Option<&fs::Metadata>) -> Result<(), Error> {
        let failed = |what: &str, error: io::Error| Error::io(Code::SinkFailed, Phase::Deliver, what, error);
        let must_sync = match self.options.sync {
            SyncMode::Always => true,
            // Network file systems have no files without a name.
            SyncMode::Auto => {
                self.state.bytes >= LARGE_FILE_SIZE || self.file_id.is_some() && is_on_network(&self.file)
            }
            SyncMode::Never => false,
        };
        // A file without a name was created with the final permissions, unless others are required.
        if self.file_id.is_some() || self.state.mode != 0 {
            let copied = replaced.map(|replaced| copy_permissions(&self.file, &self.paths.target, replaced));
            let mode = copied.unwrap_or(self.state.mode);
            set_mode(&self.file, mode).map_err(|error| failed("setting the permissions", error))?;
        }
        if let Some(modified) = self.modified.filter(|_| self.options.remote_time) {
            self.file
                .set_modified(modified)
                .map_err(|error| failed("setting the modification time", error))?;
        }
        if must_sync {
            self.writeback.sync_all(&self.file).map_err(|error| failed("syncing the file", error))?;
        }
        Ok(())
    }

    /// Returns `true` if the `.part` name still belongs to this file.
    fn is_at_part_name(&self) -> bool {
        self.file_id.is_some_and(|id| is_file_at(id, &self.paths.part))
    }

    /// Returns the error for a target that did not exist when the download began.
    fn target_created_error(&self) -> Error {
        let target = &self.paths.target;
        let error = if self.options.no_clobber {
            exists_error(target)
        } else {
            let detail = format!("another process or transfer has created {} meanwhile", target.display());
            // The next attempt sees the file from the start.
            Error::new(Code::Usage, Phase::Deliver, detail).as_transient()
        };
        self.paths.with_display_path(error)
    }

    /// Returns the metadata of the file that is replaced. They can have changed since the download began.
    fn current_target_metadata(&self) -> Option<fs::Metadata> {
        self.replaced
            .as_ref()
            .and_then(|_| self.paths.metadata(&self.paths.target).ok())
            .filter(fs::Metadata::is_file)
    }

    /// Fails if another file was put at the target since the download began.
    fn check_target(&self) -> Result<(), Error> {
        match (&self.replaced, self.paths.metadata(&self.paths.target)) {
            (Some(replaced), Ok(now)) if is_another_file(&now, replaced) => Err(self.target_created_error()),
            _ => Ok(()),
        }
    }

    /// Renames the file to its final name. Only the file that had this name from the start is replaced, unless another one
    /// is put there at the moment of the rename.
    fn rename(&self) -> Result<(), Error> {
        let PartPaths { target, part, .. } = &self.paths;
        let renamed = match &self.replaced {
            Some(_) if !self.options.no_clobber => {
                self.check_target()?;
                fs::rename(part, target)
            }
            _ => match renameat_with(CWD, part, CWD, target, RenameFlags::NOREPLACE) {
                // Not every file system has this operation.
                Err(Errno::INVAL | Errno::NOSYS) if fs::symlink_metadata(target).is_err() => {
                    fs::rename(part, target)
                }
                Err(Errno::EXIST | Errno::INVAL | Errno::NOSYS) => return Err(self.target_created_error()),
                renamed => renamed.map_err(io::Error::from),
            },
        };
        renamed.map_err(|error| self.paths.with_display_path(file_error(target, error)))
    }
}

impl Drop for Part {
    /// Keeps an unfinished file if it can be resumed, otherwise removes it. Only a file that is open and locked here is
    /// removed; an unchanged file of an earlier run is kept. A file without a name disappears when it is closed.
    fn drop(&mut self) {
        match self.stage {
            PartStage::Finished | PartStage::Existing => return,
            PartStage::Writing if self.is_resumable && self.state.bytes > 0 => {
                if self.keep() {
                    return;
                }
            }
            PartStage::Writing | PartStage::New => {}
        }
        if self.is_at_part_name() {
            self.paths.remove_state();
            let _ = fs::remove_file(&self.paths.part);
        }
    }
}

/// Returns `true` if the metadata belong to different files. Some file systems, such as FUSE, can give one file a new
/// inode, so size and modification time are compared, too. Others reuse the inode of a removed file, so the time of
/// creation is compared.
fn is_another_file(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    let facts = |metadata: &fs::Metadata| (metadata.len(), metadata.modified().ok());
    let has_other_creation_time =
        one.created().ok().zip(other.created().ok()).is_some_and(|(one, other)| one != other);
    (file_id(one) != file_id(other) || has_other_creation_time) && facts(one) != facts(other)
}

/// Converts a time since 1970-01-01 UTC, whose seconds may be negative.
fn system_time(seconds: i64, nanoseconds: u32) -> Option<SystemTime> {
    let from_epoch = Duration::from_secs(seconds.unsigned_abs());
    let second =
        if seconds >= 0 { UNIX_EPOCH.checked_add(from_epoch) } else { UNIX_EPOCH.checked_sub(from_epoch) };
    second?.checked_add(Duration::from_nanos(nanoseconds.into()))
}
