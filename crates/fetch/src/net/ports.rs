//! Ports that belong to somebody else (RFC 1738 §6: the gopher URL that speaks SMTP).

use fetch_url_core::{Family, Scheme};

/// The ports that the Fetch standard blocks, in its order (port blocking, "bad port").
const BAD: &[u16] = &[
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103,
    104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514,
    515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723,
    2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

/// Below this a port is the system's to give (RFC 6335 §6).
const FIRST_USER_PORT: u16 = 1024;

/// Whether a URL of `scheme` may ask at `port` without the caller's special leave.
pub(super) fn is_allowed(scheme: &Scheme, port: u16) -> bool {
    if scheme.default_port == Some(port) {
        return true;
    }
    // Protocols that send a line of the URL's choice: any port of the system could understand it.
    let sends_lines = matches!(
        scheme.family,
        Family::Gopher | Family::News | Family::Nntp | Family::Wais | Family::Prospero | Family::Telnet
    );
    !(BAD.contains(&port) || (sends_lines && port < FIRST_USER_PORT))
}

/// Whether a server may have its data fetched from `port` (RFC 2577 §3): not where another service is.
pub(super) fn is_for_data(port: u16) -> bool {
    port >= FIRST_USER_PORT && !BAD.contains(&port)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fetch_url_core::SCHEMES;

    #[test]
    fn a_scheme_may_use_its_own_port_and_no_bad_one() {
        assert_eq!(BAD.len(), 83);
        for scheme in &SCHEMES {
            for &port in BAD {
                assert_eq!(
                    is_allowed(scheme, port),
                    scheme.default_port == Some(port),
                    "{}:{port}",
                    scheme.name
                );
            }
            assert!(is_allowed(scheme, 8080));
        }
        let gopher = fetch_url_core::scheme("gopher").expect("it is in the table");
        assert!(!is_allowed(gopher, 80) && !is_allowed(gopher, 1023) && is_allowed(gopher, 1024));
    }
}
