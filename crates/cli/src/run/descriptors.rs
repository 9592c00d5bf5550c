//! File descriptors: with a low limit, fewer transfers and segments run in parallel.

use std::fs::File;

use fetch_url::{Code, Error, Phase};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::job::Invocation;

/// Descriptors of the run: runtime and signals.
const RUN_NEEDS: u64 = 8;
/// The least that a transfer needs: a connection and a file.
const MIN_TRANSFER_NEEDS: u64 = 2;
/// Descriptors of a transfer besides the connections of its segments: `.part` file, state file, directory, and a data
/// connection or an attempt with another address.
const TRANSFER_NEEDS: u64 = 4;
/// Up to this limit, free descriptors are counted by opening files. Above it, they are estimated.
const COUNTED_LIMIT: u64 = 256;

/// Adapts the parallelism of the run to the available descriptors, after raising the limit of the process if it is too
/// low.
///
/// # Errors
/// [`Code::SinkFailed`] if there are too few for one transfer.
pub(super) fn limit_parallelism(mut invocation: Invocation) -> Result<Invocation, Error> {
    let (parallel, segments) = (invocation.parallel as u64, u64::from(invocation.options.segments));
    let run_needs = run_needs(&invocation);
    let free = free_descriptors(run_needs + parallel.saturating_mul(TRANSFER_NEEDS + segments));
    let needed = run_needs + MIN_TRANSFER_NEEDS;
    if free < needed {
        let detail = format!("too few file descriptors: {free} are free, {needed} are needed");
        let error = Error::new(Code::SinkFailed, Phase::Plan, detail);
        return Err(error.with_hint("raise the limit with `ulimit -n`"));
    }
    let (parallel, segments) = fitting(free - run_needs, parallel, segments);
    invocation.options.segments = u16::try_from(segments).unwrap_or(u16::MAX);
    invocation.parallel = usize::try_from(parallel).unwrap_or(usize::MAX);
    Ok(invocation)
}

/// Returns the number of descriptors that the run opens besides those of its transfers. The files of `--events` and of
/// `--input-file` are open already.
fn run_needs(invocation: &Invocation) -> u64 {
    let files = [
        invocation.journal.is_some(),
        // The directory of a file.
        invocation.mirror.is_some(),
        invocation.log.trace.is_some(),
        invocation.options.dump_header.is_some(),
    ];
    files.into_iter().fold(RUN_NEEDS, |needs, is_opened| needs + u64::from(is_opened))
}

/// Returns the numbers of parallel transfers and of segments for which `free` descriptors are enough.
fn fitting(free: u64, parallel: u64, segments: u64) -> (u64, u64) {
    let segments = segments.min(free.saturating_sub(TRANSFER_NEEDS)).max(1);
    (parallel.min(free / (TRANSFER_NEEDS + segments)).max(1), segments)
}

/// Returns the number of descriptors that can be opened. The soft limit is raised, up to the hard limit, if it is too
/// low for `wanted` and the open descriptors.
fn free_descriptors(wanted: u64) -> u64 {
    let limits = getrlimit(Resource::Nofile);
    let Some(mut current) = limits.current else { return u64::MAX };
    let enough = wanted.saturating_add(COUNTED_LIMIT);
    if current < enough && limits.maximum.is_none_or(|maximum| maximum > current) {
        let raised = limits.maximum.map_or(enough, |maximum| maximum.min(enough));
        if setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum: limits.maximum }).is_ok() {
            current = raised;
        }
    }
    if current > COUNTED_LIMIT {
        // Few descriptors are open when a process starts.
        return current - COUNTED_LIMIT / 2;
    }
    let opened: Vec<File> = (0..current).map_while(|_| File::open("/dev/null").ok()).collect();
    opened.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_descriptors_reduce_transfers_and_segments_to_at_least_one() {
        for (free, parallel, segments, expected) in [
            (2, 50, 16, (1, 1)),
            (5, 50, 1, (1, 1)),
            (10, 50, 1, (2, 1)),
            (10, 1, 16, (1, 6)),
            (1000, 50, 1, (50, 1)),
            (1000, 50, 16, (50, 16)),
            (1000, 300, 1, (200, 1)),
        ] {
            assert_eq!(fitting(free, parallel, segments), expected, "{free} {parallel} {segments}");
        }
    }
}
