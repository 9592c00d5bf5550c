//! Writes small files atomically, with mode 0600.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::{Code, Error, Phase};

/// Atomically writes a small file that contains secrets, such as cookies. Only its owner can read
/// it.
///
/// # Errors
/// `sink_failed`.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write_atomically(path, bytes)
        .map_err(|error| Error::io(Code::SinkFailed, Phase::Deliver, &path.display().to_string(), error))
}

pub(super) fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".new");
    // An existing file is a leftover of this program or an attacker's link. A link is removed, but not its target.
    let _ = fs::remove_file(&temporary);
    let written = write_new(temporary.as_ref(), bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Creates a new file and writes `bytes` to it. Fails if the file exists.
fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_data()
}
