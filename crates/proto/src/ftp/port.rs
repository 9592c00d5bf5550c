//! Where the data connection goes: the numbers in 229 and 227, and those of EPRT and PORT.

use std::net::SocketAddr;

use memchr::memchr;

/// The port in a reply to EPSV: `(|||port|)`, by whatever delimiter (RFC 2428 §3). It names no
/// address: the server's own is meant.
pub(super) fn of_epsv(text: &[u8]) -> Option<u16> {
    let text = &text[memchr(b'(', text)? + 1..];
    let delimiter = *text.first().filter(|octet| matches!(octet, 33..=126) && !octet.is_ascii_digit())?;
    let inner = text.strip_prefix(&[delimiter; 3])?;
    number(&inner[..memchr(delimiter, inner)?])
}

/// The port in a reply to PASV: six numbers, wherever they stand (RFC 1123 §4.1.2.6). The address in
/// it is nobody's business: a hostile server would name another's, and one behind a translator a
/// wrong one.
pub(super) fn of_pasv(text: &[u8]) -> Option<u16> {
    let digits = text.iter().position(u8::is_ascii_digit)?;
    let text = &text[digits..];
    let end = text.iter().position(|octet| !octet.is_ascii_digit() && *octet != b',').unwrap_or(text.len());
    let numbers: Vec<u8> = text[..end]
        .split(|&octet| octet == b',')
        .map(|number| number_of(number).and_then(|number| u8::try_from(number).ok()))
        .collect::<Option<_>>()?;
    let [_, _, _, _, high, low] = numbers[..] else { return None };
    Some(u16::from_be_bytes([high, low])).filter(|&port| port != 0)
}

/// The argument of EPRT (RFC 2428 §2), or of PORT for IPv4 (RFC 959 §4.1.2).
pub fn port_argument(address: SocketAddr, extended: bool) -> Option<String> {
    if extended {
        let family = if address.is_ipv4() { 1 } else { 2 };
        return Some(format!("|{family}|{}|{}|", address.ip(), address.port()));
    }
    let SocketAddr::V4(address) = address else { return None };
    let ([a, b, c, d], [high, low]) = (address.ip().octets(), address.port().to_be_bytes());
    Some(format!("{a},{b},{c},{d},{high},{low}"))
}

fn number(text: &[u8]) -> Option<u16> {
    number_of(text).filter(|&port| port != 0)
}

fn number_of(text: &[u8]) -> Option<u16> {
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    is_number.then(|| std::str::from_utf8(text).ok()?.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extended() {
        for (text, port) in [
            ("Entering Extended Passive Mode (|||17200|)", Some(17200)),
            ("(!!!1024!)", Some(1024)),
            ("Extended Passive mode OK (|||65535|)", Some(65535)),
            ("(|||65536|)", None),
            ("(|||0|)", None),
            ("(|||-1|)", None),
            ("(||||)", None),
            ("(|1|127.0.0.1|80|)", None),
            ("(||17200|)", None),
            ("(|||17200", None),
            ("|||17200|", None),
            ("(1111)", None),
            ("(", None),
            ("", None),
        ] {
            assert_eq!(of_epsv(text.as_bytes()), port, "{text}");
        }
    }

    #[test]
    fn passive() {
        for (text, port) in [
            ("Entering Passive Mode (127,0,0,1,67,56).", Some(17208)),
            ("Entering Passive Mode 127,0,0,1,67,56", Some(17208)),
            ("=127,0,0,1,67,56", Some(17208)),
            ("Entering Passive Mode (127,0,0,1,67)", None),
            ("Entering Passive Mode (127,0,0,1,67,56,1)", None),
            ("Entering Passive Mode (127,0,0,1,256,1)", None),
            ("Entering Passive Mode (127,0,0,1,0,0)", None),
            ("Entering Passive Mode (127,0,0,1,,1)", None),
            ("Entering Passive Mode", None),
        ] {
            assert_eq!(of_pasv(text.as_bytes()), port, "{text}");
        }
    }

    #[test]
    fn active() {
        let v4: SocketAddr = "10.1.2.3:1027".parse().expect("an address");
        let v6: SocketAddr = "[::1]:1027".parse().expect("an address");
        assert_eq!(port_argument(v4, true).as_deref(), Some("|1|10.1.2.3|1027|"));
        assert_eq!(port_argument(v6, true).as_deref(), Some("|2|::1|1027|"));
        assert_eq!(port_argument(v4, false).as_deref(), Some("10,1,2,3,4,3"));
        assert_eq!(port_argument(v6, false), None);
    }
}
