//! Opens the file or reads the directory.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use fetch_url_proto::{Entry, EntryKind, Head};
use rustix::fs::OFlags;

use super::plan::{FilePlan, url_of};
use super::special::Special;
use crate::engine::part;
use crate::{
    Body, Code, Content, Deadline, Error, Listing, Meta, Outcome, Phase, Proof, Response, Validator, Want,
};

/// The most names of a directory that are sorted in memory.
const MAX_NAMES: usize = 1_000_000;

/// Looks at the file off the runtime's thread: a dead network file system must not hold it.
pub(super) async fn run(plan: FilePlan, deadline: Deadline) -> Result<Outcome, Error> {
    let work = async {
        match tokio::task::spawn_blocking(move || answer(&plan)).await {
            Ok(result) => result,
            Err(error) => Err(Error::new(Code::Internal, Phase::Reply, error.to_string())),
        }
    };
    deadline.bound(Phase::Reply, work).await.map(Outcome::Answer)
}

fn answer(plan: &FilePlan) -> Result<Response, Error> {
    let facts = fs::metadata(&plan.path).map_err(|error| refused(&error))?;
    let mut meta = Meta::new(plan.url.clone());
    meta.head.modified = modified(&facts);
    if facts.is_dir() {
        let content =
            if plan.want == Want::Head { Content::Head } else { Content::Listing(listing(&plan.path)?) };
        return Ok(Response::new(meta, content));
    }
    if !facts.is_file() && !plan.allows_special {
        return Err(special());
    }
    if plan.want == Want::Head {
        meta.head.size = facts.is_file().then_some(facts.len());
        return Ok(Response::new(meta, Content::Head));
    }
    open(plan, meta)
}

/// What was opened is judged by its own facts, not by what the name meant a moment ago.
fn open(plan: &FilePlan, mut meta: Meta) -> Result<Response, Error> {
    // Without leave for special files, one that was put there meanwhile must not hold us.
    let waits = if plan.allows_special { OFlags::empty() } else { OFlags::NONBLOCK };
    let opened = File::options().read(true).custom_flags(waits.bits().cast_signed()).open(&plan.path);
    let mut file = opened.map_err(|error| refused(&error))?;
    let facts = file.metadata().map_err(|error| refused(&error))?;
    if !facts.is_file() && !plan.allows_special {
        return Err(special());
    }
    if !facts.is_file() || is_made_up(&file) {
        let proof = Proof::Assumed("a special file ends where it ends");
        let body = Body::from_source(Special::new(file), None, proof);
        return Ok(Response::new(meta, Content::Body(body)));
    }
    let size = facts.len();
    meta.head = Head { size: Some(size), modified: modified(&facts) };
    meta.validator = validator(&facts);
    meta.is_resumable = true;
    let (first, end) = part::wanted(plan.resume.as_ref(), plan.range, &meta, size)?;
    meta.offset = first;
    file.seek(SeekFrom::Start(first)).map_err(|error| refused(&error))?;
    let body = Body::from_file(file, end - first, Proof::Proven("the file's size"));
    Ok(Response::new(meta, Content::Body(body)))
}

fn special() -> Error {
    let error = Error::new(Code::Policy, Phase::Reply, "it is neither a file nor a directory");
    error.with_hint("--special-files reads FIFOs and devices")
}

/// Whether the system makes the file's octets up while they are read: then its size says nothing.
#[cfg(target_os = "linux")]
fn is_made_up(file: &File) -> bool {
    /// linux/magic.h: proc, sysfs, debugfs, tracefs, cgroup, cgroup2.
    const MADE_UP: [u64; 6] = [0x9fa0, 0x6265_6572, 0x6462_6720, 0x7472_6163, 0x0027_e0eb, 0x6367_7270];
    rustix::fs::fstatfs(file).is_ok_and(|facts| MADE_UP.contains(&(facts.f_type as u64)))
}

#[cfg(not(target_os = "linux"))]
const fn is_made_up(_: &File) -> bool {
    false
}

/// Time of the last change to the nanosecond, and size: compared for equality only.
fn validator(facts: &Metadata) -> Option<Validator> {
    let changed = facts.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Validator::Modified(format!("{}.{:09}/{}", changed.as_secs(), changed.subsec_nanos(), facts.len())))
}

fn modified(facts: &Metadata) -> Option<i64> {
    let changed = facts.modified().ok()?;
    match changed.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_secs()).ok(),
        Err(before) => i64::try_from(before.duration().as_secs()).ok().map(|seconds| -seconds),
    }
}

/// Sorted names now, each entry's facts when it is asked for.
fn listing(directory: &Path) -> Result<Listing, Error> {
    let mut names: Vec<OsString> = Vec::new();
    for entry in fs::read_dir(directory).map_err(|error| refused(&error))? {
        names.push(entry.map_err(|error| refused(&error))?.file_name());
        if names.len() > MAX_NAMES {
            let detail = format!("the directory has more than {MAX_NAMES} entries");
            return Err(Error::new(Code::LimitReached, Phase::Reply, detail));
        }
    }
    names.sort_unstable();
    let directory = directory.to_owned();
    Ok(Listing::from_entries(names.into_iter().map(move |name| Ok(entry(&directory, name)))))
}

fn entry(directory: &Path, name: OsString) -> Entry {
    let path: PathBuf = directory.join(&name);
    let facts = fs::symlink_metadata(&path).ok();
    let kind = facts.as_ref().map_or(EntryKind::Other, |facts| match facts.file_type() {
        kind if kind.is_dir() => EntryKind::Directory,
        kind if kind.is_file() => EntryKind::File,
        kind if kind.is_symlink() => EntryKind::Link,
        _ => EntryKind::Other,
    });
    Entry {
        name: name.into_encoded_bytes(),
        size: facts.as_ref().filter(|facts| facts.is_file()).map(Metadata::len),
        modified: facts.as_ref().and_then(modified),
        url: Some(url_of(&path)),
        ..Entry::new(kind)
    }
}

fn refused(error: &io::Error) -> Error {
    let code = match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Code::NotFound,
        io::ErrorKind::PermissionDenied => Code::Denied,
        io::ErrorKind::InvalidFilename => Code::NotFound,
        // A link that leads to itself.
        _ if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => Code::NotFound,
        _ => Code::PeerMisbehaved,
    };
    Error::new(code, Phase::Request, error.to_string())
}
