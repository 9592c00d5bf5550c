//! Where an object goes: the file that is named for it, or by it, and what of it is there already.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};

use fetch_url::url::Url;
use fetch_url::{Beneath, Code, Error, FileSink, Phase, Response, Sink, file_name, safe_name};

use super::advisory;
use crate::job::{Job, Output, Transfer, stdout, usage};
use crate::render::terminal::Terminal;
use crate::report::Report;

/// The path of the file, where it is known before the answer.
pub(super) fn path_before(transfer: &Transfer, url: &Url<'_>, job: &Job) -> Result<Option<PathBuf>, Error> {
    match &transfer.output {
        Output::File(path) => Ok(Some(path.clone())),
        Output::Named { directory, by_server: false } => Ok(Some(directory.join(name_of(url)?))),
        Output::Named { by_server: true, .. } if job.shape.resume => {
            Err(usage("-J cannot continue: its name comes too late"))
        }
        _ => Ok(None),
    }
}

/// Whether nothing is to be done for a transfer.
pub(super) fn is_there(transfer: &Transfer, path: &Path, job: &Job) -> bool {
    let is_kept = job.shape.skips_existing && path.exists();
    is_kept || job.ledger.as_ref().is_some_and(|ledger| ledger.has(transfer, path))
}

/// The file for a transfer. What a listing has named stays below the directory of the mirror, whatever is put there.
pub(super) fn open(path: &Path, transfer: &Transfer, job: &Job) -> Result<FileSink, Error> {
    let options = job.shape.options;
    if let (Some(leaf), Some(copy)) = (&transfer.leaf, &job.copy) {
        let (below, name) = leaf.path.rsplit_once('/').unwrap_or(("", &leaf.path));
        return FileSink::open_beneath(&Beneath::open(&copy.directory, below)?, name, options);
    }
    make_parent(path, job)?;
    FileSink::open(path, options)
}

fn make_parent(path: &Path, job: &Job) -> Result<(), Error> {
    path.parent().filter(|_| job.shape.create_dirs).map_or(Ok(()), make_directory)
}

/// Makes a directory and those above it.
pub(crate) fn make_directory(path: &Path) -> Result<(), Error> {
    if path.as_os_str().is_empty() {
        return Ok(());
    }
    let failed = |error| Error::new(Code::SinkFailed, Phase::Deliver, format!("{}: {error}", path.display()));
    fs::create_dir_all(path).map_err(failed)
}

/// Which file is whose: two URLs of one run must not take each other's.
#[derive(Default)]
pub(crate) struct Claims {
    hash: RandomState,
    urls: RefCell<HashMap<u64, (usize, u64)>>,
}

impl Claims {
    /// Takes `path` for the transfer `number`.
    pub(super) fn take(&self, path: &Path, number: usize, url: &str) -> Result<(), Error> {
        let url = (number, self.hash.hash_one(url));
        let before = *self.urls.borrow_mut().entry(self.hash.hash_one(path)).or_insert(url);
        let is_same = before.0 == url.0 || before.1 == url.1;
        // Devices take everything.
        if is_same || fs::symlink_metadata(path).is_ok_and(|facts| !facts.is_file()) {
            return Ok(());
        }
        let detail = format!("another URL of this run goes to {}, too", path.display());
        Err(usage(detail).with_hint("name the files, or give each its own directory"))
    }
}

/// Where the object goes.
pub(super) fn sink(
    file: Option<FileSink>,
    transfer: &Transfer,
    response: &Response,
    job: &Job,
    report: &mut Report,
) -> Result<Sink, Error> {
    Ok(match (file, &transfer.output) {
        (Some(file), _) => Sink::file(file),
        (None, Output::Named { .. }) => {
            let (path, file) = open_as_suggested(transfer, response, job)?;
            report.file = Some(path);
            Sink::file(file)
        }
        (None, Output::Stdout { is_explicit: false }) if job.talk.stdout_is_terminal => {
            Sink::writer(Terminal::default())
        }
        (None, _) => Sink::open(stdout()?),
    })
}

fn open_as_suggested(
    transfer: &Transfer,
    response: &Response,
    job: &Job,
) -> Result<(PathBuf, FileSink), Error> {
    let Output::Named { directory, .. } = &transfer.output else { return Err(usage("-J needs -O")) };
    let suggested = response.meta.suggested_name.as_deref().and_then(safe_name);
    let name = match suggested {
        Some(name) => name,
        None => name_of(&response.meta.url)?,
    };
    let path = directory.join(name);
    make_parent(&path, job)?;
    let file = FileSink::open(&path, job.shape.options.no_clobber(true))?;
    Ok((path, file))
}

/// The last part of the URL, decoded and made safe.
pub(super) fn name_of(url: &Url<'_>) -> Result<String, Error> {
    match url {
        Url::Mailto(_) | Url::Telnet(_) => Err(advisory::no_object()),
        url => file_name(url)
            .ok_or_else(|| usage("the URL has no file name at its end").with_hint("name the file with -o")),
    }
}
