//! Devices, FIFOs and open file descriptors: they are written directly, without a temporary file.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::file_id::file_error;
use crate::{Code, Error, Phase};

/// Opens `target` for writing if it is a device, a FIFO or an open file descriptor (`/dev/stderr`, `/dev/fd/N`),
/// otherwise returns `None`.
pub(super) fn open_device(target: &Path, metadata: &Metadata) -> Result<Option<File>, Error> {
    let is_link = metadata.is_symlink();
    let descriptor = descriptor_number(target).filter(|_| is_link);
    if let Some(opened) = descriptor.and_then(standard_stream) {
        return opened.map(Some).map_err(|error| file_error(target, error));
    }
    let kind = match is_link.then(|| fs::metadata(target)) {
        None => metadata.file_type(),
        Some(Ok(linked)) => linked.file_type(),
        Some(Err(_)) => return Ok(None),
    };
    if kind.is_char_device() || kind.is_fifo() || kind.is_block_device() {
        return open_special(target, kind.is_fifo()).map(Some);
    }
    if descriptor.is_some() && kind.is_file() {
        // The bytes that other processes wrote to the file are kept.
        let opened = OpenOptions::new().append(true).open(target);
        return opened.map(Some).map_err(|error| file_error(target, error));
    }
    Ok(None)
}

/// Returns the number of the file descriptor that `path` names.
fn descriptor_number(path: &Path) -> Option<u32> {
    match path.to_str()? {
        "/dev/stdout" => Some(1),
        "/dev/stderr" => Some(2),
        path => path.strip_prefix("/dev/fd/").or_else(|| path.strip_prefix("/proc/self/fd/"))?.parse().ok(),
    }
}

/// Duplicates standard output or standard error: the copy has the same position in the file.
fn standard_stream(descriptor: u32) -> Option<io::Result<File>> {
    let copy = match descriptor {
        1 => io::stdout().as_fd().try_clone_to_owned(),
        2 => io::stderr().as_fd().try_clone_to_owned(),
        _ => return None,
    };
    Some(copy.map(File::from))
}

/// Opens a device or FIFO.
fn open_special(target: &Path, is_fifo: bool) -> Result<File, Error> {
    // Opening a FIFO without a reader would block without a deadline.
    let open_flags = if is_fifo { OFlags::NONBLOCK } else { OFlags::empty() };
    let opened = OpenOptions::new().write(true).custom_flags(open_flags.bits().cast_signed()).open(target);
    let device = opened.map_err(|error| match error.raw_os_error() {
        Some(code) if code == Errno::NXIO.raw_os_error() => Error::new(
            Code::SinkFailed,
            Phase::Deliver,
            format!("no process has opened {} for reading", target.display()),
        ),
        _ => file_error(target, error),
    })?;
    rustix::fs::fcntl_setfl(&device, OFlags::empty()).map_err(|error| file_error(target, error.into()))?;
    Ok(device)
}
