//! Identifies the resource of a URL, to recognise entries that are listed twice.

use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::num::NonZeroU64;

use fetch_url_core::{PercentEncoded, Url};
use fetch_url_proto::{Details, Entry};

use crate::output::Algorithm;
use crate::sink::digest::Digest;

/// Returns a digest that is equal for all URLs of one resource: passwords are ignored, and for gopher URLs also the item
/// type and outer slashes of the selector.
pub(super) fn resource_identity(url: &Url<'_>) -> u128 {
    let text = match url {
        Url::Gopher(url) => {
            let (server, selector) = (url.host_port().to_string().to_ascii_lowercase(), url.selector());
            let selector = selector.as_str().trim_matches('/');
            let search = url.search().map_or_else(|| PercentEncoded::from(""), PercentEncoded::into_owned);
            format!("{server} {selector:?} {search:?}")
        }
        url => url.without_password().to_string(),
    };
    digest_of(text.as_bytes())
}

/// Returns a digest of the identifier that a listing states for the content of an entry: the Message-ID of an article.
pub(super) fn content_id(entry: &Entry) -> Option<NonZeroU64> {
    let Details::Article(article) = &entry.details else { return None };
    let id = Some(&article.message_id).filter(|id| !id.is_empty())?;
    NonZeroU64::new((digest_of(id) >> 64) as u64)
}

/// Returns the first 128 bits of a digest.
pub(super) fn digest_of(text: &[u8]) -> u128 {
    let mut digest = Digest::new(Algorithm::Sha256);
    digest.update(text);
    digest.first_128_bits()
}

/// A set of identities: digests, or names. It stores a 64-bit hash of each, because a mirror may have millions of them.
/// The key of the hash is random, so that a server cannot choose names that collide.
///
/// A tree grows by small nodes; a hash table would need the old and the new table at the same time to grow.
#[derive(Debug, Default)]
pub(super) struct IdentitySet {
    hash: RandomState,
    hashes: BTreeSet<u64>,
}

impl IdentitySet {
    /// Adds an identity. Returns `false` if the set had it already.
    pub(super) fn insert(&mut self, identity: impl Hash) -> bool {
        self.hashes.insert(self.hash.hash_one(identity))
    }

    pub(super) fn remove(&mut self, identity: impl Hash) {
        self.hashes.remove(&self.hash.hash_one(identity));
    }

    pub(super) fn contains(&self, identity: impl Hash) -> bool {
        self.hashes.contains(&self.hash.hash_one(identity))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_is_in_the_set_until_it_is_removed() {
        let mut set = IdentitySet::default();
        assert!(set.insert(1_u128) && !set.insert(1_u128) && set.insert(!1_u128) && set.insert(1_u128 << 64));
        assert!(set.contains(1_u128) && set.contains(!1_u128) && !set.contains(2_u128));
        set.remove(1_u128);
        assert!(!set.contains(1_u128) && set.contains(1_u128 << 64) && set.insert(1_u128));
        assert!(set.insert(1 | 1_u128 << 64), "both halves of an identity count");
    }

    #[test]
    fn hashes_depend_on_a_random_key() {
        let hashes = || {
            let mut set = IdentitySet::default();
            set.insert(1_u128);
            set.hashes
        };
        assert_ne!(hashes(), hashes());
    }
}
