//! Opening the files of options that write other data than objects: `-D`, `--events`, `--trace`, `%output{}`.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

use fetch_url::internal::Descriptor;
use rustix::fs::OFlags;
use rustix::io::Errno;

/// Opens `path` with `options`. Without a reader, a FIFO is an error: opening it would block without a deadline.
pub(crate) fn open_written(path: impl AsRef<Path>, options: &mut OpenOptions) -> io::Result<File> {
    let path = path.as_ref();
    if !fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo()) {
        return options.open(path);
    }
    let opened = options.custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path);
    let fifo = opened.map_err(|error| match error.raw_os_error() {
        Some(code) if code == Errno::NXIO.raw_os_error() => {
            io::Error::new(error.kind(), "no process has opened it for reading")
        }
        _ => error,
    })?;
    rustix::fs::fcntl_setfl(&fifo, OFlags::empty())?;
    Ok(fifo)
}

/// Returns `true` if the value of an option is standard output: `-`, `/dev/stdout` or `/dev/fd/1`.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-" || Descriptor::named_by(path) == Some(Descriptor::STDOUT)
}
