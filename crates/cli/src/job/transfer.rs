//! Transfers: URLs and their outputs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fetch_url::http::RequestBody;
use fetch_url::internal::shown_text;
use fetch_url::mirror::{FileEntry, OrdinaryPage};
use fetch_url::url::mask_password;
use fetch_url::{Checksum, Code, Error, Meta, Phase};

use super::file_name::lacks_file_name;
use super::{news, upload, url_globs};
use crate::error::usage_error;
use crate::flags::{FetchFlags, Format, GivenOptions};
use crate::render::written_file::is_stdout;

/// Where the segments of an object come from (`--segments`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SegmentUse {
    /// The object is fetched over one connection.
    None,
    /// From the server of its URL.
    OneServer,
    /// From the servers of all its URLs.
    AllServers,
}

/// A URL and the output for its object.
#[derive(Clone, Debug)]
pub(crate) struct Transfer {
    pub(crate) url: String,
    pub(crate) output: Output,
    /// The URL was typed, and a `*` in the last part of an FTP URL is a wildcard.
    pub(crate) is_pattern: bool,
    /// The URL is that of a Metalink document, whose files are fetched.
    pub(crate) is_metalink: bool,
    /// A document has chosen the URL: no login and no headers of the user are sent to it.
    pub(crate) is_from_document: bool,
    /// The response whose header or Metalink document has chosen the URL.
    pub(crate) named_by: Option<Arc<Meta>>,
    /// The user has given the checksum, or it came over TLS.
    pub(crate) has_protected_checksum: bool,
    /// The path that a Metalink document has chosen.
    pub(crate) document_path: Option<DocumentPath>,
    /// The size that a document states, in bytes.
    pub(crate) size: Option<u64>,
    /// The id of the lease, if the transfer is a line of a queue.
    pub(crate) lease: Option<u64>,
    /// Other URLs of the same object, tried in order.
    pub(crate) alternatives: Vec<String>,
    pub(crate) segment_use: SegmentUse,
    /// The conditions of `-z` and `--etag-compare` are not sent: an earlier attempt has received the object under them, or
    /// the existing file does not have the checksum.
    pub(crate) is_unconditional: bool,
    /// With `-C -`, no byte of the existing file is kept.
    pub(crate) replaces_file: bool,
    /// The required checksum.
    pub(crate) checksum: Option<Checksum>,
    /// A document has checksums of the object, but none that can be verified.
    pub(crate) has_unusable_checksum: bool,
    /// The file that is sent to the URL (`-T`).
    pub(crate) upload: Option<RequestBody>,
    /// In a mirror: the entry of the listing.
    pub(crate) entry: Option<Box<FileEntry>>,
    /// In a mirror: the page that was received instead of a listing. It is saved without another request.
    pub(crate) ordinary_page: Option<Arc<OrdinaryPage>>,
}

impl Transfer {
    /// Returns the URL for messages: without its password, and without secrets that the server which named it has repeated.
    pub(crate) fn shown_url(&self) -> String {
        match &self.named_by {
            Some(meta) => shown_text(&self.url, meta),
            None => mask_password(&self.url),
        }
    }

    /// Returns a transfer without alternatives and checksum.
    pub(crate) const fn new(url: String, output: Output) -> Self {
        Self {
            url,
            output,
            is_pattern: false,
            is_metalink: false,
            is_from_document: false,
            named_by: None,
            has_protected_checksum: false,
            document_path: None,
            size: None,
            lease: None,
            alternatives: Vec::new(),
            segment_use: SegmentUse::AllServers,
            is_unconditional: false,
            replaces_file: false,
            checksum: None,
            has_unusable_checksum: false,
            upload: None,
            entry: None,
            ordinary_page: None,
        }
    }

    /// Returns `true` if the user chose the file name, for example with `-o`. Otherwise it comes from the URL, a
    /// listing or a document.
    pub(crate) const fn is_named_by_user(&self) -> bool {
        matches!(self.output, Output::File(_)) && self.entry.is_none() && !self.is_from_document
    }

    /// Returns `true` for an entry of an index page that is wanted only if it is a directory.
    pub(crate) fn is_excluded_file(&self) -> bool {
        self.entry.as_ref().is_some_and(|entry| entry.is_excluded_file)
    }

    /// Returns `true` for a page of a mirror, or a file that a page refers to.
    pub(crate) fn is_page_link(&self) -> bool {
        self.entry.as_ref().is_some_and(|entry| entry.is_page_link())
    }
}

/// A path below the directory of the output, on which no symbolic link is followed.
#[derive(Clone, Debug)]
pub(crate) struct DocumentPath {
    pub(crate) directory: PathBuf,
    /// The names of directories and that of the file, separated by slashes.
    pub(crate) path: String,
}

/// The destination of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    File(PathBuf),
    /// A file in this directory, named after the URL or by the server.
    Named {
        directory: PathBuf,
        by_server: bool,
        /// The name of the file in an earlier attempt to fetch the object.
        kept_name: Option<OsString>,
    },
    /// Standard output; explicit if `-o -` was given.
    Stdout {
        is_explicit: bool,
    },
}

/// Pairs URLs and outputs: the first `-o` or `-O` belongs to the first URL, as in curl.
pub(super) fn transfers(flags: &FetchFlags, given: &GivenOptions) -> Result<Vec<Transfer>, Error> {
    if let Some(path) = flags.output.iter().find(|path| lacks_file_name(path)) {
        return Err(usage_error(format!("-o {}: the name of a file is missing", path.display())).with_hint(
            format!("--output-dir {} -O names the file like the last part of the URL", path.display()),
        ));
    }
    let outputs = outputs(flags, given);
    if outputs.len() > flags.urls.len() {
        return Err(usage_error("there are more -o and -O than URLs"));
    }
    if flags.remote_header_name && outputs.is_empty() && !flags.remote_name_all {
        return Err(usage_error("-J needs -O"));
    }
    if flags.http.upload_file.len() > flags.urls.len() {
        return Err(usage_error("there are more -T than URLs"));
    }
    let (mut outputs, mut uploads) = (outputs.into_iter(), flags.http.upload_file.iter());
    let rest = if flags.remote_name_all { named(flags) } else { Output::Stdout { is_explicit: false } };
    let transfer = |url: String, output: Option<Output>, upload: Option<RequestBody>| {
        // With `--output-dir`, each article of a range is written to a file of its own.
        let is_several = flags.output_dir.is_some() && flags.format != Format::Mbox && news::is_range(&url);
        let rest = || if is_several { named(flags) } else { rest.clone() };
        let output = output.unwrap_or_else(rest);
        let is_pattern = !flags.batch.globoff && !flags.list && url.contains('*');
        Transfer { is_pattern, upload, ..Transfer::new(url, output) }
    };
    let max_time = flags.max_time.filter(|time| !time.is_zero());
    let mut all = Vec::new();
    for text in &flags.urls {
        let (output, file) = (outputs.next(), uploads.next());
        let upload = file.map(|file| upload::body(file, max_time)).transpose()?;
        let named = |url: &str| file.map_or_else(|| url.to_owned(), |file| upload::with_file_name(url, file));
        if flags.batch.globoff || !text.contains(['[', '{']) {
            all.push(transfer(named(text), output, upload));
            continue;
        }
        let urls = url_globs::expand(text).map_err(|detail| {
            let detail = format!("{}: {detail}", mask_password(text));
            Error::new(Code::BadUrl, Phase::Plan, detail).with_hint("-g takes [, ], { and } literally")
        })?;
        for url in urls {
            let output = output.clone().map(|output| match output {
                Output::File(path) => match path.to_str() {
                    Some(pattern) => Output::File(url.file_name(pattern).into()),
                    None => Output::File(path),
                },
                output => output,
            });
            all.push(transfer(named(&url.url), output, upload.clone()));
        }
    }
    Ok(all)
}

fn outputs(flags: &FetchFlags, given: &GivenOptions) -> Vec<Output> {
    let files = flags.output.iter().map(|path| file(flags, path));
    let mut all: Vec<(usize, Output)> = given.positions("output").zip(files).collect();
    all.extend(given.positions("remote_name").map(|index| (index, named(flags))));
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, output)| output).collect()
}

pub(super) fn named(flags: &FetchFlags) -> Output {
    let directory = flags.output_dir.clone().unwrap_or_default();
    Output::Named { directory, by_server: flags.remote_header_name, kept_name: None }
}

fn file(flags: &FetchFlags, path: &Path) -> Output {
    if is_stdout(path) {
        return Output::Stdout { is_explicit: true };
    }
    Output::File(match &flags.output_dir {
        Some(directory) => directory.join(path),
        None => path.to_owned(),
    })
}
