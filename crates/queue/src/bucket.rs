//! The bucket of a host. The lines of a bucket share one consumer, whose limit of leases is the limit per host.

use fetch_url::url::{Dialect, parse_with};

use crate::line::with_scheme;

/// Returns the number of the bucket, below `count`, of the host that `url` names. A URL without a host has the bucket
/// of its scheme.
pub(crate) fn bucket_of(url: &str, count: u16) -> u16 {
    let hash = fnv1a(host_of(url).as_bytes());
    u16::try_from(hash % u64::from(count.max(1))).unwrap_or(0)
}

/// Returns the host of `url` in lower case, or its scheme, or nothing if it is not a URL.
pub(crate) fn host_of(url: &str) -> String {
    let url = with_scheme(url);
    let Ok(parsed) = parse_with(&url, Dialect::Lenient) else { return String::new() };
    let host = parsed.url.host().map(|host| host.to_string().to_ascii_lowercase());
    host.unwrap_or_else(|| url.split(':').next().unwrap_or_default().to_ascii_lowercase())
}

/// The hash FNV-1a: the bucket of a host is the same in all versions of the program.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_one_host_have_one_bucket() {
        assert_eq!(host_of("http://Example.COM:8080/a"), "example.com");
        assert_eq!(bucket_of("http://example.com/a", 64), bucket_of("ftp://EXAMPLE.com/b", 64));
        assert_eq!(host_of("file:///tmp/x"), "file");
        assert_eq!(
            (host_of("Example.com/a"), host_of("localhost:80/a")),
            ("example.com".into(), "localhost".into())
        );
        let buckets: std::collections::BTreeSet<u16> =
            (0..1000).map(|number| bucket_of(&format!("http://host{number}.example/"), 64)).collect();
        assert_eq!(buckets.len(), 64);
    }
}
