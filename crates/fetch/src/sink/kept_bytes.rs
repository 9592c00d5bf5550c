//! The start of an existing file that is kept, to which the rest of the object is appended (`-C OFFSET`).

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use super::digest::Digest;
use super::file_id::file_error;
use crate::{Code, Error, Phase};

/// Fails if a body that begins at `offset` cannot be appended to the `kept` bytes of the existing file: it would
/// replace them.
pub(super) fn check_offset(offset: u64, kept: u64) -> Result<(), Error> {
    if kept == 0 || offset == kept {
        return Ok(());
    }
    let detail = format!("the response begins at byte {offset}, so it cannot be appended to {kept} bytes");
    Err(Error::new(Code::RangeRefused, Phase::Deliver, detail))
}

/// Fails if the existing file is shorter than the number of bytes to keep.
pub(super) fn check_kept_bytes(target: &Path, count: u64) -> Result<(), Error> {
    if count == 0 {
        return Ok(());
    }
    let length = fs::metadata(target).map_err(|error| file_error(target, error))?.len();
    if length >= count {
        return Ok(());
    }
    let detail =
        format!("{} has only {length} bytes, so it cannot be continued at {count}", target.display());
    Err(Error::new(Code::Usage, Phase::Deliver, detail))
}

/// Copies the first `count` bytes of `target` into its `.part` file.
pub(super) fn copy_kept_bytes(target: &Path, part: &mut File, count: u64) -> io::Result<()> {
    part.set_len(0)?;
    part.rewind()?;
    let copied = io::copy(&mut File::open(target)?.take(count), part)?;
    if copied == count { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Truncates the file at `start` and seeks there; the bytes before it are added to the digest.
pub(super) fn truncate_at(file: &mut File, start: u64, digest: Option<&mut Digest>) -> io::Result<()> {
    file.set_len(start)?;
    file.rewind()?;
    if let Some(digest) = digest {
        digest.update_from(file, start)?;
    }
    file.seek(SeekFrom::Start(start)).map(drop)
}
