//! Digests of journal entries.

use std::hash::{BuildHasher as _, RandomState};

use super::entry::Entry;

/// Computes digests of entries, which use less memory than the entries. The keys are random for each process.
#[derive(Debug, Default)]
pub(super) struct LineHasher(RandomState, RandomState);

impl LineHasher {
    pub(super) fn line_digest(&self, entry: &Entry<'_>) -> u128 {
        let half = |state: &RandomState| u128::from(state.hash_one(entry));
        half(&self.0) << 64 | half(&self.1)
    }

    /// Returns the digest of an entry without its facts.
    pub(super) fn digest_without_facts(&self, entry: &Entry<'_>) -> u128 {
        // No facts contain NUL, so this is not the digest of another entry.
        self.line_digest(&Entry { facts: "\0", ..*entry })
    }

    /// Returns the hash of a path.
    pub(super) fn path_hash(&self, path: &str) -> u64 {
        self.0.hash_one(path)
    }
}
