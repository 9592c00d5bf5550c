//! Runs a plan: opens the local file, or lists the local directory.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use fetch_url_proto::{Entry, EntryKind, Head};
use rustix::fs::OFlags;

use super::plan::{FilePlan, file_url};
use super::special::SpecialFileSource;
use crate::driver::RunFuture;
use crate::{
    Body, Code, Content, Deadline, Error, Hint, Listing, Meta, Outcome, Phase, Plan, Proof, Response,
};
use crate::{RunContext, Validator, Want, range};

/// The most names of one directory, because they are sorted in memory.
const MAX_NAMES: usize = 1_000_000;

impl Plan for FilePlan {
    fn run(self: Box<Self>, ctx: RunContext) -> RunFuture {
        Box::pin(run_plan(*self, ctx.deadline))
    }
}

/// Opens the file on a blocking thread: an unresponsive network file system must not block the async runtime.
async fn run_plan(plan: FilePlan, deadline: Deadline) -> Result<Outcome, Error> {
    let opening = async {
        match tokio::task::spawn_blocking(move || open_path(&plan)).await {
            Ok(result) => result,
            Err(error) => Err(Error::new(Code::Internal, Phase::Reply, error.to_string())),
        }
    };
    deadline.bound(Phase::Reply, opening).await.map(Outcome::Answer)
}

fn open_path(plan: &FilePlan) -> Result<Response, Error> {
    let metadata = fs::metadata(&plan.path).map_err(|error| path_error(&error))?;
    let mut meta = Meta::new(plan.url.clone());
    meta.head.modified = modified_seconds(&metadata);
    if metadata.is_dir() {
        let content = match plan.want {
            Want::Head => Content::Head,
            Want::Object => Content::Listing(list_directory(&plan.path)?),
        };
        return Ok(Response::new(meta, content));
    }
    if !metadata.is_file() && !plan.allows_special {
        return Err(special_file_error());
    }
    if plan.want == Want::Head {
        meta.head.size = metadata.is_file().then_some(metadata.len());
        return Ok(Response::new(meta, Content::Head));
    }
    open_file(plan, meta)
}

/// Opens the file. The checks use the metadata of the opened file, because the path may have been replaced since the
/// first check.
fn open_file(plan: &FilePlan, mut meta: Meta) -> Result<Response, Error> {
    // Without permission for special files, a FIFO that has replaced the file must not block the open call.
    let flags = if plan.allows_special { OFlags::empty() } else { OFlags::NONBLOCK };
    let opened = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(&plan.path);
    let mut file = opened.map_err(|error| path_error(&error))?;
    let metadata = file.metadata().map_err(|error| path_error(&error))?;
    if !metadata.is_file() && !plan.allows_special {
        return Err(special_file_error());
    }
    if !metadata.is_file() || is_on_virtual_file_system(&file) {
        let proof = Proof::Assumed("the size of a special file is unknown");
        let body = Body::from_source(SpecialFileSource::new(file), None, proof);
        return Ok(Response::new(meta, Content::Body(body)));
    }
    let size = metadata.len();
    meta.head = Head { size: Some(size), modified: modified_seconds(&metadata) };
    meta.validator = file_validator(&metadata);
    meta.is_resumable = true;
    let (first, end) = range::select_range(plan.resume.as_ref(), plan.range, &meta, size)?;
    meta.offset = first;
    file.seek(SeekFrom::Start(first)).map_err(|error| path_error(&error))?;
    let body = Body::from_file(file, end - first, Proof::Proven("the file size"));
    Ok(Response::new(meta, Content::Body(body)))
}

fn special_file_error() -> Error {
    let error = Error::new(Code::Policy, Phase::Reply, "the path is neither a regular file nor a directory");
    error.with_hint(Hint::SpecialFiles)
}

/// Returns `true` if the file system generates the content on read, so that the size in the metadata is meaningless.
#[cfg(target_os = "linux")]
fn is_on_virtual_file_system(file: &File) -> bool {
    /// Magic numbers of linux/magic.h: proc, sysfs, debugfs, tracefs, cgroup, cgroup2.
    const VIRTUAL: [u64; 6] = [0x9fa0, 0x6265_6572, 0x6462_6720, 0x7472_6163, 0x0027_e0eb, 0x6367_7270];
    rustix::fs::fstatfs(file).is_ok_and(|stat| VIRTUAL.contains(&(stat.f_type as u64)))
}

#[cfg(not(target_os = "linux"))]
const fn is_on_virtual_file_system(_: &File) -> bool {
    false
}

/// Returns a validator made of the modification time in nanoseconds and the size, compared for equality only.
fn file_validator(metadata: &Metadata) -> Option<Validator> {
    let since = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Validator::Modified(format!("{}.{:09}/{}", since.as_secs(), since.subsec_nanos(), metadata.len())))
}

/// Returns the modification time in seconds since 1970-01-01 UTC.
fn modified_seconds(metadata: &Metadata) -> Option<i64> {
    let modified = metadata.modified().ok()?;
    match modified.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_secs()).ok(),
        Err(before) => i64::try_from(before.duration().as_secs()).ok().map(|seconds| -seconds),
    }
}

/// Returns the entries sorted by name. All names are read now; the metadata of an entry is read when the entry is
/// requested.
fn list_directory(directory: &Path) -> Result<Listing, Error> {
    let mut names: Vec<OsString> = Vec::new();
    for entry in fs::read_dir(directory).map_err(|error| path_error(&error))? {
        names.push(entry.map_err(|error| path_error(&error))?.file_name());
        if names.len() > MAX_NAMES {
            let detail = format!("the directory has more than {MAX_NAMES} entries");
            return Err(Error::new(Code::LimitReached, Phase::Reply, detail));
        }
    }
    names.sort_unstable();
    let directory = directory.to_owned();
    Ok(Listing::from_entries(names.into_iter().map(move |name| Ok(directory_entry(&directory, name)))))
}

fn directory_entry(directory: &Path, name: OsString) -> Entry {
    let path: PathBuf = directory.join(&name);
    let metadata = fs::symlink_metadata(&path).ok();
    let kind = metadata.as_ref().map_or(EntryKind::Other, |metadata| match metadata.file_type() {
        kind if kind.is_dir() => EntryKind::Directory,
        kind if kind.is_file() => EntryKind::File,
        kind if kind.is_symlink() => EntryKind::Link,
        _ => EntryKind::Other,
    });
    Entry {
        name: name.into_encoded_bytes(),
        size: metadata.as_ref().filter(|metadata| metadata.is_file()).map(Metadata::len),
        modified: metadata.as_ref().and_then(modified_seconds),
        url: Some(file_url(&path)),
        ..Entry::new(kind)
    }
}

/// Maps an I/O error of the operating system to an error code.
fn path_error(error: &io::Error) -> Error {
    let code = match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Code::NotFound,
        io::ErrorKind::PermissionDenied => Code::Denied,
        io::ErrorKind::InvalidFilename => Code::NotFound,
        // A symbolic link that points to itself.
        _ if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => Code::NotFound,
        _ => Code::PeerMisbehaved,
    };
    Error::new(code, Phase::Request, error.to_string())
}
