//! Devices and FIFOs: they are written directly, without a temporary file.

use std::fs::{self, File, Metadata, OpenOptions};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::file_id::file_error;
use crate::{Code, Error, Phase};

/// Opens `target` for writing if it is a device or FIFO, otherwise returns `None`.
pub(super) fn open_device(target: &Path, metadata: &Metadata) -> Result<Option<File>, Error> {
    let kind = match metadata.is_symlink().then(|| fs::metadata(target)) {
        None => metadata.file_type(),
        Some(Ok(target_facts)) => target_facts.file_type(),
        Some(Err(_)) => return Ok(None),
    };
    if !(kind.is_char_device() || kind.is_fifo() || kind.is_block_device()) {
        return Ok(None);
    }
    // Opening a FIFO without a reader would block without a deadline.
    let open_flags = if kind.is_fifo() { OFlags::NONBLOCK } else { OFlags::empty() };
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
    Ok(Some(device))
}
