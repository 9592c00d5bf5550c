//! The digests of the files that earlier runs have finished.

/// A set that never grows: a sorted list, which uses half of the memory of a hash table.
#[derive(Debug, Default)]
pub(super) struct DigestSet(Vec<u128>);

impl DigestSet {
    pub(super) fn new(digests: Vec<[u128; 2]>) -> Self {
        let mut digests = digests.into_flattened();
        digests.sort_unstable();
        digests.dedup();
        digests.shrink_to_fit();
        Self(digests)
    }

    pub(super) fn contains(&self, digest: u128) -> bool {
        self.0.binary_search(&digest).is_ok()
    }

    #[cfg(test)]
    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
