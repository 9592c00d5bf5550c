//! Opens and locks the `.part` file of a download: that of an earlier run, or a new one.
//!
//! Files with such a name are created by fetch-url only (see `part_paths`), so a file that a killed process left is
//! continued or discarded. What fetch-url never creates is an error: a link, a directory, or a file of another user,
//! who could change its content later.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read as _, Seek as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};

use rustix::fs::OFlags;

use super::file_id::{file_error, file_id, is_file_at};
use super::part_paths::PartPaths;
use super::private::set_mode;
use super::state::State;
use super::unnamed_file;
use crate::{Code, Error, Phase};

/// The permissions of a `.part` file: readable by its owner only.
pub(super) const PART_MODE: u32 = 0o600;
/// Maximum number of attempts to create the file while other processes create and remove it.
const MAX_ATTEMPTS: u32 = 8;

/// An open, locked `.part` file.
pub(super) struct OpenedPart {
    pub(super) file: File,
    pub(super) metadata: Metadata,
    /// The state of an earlier run. A file without state is new and empty.
    pub(super) state: Option<State>,
}

/// Opens and locks `NAME.fetch-url.part`: a valid one of an earlier run, or a new one. Symbolic links are not followed,
/// and files of other users are not changed.
pub(super) fn open_part(paths: &PartPaths) -> Result<OpenedPart, Error> {
    let part_error = |error| file_error(&paths.part, error);
    paths.record_own_part();
    for _ in 0..MAX_ATTEMPTS {
        match open_options().read(true).write(true).create_new(true).mode(0o666).open(&paths.part) {
            Ok(file) => {
                lock(&file, paths)?;
                let metadata = file.metadata().map_err(part_error)?;
                // The link count is 0 if another process has removed the file before it was locked.
                if metadata.nlink() > 0 {
                    return Ok(OpenedPart { file, metadata, state: None });
                }
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if let Some(opened) = open_leftover(paths)? {
                    return Ok(opened);
                }
            }
            Err(error) => return Err(part_error(error)),
        }
    }
    Err(locked_error(paths))
}

/// Locks `file`, which has no name, and gives it the `.part` name. Files of an earlier run are removed. Returns `false`
/// if the file cannot be linked.
pub(super) fn link_part(file: &File, paths: &PartPaths) -> Result<bool, Error> {
    lock(file, paths)?;
    paths.record_own_part();
    for _ in 0..MAX_ATTEMPTS {
        match unnamed_file::link(file, &paths.part, paths) {
            Ok(()) => return Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                // The file is locked while it is removed.
                if let Some(_leftover) = open_leftover(paths)? {
                    paths.remove_state();
                    fs::remove_file(&paths.part).map_err(|error| file_error(&paths.part, error))?;
                }
            }
            Err(_) => return Ok(false),
        }
    }
    Err(locked_error(paths))
}

/// Copies the first `size` bytes of `file` to an empty `.part` file, and returns it, at its end, with its metadata.
pub(super) fn copy_to_part(file: &mut File, size: u64, paths: &PartPaths) -> Result<(File, Metadata), Error> {
    let part_error = |error| file_error(&paths.part, error);
    let OpenedPart { file: mut part, metadata, state } = open_part(paths)?;
    if state.is_some() {
        paths.remove_state();
        part.set_len(0).map_err(part_error)?;
    }
    set_mode(&part, PART_MODE).map_err(part_error)?;
    file.rewind().and_then(|()| io::copy(&mut file.take(size), &mut part)).map_err(part_error)?;
    Ok((part, metadata))
}

/// Opens and locks the file of an earlier run. If it has no valid state, it is removed. Returns `None` if the file does
/// not exist any more.
fn open_leftover(paths: &PartPaths) -> Result<Option<OpenedPart>, Error> {
    let part_error = |error| file_error(&paths.part, error);
    let file = match open_options().read(true).write(true).open(&paths.part) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return make_accessible(paths).map(|()| None);
        }
        Err(_) if !is_regular_file(paths) => return Err(foreign_file_error(paths)),
        Err(error) => return Err(part_error(error)),
    };
    lock(&file, paths)?;
    // Another process may have finished or restarted the file between opening and locking.
    let metadata = file.metadata().map_err(part_error)?;
    if !is_file_at(file_id(&metadata), &paths.part) {
        return Ok(None);
    }
    if !metadata.is_file() || !is_own_file(&metadata, paths).map_err(part_error)? {
        return Err(foreign_file_error(paths));
    }
    // A file with a second hard link, such as a backup, must not be changed.
    match State::read(&paths.state()).filter(|_| metadata.nlink() == 1) {
        Some(state) => {
            // If a process was killed just before the rename, the file already has the permissions of the finished
            // file.
            if metadata.permissions().mode() & 0o7777 != PART_MODE {
                set_mode(&file, PART_MODE).map_err(part_error)?;
            }
            Ok(Some(OpenedPart { file, metadata, state: Some(state) }))
        }
        None => {
            paths.remove_state();
            fs::remove_file(&paths.part).map_err(part_error)?;
            Ok(None)
        }
    }
}

/// Makes the file of an earlier run readable and writable: its permissions may be those of the finished file. If it
/// cannot even be opened for reading, it is removed.
fn make_accessible(paths: &PartPaths) -> Result<(), Error> {
    let part_error = |error| file_error(&paths.part, error);
    let is_of_this_user =
        |metadata: &Metadata| metadata.is_file() && metadata.uid() == rustix::process::geteuid().as_raw();
    let opened = open_options().read(true).open(&paths.part);
    let metadata = match &opened {
        Ok(file) => file.metadata(),
        Err(_) => fs::symlink_metadata(&paths.part),
    };
    if !is_of_this_user(&metadata.map_err(part_error)?) {
        return Err(foreign_file_error(paths));
    }
    match opened {
        Ok(file) => {
            lock(&file, paths)?;
            set_mode(&file, PART_MODE).map_err(part_error)
        }
        Err(_) => fs::remove_file(&paths.part).map_err(part_error),
    }
}

/// Returns options for which links are not followed and FIFOs do not block.
fn open_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
    options
}

fn is_regular_file(paths: &PartPaths) -> bool {
    fs::symlink_metadata(&paths.part).is_ok_and(|metadata| metadata.is_file())
}

/// Returns `true` if this user has created the file. On file systems without owners, such as FAT, every file belongs to
/// the user who mounted it, so the owner is compared with that of a newly created file.
fn is_own_file(metadata: &Metadata, paths: &PartPaths) -> io::Result<bool> {
    if metadata.uid() == rustix::process::geteuid().as_raw() {
        return Ok(true);
    }
    let _ = fs::remove_file(paths.new_state());
    let probe = open_options().write(true).create_new(true).mode(PART_MODE).open(paths.new_state())?;
    let owner = probe.metadata().map(|metadata| metadata.uid());
    fs::remove_file(paths.new_state())?;
    Ok(owner? == metadata.uid())
}

/// Makes a new `.part` file private and returns the permissions that the umask gave it.
pub(super) fn make_private(file: &File, metadata: &Metadata) -> io::Result<u32> {
    set_mode(file, PART_MODE)?;
    Ok(metadata.permissions().mode() & 0o777)
}

/// Returns the error for a file that fetch-url has not created.
fn foreign_file_error(paths: &PartPaths) -> Error {
    let detail = format!("{} exists and belongs to another program or user", paths.part.display());
    paths.with_display_path(Error::new(Code::Usage, Phase::Deliver, detail))
}

/// Locks the `.part` file, so that no other process downloads to it.
fn lock(file: &File, paths: &PartPaths) -> Result<(), Error> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(fs::TryLockError::WouldBlock) => Err(locked_error(paths)),
        Err(fs::TryLockError::Error(error)) => Err(file_error(&paths.part, error)),
    }
}

/// Returns the error for a `.part` file that another process, or another transfer of this one, has locked.
fn locked_error(paths: &PartPaths) -> Error {
    let detail = format!("another process or transfer is downloading to {}", paths.target.display());
    // The other download ends at some time.
    paths.with_display_path(Error::new(Code::Usage, Phase::Deliver, detail).as_transient())
}
