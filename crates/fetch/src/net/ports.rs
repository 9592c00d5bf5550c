//! Ports of other protocols, which requests must not use (RFC 1738 §6: a gopher URL whose selector is an SMTP command).

use fetch_url_core::{Scheme, SchemeFamily};

/// The ports that the Fetch standard blocks ("bad port"), in its order.
const BLOCKED_PORTS: &[u16] = &[
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103,
    104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514,
    515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723,
    2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

/// The first port that is not a system port (RFC 6335 §6).
const FIRST_USER_PORT: u16 = 1024;

/// Returns `true` if a URL of `scheme` may use `port` without the caller's permission.
pub(super) fn is_allowed_for(scheme: &Scheme, port: u16) -> bool {
    if scheme.default_port == Some(port) {
        return true;
    }
    !(BLOCKED_PORTS.contains(&port) || (sends_lines(scheme.family) && port < FIRST_USER_PORT))
}

/// Returns `true` if the protocol sends a line that the URL contains, which the service on any system port could
/// misunderstand.
const fn sends_lines(family: SchemeFamily) -> bool {
    use SchemeFamily as F;
    match family {
        F::Gopher | F::News | F::Nntp | F::Prospero | F::Telnet | F::Wais => true,
        F::File | F::Ftp | F::Http | F::Mailto | F::Other => false,
    }
}

/// Returns `true` if `port` may be used for an FTP data connection: no system port and no port of another protocol
/// (RFC 2577 §3).
pub(super) fn is_data_port(port: u16) -> bool {
    port >= FIRST_USER_PORT && !BLOCKED_PORTS.contains(&port)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fetch_url_core::SCHEMES;

    #[test]
    fn default_port_is_allowed_and_blocked_ports_are_not() {
        assert_eq!(BLOCKED_PORTS.len(), 83);
        for scheme in &SCHEMES {
            for &port in BLOCKED_PORTS {
                assert_eq!(
                    is_allowed_for(scheme, port),
                    scheme.default_port == Some(port),
                    "{}:{port}",
                    scheme.name
                );
            }
            assert!(is_allowed_for(scheme, 8080));
        }
        let gopher = fetch_url_core::find_scheme("gopher").expect("it is in the table");
        assert!(!is_allowed_for(gopher, 80) && !is_allowed_for(gopher, 1023) && is_allowed_for(gopher, 1024));
    }
}
