//! `-C -` for a file that exists without a partial download of fetch-url: a finished file, or the partial download of
//! another program. It is kept only if its last bytes are those of the object.

use std::fs::{File, Metadata};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use fetch_url::http::{self, HttpOptions};
use fetch_url::news::UpcomingUrls;
use fetch_url::output::{FileSink, Resume};
use fetch_url::url::Url;
use fetch_url::{ByteRange, Checksum, Code, Content, Error, Meta, Phase, PrecedingBytes, Request};
use fetch_url_proto::text::sanitise;

use super::context::Run;
use super::{checksum, document_metadata, output};
use crate::flags::Format;
use crate::job::Transfer;
use crate::render;
use crate::report::TransferReport;

/// The number of bytes at the end of the file that are requested first.
const TAIL_LENGTH: u64 = 64;
/// The number of bytes at the end of the file that are requested again before the rest of the object is appended.
const APPEND_OVERLAP: u64 = 64 * 1024;

/// How an existing file relates to the object.
enum ExistingFile {
    /// The complete object.
    Complete(Box<Meta>),
    /// The start of the object. The rest is requested with these resume data.
    Start(Resume),
    /// Another object, or it cannot be compared.
    Other,
}

/// Returns the number of bytes of the file at `path` that `-C -` may keep.
pub(super) fn length(path: &Path, transfer: &Transfer, run: &Run) -> u64 {
    // A journal already says which files of a batch or mirror are complete. A line of a queue has no journal, and an equal
    // end does not show that the file is complete: it may be an older version of the object.
    // A condition finds out more reliably than the end of the file whether the object has changed.
    let is_known_otherwise =
        run.journal.is_some() || transfer.entry.is_some() || run.options.is_conditional();
    if !run.options.resume || is_known_otherwise || transfer.lease.is_some() || transfer.replaces_file {
        return 0;
    }
    file_length(path)
}

/// Returns the number of bytes of the regular file at `path`, or 0.
fn file_length(path: &Path) -> u64 {
    path.symlink_metadata().ok().filter(Metadata::is_file).map_or(0, |metadata| metadata.len())
}

/// Returns the output and the resume data of a partial download, or of an existing file that is the start of the object.
/// Returns `None` if the existing file is complete.
pub(super) async fn start(
    path: Option<&Path>,
    file: Option<FileSink>,
    request: &Request,
    expected: Option<&Checksum>,
    transfer: &Transfer,
    run: &Run,
    report: &mut TransferReport,
) -> Result<Option<(Option<FileSink>, Option<Resume>)>, Error> {
    let resume = resume_of(path, file.as_ref(), request, transfer, run);
    // The bytes that `-C OFFSET` keeps are not compared.
    let keeps_unchecked_bytes = run.options.file_options.keep_bytes > 0;
    let has_earlier_start = || file.as_ref().is_some_and(FileSink::has_earlier_start);
    report.has_earlier_start = keeps_unchecked_bytes || resume.is_some() && has_earlier_start();
    let is_compared = |file: &FileSink| file.kept_bytes() > 0 && run.options.file_options.keep_bytes == 0;
    let Some(path) = path.filter(|_| file.as_ref().is_some_and(is_compared)) else {
        return Ok(Some((file, resume)));
    };
    match compare(path, request, expected, transfer, run).await? {
        ExistingFile::Complete(meta) => {
            (report.meta, report.is_skipped) = (Some(meta), true);
            Ok(None)
        }
        ExistingFile::Start(start) => {
            report.has_earlier_start = true;
            Ok(Some((file, Some(start))))
        }
        ExistingFile::Other => Ok(Some((reopen(file, path, transfer, run)?, resume))),
    }
}

/// Returns the resume data of the partial download for the file at `path`. A partial download was requested with GET,
/// so that it is not the start of the response to another request; a note says so.
fn resume_of(
    path: Option<&Path>,
    file: Option<&FileSink>,
    request: &Request,
    transfer: &Transfer,
    run: &Run,
) -> Option<Resume> {
    let (path, resume) = (path?, file?.resume_of(request.url())?);
    if !matches!(request.url(), Url::Http(_)) || is_plain_get(request) {
        return Some(resume);
    }
    let why = "a request with a method or data is not resumed";
    note(&format!("{} is fetched from the start: {why}", path.display()), transfer, run);
    None
}

/// Compares the last bytes of the file at `path` with the object, and the whole file with the checksum of the object, if
/// there is one.
///
/// # Errors
/// Those of the request, for example `Code::NotFound`.
async fn compare(
    path: &Path,
    request: &Request,
    expected: Option<&Checksum>,
    transfer: &Transfer,
    run: &Run,
) -> Result<ExistingFile, Error> {
    let length = length(path, transfer, run);
    let restart = |why: &str| {
        note(&format!("{} is fetched from the start: {why}", path.display()), transfer, run);
        Ok(ExistingFile::Other)
    };
    if let Some(why) = reason_against_comparing(request) {
        return restart(why);
    }
    let Some(tail) = last_bytes(path, length, TAIL_LENGTH) else { return restart("it cannot be read") };
    let range = ByteRange::Span { first: length - tail.len() as u64, last: Some(length - 1) };
    let response = match run.fetcher.fetch(request.clone().range(range)).await {
        Ok(response) => response,
        Err(error) if error.code() == Code::RangeRefused && !has_no_content(&error) => {
            return restart(&range_refusal(&error));
        }
        Err(error) => return Err(error),
    };
    let meta = response.meta;
    let Content::Body(body) = response.content else { return Ok(ExistingFile::Other) };
    match body.bytes().await {
        Ok(bytes) if bytes == tail => {}
        Ok(_) => return restart("it differs from the object"),
        // The server has ignored the offset.
        Err(error) if error.has_invalid_body() => return restart(&range_refusal(&error)),
        Err(error) => return Err(error),
    }
    match meta.head.size {
        Some(size) if size == length => {
            let digest = || http::digest(&meta).filter(|_| document_metadata::checks_digest(run));
            if let Some(checksum) = expected.cloned().or_else(digest)
                && !checksum.matches_file(path).await.unwrap_or(false)
            {
                return restart("it does not have the checksum of the object");
            }
            note(&format!("{} is already complete: {length} bytes", path.display()), transfer, run);
            Ok(ExistingFile::Complete(meta))
        }
        // A request for the rest cannot begin at byte 0, so that it would not be compared. The part would save no bytes.
        Some(size) if size > length && (TAIL_LENGTH + 1..=APPEND_OVERLAP).contains(&length) => {
            restart("a file of up to 64 KiB is not continued")
        }
        Some(size) if size > length => match resume(path, length, &meta) {
            Some(resume) => Ok(ExistingFile::Start(resume)),
            None => restart("the server does not identify the version of the object"),
        },
        Some(size) => restart(&format!("it has {length} bytes, the object {size}")),
        None => restart("the server does not report the size of the object"),
    }
}

/// Fails if the response to the request for the whole object has no content (status 204 or 205, RFC 9110 §15.3.5) and
/// would replace an existing file although `-C -` is set.
///
/// # Errors
/// [`Code::RangeRefused`].
pub(super) fn check_content(
    meta: &Meta,
    path: Option<&Path>,
    transfer: &Transfer,
    run: &Run,
) -> Result<(), Error> {
    // Files of a mirror, and complete files of a queue, are replaced.
    let is_replaced = transfer.entry.is_some() || transfer.lease.is_some();
    let keeps_file = run.options.resume && !is_replaced && matches!(meta.status, Some(204 | 205));
    match path.filter(|path| keeps_file && file_length(path) > 0) {
        Some(path) => {
            let detail = format!("the response has no content, and {} is kept", path.display());
            Err(Error::new(Code::RangeRefused, Phase::Reply, detail).with_url(&meta.url))
        }
        None => Ok(()),
    }
}

/// Returns a request without condition if the file at `path` does not have the required checksum: it must be replaced even
/// if the object is unchanged.
pub(super) async fn unconditional_request(
    request: &Request,
    path: Option<&Path>,
    transfer: &Transfer,
    run: &Run,
) -> Result<Option<Request>, Error> {
    let path = path.filter(|path| run.options.is_conditional() && path.is_file());
    let is_right = match path {
        Some(path) => checksum::has_required_checksum(path, request, transfer, run).await?,
        None => true,
    };
    if is_right {
        return Ok(None);
    }
    let transfer = Transfer { is_unconditional: true, ..transfer.clone() };
    run.options.request_for(&transfer, UpcomingUrls::default()).map(Some)
}

/// Adds to `request` the last of the bytes of the file at `path` that `-C OFFSET` keeps. What an open descriptor or a
/// device has before its position is not part of the object.
pub(super) fn with_kept_bytes(
    request: Request,
    path: Option<&Path>,
    file: Option<&FileSink>,
    run: &Run,
) -> Request {
    let kept = run.options.file_options.keep_bytes;
    let is_compared = kept > 0 && matches!(request.url(), Url::Ftp(_));
    let path = path.filter(|_| is_compared && !file.is_some_and(FileSink::is_device));
    let preceding = |path| PrecedingBytes::read(&mut File::open(path)?, kept);
    match path.and_then(|path| preceding(path).ok()) {
        Some(bytes) => request.preceded_by(bytes),
        None => request,
    }
}

/// Returns `true` if the server has refused a range with status 204 or 205. Such a response carries no representation
/// (RFC 9110 §15.3.5), so that the whole object must not replace the file either.
fn has_no_content(error: &Error) -> bool {
    error.reply().is_some_and(|reply| reply.starts_with("204") || reply.starts_with("205"))
}

/// Returns the reason why the server has not sent the end of the object, for a note.
fn range_refusal(error: &Error) -> String {
    match error.reply() {
        // Other refusals do not show whether the server supports ranges: the object may be shorter than the file.
        Some(reply) if reply.starts_with("200") => format!("the server does not support ranges ({reply})"),
        _ => format!("its end cannot be compared with the object: {error}"),
    }
}

/// Returns the reason why a part of the object cannot be requested and compared, or `None` if it can.
fn reason_against_comparing(request: &Request) -> Option<&'static str> {
    match request.url() {
        Url::Http(_) if is_plain_get(request) => None,
        Url::Http(_) => Some("with a method or data, its end cannot be compared with the object"),
        Url::Ftp(_) => None,
        _ => Some("its end can be compared with objects of http and ftp only"),
    }
}

/// Returns `true` if an HTTP request has the method GET and no data.
fn is_plain_get(request: &Request) -> bool {
    let is_get = |method: &String| method == "GET";
    request
        .extra::<HttpOptions>()
        .is_none_or(|options| options.method.as_ref().is_none_or(is_get) && options.body.is_none())
}

/// Opens the output again to replace the existing file, of which no byte is kept.
fn reopen(
    opened: Option<FileSink>,
    path: &Path,
    transfer: &Transfer,
    run: &Run,
) -> Result<Option<FileSink>, Error> {
    // The lock of the temporary file is released first.
    drop(opened);
    output::open(path, 0, transfer, run).map(Some)
}

/// Returns the resume data of the file. Its last 64 KiB are compared with the object before the rest is appended.
fn resume(path: &Path, length: u64, meta: &Meta) -> Option<Resume> {
    let tail = last_bytes(path, length, APPEND_OVERLAP)?;
    let validator = meta.validator.clone()?;
    Some(Resume { offset: length, size: meta.head.size, validator, resource: None, tail })
}

/// Returns up to `count` bytes before `length`, or `None` if the file cannot be read or is empty.
fn last_bytes(path: &Path, length: u64, count: u64) -> Option<Vec<u8>> {
    let read = || -> io::Result<Vec<u8>> {
        let (mut file, count) = (File::open(path)?, count.min(length));
        file.seek(SeekFrom::Start(length - count))?;
        let mut bytes = Vec::new();
        file.take(count).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().ok().filter(|bytes| !bytes.is_empty() && bytes.len() as u64 == count.min(length))
}

fn note(text: &str, transfer: &Transfer, run: &Run) {
    if !run.log.is_silent {
        run.progress.suspend_while(|| match run.options.format {
            Format::Json => render::print_note_for(&transfer.shown_url(), text, Format::Json),
            _ => render::print_note(&sanitise(text.as_bytes())),
        });
    }
}
