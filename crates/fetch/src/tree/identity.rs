//! Identifies the resource of a URL, to recognise entries that are listed twice.

use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::num::NonZeroU64;

use fetch_url_core::{HttpUrl, PercentEncoded, Url};
use fetch_url_proto::{Details, Entry};

use crate::output::Algorithm;
use crate::sink::digest::Digest;

/// Returns a digest that is equal for all URLs of one resource: passwords are ignored, and for gopher URLs also the
/// item type, and leading and trailing slashes of the selector.
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

/// Returns a digest that is equal for all URLs of one resource, with or without login and final slash, and for all spellings
/// of an HTTP path.
pub fn url_identity(url: &Url<'_>) -> u64 {
    let without_login = || url.clone().with_user_info(None).to_string();
    let identity = match url {
        Url::Gopher(_) => resource_identity(url),
        Url::Http(http) => {
            let mut segments = path_segments(http);
            segments
                .truncate(segments.len() - segments.iter().rev().take_while(|name| name.is_empty()).count());
            let query = http.query().map_or("", PercentEncoded::as_str);
            let host = url.host().map(|host| host.to_string().to_ascii_lowercase());
            let server = format!("{} {host:?} {:?} {query}", url.scheme_name(), url.port());
            // NUL separates the parts: neither a host nor a query contains it.
            digest_of(&[vec![server.into_bytes()], segments].concat().join(&0))
        }
        _ => digest_of(without_login().trim_end_matches('/').as_bytes()),
    };
    (identity >> 64) as u64
}

/// Returns `true` if two URLs name the same directory. Logins, final slashes and the spelling of HTTP paths are ignored; any
/// two news URLs count as the same directory.
pub(crate) fn is_same_directory(one: &Url<'_>, other: &Url<'_>) -> bool {
    if let (Url::Http(first), Url::Http(second)) = (one, other) {
        let directory = |url| {
            let mut segments = path_segments(url);
            let end = segments.iter().rposition(|segment| !segment.is_empty()).map_or(0, |last| last + 1);
            segments.truncate(end);
            segments
        };
        return one.same_origin(other)
            && directory(first) == directory(second)
            && first.query() == second.query();
    }
    let normalised = |url: &Url<'_>| url.without_password().to_string().trim_end_matches('/').to_owned();
    let without_login = |url: &Url<'_>| normalised(&url.clone().with_user_info(None));
    without_login(one) == without_login(other) || (is_news(one) && is_news(other))
}

/// Returns `true` for schemes in which the URL of an entry is the URL of its directory followed by the entry's name.
pub const fn is_hierarchical(url: &Url<'_>) -> bool {
    matches!(url, Url::File(_) | Url::Ftp(_) | Url::Http(_))
}

/// Returns `true` for `news` and `nntp` URLs: the articles of a `news` group have `nntp` URLs.
pub(super) const fn is_news(url: &Url<'_>) -> bool {
    matches!(url, Url::News(_) | Url::Nntp(_))
}

/// Returns the segments of a path, percent-decoded. The last one is empty after a final slash.
pub(super) fn path_segments(url: &HttpUrl<'_>) -> Vec<Vec<u8>> {
    let path = url.path().map_or("", PercentEncoded::as_str);
    path.split('/').map(|segment| PercentEncoded::from(segment).decode().into_owned()).collect()
}

/// Returns a digest of the identifier that a listing states for the content of an entry: the Message-ID of an article.
pub(crate) fn content_id(entry: &Entry) -> Option<NonZeroU64> {
    let Details::Article(article) = &entry.details else { return None };
    content_id_of(&article.message_id)
}

/// Returns the digest of an identifier, or `None` if it is empty.
pub(crate) fn content_id_of(identifier: &[u8]) -> Option<NonZeroU64> {
    if identifier.is_empty() {
        return None;
    }
    NonZeroU64::new((digest_of(identifier) >> 64) as u64)
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
/// It is a B-tree, which grows by small nodes; a hash table needs the old and the new table at the same time while it
/// grows.
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
    use fetch_url_core::parse;

    use super::*;

    #[test]
    fn http_directories_are_the_same_in_every_spelling_of_one_path_on_one_server() {
        let url = |text: &str| parse(text).expect("a URL").into_owned().url;
        for (one, other, is_same) in [
            ("http://h/a%28b%29/", "http://H:80/a(b)", true),
            ("http://u@h/%c3%bc/", "http://h/%C3%BC/", true),
            ("http://h/a%2Fb/", "http://h/a/b/", false),
            ("http://h/a/", "http://h/A/", false),
            ("http://h/a/", "http://h/a/?x", false),
            ("http://h/a/", "https://h/a/", false),
            ("http://h/a/", "http://h:81/a/", false),
            ("http://h", "http://h/", true),
            ("ftp://h/a%28/", "ftp://h/a%28", true),
            ("ftp://h/a%28/", "ftp://h/a(/", false),
        ] {
            assert_eq!(is_same_directory(&url(one), &url(other)), is_same, "{one} {other}");
        }
    }

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
