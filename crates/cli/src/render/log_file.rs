//! The files of `--trace` and `--events`. A write that fails does not end a transfer; the run reports the first one at
//! its end.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use fetch_url::{Code, Error, Phase};

use super::written_file::open_written;
use crate::error::usage_error;

/// The first failed write.
static FAILURE: Mutex<Option<Error>> = Mutex::new(None);

/// Returns the first failed write of the run.
pub(crate) fn take_failure() -> Option<Error> {
    FAILURE.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// A file whose first failed write is recorded. Later writes are dropped.
#[derive(Debug)]
pub(crate) struct LogFile {
    name: String,
    file: Option<File>,
}

impl LogFile {
    /// Creates the file at `path`.
    pub(crate) fn create(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        match open_written(path, File::options().write(true).create(true).truncate(true)) {
            Ok(file) => Ok(Self::of(name, file)),
            Err(error) => Err(usage_error(format!("{name}: {error}"))),
        }
    }

    /// Returns device and inode of the file.
    pub(crate) fn id(&self) -> Option<(u64, u64)> {
        let metadata = self.file.as_ref()?.metadata().ok()?;
        Some((metadata.dev(), metadata.ino()))
    }

    /// Returns a writer to an open file.
    pub(crate) const fn of(name: String, file: File) -> Self {
        Self { name, file: Some(file) }
    }
}

impl Write for LogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(file) = &mut self.file else { return Ok(bytes.len()) };
        match file.write(bytes) {
            Ok(0) if !bytes.is_empty() => self.fail(ErrorKind::WriteZero.into()),
            Err(error) if error.kind() != ErrorKind::Interrupted => self.fail(error),
            written => return written,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl LogFile {
    fn fail(&mut self, error: io::Error) {
        self.file = None;
        let detail = format!("{}: {error}", self.name);
        let error = Error::new(Code::SinkFailed, Phase::Deliver, detail).with_source(error);
        FAILURE.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}
