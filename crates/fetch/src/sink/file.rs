//! Opens the file of a download before a connection is made. An unusable name is an error, and with `no_clobber` an
//! existing file is too.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::Instant;

use rustix::fs::OFlags;

use super::TargetKind;
use super::digest::Digest;
use super::dir_handle::DirHandle;
use super::part::{Part, PartPaths, PartStage, file_id, is_file_at};
use super::state::State;
use crate::{Code, Error, Meta, Phase, Resume};

/// The permissions of a `.part` file: readable by its owner only. On Linux the sticky bit, which has no meaning on
/// files, marks it as a file of fetch-url.
const PART_MODE: u32 = if cfg!(target_os = "linux") { 0o1600 } else { 0o600 };

/// The free space is not checked for downloads up to this size in bytes.
const UNCHECKED_SIZE: u64 = 64 * 1024;

/// Options for writing a file: resume, overwrite, modification time, sync.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct FileOptions {
    /// Continues a partial download, if it is still the same object. Default: `false`.
    pub resume: bool,
    /// Keeps a partial download (`.part`) after an error or if the download is cancelled, so that a later one can resume
    /// it. [`resume`](Self::resume) implies it. Default: `false`.
    pub keep_part: bool,
    /// Keeps this number of bytes from the start of the existing file and appends the body. Default: 0.
    pub keep: u64,
    /// Fails if the file exists, instead of replacing it. Default: `false`.
    pub no_clobber: bool,
    /// Sets the file's modification time to that of the object. Default: `false`.
    pub remote_time: bool,
    /// When the file is synced to the disk. Default: [`SyncMode::Auto`].
    pub sync: SyncMode,
}

/// When a file is synced to the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SyncMode {
    /// Always, before the file is renamed to its final name.
    Always,
    /// Before the rename, for files of 1 MiB and more.
    #[default]
    Auto,
    /// Never: the operating system decides.
    Never,
}

impl FileOptions {
    /// Sets [`resume`](Self::resume).
    #[must_use]
    pub const fn resuming(mut self, resume: bool) -> Self {
        self.resume = resume;
        self
    }

    /// Sets [`keep_part`](Self::keep_part).
    #[must_use]
    pub const fn keeping_part(mut self, keep_part: bool) -> Self {
        self.keep_part = keep_part;
        self
    }

    /// Sets [`keep`](Self::keep).
    #[must_use]
    pub const fn keeping(mut self, bytes: u64) -> Self {
        self.keep = bytes;
        self
    }

    /// Fails if the file exists, instead of replacing it. Default: `false`.
    #[must_use]
    pub const fn no_clobber(mut self, no_clobber: bool) -> Self {
        self.no_clobber = no_clobber;
        self
    }

    /// Sets the file's modification time to that of the object. Default: `false`.
    #[must_use]
    pub const fn remote_time(mut self, remote_time: bool) -> Self {
        self.remote_time = remote_time;
        self
    }
}

/// A file that is being downloaded: `NAME.part` until it is complete.
pub struct FileSink {
    kind: FileKind,
    /// The resume data of an earlier run.
    resume: Option<Resume>,
    /// The URL that an earlier run requested.
    earlier_url: Option<String>,
    /// Number of bytes that are already present.
    kept: u64,
}

enum FileKind {
    /// A device or FIFO, written directly.
    Direct(File),
    /// A `.part` file.
    Part(Box<Part>),
}

impl FileSink {
    /// Checks the name and opens and locks `NAME.part`.
    ///
    /// # Errors
    /// [`Code::SinkFailed`] if the file cannot be written; [`Code::Usage`] if it exists and may not be replaced, or
    /// another process is downloading to it.
    pub fn open(target: &Path, options: FileOptions) -> Result<Self, Error> {
        if target.as_os_str().is_empty() {
            return Err(Error::new(Code::Usage, Phase::Deliver, "the file name is empty"));
        }
        let existing = fs::symlink_metadata(target);
        if let Ok(metadata) = &existing {
            if let Some(device) = open_device(target, metadata)? {
                return Ok(Self { kind: FileKind::Direct(device), resume: None, earlier_url: None, kept: 0 });
            }
            check_target(target, metadata, options)?;
        }
        let paths = PartPaths::of(target);
        let OpenedPart { mut file, metadata, state, has_leftover } = open_part(&paths)?;
        let resume = state.as_ref().filter(|_| options.resume).and_then(|state| state.resume(&mut file));
        let earlier_url = resume.as_ref().and(state.as_ref()).map(|state| state.url.clone());
        let kept = resume.as_ref().map_or(options.keep, |resume| resume.offset);
        let has_state = state.is_some();
        // From here on, dropping `part` removes the file if it cannot be resumed.
        let mut part = Box::new(Part {
            stage: if has_state { PartStage::Found } else { PartStage::Fresh },
            state: state.unwrap_or_default(),
            file_id: file_id(&metadata),
            file,
            paths,
            options,
            modified: None,
            is_resumable: true,
            state_written: Instant::now(),
            has_state_file: has_leftover,
            replaces: existing.is_ok(),
        });
        if part.state.mode == 0 {
            part.state.mode =
                make_private(&part.file, &metadata).map_err(|error| file_error(target, error))?;
        }
        if resume.is_none() {
            check_kept_bytes(target, kept)?;
        }
        Ok(Self { kind: FileKind::Part(part), resume, earlier_url, kept })
    }

    /// Opens `name` in a directory that stays open until the file is finished.
    ///
    /// # Errors
    /// As for [`FileSink::open`].
    pub fn open_beneath(directory: &DirHandle, name: &str, options: FileOptions) -> Result<Self, Error> {
        let opened = Self::open(&directory.path(name), options);
        let mut this = opened.map_err(|error| directory.with_display_path(error))?;
        if let FileKind::Part(part) = &mut this.kind {
            part.paths.directory = Some(directory.clone());
        }
        Ok(this)
    }

    /// Returns the resume data if an earlier run requested the same `url`, for [`crate::Request::resuming`].
    pub fn resume_of(&self, url: &fetch_url_core::Url<'_>) -> Option<Resume> {
        let is_same = self.earlier_url.as_deref() == Some(url.redacted().to_string().as_str());
        self.resume.clone().filter(|_| is_same)
    }

    /// Prepares the file for the body that `meta` describes. The body is appended to the partial download or to the kept
    /// bytes, or written from the start.
    pub(super) fn begin(self, meta: &Meta, digest: Option<&mut Digest>) -> Result<TargetKind, Error> {
        let mut part = match self.kind {
            FileKind::Direct(file) => return Ok(TargetKind::Open(file)),
            FileKind::Part(part) => part,
        };
        let is_appended = self.kept > 0 && meta.offset == self.kept;
        let start = if is_appended { self.kept } else { 0 };
        let is_resumed = is_appended && self.resume.is_some();
        let copies_target = is_appended && !is_resumed;
        let is_empty = part.stage == PartStage::Fresh;
        if !is_resumed && !is_empty {
            part.remove_state_file();
        }
        part.begin(meta, start);
        let target = part.paths.target.clone();
        let prepared = if copies_target { copy_kept_bytes(&target, &mut part.file, start) } else { Ok(()) };
        if !(is_empty && start == 0) {
            let prepared = prepared.and_then(|()| truncate_at(&mut part.file, start, digest));
            prepared.map_err(|error| file_error(&target, error))?;
        }
        check_space(&part.file, meta.head.size.map(|size| size.saturating_sub(start)))?;
        Ok(TargetKind::Part(part))
    }
}

/// Fails if the existing file is shorter than the number of bytes to keep.
fn check_kept_bytes(target: &Path, count: u64) -> Result<(), Error> {
    if count == 0 {
        return Ok(());
    }
    let length = fs::metadata(target).map_err(|error| file_error(target, error))?.len();
    if length >= count {
        return Ok(());
    }
    let detail = format!("{} has only {length} bytes: nothing to continue at {count}", target.display());
    Err(Error::new(Code::Usage, Phase::Deliver, detail))
}

/// Copies the first `count` bytes of `target` into its `.part` file.
fn copy_kept_bytes(target: &Path, part: &mut File, count: u64) -> io::Result<()> {
    part.set_len(0)?;
    part.rewind()?;
    let copied = io::copy(&mut File::open(target)?.take(count), part)?;
    if copied == count { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Truncates the file at `start` and seeks there; the bytes before it are added to the digest.
fn truncate_at(file: &mut File, start: u64, digest: Option<&mut Digest>) -> io::Result<()> {
    file.set_len(start)?;
    file.rewind()?;
    if let Some(digest) = digest {
        digest.update_from(file, start)?;
    }
    file.seek(SeekFrom::Start(start)).map(drop)
}

/// Fails if the file system has too little free space.
fn check_space(file: &File, needed: Option<u64>) -> Result<(), Error> {
    let Some(needed) = needed.filter(|&needed| needed > UNCHECKED_SIZE) else { return Ok(()) };
    let Ok(stat) = rustix::fs::fstatvfs(file) else { return Ok(()) };
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    // Some file systems do not report their free space.
    if stat.f_blocks == 0 || needed <= free {
        return Ok(());
    }
    let detail = format!("{needed} bytes are needed and {free} are free");
    Err(Error::new(Code::SinkFailed, Phase::Deliver, detail))
}

/// Opens `target` for writing if it is a device or FIFO, otherwise returns `None`.
fn open_device(target: &Path, metadata: &Metadata) -> Result<Option<File>, Error> {
    let kind = match metadata.is_symlink().then(|| fs::metadata(target)) {
        None => metadata.file_type(),
        Some(Ok(target_facts)) => target_facts.file_type(),
        Some(Err(_)) => return Ok(None),
    };
    if !(kind.is_char_device() || kind.is_fifo() || kind.is_block_device()) {
        return Ok(None);
    }
    // Opening a FIFO without a reader would block without a deadline.
    let open_flags = if kind.is_fifo() { OFlags::NONBLOCK } else { OFlags::empty() };
    let opened = OpenOptions::new().write(true).custom_flags(open_flags.bits().cast_signed()).open(target);
    let device = opened.map_err(|error| match error.raw_os_error() {
        Some(code) if code == rustix::io::Errno::NXIO.raw_os_error() => {
            Error::new(Code::SinkFailed, Phase::Deliver, format!("no process reads {}", target.display()))
        }
        _ => file_error(target, error),
    })?;
    rustix::fs::fcntl_setfl(&device, OFlags::empty()).map_err(|error| file_error(target, error.into()))?;
    Ok(Some(device))
}

/// Fails if the existing file must not be replaced.
fn check_target(target: &Path, metadata: &Metadata, options: FileOptions) -> Result<(), Error> {
    let not_writable = |detail: &str| {
        let detail = format!("{}: {detail}", target.display());
        Err(Error::new(Code::SinkFailed, Phase::Deliver, detail))
    };
    if metadata.is_dir() {
        return not_writable("it is a directory");
    }
    if metadata.is_symlink() {
        return not_writable("it is a symbolic link; name the file it points to");
    }
    if !metadata.is_file() {
        return not_writable("it is not a file");
    }
    if options.no_clobber {
        return Err(exists_error(target));
    }
    Ok(())
}

/// Returns the error for an existing file that must not be replaced.
pub(super) fn exists_error(target: &Path) -> Error {
    Error::new(Code::Usage, Phase::Deliver, format!("{} exists and is not replaced", target.display()))
}

/// Returns the error of an operation on the file.
fn file_error(target: &Path, error: io::Error) -> Error {
    Error::io(Code::SinkFailed, Phase::Deliver, &target.display().to_string(), error)
}

/// An open, locked `.part` file.
struct OpenedPart {
    file: File,
    metadata: Metadata,
    /// The state of an earlier run, if it is valid.
    state: Option<State>,
    /// An earlier run left a `.part` file, valid or not.
    has_leftover: bool,
}

/// Opens and locks `NAME.part`: a valid one of an earlier run, or a new one. Symbolic links are not followed, and files of
/// other users or programs are not changed.
fn open_part(paths: &PartPaths) -> Result<OpenedPart, Error> {
    let part_error = |error| file_error(&paths.part, error);
    let mut has_leftover = false;
    for _ in 0..8 {
        let mut options = OpenOptions::new();
        options.read(true).write(true).mode(0o666);
        options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
        let (file, is_new) = match options.clone().create_new(true).open(&paths.part) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match options.open(&paths.part) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                opened => (opened.map_err(part_error)?, false),
            },
            opened => (opened.map_err(part_error)?, true),
        };
        lock(&file, paths)?;
        // Another process may have finished or restarted the file between opening and locking.
        let metadata = file.metadata().map_err(part_error)?;
        // The link count of a file that this process created is 0 only if another process has removed it.
        let is_current =
            if is_new { metadata.nlink() > 0 } else { is_file_at(file_id(&metadata), &paths.part) };
        if !is_current {
            continue;
        }
        if !is_new && !is_owned_file(&metadata) {
            return Err(foreign_file_error(paths));
        }
        let state = if is_new { None } else { State::read(&paths.state) };
        if is_new || state.is_some() {
            return Ok(OpenedPart { file, metadata, has_leftover: has_leftover || state.is_some(), state });
        }
        check_leftover(&metadata, paths)?;
        has_leftover = true;
        fs::remove_file(&paths.part).map_err(part_error)?;
    }
    Err(locked_error(paths))
}

/// Fails if a `.part` file without state may belong to another program. It belongs to fetch-url if it has [`PART_MODE`], or
/// is empty because a run was killed early.
fn check_leftover(metadata: &Metadata, paths: &PartPaths) -> Result<(), Error> {
    if metadata.len() == 0 || metadata.permissions().mode() & 0o7777 == PART_MODE {
        return Ok(());
    }
    Err(foreign_file_error(paths))
}

/// Returns `true` if fetch-url may have created the file: a regular file, owned by this user, with one hard link.
fn is_owned_file(metadata: &Metadata) -> bool {
    metadata.is_file() && metadata.nlink() == 1 && metadata.uid() == rustix::process::geteuid().as_raw()
}

/// Returns the error for a `.part` file of another program or user.
fn foreign_file_error(paths: &PartPaths) -> Error {
    let detail = format!("{} exists and belongs to another program or user", paths.part.display());
    Error::new(Code::Usage, Phase::Deliver, detail)
}

/// Locks the `.part` file, so that no other process downloads to it.
fn lock(file: &File, paths: &PartPaths) -> Result<(), Error> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(fs::TryLockError::WouldBlock) => Err(locked_error(paths)),
        Err(fs::TryLockError::Error(error)) => Err(file_error(&paths.part, error)),
    }
}

/// Returns the error for a `.part` file that another process has locked.
fn locked_error(paths: &PartPaths) -> Error {
    let detail = format!("another process is fetching into {}", paths.target.display());
    Error::new(Code::Usage, Phase::Deliver, detail)
}

/// Sets the mode to [`PART_MODE`] and returns the permissions that the umask gave the new file.
fn make_private(file: &File, metadata: &Metadata) -> io::Result<u32> {
    let mode = metadata.permissions().mode() & 0o777;
    file.set_permissions(Permissions::from_mode(PART_MODE))?;
    Ok(mode)
}
