//! The files that earlier runs of a journal have recorded.

use std::collections::HashSet;
use std::fs;

use super::digest_set::DigestSet;
use super::entry::Entry;
use super::line::{Line, Text};
use super::line_hasher::LineHasher;

/// The lines of earlier runs.
pub(super) struct EarlierRuns<'m> {
    hasher: &'m LineHasher,
    /// The digests of each line, with and without its version.
    pub(super) digests: Vec<[u128; 2]>,
    /// Hashes of the paths of all files.
    pub(super) paths: HashSet<u64>,
    /// The number of lines that survive a power failure.
    synced: usize,
    /// Index of the first line of the last run.
    start: usize,
    boot: String,
}

impl<'m> EarlierRuns<'m> {
    pub(super) fn new(hasher: &'m LineHasher) -> Self {
        Self { hasher, digests: Vec::new(), paths: HashSet::new(), synced: 0, start: 0, boot: String::new() }
    }

    pub(super) fn add_line(&mut self, line: &Line<'_>) {
        if line.journal.is_some() {
            self.begin_run(Text::or_empty(line.boot.as_ref()));
        } else if let Some(count) = line.synced.and_then(|count| usize::try_from(count).ok()) {
            self.synced = self.start.saturating_add(count).min(self.digests.len()).max(self.synced);
        } else if let Some(entry) = Entry::from_line(line) {
            self.paths.insert(self.hasher.path_hash(entry.path));
            self.digests.push(self.hasher.digests(&entry));
        }
    }

    fn begin_run(&mut self, boot: &str) {
        if boot.is_empty() || boot != self.boot {
            self.digests.truncate(self.synced);
            boot.clone_into(&mut self.boot);
        }
        self.start = self.digests.len();
    }

    /// Returns the digests of the lines that are still valid.
    pub(super) fn done(mut self) -> DigestSet {
        self.begin_run(&boot());
        DigestSet::new(self.digests)
    }
}

/// Returns the boot id of the machine, or an empty string if the system has none.
pub(super) fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}
