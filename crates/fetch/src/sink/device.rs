//! Open descriptors, devices and FIFOs: they are written directly, without a temporary file.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::descriptor::Descriptor;

/// Opens `path` for writing if it names an open descriptor ([`Descriptor`]), a device or a FIFO, otherwise returns
/// `None`. Nothing is truncated.
///
/// # Errors
/// It cannot be written, or no process has opened the FIFO for reading.
pub fn open_direct(path: &Path) -> io::Result<Option<File>> {
    open_with_metadata(path, fs::symlink_metadata(path).ok().as_ref())
}

/// Opens `path` as [`open_direct`] does. `metadata` is that of what is at the path, if anything is.
pub(super) fn open_with_metadata(path: &Path, metadata: Option<&Metadata>) -> io::Result<Option<File>> {
    if let Some(descriptor) = Descriptor::named_by(path) {
        return descriptor.open().map(|file| Some(open_blocking(&file).unwrap_or(file)));
    }
    let linked = metadata.filter(|metadata| metadata.is_symlink()).map(|_| fs::metadata(path));
    let kind = match (metadata, linked) {
        (_, Some(Ok(linked))) => linked.file_type(),
        (None, _) | (_, Some(Err(_))) => return Ok(None),
        (Some(metadata), None) => metadata.file_type(),
    };
    if kind.is_char_device() || kind.is_fifo() || kind.is_block_device() {
        return open_special(path, kind.is_fifo()).map(Some);
    }
    Ok(None)
}

/// Opens the pipe or terminal behind a descriptor again if writes to `file` do not wait for its reader. It has no
/// position that must be shared. Returns `None` if they wait, or if it cannot be opened again.
fn open_blocking(file: &File) -> Option<File> {
    let kind = file.metadata().ok()?.file_type();
    let is_stream = kind.is_fifo() || kind.is_char_device();
    let returns_at_once = rustix::fs::fcntl_getfl(file).is_ok_and(|flags| flags.contains(OFlags::NONBLOCK));
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    (is_stream && returns_at_once).then(|| open_special(path.as_ref(), kind.is_fifo()).ok())?
}

/// Opens a device or FIFO.
fn open_special(path: &Path, is_fifo: bool) -> io::Result<File> {
    // Opening a FIFO without a reader would block without a deadline.
    let open_flags = if is_fifo { OFlags::NONBLOCK } else { OFlags::empty() };
    let opened = OpenOptions::new().write(true).custom_flags(open_flags.bits().cast_signed()).open(path);
    let device = opened.map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::NXIO) => io::Error::new(error.kind(), "no process has opened it for reading"),
        _ => error,
    })?;
    rustix::fs::fcntl_setfl(&device, OFlags::empty())?;
    Ok(device)
}
