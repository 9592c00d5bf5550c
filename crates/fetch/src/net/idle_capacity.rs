//! How many idle connections a pool keeps.

use std::sync::OnceLock;

use rustix::process::{Resource, getrlimit};

/// The part of the file descriptors of this process that one pool may use for idle connections: an eighth. There is a pool
/// for each protocol, and connections to other servers, files and directories need descriptors, too.
const SHARE: u64 = 8;

/// Returns the number of idle connections that a pool keeps: `max`, or fewer if the limit of file descriptors is low, but
/// at least 1. The limit is read once.
pub(crate) fn idle_capacity(max: usize) -> usize {
    static CAPACITY: OnceLock<usize> = OnceLock::new();
    let capacity = *CAPACITY.get_or_init(|| capacity_of(getrlimit(Resource::Nofile).current));
    max.min(capacity)
}

fn capacity_of(limit: Option<u64>) -> usize {
    limit.map_or(usize::MAX, |limit| usize::try_from(limit / SHARE).unwrap_or(usize::MAX).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_limit_of_descriptors_reduces_the_capacity_to_at_least_one() {
        for (limit, expected) in [(Some(14), 1), (Some(64), 8), (Some(3), 1), (None, usize::MAX)] {
            assert_eq!(capacity_of(limit), expected, "{limit:?}");
        }
    }
}
