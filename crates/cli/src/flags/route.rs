//! Parsers for the values of `--resolve`, `--connect-to` and `--interface`, in curl's syntax.

use std::net::IpAddr;

use fetch_url::network::{ConnectTo, Interface, ResolveOverride};
use fetch_url::url::{Host, Url, parse};

/// Parses `[+]HOST:PORT:ADDRESS[,ADDRESS]` of `--resolve`. The host `*` matches every host.
pub(super) fn parse_resolve(text: &str) -> Result<ResolveOverride, String> {
    let wrong = || "expected HOST:PORT:ADDRESS[,ADDRESS], such as example.com:443:192.0.2.1".to_owned();
    let (name, rest) = split_host(text.strip_prefix('+').unwrap_or(text)).ok_or_else(wrong)?;
    let (port, addresses) = rest.split_once(':').ok_or_else(wrong)?;
    let addresses: Option<Vec<IpAddr>> = addresses.split(',').map(parse_address).collect();
    Ok(ResolveOverride {
        host: if name == "*" { None } else { Some(parse_host(name).ok_or_else(wrong)?) },
        port: parse_port(port).ok_or_else(wrong)?,
        addresses: addresses.filter(|addresses| !addresses.is_empty()).ok_or_else(wrong)?,
    })
}

/// Parses `HOST1:PORT1:HOST2:PORT2` of `--connect-to`. Each part may be empty.
pub(super) fn parse_connect_to(text: &str) -> Result<ConnectTo, String> {
    let wrong = || "expected HOST1:PORT1:HOST2:PORT2, such as example.com:443:localhost:8443".to_owned();
    let (one, rest) = split_host(text).ok_or_else(wrong)?;
    let (port, rest) = rest.split_once(':').ok_or_else(wrong)?;
    let (two, to_port) = match split_host(rest) {
        Some(split) => split,
        None => (rest, ""),
    };
    let host =
        |text: &str| if text.is_empty() { Ok(None) } else { parse_host(text).map(Some).ok_or_else(wrong) };
    let port_of =
        |text: &str| if text.is_empty() { Ok(None) } else { parse_port(text).map(Some).ok_or_else(wrong) };
    Ok(ConnectTo { host: host(one)?, port: port_of(port)?, to_host: host(two)?, to_port: port_of(to_port)? })
}

/// Parses the value of `--interface`: an address, `host!ADDRESS`, `if!DEVICE`, or the name of a device.
pub(super) fn parse_interface(text: &str) -> Result<Interface, String> {
    if let Some(device) = text.strip_prefix("if!").filter(|device| !device.is_empty()) {
        return Ok(Interface::Device(device.to_owned()));
    }
    if matches!(text, "" | "if!") {
        return Err("expected an address of this machine or the name of a network device".to_owned());
    }
    match text.strip_prefix("host!").unwrap_or(text).parse() {
        Ok(address) => Ok(Interface::Address(address)),
        Err(_) if text.starts_with("host!") => {
            Err("expected an address of this machine after host!".to_owned())
        }
        Err(_) => Ok(Interface::Device(text.to_owned())),
    }
}

/// Splits a text at the colon after its host; an IPv6 address is in brackets.
fn split_host(text: &str) -> Option<(&str, &str)> {
    if text.starts_with('[') {
        let end = text.find(']')? + 1;
        return Some((&text[..end], text[end..].strip_prefix(':')?));
    }
    text.split_once(':')
}

/// Parses a host name or an address literal.
fn parse_host(text: &str) -> Option<Host<'static>> {
    match parse(&format!("http://{text}/")).ok()?.into_owned().url {
        Url::Http(url)
            if url.authority().user().is_none() && url.authority().host_port().port().is_none() =>
        {
            Some(url.authority().host_port().host().clone())
        }
        _ => None,
    }
}

/// Parses a port from 1 to 65535: digits only.
fn parse_port(text: &str) -> Option<u16> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?.filter(|&port| port > 0)
}

/// Parses an IP address; brackets around it are optional.
fn parse_address(text: &str) -> Option<IpAddr> {
    text.trim_matches(['[', ']']).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolve_values_are_parsed_or_rejected() {
        let shown = |text| {
            parse_resolve(text).map(|pin| {
                format!("{:?} {} {:?}", pin.host.map(|host| host.to_string()), pin.port, pin.addresses)
            })
        };
        assert_eq!(shown("a.test:80:192.0.2.1").as_deref(), Ok("Some(\"a.test\") 80 [192.0.2.1]"));
        assert_eq!(shown("+*:443:[::1],127.0.0.1").as_deref(), Ok("None 443 [::1, 127.0.0.1]"));
        for bad in [
            "",
            "a.test",
            "a.test:80",
            "a.test:80:",
            "a.test:0:::1",
            "a.test:x:::1",
            "a b:80:::1",
            "-a.test:80",
        ] {
            assert!(shown(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn connect_to_values_are_parsed_or_rejected() {
        let shown = |text| {
            let name = |host: Option<Host<'_>>| host.map(|host| host.to_string());
            parse_connect_to(text).map(|to| {
                format!("{:?} {:?} {:?} {:?}", name(to.host), to.port, name(to.to_host), to.to_port)
            })
        };
        let full = "Some(\"a.test\") Some(80) Some(\"b.test\") Some(81)";
        assert_eq!(shown("a.test:80:b.test:81").as_deref(), Ok(full));
        assert_eq!(shown("::b.test:").as_deref(), Ok("None None Some(\"b.test\") None"));
        assert_eq!(shown("::[::1]:81").as_deref(), Ok("None None Some(\"[::1]\") Some(81)"));
        assert_eq!(shown(":::81").as_deref(), Ok("None None None Some(81)"));
        for bad in ["", "a.test", "a.test:80", "a.test:x:b.test:81", "a b:80:c:81"] {
            assert!(shown(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn interface_values_are_parsed_or_rejected() {
        assert_eq!(
            parse_interface("127.0.0.1"),
            Ok(Interface::Address("127.0.0.1".parse().expect("an address")))
        );
        assert_eq!(parse_interface("lo"), Ok(Interface::Device("lo".to_owned())));
        assert_eq!(parse_interface("if!lo"), Ok(Interface::Device("lo".to_owned())));
        assert!(parse_interface("host!lo").is_err());
    }
}
