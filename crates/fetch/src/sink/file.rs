//! Opens the file of a download. Problems with the name or an existing file are reported before a connection is made.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::Instant;

use rustix::fs::OFlags;

use super::TargetKind;
use super::digest::Digest;
use super::dir_handle::DirHandle;
use super::part::{Names, Part, Stage, identity, is_at};
use super::state::State;
use crate::{Code, Error, Meta, Phase, Resume};

/// The permissions of a `.part` file: readable by its owner only. On Linux the sticky bit, which has no meaning on
/// files, marks it as a file of this program.
const PART_MODE: u32 = if cfg!(target_os = "linux") { 0o1600 } else { 0o600 };

/// Maximum size in bytes of downloads that start without a check of the free space.
const UNCHECKED_SIZE: u64 = 64 * 1024;

/// How a file is written: resume, overwriting, times, syncing.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct FileOptions {
    /// Continues a partial download, if it is still the same object. Default: `false`.
    pub resume: bool,
    /// Keeps this number of bytes from the start of the existing file and appends the body. Default: 0.
    pub keep: u64,
    /// Fails if the file exists, instead of replacing it. Default: `false`.
    pub no_clobber: bool,
    /// Sets the file's modification time to that of the object. Default: `false`.
    pub remote_time: bool,
    /// When the file is synced to the disk. Default: [`SyncMode::Auto`].
    pub sync: SyncMode,
}

/// When the file is synced to the disk. Default: [`SyncMode::Auto`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SyncMode {
    /// Always, before the file gets its name.
    Always,
    /// For files of 1 MiB and more.
    #[default]
    Auto,
    /// Never; the system decides.
    Never,
}

impl FileOptions {
    /// Sets [`resume`](Self::resume).
    #[must_use]
    pub const fn resuming(mut self, resume: bool) -> Self {
        self.resume = resume;
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
    kind: Kind,
    resume: Option<Resume>,
    earlier_url: Option<String>,
    kept: u64,
}

enum Kind {
    /// A device or FIFO, written directly.
    Direct(File),
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
        if let Ok(facts) = &existing {
            if let Some(device) = device(target, facts)? {
                return Ok(Self { kind: Kind::Direct(device), resume: None, earlier_url: None, kept: 0 });
            }
            check_target(target, facts, options)?;
        }
        let names = Names::of(target);
        let Opened { mut file, facts, state, was_left_over } = open_part(&names)?;
        let resume = state.as_ref().filter(|_| options.resume).and_then(|state| state.resume(&mut file));
        let earlier_url = resume.as_ref().and(state.as_ref()).map(|state| state.url.clone());
        let kept = resume.as_ref().map_or(options.keep, |resume| resume.offset);
        let is_found = state.is_some();
        // From here on, dropping the part cleans up.
        let mut part = Box::new(Part {
            stage: if is_found { Stage::Found } else { Stage::Fresh },
            state: state.unwrap_or_default(),
            identity: identity(&facts),
            file,
            names,
            options,
            modified: None,
            is_resumable: true,
            state_written: Instant::now(),
            has_state: was_left_over,
            replaces: existing.is_ok(),
        });
        if part.state.mode == 0 {
            part.state.mode = make_private(&part.file, &facts).map_err(|error| cannot(target, error))?;
        }
        if resume.is_none() {
            check_start(target, kept)?;
        }
        Ok(Self { kind: Kind::Part(part), resume, earlier_url, kept })
    }

    /// Opens `name` in a directory that stays open until the file is finished.
    ///
    /// # Errors
    /// As for [`FileSink::open`].
    pub fn open_beneath(directory: &DirHandle, name: &str, options: FileOptions) -> Result<Self, Error> {
        let opened = Self::open(&directory.path(name), options);
        let mut this = opened.map_err(|error| directory.known(error))?;
        if let Kind::Part(part) = &mut this.kind {
            part.names.directory = Some(directory.clone());
        }
        Ok(this)
    }

    /// Returns the resume data if the `.part` file of an earlier run is of `url`, for [`crate::Request::resuming`].
    pub fn resume_of(&self, url: &fetch_url_core::Url<'_>) -> Option<Resume> {
        let is_same = self.earlier_url.as_deref() == Some(url.redacted().to_string().as_str());
        self.resume.clone().filter(|_| is_same)
    }

    /// Prepares the file for the body that `meta` describes: appended to the partial download, or from the start.
    pub(super) fn begin(self, meta: &Meta, digest: Option<&mut Digest>) -> Result<TargetKind, Error> {
        let mut part = match self.kind {
            Kind::Direct(file) => return Ok(TargetKind::Open(file)),
            Kind::Part(part) => part,
        };
        let is_joined = self.kept > 0 && meta.offset == self.kept;
        let start = if is_joined { self.kept } else { 0 };
        let is_resumed = is_joined && self.resume.is_some();
        let is_kept_from_target = is_joined && !is_resumed;
        let is_empty = part.stage == Stage::Fresh;
        if !is_resumed && !is_empty {
            part.forget();
        }
        part.begin(meta, start);
        let target = part.names.target.clone();
        let prepared = if is_kept_from_target { copy_start(&target, &mut part.file, start) } else { Ok(()) };
        if !(is_empty && start == 0) {
            let prepared = prepared.and_then(|()| prepare(&mut part.file, start, digest));
            prepared.map_err(|error| cannot(&target, error))?;
        }
        check_space(&part.file, meta.head.size.map(|size| size.saturating_sub(start)))?;
        Ok(TargetKind::Part(part))
    }
}

/// Checks that the existing file has the bytes that are to be kept.
fn check_start(target: &Path, count: u64) -> Result<(), Error> {
    if count == 0 {
        return Ok(());
    }
    let length = fs::metadata(target).map_err(|error| cannot(target, error))?.len();
    if length >= count {
        return Ok(());
    }
    let detail = format!("{} has only {length} bytes: nothing to continue at {count}", target.display());
    Err(Error::new(Code::Usage, Phase::Deliver, detail))
}

/// Copies the first `count` bytes of `target` into its `.part`.
fn copy_start(target: &Path, part: &mut File, count: u64) -> io::Result<()> {
    part.set_len(0)?;
    part.rewind()?;
    let copied = io::copy(&mut File::open(target)?.take(count), part)?;
    if copied == count { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Truncates the file at `start` and seeks there; the bytes before it are added to the digest.
fn prepare(file: &mut File, start: u64, digest: Option<&mut Digest>) -> io::Result<()> {
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
    let Ok(facts) = rustix::fs::fstatvfs(file) else { return Ok(()) };
    let free = facts.f_bavail.saturating_mul(facts.f_frsize);
    // Some file systems do not report their free space.
    if facts.f_blocks == 0 || needed <= free {
        return Ok(());
    }
    let detail = format!("{needed} bytes are needed and {free} are free");
    Err(Error::new(Code::SinkFailed, Phase::Deliver, detail))
}

/// Opens the device or FIFO at `target` for writing, if it is one.
fn device(target: &Path, facts: &Metadata) -> Result<Option<File>, Error> {
    let kind = match facts.is_symlink().then(|| fs::metadata(target)) {
        None => facts.file_type(),
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
        _ => cannot(target, error),
    })?;
    rustix::fs::fcntl_setfl(&device, OFlags::empty()).map_err(|error| cannot(target, error.into()))?;
    Ok(Some(device))
}

fn check_target(target: &Path, facts: &Metadata, options: FileOptions) -> Result<(), Error> {
    let refused = |detail: &str| {
        let detail = format!("{}: {detail}", target.display());
        Err(Error::new(Code::SinkFailed, Phase::Deliver, detail))
    };
    if facts.is_dir() {
        return refused("it is a directory");
    }
    if facts.is_symlink() {
        return refused("it is a symbolic link; name the file it points to");
    }
    if !facts.is_file() {
        return refused("it is not a file");
    }
    if options.no_clobber {
        return Err(exists(target));
    }
    Ok(())
}

/// The error for an existing file that must not be replaced.
pub(super) fn exists(target: &Path) -> Error {
    Error::new(Code::Usage, Phase::Deliver, format!("{} exists and is not replaced", target.display()))
}

fn cannot(target: &Path, error: io::Error) -> Error {
    Error::io(Code::SinkFailed, Phase::Deliver, &target.display().to_string(), error)
}

/// An open, locked `NAME.part`.
struct Opened {
    file: File,
    facts: Metadata,
    state: Option<State>,
    /// `true` if an earlier run left a `.part` file, possibly invalid.
    was_left_over: bool,
}

/// Opens and locks `NAME.part`: a valid one of an earlier run, or a new one. Links are not followed, and files of
/// other users or programs are not touched.
fn open_part(names: &Names) -> Result<Opened, Error> {
    let cannot = |error| cannot(&names.part, error);
    let mut was_left_over = false;
    for _ in 0..8 {
        let mut options = OpenOptions::new();
        options.read(true).write(true).mode(0o666);
        options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
        let (file, is_new) = match options.clone().create_new(true).open(&names.part) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match options.open(&names.part) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                opened => (opened.map_err(cannot)?, false),
            },
            opened => (opened.map_err(cannot)?, true),
        };
        lock(&file, names)?;
        // Another process may have finished or restarted the file between opening and locking.
        let facts = file.metadata().map_err(cannot)?;
        // A file that this process created keeps its link count until another process removes it.
        let is_current = if is_new { facts.nlink() > 0 } else { is_at(identity(&facts), &names.part) };
        if !is_current {
            continue;
        }
        if !is_new && !is_owned_file(&facts) {
            return Err(foreign(names));
        }
        let state = if is_new { None } else { State::read(&names.state) };
        if is_new || state.is_some() {
            return Ok(Opened { file, facts, was_left_over: was_left_over || state.is_some(), state });
        }
        check_leftover(&facts, names)?;
        was_left_over = true;
        fs::remove_file(&names.part).map_err(cannot)?;
    }
    Err(busy(names))
}

/// Checks a `.part` without state: with this program's mode, or empty (a run was killed early), it is
/// a leftover of this program; any other belongs to another program.
fn check_leftover(facts: &Metadata, names: &Names) -> Result<(), Error> {
    if facts.len() == 0 || facts.permissions().mode() & 0o7777 == PART_MODE {
        return Ok(());
    }
    Err(foreign(names))
}

/// Returns `true` if this program may have created the file: it is regular, owned by this user, with one hard link.
fn is_owned_file(facts: &Metadata) -> bool {
    facts.is_file() && facts.nlink() == 1 && facts.uid() == rustix::process::geteuid().as_raw()
}

fn foreign(names: &Names) -> Error {
    let detail = format!("{} exists and belongs to another program or user", names.part.display());
    Error::new(Code::Usage, Phase::Deliver, detail)
}

fn lock(file: &File, names: &Names) -> Result<(), Error> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(fs::TryLockError::WouldBlock) => Err(busy(names)),
        Err(fs::TryLockError::Error(error)) => Err(cannot(&names.part, error)),
    }
}

fn busy(names: &Names) -> Error {
    let detail = format!("another process is fetching into {}", names.target.display());
    Error::new(Code::Usage, Phase::Deliver, detail)
}

/// Returns the permissions that the umask gave the new file, and makes the file private (mode 0600).
fn make_private(file: &File, facts: &Metadata) -> io::Result<u32> {
    let mode = facts.permissions().mode() & 0o777;
    file.set_permissions(Permissions::from_mode(PART_MODE))?;
    Ok(mode)
}
