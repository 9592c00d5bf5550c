//! Standard output and standard error.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicBool, Ordering};

use fetch_url::{Code, Error, Phase};
use fetch_url_proto::text::sanitise;

use crate::stall;

/// A prompt was written, and the cursor may still be behind it.
static IS_ON_PROMPT_LINE: AtomicBool = AtomicBool::new(false);

/// Records that a prompt was written.
pub(crate) fn enter_prompt_line() {
    IS_ON_PROMPT_LINE.store(true, Ordering::Relaxed);
}

/// Returns `true` if the cursor is behind a prompt. A line end must be written then.
pub(crate) fn leave_prompt_line() -> bool {
    IS_ON_PROMPT_LINE.swap(false, Ordering::Relaxed)
}

/// Writes `text` to standard error. Characters that control a terminal are escaped, because a message may quote a server, a
/// list or a document. If a prompt waits on the line, the text begins below it.
pub(crate) fn print_stderr(text: &str) {
    let mut safe = String::with_capacity(text.len());
    if leave_prompt_line() {
        safe.push('\n');
    }
    for line in text.split_inclusive('\n') {
        let content = line.strip_suffix('\n');
        safe.push_str(&sanitise(content.unwrap_or(line).as_bytes()));
        safe.extend(content.map(|_| '\n'));
    }
    write_stderr(&safe);
}

/// Writes `text` to standard error as it is.
pub(crate) fn write_stderr(text: &str) {
    let _guard = stall::begin_write();
    // A failed write to standard error cannot be reported anywhere.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Restores the default colours of the terminal. The sequence is written to standard error.
pub(crate) fn reset_colours() {
    write_stderr("\x1b[0m");
}

/// Writes `text` to standard output at once.
///
/// # Errors
/// As for [`print_stdout_bytes`].
pub(crate) fn print_stdout(text: &str) -> Result<(), Error> {
    print_stdout_bytes(text.as_bytes())
}

/// Writes `bytes` to standard output at once.
///
/// # Errors
/// [`Code::SinkFailed`] if it cannot be written to. [`Error::is_broken_pipe`] is `true` if its reader has closed it.
pub(crate) fn print_stdout_bytes(bytes: &[u8]) -> Result<(), Error> {
    let _guard = stall::begin_write();
    // The end of an object that was printed to the terminal may be in the buffer. Its own writer reports errors.
    let _ = io::stdout().flush();
    UnbufferedStdout.write_all(bytes).map_err(stdout_error)
}

/// Fails if standard output is closed.
pub(super) fn check_stdout() -> Result<(), Error> {
    rustix::io::write(io::stdout(), &[]).map(drop).map_err(|error| stdout_error(error.into()))
}

/// Standard output without a buffer. Unlike that of the standard library, it reports that standard output is closed (EBADF).
pub(crate) struct UnbufferedStdout;

impl Write for UnbufferedStdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::write(io::stdout(), bytes)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the error of a failed write to standard output.
pub(crate) fn stdout_error(error: io::Error) -> Error {
    Error::new(Code::SinkFailed, Phase::Deliver, format!("standard output: {error}")).with_source(error)
}

/// Returns `status` after a successful write to standard output. Otherwise reports the error, unless the reader has
/// closed standard output, and returns its exit status.
pub(crate) fn status_of_print(written: Result<(), Error>, status: u8) -> u8 {
    let Err(error) = written else { return status };
    if !error.is_broken_pipe() {
        print_stderr(&format!("fetch-url: {error}\n"));
    }
    error.exit_status()
}

/// Returns standard output as a file, so that the kernel can copy into it.
pub(crate) fn stdout_file() -> Result<File, Error> {
    let owned = io::stdout().as_fd().try_clone_to_owned();
    owned.map(File::from).map_err(|error| Error::new(Code::SinkFailed, Phase::Deliver, error.to_string()))
}
