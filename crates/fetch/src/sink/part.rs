//! The file in the making: `NAME.part` and its state, until it is whole.

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

/// How often the state of a growing file is written, so that a kill loses no more than this.
const JOURNAL_EVERY: Duration = Duration::from_secs(5);
/// The room that a state needs on any file system.
const ROOM: u64 = 64 * 1024;
/// Files from this size on are synced before they get their name.
const SYNC_FROM: u64 = 1024 * 1024;

/// The three names of a file in the making.
#[derive(Clone, Debug)]
pub(super) struct Names {
    pub(super) target: PathBuf,
    pub(super) part: PathBuf,
    pub(super) state: PathBuf,
    /// The directory that they are in, where it is held.
    pub(super) directory: Option<DirHandle>,
}

impl Names {
    pub(super) fn of(target: &Path) -> Self {
        let with = |suffix: &str| {
            let mut name = target.as_os_str().to_owned();
            name.push(suffix);
            PathBuf::from(name)
        };
        Self { target: target.to_owned(), part: with(".part"), state: with(".part.json"), directory: None }
    }
}

/// An open, locked `.part`.
pub(crate) struct Part {
    pub(super) file: File,
    /// Device and inode.
    pub(super) identity: (u64, u64),
    pub(super) names: Names,
    pub(super) state: State,
    pub(super) options: FileOptions,
    pub(super) modified: Option<i64>,
    pub(super) is_resumable: bool,
    pub(super) journaled: Instant,
    pub(super) stage: Stage,
    /// A state stands beside it.
    pub(super) has_state: bool,
    /// There was a file of that name when this began.
    pub(super) replaces: bool,
}

/// How far a part has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Made by this run, and nothing is in it yet.
    Fresh,
    /// Left by an earlier run, and not touched yet.
    Found,
    /// This run's bytes are in it.
    Filling,
    /// It has its name.
    Done,
}

impl Part {
    /// What an earlier run noted is void: other bytes take the place of those it speaks of.
    pub(super) fn forget(&self) {
        // It may never have been written.
        let _ = fs::remove_file(&self.names.state);
    }

    /// The body that `meta` describes goes in from `start` on. What an earlier run noted of the
    /// bytes before `start` stays true, and beside them, until the next journal.
    pub(super) fn begin(&mut self, meta: &Meta, start: u64) {
        self.stage = Stage::Filling;
        self.is_resumable = meta.is_resumable && meta.offset == start;
        self.modified = meta.head.modified;
        self.state = State {
            url: meta.requested_url.redacted().to_string(),
            size: meta.head.size,
            validator: meta.validator.clone(),
            place: Some(resource_key(&meta.url)),
            bytes: start,
            tail: String::new(),
            mode: self.state.mode,
        };
    }

    /// Whether all that is in the file came from the object's beginning on: bytes that the caller had
    /// kept of another file cannot be had again.
    pub(super) const fn can_begin_anew(&self) -> bool {
        self.options.keep == 0
    }

    /// Empties the file: another version of the object, which `meta` describes, begins.
    pub(super) fn begin_anew(&mut self, meta: &Meta) -> io::Result<()> {
        self.forget();
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.begin(meta, 0);
        Ok(())
    }

    /// Keeps nothing of it.
    pub(super) fn discard(mut self: Box<Self>) {
        self.is_resumable = false;
        self.forget();
    }

    pub(super) const fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// `bytes` more are in the file.
    pub(super) fn advance(&mut self, bytes: u64) -> io::Result<()> {
        self.state.bytes += bytes;
        if self.is_resumable && self.journaled.elapsed() >= JOURNAL_EVERY {
            self.journal()?;
        }
        Ok(())
    }

    /// The data first, then the state that names it.
    fn journal(&mut self) -> io::Result<()> {
        self.file.sync_data()?;
        self.state.tail = state::tail(&mut self.file, self.state.bytes)?;
        self.has_state = true;
        self.state.write(&self.names.state)?;
        self.journaled = Instant::now();
        Ok(())
    }

    /// On a full disk: gives up the end of the data to make room for the state.
    fn journal_with_room(&mut self) -> io::Result<()> {
        self.state.bytes = self.state.bytes.checked_sub(ROOM).ok_or(io::ErrorKind::StorageFull)?;
        self.file.set_len(self.state.bytes)?;
        self.journal()
    }

    /// Gives the whole file its name.
    pub(super) fn finish(mut self: Box<Self>) -> Result<(), Error> {
        let failed = |what: &str, error: io::Error| Error::io(Code::SinkFailed, Phase::Deliver, what, error);
        let must_sync = match self.options.sync {
            SyncMode::Always => true,
            SyncMode::Auto => self.state.bytes >= SYNC_FROM,
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
        if !is_at(self.identity, &self.names.part) {
            return Err(Error::new(Code::SinkFailed, Phase::Deliver, "somebody took the .part away"));
        }
        self.rename()?;
        self.stage = Stage::Done;
        // Nothing but our own state is removed. A small file that was fetched in one go, and not to go on
        // with anything, has none.
        if self.has_state || self.options.resume || self.state.bytes >= SYNC_FROM {
            let _ = fs::remove_file(&self.names.state);
        }
        Ok(())
    }

    /// A file that is replaced keeps its permissions; a new one gets what the umask left.
    fn final_mode(&self) -> u32 {
        let facts = if self.replaces { fs::metadata(&self.names.target).ok() } else { None };
        facts.map_or(self.state.mode, |facts| facts.permissions().mode() & 0o777)
    }

    fn rename(&self) -> Result<(), Error> {
        let Names { target, part, .. } = &self.names;
        let renamed = if self.options.no_clobber {
            renameat_with(CWD, part, CWD, target, RenameFlags::NOREPLACE).map_err(io::Error::from)
        } else {
            fs::rename(part, target)
        };
        renamed.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => super::file::exists(target),
            _ => Error::io(Code::SinkFailed, Phase::Deliver, &target.display().to_string(), error),
        })
    }
}

impl Drop for Part {
    /// Not finished: keeps what can be resumed, removes the rest. Only our own files, held by an
    /// open and locked descriptor; what an earlier run left and this one did not touch stays.
    fn drop(&mut self) {
        match self.stage {
            Stage::Done | Stage::Found => return,
            Stage::Filling if self.is_resumable && self.state.bytes > 0 => {
                if self.journal().is_ok() || self.journal_with_room().is_ok() {
                    return;
                }
            }
            Stage::Filling | Stage::Fresh => {}
        }
        if is_at(self.identity, &self.names.part) {
            let _ = fs::remove_file(&self.names.part);
            let _ = fs::remove_file(&self.names.state);
        }
    }
}

/// What tells a file from every other one.
pub(super) fn identity(facts: &fs::Metadata) -> (u64, u64) {
    (facts.dev(), facts.ino())
}

/// Whether the name means this file.
pub(super) fn is_at(file: (u64, u64), path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|named| identity(&named) == file)
}

fn system_time(seconds: i64) -> Option<SystemTime> {
    let span = Duration::from_secs(seconds.unsigned_abs());
    if seconds >= 0 { UNIX_EPOCH.checked_add(span) } else { UNIX_EPOCH.checked_sub(span) }
}
