//! Domains of cookies: which hosts they include, and which of them are public suffixes.

use std::net::IpAddr;

/// Returns `true` if a host is the domain or a subdomain of it (RFC 6265 §5.1.3). An IP address matches itself only.
/// Both are canonical hosts.
pub(super) fn domain_matches(domain: &str, host: &str) -> bool {
    if host == domain {
        return true;
    }
    let is_address = host.parse::<IpAddr>().is_ok();
    !is_address && !domain.is_empty() && host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
}

/// Returns `true` if cookies for all hosts of the domain are allowed. A public suffix, such as `com`, `co.uk` or
/// `github.io`, belongs to many owners (RFC 6265 §5.3 step 5); an IP address has no subdomains.
pub(super) fn may_include_subdomains(domain: &str) -> bool {
    // The public suffix list gives no registrable domain for a public suffix. A name of one label is treated as a
    // public suffix.
    domain.parse::<IpAddr>().is_err() && has_owner(domain)
}

/// Returns `true` if the domain is no public suffix.
#[cfg(feature = "public-suffix")]
fn has_owner(domain: &str) -> bool {
    psl::domain_str(domain).is_some()
}

/// Returns `false`, because without the list of public suffixes each domain may be one.
#[cfg(not(feature = "public-suffix"))]
const fn has_owner(_domain: &str) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "public-suffix")]
    #[test]
    fn public_suffixes_and_addresses_include_no_subdomains() {
        for domain in ["example.com", "a.example.com", "example.co.uk", "a.github.io", "a.test", "www.ck"] {
            assert!(may_include_subdomains(domain), "{domain}");
        }
        for domain in [
            "com",
            "co.uk",
            "github.io",
            "test",
            "localhost",
            "x.ck",
            "127.0.0.1",
            "::1",
            "",
            "xn--55qx5d.cn",
        ] {
            assert!(!may_include_subdomains(domain), "{domain}");
        }
    }

    #[test]
    fn hosts_match_at_label_borders_only() {
        for (domain, host, expected) in [
            ("a.test", "a.test", true),
            ("a.test", "x.a.test", true),
            ("a.test", "xa.test", false),
            ("x.a.test", "a.test", false),
            ("", "a.test", false),
            ("0.0.1", "127.0.0.1", false),
            ("127.0.0.1", "127.0.0.1", true),
        ] {
            assert_eq!(domain_matches(domain, host), expected, "{domain} {host}");
        }
    }
}
