//! Digests of journal entries.

use std::hash::{BuildHasher as _, Hash, RandomState};

use super::entry::Entry;

/// Computes digests of entries, which use less memory than the entries. The keys are random for each process.
#[derive(Debug, Default)]
pub(super) struct LineHasher(RandomState, RandomState);

impl LineHasher {
    /// Returns the digest of an entry, and its digest without the version.
    pub(super) fn digests(&self, entry: &Entry<'_>) -> [u128; 2] {
        let without_version = self.digest_without_version(entry);
        [self.digest_of(&(without_version, entry.version)), without_version]
    }

    /// Returns the digest of an entry.
    pub(super) fn line_digest(&self, entry: &Entry<'_>) -> u128 {
        let [digest, _] = self.digests(entry);
        digest
    }

    /// Returns the digest of an entry without its version.
    pub(super) fn digest_without_version(&self, entry: &Entry<'_>) -> u128 {
        let Entry { path, source, version: _, size, modified } = entry;
        self.digest_of(&(path, source, size, modified))
    }

    fn digest_of(&self, value: &impl Hash) -> u128 {
        let half = |state: &RandomState| u128::from(state.hash_one(value));
        half(&self.0) << 64 | half(&self.1)
    }

    /// Returns the hash of a path.
    pub(super) fn path_hash(&self, path: &str) -> u64 {
        self.0.hash_one(path)
    }
}
