//! The file that `-T` sends.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write as _};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::{Duration, Instant};

use fetch_url::http::RequestBody;
use fetch_url::url::{PercentEncoded, charset};
use fetch_url::{Code, Error, Phase};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::error::usage_error;
use crate::stdin::stdin_for;

/// The number of bytes that are read at once.
const BUFFER_SIZE: usize = 64 * 1024;

/// Returns the body of `-T`. A regular file is read while it is sent. Standard input, a FIFO or a device is stored first:
/// so its size is known, and it can be sent again after a redirect, a request for a login, or a failure.
///
/// # Errors
/// [`Code::TimedOut`] if the end of a stream does not arrive within `max_time`.
pub(super) fn body(file: &Path, max_time: Option<Duration>) -> Result<RequestBody, Error> {
    let unreadable = |error| {
        let error = usage_error(format!("-T {}: {error}", file.display()));
        error.with_hint("-T sends a file, as in curl; wget's -T is --read-timeout SECONDS")
    };
    match file.to_str() {
        Some("-" | ".") => stored(stdin_for("-T")?, max_time, unreadable),
        _ if is_stream(file) => stored(open_stream(file).map_err(unreadable)?, max_time, unreadable),
        _ => RequestBody::file(file).map_err(unreadable),
    }
}

/// Appends the name of a file that is sent to the path of a URL if the path is missing or ends with a slash, as in curl.
/// Standard input has no name.
pub(super) fn with_file_name(url: &str, file: &Path) -> String {
    let (before, after) = url.split_at(url.find(['?', '#']).unwrap_or(url.len()));
    let authority = before.find("://").map_or(0, |at| at + 3);
    let has_path = before[authority..].contains('/');
    match file.file_name() {
        // The end of a text such as `<URL:http://h>` is not that of its path.
        Some(name)
            if file.as_os_str() != "-" && !url.starts_with('<') && (!has_path || before.ends_with('/')) =>
        {
            let slash = if has_path { "" } else { "/" };
            format!("{before}{slash}{}{after}", PercentEncoded::encode(name.as_bytes(), charset::UCHAR))
        }
        _ => url.to_owned(),
    }
}

fn is_stream(file: &Path) -> bool {
    let kind = file.metadata().map(|metadata| metadata.file_type());
    kind.is_ok_and(|kind| kind.is_fifo() || kind.is_char_device())
}

/// Opens a FIFO or a device. Opening does not wait for the writer of a FIFO, reading does.
fn open_stream(file: &Path) -> io::Result<File> {
    let is_fifo = file.metadata()?.file_type().is_fifo();
    let flags = if is_fifo { OFlags::NONBLOCK } else { OFlags::empty() };
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(file)
}

/// Stores everything that can be read in a temporary file without a name.
///
/// # Errors
/// [`Code::SinkFailed`] if it cannot be written, for example because the disk is full.
fn stored(
    mut source: impl Read + AsFd,
    max_time: Option<Duration>,
    unreadable: impl Fn(io::Error) -> Error,
) -> Result<RequestBody, Error> {
    let started = Instant::now();
    let directory = std::env::temp_dir();
    let failed = |error| {
        let detail = format!("the temporary file of -T in {}: {error}", directory.display());
        let failed = Error::new(Code::SinkFailed, Phase::Plan, detail).with_source(error);
        failed.with_hint("set TMPDIR to a directory with more space")
    };
    let mut file = tempfile::tempfile_in(&directory).map_err(failed)?;
    let mut buffer = vec![0; BUFFER_SIZE];
    loop {
        if !is_readable_in_time(&source, started, max_time).map_err(&unreadable)? {
            let detail = "storing the data for -T: its end has not arrived";
            return Err(Error::new(Code::TimedOut, Phase::Plan, detail));
        }
        match source.read(&mut buffer) {
            Ok(0) => return RequestBody::open_file(file).map_err(failed),
            Ok(count) => file.write_all(&buffer[..count]).map_err(failed)?,
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
            Err(error) => return Err(unreadable(error)),
        }
    }
}

/// Waits until `source` has data or has ended. Returns `false` if this takes longer than `max_time` since `started`.
fn is_readable_in_time(source: impl AsFd, started: Instant, max_time: Option<Duration>) -> io::Result<bool> {
    loop {
        let left = max_time.map(|max_time| max_time.checked_sub(started.elapsed()));
        if left == Some(None) {
            return Ok(false);
        }
        let timeout = left.flatten().and_then(|left| Timespec::try_from(left).ok());
        match poll(&mut [PollFd::new(&source, PollFlags::IN)], timeout.as_ref()) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
    }
}
