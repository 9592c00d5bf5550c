//! The peak memory of another process.

use std::fs;

/// Returns the peak memory of a running process so far, in bytes; Linux only.
///
/// The peak that the kernel reports when the process ends cannot be used: it includes the memory of its parent, which it
/// has between fork and exec. For the same reason, the last of several samples counts: the first one can see the memory of
/// the parent.
#[must_use]
pub fn peak_memory(id: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peak_memory_of_this_process_is_returned() {
        if cfg!(target_os = "linux") {
            assert!(peak_memory(std::process::id()).unwrap() > 1024);
        }
    }
}
