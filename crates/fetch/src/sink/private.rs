//! Small files that nobody else may read, written whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::{Code, Error, Phase};

/// Writes a small file that holds secrets, such as cookies: for nobody else to read, whole or not at
/// all.
///
/// # Errors
/// `sink_failed`.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write_whole(path, bytes)
        .map_err(|error| Error::io(Code::SinkFailed, Phase::Deliver, &path.display().to_string(), error))
}

pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut fresh = path.as_os_str().to_owned();
    fresh.push(".new");
    // Whatever is there is a leftover of ours or a trap: its name goes, what it points to stays.
    let _ = fs::remove_file(&fresh);
    let written = write_new(fresh.as_ref(), bytes).and_then(|()| fs::rename(&fresh, path));
    if written.is_err() {
        let _ = fs::remove_file(&fresh);
    }
    written
}

/// Makes a file that is not there yet.
fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_data()
}
