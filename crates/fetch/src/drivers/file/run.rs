//! Runs a plan: opens the local file, or lists the local directory.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, Seek as _, SeekFrom};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use fetch_url_proto::{Entry, EntryKind, Head};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::plan::{FilePlan, file_url};
use super::root::proc_path;
use super::special::SpecialFileSource;
use crate::driver::RunFuture;
use crate::virtual_files::{DirectoryFileSystem, is_virtual_file, is_virtual_path};
use crate::{
    Body, Code, Content, Deadline, Error, Hint, Listing, Meta, Outcome, Phase, Plan, Proof, Response,
};
use crate::{RunContext, Validator, Want, blocking_threads, range};

/// Maximum number of names in a directory, because they are sorted in memory.
const MAX_NAMES: usize = 1_000_000;

impl Plan for FilePlan {
    fn run(self: Box<Self>, ctx: RunContext) -> RunFuture {
        Box::pin(run_plan(*self, ctx.deadline))
    }
}

/// The result of opening a path.
enum Opened {
    Response(Box<Response>),
    /// A file whose size is unknown.
    Unsized(Box<Meta>, SpecialFileSource),
}

/// Opens the file on a thread: an unresponsive network file system must not block the async runtime.
async fn run_plan(plan: FilePlan, deadline: Deadline) -> Result<Outcome, Error> {
    let range = range::select_unsized_range(plan.resume.as_ref(), plan.range);
    let opening = async { blocking_threads::run(move || open_path(&plan)).await? };
    let (mut meta, mut source) = match deadline.bound(Phase::Reply, opening).await? {
        Opened::Response(response) => return Ok(Outcome::Response(*response)),
        Opened::Unsized(meta, source) => (*meta, source),
    };
    if let Some((first, last)) = range? {
        source.start_at(first, last, &deadline).await?;
        meta.offset = first;
    }
    let body = Body::from_source(source, None, Proof::Assumed("the size of a special file is unknown"));
    Ok(Outcome::Response(Response::new(meta, Content::Body(body))))
}

fn open_path(plan: &FilePlan) -> Result<Opened, Error> {
    let pinned = plan.root.as_ref().map(|root| root.open_beneath(&plan.path)).transpose()?;
    let path = pinned.as_ref().map_or_else(|| plan.path.clone(), proc_path);
    let metadata = fs::metadata(&path).map_err(|error| path_error(&error))?;
    let mut meta = Meta::new(plan.url.clone());
    if metadata.is_dir() {
        meta.head.modified = Some(metadata.mtime());
        let content = match plan.want {
            Want::Head => Content::Head,
            Want::Object if plan.range.is_some() => return Err(directory_range_error()),
            Want::Object => Content::Listing(list_directory(path, plan.path.clone(), pinned)?),
        };
        return Ok(Opened::Response(Box::new(Response::new(meta, content))));
    }
    if !metadata.is_file() && !plan.allows_special {
        return Err(special_file_error(&metadata));
    }
    if plan.want == Want::Head {
        meta.head = file_head(&metadata, is_virtual_path(&path));
        return Ok(Opened::Response(Box::new(Response::new(meta, Content::Head))));
    }
    open_file(plan, &path, meta)
}

/// Opens the file at `path`. The checks use the metadata of the opened file, because the path may have been replaced since the
/// first check.
fn open_file(plan: &FilePlan, path: &Path, mut meta: Meta) -> Result<Opened, Error> {
    // A FIFO without a writer must not block the open call. Except on Linux, its end would be reported at once then.
    let may_block = plan.allows_special && !cfg!(target_os = "linux");
    let flags = if may_block { OFlags::empty() } else { OFlags::NONBLOCK };
    let opened = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path);
    let mut file = opened.map_err(|error| path_error(&error))?;
    let metadata = file.metadata().map_err(|error| path_error(&error))?;
    if !metadata.is_file() && !plan.allows_special {
        return Err(special_file_error(&metadata));
    }
    meta.head = file_head(&metadata, is_virtual_file(&file));
    let Some(size) = meta.head.size else {
        let source = SpecialFileSource::new(file).map_err(|error| path_error(&error))?;
        return Ok(Opened::Unsized(Box::new(meta), source));
    };
    meta.validator = Some(file_validator(&metadata));
    meta.is_resumable = true;
    let (first, end) = range::select_range(plan.resume.as_ref(), plan.range, &meta, size)?;
    meta.offset = first;
    file.seek(SeekFrom::Start(first)).map_err(|error| path_error(&error))?;
    let body = Body::from_file(file, end - first, Proof::Proven("the file size"));
    Ok(Opened::Response(Box::new(Response::new(meta, Content::Body(body)))))
}

/// Returns size and modification time of a file. A FIFO or device has no size. A file on a virtual file system has
/// neither: its metadata do not describe the content, which may change while they stay the same.
fn file_head(metadata: &Metadata, is_virtual: bool) -> Head {
    if is_virtual {
        return Head::default();
    }
    Head {
        size: metadata.is_file().then_some(metadata.len()),
        modified: Some(metadata.mtime()),
        modified_nanoseconds: modified_nanoseconds(metadata),
    }
}

fn directory_range_error() -> Error {
    Error::new(Code::RangeRefused, Phase::Reply, "the path is a directory, and a listing has no byte ranges")
}

fn special_file_error(metadata: &Metadata) -> Error {
    if metadata.file_type().is_socket() {
        return Error::unsupported("the path is a socket, which is not read like a file");
    }
    let error = Error::new(Code::Policy, Phase::Reply, "the path is neither a regular file nor a directory");
    error.with_hint(Hint::SpecialFiles)
}

/// Returns a validator made of the modification time in nanoseconds and the size, compared for equality only.
fn file_validator(metadata: &Metadata) -> Validator {
    let (seconds, nanoseconds) = (metadata.mtime(), metadata.mtime_nsec());
    Validator::Modified(format!("{seconds}.{nanoseconds:09}/{}", metadata.len()))
}

/// Returns the nanoseconds of the second of the modification time.
fn modified_nanoseconds(metadata: &Metadata) -> u32 {
    u32::try_from(metadata.mtime_nsec()).unwrap_or_default()
}

/// Returns the entries of `directory`, which the caller names `shown`, sorted by name. All names are read now; the metadata
/// of an entry is read when the entry is requested. `pinned` keeps a path to an open directory valid.
fn list_directory(directory: PathBuf, shown: PathBuf, pinned: Option<File>) -> Result<Listing, Error> {
    let mut names: Vec<OsString> = Vec::new();
    for entry in fs::read_dir(&directory).map_err(|error| path_error(&error))? {
        names.push(entry.map_err(|error| path_error(&error))?.file_name());
        if names.len() > MAX_NAMES {
            let detail = format!("the directory has more than {MAX_NAMES} entries");
            return Err(Error::new(Code::LimitReached, Phase::Reply, detail));
        }
    }
    names.sort_unstable();
    let file_system = DirectoryFileSystem::of(&directory);
    Ok(Listing::from_entries(names.into_iter().map(move |name| {
        let _ = &pinned;
        Ok(directory_entry(&directory, &file_system, &shown, name))
    })))
}

fn directory_entry(
    directory: &Path,
    file_system: &DirectoryFileSystem,
    shown: &Path,
    name: OsString,
) -> Entry {
    let local = directory.join(&name);
    let metadata = fs::symlink_metadata(&local).ok();
    let path = shown.join(&name);
    let kind = metadata.as_ref().map_or(EntryKind::Other, |metadata| match metadata.file_type() {
        kind if kind.is_dir() => EntryKind::Directory,
        kind if kind.is_file() => EntryKind::File,
        kind if kind.is_symlink() => EntryKind::Link,
        _ => EntryKind::Other,
    });
    let head = metadata.map_or_else(Head::default, |metadata| {
        file_head(&metadata, metadata.is_file() && file_system.is_virtual_entry(&local, &metadata))
    });
    Entry {
        name: name.into_encoded_bytes(),
        size: head.size,
        modified: head.modified,
        modified_nanoseconds: head.modified_nanoseconds,
        url: Some(file_url(&path)),
        ..Entry::new(kind)
    }
}

/// Maps an I/O error of the operating system to an error code. A socket, a device without a driver, and the terminal of
/// a process that has none cannot be opened (`ENXIO`, `ENODEV`).
fn path_error(error: &io::Error) -> Error {
    let is_one_of =
        |errors: &[Errno]| Errno::from_io_error(error).is_some_and(|errno| errors.contains(&errno));
    let code = match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Code::NotFound,
        io::ErrorKind::PermissionDenied => Code::Denied,
        io::ErrorKind::InvalidFilename => Code::NotFound,
        // A symbolic link that points to itself.
        _ if is_one_of(&[Errno::LOOP]) => Code::NotFound,
        _ if is_one_of(&[Errno::NXIO, Errno::NODEV]) => {
            return Error::unsupported(format!("the file cannot be read: {error}"));
        }
        _ => {
            let detail = format!("the file cannot be read: {error}");
            return Error::new(Code::Truncated, Phase::Request, detail).as_permanent();
        }
    };
    Error::new(code, Phase::Request, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_from_before_1970_has_a_time_and_a_validator() {
        let file = tempfile::tempfile().expect("create file");
        let time = std::time::UNIX_EPOCH - std::time::Duration::from_millis(86_400_500);
        file.set_modified(time).expect("set time");
        let metadata = file.metadata().expect("read metadata");
        assert_eq!(metadata.mtime(), -86_401);
        assert_eq!(file_validator(&metadata), Validator::Modified("-86401.500000000/0".to_owned()));
    }
}
