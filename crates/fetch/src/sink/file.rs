//! Opens the file of a download before a connection is opened, so that a name that cannot be written, or with
//! `no_clobber` an existing file, is an error at once.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use rustix::io::Errno;

use super::TargetKind;
use super::device;
use super::digest::Digest;
use super::dir_handle::DirHandle;
use super::file_id::{file_error, file_id};
use super::free_space::check_space;
use super::kept_bytes::{check_kept_bytes, check_offset, copy_kept_bytes, truncate_at};
use super::leftovers::Leftovers;
use super::open_part::{OpenedPart, PART_MODE, make_private, open_part};
use super::part::{Part, PartStage};
use super::part_paths::PartPaths;
use super::state::State;
use super::unnamed_file;
use super::writeback::Writeback;
use crate::{Code, Error, Meta, Phase, Resume};

/// Options for writing a file: resume, overwrite, modification time, sync.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct FileOptions {
    /// Continues a partial download, if it is still the same object. Default: `false`.
    pub resume: bool,
    /// Keeps a partial download (`.part`) after an error or if the download is cancelled, so that a later one can
    /// resume it. [`resume`](Self::resume) implies it. Default: `false`.
    pub keep_part: bool,
    /// Keeps this number of bytes from the start of the existing file and appends the body. Default: 0.
    ///
    /// Without [`resume`](Self::resume), a body that begins at another offset is refused with
    /// [`Code::RangeRefused`](crate::Code::RangeRefused).
    ///
    /// With [`resume`](Self::resume), the caller has compared these bytes with the object. Without it, they may belong
    /// to another object, so an unfinished download is not kept.
    pub keep_bytes: u64,
    /// Fails if the file exists, instead of replacing it. Default: `false`.
    pub no_clobber: bool,
    /// Sets the file's modification time to that of the object. Default: `false`.
    pub remote_time: bool,
    /// With [`remote_time`](Self::remote_time), the modification time in seconds since 1970 if the response states none,
    /// for example that of a listing. Default: `None`.
    pub listed_time: Option<i64>,
    /// When the file is synced to the disk. Default: [`SyncMode::Auto`].
    pub sync: SyncMode,
}

/// When a file is synced to the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SyncMode {
    /// Always, before the file is renamed to its final name.
    Always,
    /// Before the rename, for files of 1 MiB and more, and for all files on network file systems, such as NFS, which
    /// may report errors only then.
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

    /// Sets [`keep_bytes`](Self::keep_bytes).
    #[must_use]
    pub const fn keeping_bytes(mut self, bytes: u64) -> Self {
        self.keep_bytes = bytes;
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

    /// Sets [`listed_time`](Self::listed_time).
    #[must_use]
    pub const fn listed_time(mut self, listed_time: Option<i64>) -> Self {
        self.listed_time = listed_time;
        self
    }
}

/// A file that is being downloaded: without a name as long as it is small, then `NAME.fetch-url.part` until it is
/// complete.
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
    /// An open descriptor, a device or a FIFO, written directly.
    Direct(File),
    /// A file without a name or a `.part` file.
    Part(Box<Part>),
}

impl FileSink {
    /// Checks the name and opens a file without a name, or opens and locks `NAME.fetch-url.part`. A device, a FIFO and
    /// a descriptor that the process has inherited (`/dev/stderr`, `/dev/fd/N`) are written directly.
    ///
    /// # Errors
    /// [`Code::SinkFailed`] if the file cannot be written; [`Code::Usage`] if it exists and may not be replaced,
    /// another process is downloading to it, or a partial download in it cannot be resumed because it is a descriptor.
    pub fn open(target: &Path, options: FileOptions) -> Result<Self, Error> {
        Self::open_with_cache(None, target, options)
    }

    /// Opens a file as [`Self::open`] does. `leftovers` is the cache of its directory.
    pub(super) fn open_with_cache(
        leftovers: Option<Arc<Leftovers>>,
        target: &Path,
        options: FileOptions,
    ) -> Result<Self, Error> {
        if target.as_os_str().is_empty() {
            return Err(Error::new(Code::Usage, Phase::Deliver, "the file name is empty"));
        }
        Self::open_paths(PartPaths { leftovers, ..PartPaths::of(target)? }, options)
    }

    fn open_paths(paths: PartPaths, options: FileOptions) -> Result<Self, Error> {
        let existing = paths.metadata(&paths.target);
        let direct = device::open_with_metadata(&paths.target, existing.as_ref().ok());
        if let Some(file) = direct.map_err(|error| file_error(&paths.target, error))? {
            return Self::direct(file, &paths.target, options);
        }
        match &existing {
            Ok(metadata) => check_target(&paths.target, metadata, options)?,
            // A target name that is too long must fail here: the name of the `.part` file is shortened, so it can be
            // created.
            Err(error) if error.raw_os_error() == Some(Errno::NAMETOOLONG.raw_os_error()) => {
                return Err(file_error(&paths.target, io::Error::from(Errno::NAMETOOLONG)));
            }
            Err(_) => {}
        }
        if existing.is_err()
            && options.keep_bytes == 0
            && !paths.has_part()
            && let Some(file) = unnamed_file::create(&paths)
        {
            return Ok(Self::without_name(file, paths, options));
        }
        let OpenedPart { mut file, metadata, state } = open_part(&paths)?;
        let resume = state.as_ref().filter(|_| options.resume).and_then(|state| state.resume(&mut file));
        let earlier_url = resume.as_ref().and(state.as_ref()).map(|state| state.url.clone());
        let kept = resume.as_ref().map_or(options.keep_bytes, |resume| resume.offset);
        let has_state = state.is_some();
        // From here on, dropping `part` removes the file if it cannot be resumed.
        let mut part = Box::new(Part {
            stage: if has_state { PartStage::Existing } else { PartStage::New },
            state: state.unwrap_or_default(),
            urls: None,
            file_id: Some(file_id(&metadata)),
            file,
            paths,
            options,
            modified: None,
            is_resumable: true,
            state_written: Instant::now(),
            // With `resume`, there may also be a state file whose `.part` file the user has removed.
            may_have_state_file: has_state || options.resume,
            has_own_state: false,
            writeback: Writeback::default(),
            replaced: existing.ok(),
        });
        if part.state.mode == 0 {
            part.state.mode =
                make_private(&part.file, &metadata).map_err(|error| file_error(&part.paths.target, error))?;
        }
        if resume.is_none() {
            check_kept_bytes(&part.paths.target, kept)?;
        }
        Ok(Self { kind: FileKind::Part(part), resume, earlier_url, kept })
    }

    /// Returns a sink that writes to an open descriptor, a device or a FIFO.
    fn direct(file: File, target: &Path, options: FileOptions) -> Result<Self, Error> {
        // Where the object begins in the file of a descriptor is unknown.
        if options.resume && file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            let detail =
                format!("{} is an open file, so a download in it cannot be resumed", target.display());
            let hint = "name the file, or give the number of bytes that were written: -C OFFSET";
            return Err(Error::new(Code::Usage, Phase::Deliver, detail).with_hint(hint));
        }
        let kept = options.keep_bytes;
        Ok(Self { kind: FileKind::Direct(file), resume: None, earlier_url: None, kept })
    }

    /// Returns a sink that writes to a new file, which has no name until it is complete or large.
    fn without_name(file: File, paths: PartPaths, options: FileOptions) -> Self {
        // There may be a state file whose `.part` file the user has removed.
        let may_have_state_file = options.resume && paths.has_state();
        let part = Part {
            file,
            file_id: None,
            paths,
            state: State::default(),
            urls: None,
            options,
            modified: None,
            is_resumable: true,
            state_written: Instant::now(),
            stage: PartStage::New,
            may_have_state_file,
            has_own_state: false,
            writeback: Writeback::default(),
            replaced: None,
        };
        Self { kind: FileKind::Part(Box::new(part)), resume: None, earlier_url: None, kept: 0 }
    }

    /// Opens `name` in a directory that stays open until the file is finished.
    ///
    /// # Errors
    /// As for [`FileSink::open`]; [`Code::Usage`] if `name` is a path.
    pub fn open_beneath(directory: &DirHandle, name: &str, options: FileOptions) -> Result<Self, Error> {
        if Path::new(name).file_name().is_none_or(|last| last != name) {
            let detail = format!("{name:?} is not the name of a file in a directory");
            return Err(Error::new(Code::Usage, Phase::Deliver, detail));
        }
        let open = DirHandle::has_lasting_paths().then(|| directory.clone());
        let leftovers = Some(directory.leftovers().clone());
        let paths = PartPaths::of(&directory.path(name)).map(|paths| PartPaths {
            directory: open,
            leftovers,
            ..paths
        });
        let opened = paths.and_then(|paths| Self::open_paths(paths, options));
        opened.map_err(|error| directory.with_display_path(error))
    }

    /// Removes the permissions of group and others that `source` does not have. A file that replaces another one keeps
    /// the permissions of that one.
    pub(super) fn limit_permissions(&mut self, source: &Metadata) {
        let FileKind::Part(part) = &mut self.kind else { return };
        if part.state.mode == 0 {
            part.state.mode = part.file.metadata().map_or(PART_MODE, |own| own.permissions().mode() & 0o777);
        }
        part.state.mode &= source.permissions().mode() | 0o700;
    }

    /// Returns the metadata of the existing file that is replaced, or `None` if it has other hard links, which keep its
    /// content.
    pub fn replaced_file(&self) -> Option<&Metadata> {
        let FileKind::Part(part) = &self.kind else { return None };
        part.replaced.as_ref().filter(|file| file.nlink() == 1)
    }

    /// Returns device and inode of the existing file that is replaced, even if it has other hard links.
    pub fn existing_file_id(&self) -> Option<(u64, u64)> {
        let FileKind::Part(part) = &self.kind else { return None };
        part.replaced.as_ref().map(file_id)
    }

    /// Returns `true` if the target is an open descriptor, a device or a FIFO, which is written directly, from its start
    /// to its end.
    pub const fn is_device(&self) -> bool {
        matches!(self.kind, FileKind::Direct(_))
    }

    /// Returns the resume data if an earlier run requested the same `url`, for [`crate::Request::resuming`].
    pub fn resume_of(&self, url: &fetch_url_core::Url<'_>) -> Option<Resume> {
        let resume = self.resume.as_ref()?;
        let is_same = self.earlier_url.as_deref() == Some(url.redacted().to_string().as_str());
        is_same.then(|| resume.clone())
    }

    /// Returns the number of bytes of the existing file that are kept ([`FileOptions::keep_bytes`]). A body that starts
    /// at this offset is appended to them. Returns 0 if a partial download is continued instead.
    pub fn kept_bytes(&self) -> u64 {
        if self.resume.is_none() { self.kept } else { 0 }
    }

    /// Returns `true` if the partial download begins with bytes of an earlier file, of which only the last were compared.
    pub fn has_earlier_start(&self) -> bool {
        matches!(&self.kind, FileKind::Part(part) if self.resume.is_some() && part.state.has_earlier_start)
    }

    /// Fails if the file with the metadata `source` is the file that would be replaced, also under another name, or the
    /// `.part` file.
    pub(super) fn check_source(&self, source: &Metadata) -> Result<(), Error> {
        if self.existing_file_id() == Some(file_id(source)) {
            return Err(super::same_file_error());
        }
        match &self.kind {
            FileKind::Direct(file) => super::check_open_source(file, source),
            FileKind::Part(part) if part.file_id == Some(file_id(source)) => match part.stage {
                PartStage::New => {
                    // The source exists only because this download has created it.
                    let detail = "no such file: the name is that of the temporary file of this download";
                    Err(Error::new(Code::NotFound, Phase::Deliver, detail))
                }
                _ => Err(super::same_file_error()),
            },
            FileKind::Part(_) => Ok(()),
        }
    }

    /// Prepares the file for the body that `meta` describes; `length` is the number of its bytes, if it is known. The
    /// body is appended to the partial download or to the kept bytes, or written from the start.
    pub(super) fn begin(
        self,
        meta: &Meta,
        length: Option<u64>,
        digest: Option<&mut Digest>,
    ) -> Result<TargetKind, Error> {
        let mut part = match self.kind {
            FileKind::Direct(file) => {
                return check_offset(meta.offset, self.kept).map(|()| TargetKind::Open(file));
            }
            FileKind::Part(part) => part,
        };
        let is_appended = self.kept > 0 && meta.offset == self.kept;
        if !part.options.resume {
            check_offset(meta.offset, self.kept)?;
        }
        let start = if is_appended { self.kept } else { 0 };
        let is_resumed = is_appended && self.resume.is_some();
        let copies_target = is_appended && !is_resumed;
        let is_empty = part.stage == PartStage::New;
        if !is_resumed && !is_empty {
            part.paths.remove_state();
        }
        part.has_own_state = is_resumed;
        let has_earlier_start = copies_target || is_resumed && part.state.has_earlier_start;
        part.begin(meta, start, has_earlier_start);
        let target = part.paths.target.clone();
        let prepared = if copies_target { copy_kept_bytes(&target, &mut part.file, start) } else { Ok(()) };
        if !(is_empty && start == 0) {
            let prepared = prepared.and_then(|()| truncate_at(&mut part.file, start, digest));
            prepared.map_err(|error| file_error(&target, error))?;
        }
        // The object may be larger than the body: -r requests a range, -I the metadata.
        check_space(&part.file, length)?;
        part.name_if_large(meta.head.size.unwrap_or(0))?;
        Ok(TargetKind::Part(part))
    }
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
