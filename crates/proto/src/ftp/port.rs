//! Port numbers of data connections: parsed from replies 229 and 227, formatted for EPRT and PORT.

use std::net::SocketAddr;

use memchr::memchr;

/// Parses the port in a reply to EPSV: `(|||port|)`, with any delimiter (RFC 2428 §3). The address is that of the
/// control connection.
pub(super) fn parse_epsv_port(text: &[u8]) -> Option<u16> {
    let text = &text[memchr(b'(', text)? + 1..];
    let delimiter = *text.first().filter(|byte| matches!(byte, 33..=126) && !byte.is_ascii_digit())?;
    let inner = text.strip_prefix(&[delimiter; 3])?;
    parse_port(&inner[..memchr(delimiter, inner)?])
}

/// Parses the port in a reply to PASV: the last two of six numbers at any place in the text (RFC 1123 §4.1.2.6). Blanks
/// around the commas are accepted.
///
/// The address in the reply is ignored: a hostile server could name another host, and a server behind NAT names a
/// wrong one.
pub(super) fn parse_pasv_port(text: &[u8]) -> Option<u16> {
    let mut text = &text[text.iter().position(u8::is_ascii_digit)?..];
    let mut numbers = Vec::new();
    loop {
        let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
        numbers.push(parse_u16(&text[..end]).and_then(|number| u8::try_from(number).ok())?);
        let Some(rest) = text[end..].trim_ascii_start().strip_prefix(b",") else { break };
        text = rest.trim_ascii_start();
    }
    let [_, _, _, _, high, low] = numbers[..] else { return None };
    Some(u16::from_be_bytes([high, low])).filter(|&port| port != 0)
}

/// Returns `address` as the argument of EPRT (RFC 2428 §2) if `extended`, else of PORT (RFC 959 §4.1.2), which is `None`
/// for an IPv6 address.
pub fn port_argument(address: SocketAddr, extended: bool) -> Option<String> {
    if extended {
        let family = if address.is_ipv4() { 1 } else { 2 };
        return Some(format!("|{family}|{}|{}|", address.ip(), address.port()));
    }
    let SocketAddr::V4(address) = address else { return None };
    let ([a, b, c, d], [high, low]) = (address.ip().octets(), address.port().to_be_bytes());
    Some(format!("{a},{b},{c},{d},{high},{low}"))
}

fn parse_port(text: &[u8]) -> Option<u16> {
    parse_u16(text).filter(|&port| port != 0)
}

fn parse_u16(text: &[u8]) -> Option<u16> {
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    is_number.then(|| std::str::from_utf8(text).ok()?.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_of_epsv_reply_is_parsed() {
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
            assert_eq!(parse_epsv_port(text.as_bytes()), port, "{text}");
        }
    }

    #[test]
    fn port_of_pasv_reply_is_parsed() {
        for (text, port) in [
            ("Entering Passive Mode (127,0,0,1,67,56).", Some(17208)),
            ("Entering Passive Mode 127,0,0,1,67,56", Some(17208)),
            ("=127,0,0,1,67,56", Some(17208)),
            ("Entering Passive Mode (127, 0, 0, 1, 67, 56)", Some(17208)),
            ("Entering Passive Mode 127 ,0, 0 ,1,67 , 56 4", Some(17208)),
            ("Entering Passive Mode (127 0 0 1 67 56)", None),
            ("Entering Passive Mode (127,0,0,1,67)", None),
            ("Entering Passive Mode (127,0,0,1,67,56,1)", None),
            ("Entering Passive Mode (127,0,0,1,256,1)", None),
            ("Entering Passive Mode (127,0,0,1,0,0)", None),
            ("Entering Passive Mode (127,0,0,1,,1)", None),
            ("Entering Passive Mode", None),
        ] {
            assert_eq!(parse_pasv_port(text.as_bytes()), port, "{text}");
        }
    }

    #[test]
    fn address_is_formatted_for_eprt_and_port() {
        let v4: SocketAddr = "10.1.2.3:1027".parse().expect("an address");
        let v6: SocketAddr = "[::1]:1027".parse().expect("an address");
        assert_eq!(port_argument(v4, true).as_deref(), Some("|1|10.1.2.3|1027|"));
        assert_eq!(port_argument(v6, true).as_deref(), Some("|2|::1|1027|"));
        assert_eq!(port_argument(v4, false).as_deref(), Some("10,1,2,3,4,3"));
        assert_eq!(port_argument(v6, false), None);
    }
}
