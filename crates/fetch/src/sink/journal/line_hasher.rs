//! Digests of journal lines.

use std::hash::{BuildHasher as _, RandomState};

use serde_json::Value;

/// Computes digests of lines, which use less memory than the lines. The keys are random for each process.
#[derive(Debug, Default)]
pub(super) struct LineHasher(RandomState, RandomState);

impl LineHasher {
    pub(super) fn line_digest(&self, line: &Value) -> u128 {
        self.of([&line["path"], &line["source"], &line["facts"], &line["size"], &line["changed"]])
    }

    /// Returns the digest of a line without its facts.
    pub(super) fn digest_without_facts(&self, line: &Value) -> u128 {
        self.of([&line["path"], &line["source"], &Value::Null, &line["size"], &line["changed"]])
    }

    /// Returns the hash of a path.
    pub(super) fn path_hash(&self, path: &Value) -> u64 {
        self.0.hash_one(path)
    }

    fn of(&self, values: [&Value; 5]) -> u128 {
        let half = |state: &RandomState| u128::from(state.hash_one(values));
        half(&self.0) << 64 | half(&self.1)
    }
}
