//! Standard output and standard error.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;

use fetch_url::{Code, Error, Phase};

use crate::stall;

/// Writes `text` to standard error.
pub(crate) fn print_stderr(text: &str) {
    let _guard = stall::begin_write();
    // A failed write to standard error cannot be reported anywhere.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Writes `bytes` to standard output at once. Returns `false` if its reader has closed it.
pub(crate) fn print_stdout_bytes(bytes: &[u8]) -> bool {
    let _guard = stall::begin_write();
    let mut stdout = io::stdout();
    stdout.write_all(bytes).and_then(|()| stdout.flush()).is_ok()
}

/// Returns standard output as a file, so that the kernel can copy into it.
pub(crate) fn stdout_file() -> Result<File, Error> {
    let owned = io::stdout().as_fd().try_clone_to_owned();
    owned.map(File::from).map_err(|error| Error::new(Code::SinkFailed, Phase::Deliver, error.to_string()))
}
