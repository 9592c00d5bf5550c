//! Chooses the output of a transfer: its file name, whether it must be fetched, and the sink. The file name is chosen before
//! the request, or after the response if the server names the file (`-J`).

use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use fetch_url::internal::Descriptor;
use fetch_url::mirror::DirHandle;
use fetch_url::output::{FileOptions, FileSink, Sink, file_name, safe_name};
use fetch_url::url::Url;
use fetch_url::{Code, Error, Phase, Response};

use super::context::Run;
use super::directories::make_directory;
use super::output_paths::Reserved;
use crate::error::{no_object_error, usage_error};
use crate::job::{DocumentPath, Output, Transfer};
use crate::render::stdio::stdout_file;
use crate::render::terminal::TerminalWriter;
use crate::report::TransferReport;

/// The highest number of `--keep-both`.
const MAX_COPIES: u32 = 10_000;

/// Returns the path of the file of transfer `number`, if it is known before the response.
pub(super) fn path_before_response(
    transfer: &Transfer,
    url: &Url<'_>,
    number: usize,
    run: &Run,
) -> Result<Option<PathBuf>, Error> {
    let path = path_of(transfer, url, run)?;
    path.map(|path| free_path(path, number, run)).transpose()
}

fn path_of(transfer: &Transfer, url: &Url<'_>, run: &Run) -> Result<Option<PathBuf>, Error> {
    match &transfer.output {
        Output::File(path) => Ok(Some(path.clone())),
        Output::Named { directory, by_server: false, kept_name: Some(name) } => {
            Ok(Some(directory.join(name)))
        }
        Output::Named { directory, by_server: false, .. } => Ok(Some(directory.join(name_of(url)?))),
        Output::Named { by_server: true, .. } if run.options.resume => {
            Err(usage_error("-J cannot be combined with -C -: the name is known only after the response"))
        }
        _ => Ok(None),
    }
}

/// Returns `path`. With `--keep-both`, if `path` is taken, returns it with the first free number, such as `file.1`.
fn free_path(path: PathBuf, number: usize, run: &Run) -> Result<PathBuf, Error> {
    // Open descriptors, devices and FIFOs are written to, not replaced.
    let exists = |path: &Path| {
        Descriptor::named_by(path).is_none() && (path.is_file() || path.is_dir() || path.is_symlink())
    };
    let is_taken = |path: &Path| {
        exists(path) || run.output_paths.is_reserved(path, number) || run.output_paths.is_program_file(path)
    };
    if !run.options.keeps_both || !is_taken(&path) {
        return Ok(path);
    }
    let numbered = |number: u32| {
        let mut name = path.clone().into_os_string();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    };
    let free = (1..=MAX_COPIES).map(numbered).find(|path| !is_taken(path));
    free.ok_or_else(|| usage_error(format!("{} has {MAX_COPIES} copies already", path.display())))
}

/// Creates the directory of a transfer's path if `--create-dirs` is set, and reserves the path. The paths of a mirror,
/// of the lines of a queue, and of a single transfer are not reserved.
pub(super) fn reserve(path: &Path, number: usize, transfer: &Transfer, run: &Run) -> Result<Reserved, Error> {
    // The mirror has given unique paths to its files; a page and a link that redirects to it have the same path.
    if transfer.entry.is_some() {
        return run.output_paths.check_not_program_file(path).map(|()| Reserved::First);
    }
    // Paths are compared by their directories, which must exist.
    match &transfer.document_path {
        Some(_) if !run.options.create_dirs || run.options.is_dry_run => {}
        Some(document_path) => document_directory(document_path).map(drop)?,
        None => make_parent(path, run)?,
    }
    // The queue reserves the files of its lines for all workers, and gives the file of a failed line to another one.
    if !run.has_several_outputs() || transfer.lease.is_some() {
        return run.output_paths.check_not_program_file(path).map(|()| Reserved::First);
    }
    run.output_paths.reserve(path, number, &transfer.url, transfer.checksum.as_ref())
}

/// Returns `true` if an earlier line of the batch has fetched the file.
pub(super) fn is_fetched(path: &Path, reserved: Reserved, run: &Run) -> bool {
    reserved == (Reserved::Repeated { is_finished: true }) && run.journal.is_some() && path.is_file()
}

/// Returns the file if it need not be fetched: it exists and `--skip-existing` is set, or the journal contains it. A
/// directory, a device, a FIFO or an open descriptor at its path is not the file.
pub(super) fn current_file(transfer: &Transfer, path: &Path, run: &Run) -> Option<Metadata> {
    let is_file = |file: &Metadata| file.is_file() && Descriptor::named_by(path).is_none();
    let existing = || fs::metadata(path).ok().filter(is_file);
    let existing = run.options.skips_existing.then(existing).flatten();
    let journal = run.journal.as_ref().filter(|journal| journal.has_earlier_entries());
    existing.or_else(|| journal?.unchanged_file(transfer, path))
}

/// Records that an existing file is kept. Returns `false` if this run has already written or kept it under another
/// name, such as `x` and `X` on a case-insensitive file system.
pub(super) fn keep(file: &Metadata, reserved: Reserved, run: &Run) -> bool {
    reserved.is_repeated() || !run.has_several_outputs() || run.output_paths.add_kept(file)
}

/// Opens the file of a transfer. Files of a mirror stay below its directory, even if it contains symbolic links.
///
/// `kept` is the number of bytes of the existing file that may be kept.
pub(super) fn open(path: &Path, kept: u64, transfer: &Transfer, run: &Run) -> Result<FileSink, Error> {
    let options = match kept {
        0 => run.options.file_options,
        kept => run.options.file_options.keeping_bytes(kept),
    };
    if let (Some(entry), Some(mirror)) = (&transfer.entry, &run.mirror) {
        let (parent, name) = entry.path.rsplit_once('/').unwrap_or(("", &entry.path));
        let directory = run.directories.open_mirrored(&mirror.directory, parent)?;
        // The listed time of a link may be that of the link.
        let listed_time = entry.modified.filter(|_| entry.uncertain_kind.is_none());
        return FileSink::open_beneath(&directory, name, options.listed_time(listed_time));
    }
    if let Some(document_path) = &transfer.document_path {
        if let Some(error) = missing_parent(path).filter(|_| !run.options.create_dirs) {
            return Err(error);
        }
        // With `--keep-both`, the name may have a number.
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        return FileSink::open_beneath(&document_directory(document_path)?, name, options);
    }
    open_file(path, transfer, options, run)
}

/// Opens the directory of a path that a document has chosen, without following links below the directory of the output.
/// Creates it if it is missing.
fn document_directory(document_path: &DocumentPath) -> Result<DirHandle, Error> {
    make_directory(&document_path.directory)?;
    let parent = document_path.path.rsplit_once('/').map_or("", |(parent, _)| parent);
    DirHandle::open_or_create(&document_path.directory, parent)
}

/// Fails if `path` is a device, a FIFO or a socket, or a link to one: it would not keep the object.
pub(super) fn check_regular(path: &Path) -> Result<(), Error> {
    // A directory and a missing file have their own errors.
    let is_special = fs::metadata(path).is_ok_and(|file| !file.is_file() && !file.is_dir());
    let detail = || format!("{} is not a regular file, and would not keep the object", path.display());
    if is_special { Err(usage_error(detail())) } else { Ok(()) }
}

/// Opens a file. The error says whether its directory is missing.
fn open_file(path: &Path, transfer: &Transfer, options: FileOptions, run: &Run) -> Result<FileSink, Error> {
    let opened = match &transfer.output {
        Output::Named { directory, .. } => run.directories.open_named(path, directory, options),
        _ => FileSink::open(path, options),
    };
    opened.map_err(|error| missing_parent(path).or_else(|| missing_start(path, run)).unwrap_or(error))
}

/// Returns the error for a missing file whose start `-C OFFSET` would keep.
fn missing_start(path: &Path, run: &Run) -> Option<Error> {
    let kept = run.options.file_options.keep_bytes;
    let detail = || format!("-C {kept} keeps the start of {}, which does not exist", path.display());
    let is_missing = || Descriptor::named_by(path).is_none() && !path.exists();
    (kept > 0 && is_missing()).then(|| usage_error(detail()))
}

/// Returns the error for a file whose directory does not exist.
fn missing_parent(path: &Path) -> Option<Error> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty() && !parent.exists())?;
    let detail = format!("the directory {} does not exist", parent.display());
    Some(Error::new(Code::SinkFailed, Phase::Deliver, detail).with_hint("--create-dirs creates it"))
}

fn make_parent(path: &Path, run: &Run) -> Result<(), Error> {
    path.parent()
        .filter(|_| run.options.create_dirs && !run.options.is_dry_run)
        .map_or(Ok(()), make_directory)
}

/// Returns the sink of the object.
pub(super) fn choose_sink(
    file: Option<FileSink>,
    transfer: &Transfer,
    response: &Response,
    run: &Run,
    report: &mut TransferReport,
) -> Result<Sink, Error> {
    Ok(match (file, &transfer.output) {
        (Some(file), _) => Sink::file(file),
        (None, Output::Named { .. }) => {
            let (path, file) = open_as_suggested(transfer, response, report.number, run)?;
            report.file = Some(path);
            Sink::file(file)
        }
        (None, Output::Stdout { is_explicit: false }) if run.log.stdout_is_terminal => {
            Sink::writer(TerminalWriter::default())
        }
        (None, _) => Sink::open(stdout_file()?),
    })
}

fn open_as_suggested(
    transfer: &Transfer,
    response: &Response,
    number: usize,
    run: &Run,
) -> Result<(PathBuf, FileSink), Error> {
    let Output::Named { directory, kept_name, .. } = &transfer.output else {
        return Err(usage_error("-J needs -O"));
    };
    let suggested = response.meta.suggested_name.as_deref().and_then(safe_name).map(OsString::from);
    let name = match kept_name.clone().or(suggested) {
        Some(name) => name,
        None => name_of(&response.meta.url)?.into(),
    };
    let path = directory.join(name);
    make_parent(&path, run)?;
    let path = free_path(path, number, run)?;
    match run.options.keeps_both {
        true => drop(reserve(&path, number, transfer, run)?),
        false => run.output_paths.check_not_program_file(&path)?,
    }
    let file = open_file(&path, transfer, run.options.file_options.no_clobber(true), run)?;
    Ok((path, file))
}

/// Returns the sanitised last part of the URL.
pub(super) fn name_of(url: &Url<'_>) -> Result<String, Error> {
    match url {
        Url::Mailto(_) | Url::Telnet(_) => Err(no_object_error()),
        url => file_name(url).ok_or_else(|| {
            let is_directory = url.to_string().ends_with('/');
            let hint = match is_directory {
                true => "name the file with -o; fetch-url mirror URL copies a directory",
                false => "name the file with -o",
            };
            usage_error("the URL has no file name at its end").with_hint(hint)
        }),
    }
}
