//! How curl writes routes: `--resolve`, `--connect-to`, `--interface`.

use std::net::IpAddr;

use fetch_url::url::{Host, Url, parse};
use fetch_url::{AddressPin, Detour, Interface};

/// `[+]HOST:PORT:ADDRESS[,ADDRESS]`; `*` is every host.
pub(super) fn pin(text: &str) -> Result<AddressPin, String> {
    let wrong = || "HOST:PORT:ADDRESS[,ADDRESS], such as example.com:443:192.0.2.1".to_owned();
    let (name, rest) = split_host(text.strip_prefix('+').unwrap_or(text)).ok_or_else(wrong)?;
    let (port, addresses) = rest.split_once(':').ok_or_else(wrong)?;
    let addresses: Option<Vec<IpAddr>> = addresses.split(',').map(address).collect();
    Ok(AddressPin {
        host: if name == "*" { None } else { Some(host(name).ok_or_else(wrong)?) },
        port: self::port(port).ok_or_else(wrong)?,
        addresses: addresses.filter(|addresses| !addresses.is_empty()).ok_or_else(wrong)?,
    })
}

/// `HOST1:PORT1:HOST2:PORT2`, each of which may be empty.
pub(super) fn detour(text: &str) -> Result<Detour, String> {
    let wrong = || "HOST1:PORT1:HOST2:PORT2, such as example.com:443:localhost:8443".to_owned();
    let (one, rest) = split_host(text).ok_or_else(wrong)?;
    let (port, rest) = rest.split_once(':').ok_or_else(wrong)?;
    let (two, to_port) = match split_host(rest) {
        Some(split) => split,
        None => (rest, ""),
    };
    let host = |text: &str| if text.is_empty() { Ok(None) } else { host(text).map(Some).ok_or_else(wrong) };
    let port_of =
        |text: &str| if text.is_empty() { Ok(None) } else { self::port(text).map(Some).ok_or_else(wrong) };
    Ok(Detour { host: host(one)?, port: port_of(port)?, to_host: host(two)?, to_port: port_of(to_port)? })
}

/// An address, `host!ADDRESS`, `if!DEVICE`, or the name of a device.
pub(super) fn interface(text: &str) -> Result<Interface, String> {
    if let Some(device) = text.strip_prefix("if!").filter(|device| !device.is_empty()) {
        return Ok(Interface::Device(device.to_owned()));
    }
    if matches!(text, "" | "if!") {
        return Err("an address of this machine, or the name of a device".to_owned());
    }
    match text.strip_prefix("host!").unwrap_or(text).parse() {
        Ok(address) => Ok(Interface::Address(address)),
        Err(_) if text.starts_with("host!") => Err("an address of this machine".to_owned()),
        Err(_) => Ok(Interface::Device(text.to_owned())),
    }
}

/// What stands before the colon that ends a host, and what behind it.
fn split_host(text: &str) -> Option<(&str, &str)> {
    if text.starts_with('[') {
        let end = text.find(']')? + 1;
        return Some((&text[..end], text[end..].strip_prefix(':')?));
    }
    text.split_once(':')
}

fn host(text: &str) -> Option<Host<'static>> {
    match parse(&format!("http://{text}/")).ok()?.into_owned().url {
        Url::Http(url) if url.login().user().is_none() && url.login().at().port().is_none() => {
            Some(url.login().at().host().clone())
        }
        _ => None,
    }
}

fn port(text: &str) -> Option<u16> {
    text.bytes().all(|octet| octet.is_ascii_digit()).then(|| text.parse().ok())?.filter(|&port| port > 0)
}

fn address(text: &str) -> Option<IpAddr> {
    text.trim_matches(['[', ']']).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins() {
        let shown = |text| {
            pin(text).map(|pin| {
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
    fn detours() {
        let shown = |text| {
            let name = |host: Option<Host<'_>>| host.map(|host| host.to_string());
            detour(text).map(|to| {
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
    fn interfaces() {
        assert_eq!(interface("127.0.0.1"), Ok(Interface::Address("127.0.0.1".parse().expect("an address"))));
        assert_eq!(interface("lo"), Ok(Interface::Device("lo".to_owned())));
        assert_eq!(interface("if!lo"), Ok(Interface::Device("lo".to_owned())));
        assert!(interface("host!lo").is_err());
    }
}
