//! Opening the files of options that write other data than objects: `-D`, `--events`, `--trace`, `%output{}`.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use fetch_url::internal::{Descriptor, open_direct};

/// Opens `path` with `options`. An open descriptor (`/dev/fd/N`), a device or a FIFO is only opened for writing.
pub(crate) fn open_written(path: impl AsRef<Path>, options: &OpenOptions) -> io::Result<File> {
    let path = path.as_ref();
    open_direct(path)?.map_or_else(|| options.open(path), Ok)
}

/// Returns `true` if the value of an option is standard output: `-`, `/dev/stdout` or `/dev/fd/1`.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-" || Descriptor::named_by(path) == Some(Descriptor::STDOUT)
}
