//! File systems that write to a server: an error of the server, such as a full quota, may be reported only when a file is
//! synced or closed.

use std::fs::File;

/// The values of `f_type` (statfs(2)) of these file systems: 9P, AFS, Ceph, CIFS, FUSE, Lustre, NFS, SMB and SMB 2.
#[cfg(target_os = "linux")]
const KINDS: [u32; 9] = [
    0x0102_1997,
    0x5346_414f,
    0x00c3_6400,
    0xff53_4d42,
    0x6573_5546,
    0x0bd0_0bd3,
    0x6969,
    0x517b,
    0xfe53_4d42,
];

/// Returns `true` if the file is on such a file system.
#[cfg(target_os = "linux")]
pub(super) fn is_on_network(file: &File) -> bool {
    // The kernel uses the lower 32 bits.
    rustix::fs::fstatfs(file).is_ok_and(|file_system| KINDS.contains(&(file_system.f_type as u32)))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn is_on_network(_: &File) -> bool {
    false
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_of_the_kernel_are_not_on_the_network() {
        for path in ["/proc/self/status", "/dev/null"] {
            assert!(!is_on_network(&File::open(path).expect("a file")), "{path}");
        }
    }
}
