//! Standard output that is closed when the program starts, as with `fetch-url URL >&-`.
//!
//! Rust's runtime opens `/dev/null` in its place before `main`, so all output would be lost and the exit status would be
//! 0. Whether it was open is found out before the runtime starts. This file is part of the binary: the `unsafe` attribute
//! below is the only one of the project.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

// Safety: the loader calls the functions of this section before `main`. `record` needs nothing that is initialised later.
#[expect(unsafe_code, reason = "the section is the only place to run code before Rust's runtime")]
#[used]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
static RECORD: extern "C" fn() = record;

extern "C" fn record() {
    WAS_CLOSED.store(rustix::io::fcntl_getfd(io::stdout()).is_err(), Ordering::Relaxed);
}

/// Lets every write to standard output fail with EBADF if it was closed when the program started. Descriptor 1 stays in
/// use, so that no file that is opened later becomes standard output.
pub(crate) fn reject_writes() -> io::Result<()> {
    if !WAS_CLOSED.load(Ordering::Relaxed) {
        return Ok(());
    }
    let read_only = File::open("/dev/null")?;
    Ok(rustix::stdio::dup2_stdout(read_only)?)
}
