//! Checks the free space of the file system before a download.

use std::fs::File;

use crate::{Code, Error, Phase};

/// The free space is not checked for downloads up to this size in bytes.
const UNCHECKED_SIZE: u64 = 64 * 1024;

/// Fails if the file system has too little free space.
pub(super) fn check_space(file: &File, needed: Option<u64>) -> Result<(), Error> {
    let Some(needed) = needed.filter(|&needed| needed > UNCHECKED_SIZE) else { return Ok(()) };
    let Ok(stat) = rustix::fs::fstatvfs(file) else { return Ok(()) };
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    // Some file systems do not report their free space.
    if stat.f_blocks == 0 || needed <= free {
        return Ok(());
    }
    let detail = format!("{needed} bytes are needed and {free} are free");
    Err(Error::new(Code::SinkFailed, Phase::Deliver, detail))
}
