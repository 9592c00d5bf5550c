//! A local file that is read as a source. Its size and modification time must be the same at the end as at the
//! start; otherwise the bytes may be a mixture of two versions.

use std::fs::File;
use std::io::Read as _;
use std::time::SystemTime;

use bytes::Bytes;

use crate::{Code, Error, Phase};

const CHUNK_SIZE: u64 = 256 * 1024;

/// An open file, with its size and modification time at the start.
pub(crate) struct SourceFile {
    pub(crate) file: File,
    size_and_time: Option<(u64, SystemTime)>,
}

impl SourceFile {
    pub(crate) fn new(file: File) -> Self {
        let size_and_time = size_and_time(&file);
        Self { file, size_and_time }
    }

    /// Returns the next chunk of at most `left` bytes, or `None` at the end of the file.
    pub(crate) fn read(&mut self, left: Option<u64>) -> Option<Result<Bytes, Error>> {
        let most = left.unwrap_or(CHUNK_SIZE).min(CHUNK_SIZE);
        let mut bytes = Vec::with_capacity(usize::try_from(most).unwrap_or(0));
        match (&self.file).take(most).read_to_end(&mut bytes) {
            Ok(0) => None,
            Ok(_) => Some(Ok(bytes.into())),
            Err(error) => Some(Err(Error::io(Code::Truncated, Phase::Body, "reading the file", error))),
        }
    }

    /// Fails if size or modification time have changed since the file was opened.
    pub(crate) fn check_unchanged(&self) -> Result<(), Error> {
        if size_and_time(&self.file) == self.size_and_time {
            return Ok(());
        }
        Err(Error::new(Code::Truncated, Phase::Body, "the file changed while it was read"))
    }
}

fn size_and_time(file: &File) -> Option<(u64, SystemTime)> {
    let metadata = file.metadata().ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}
