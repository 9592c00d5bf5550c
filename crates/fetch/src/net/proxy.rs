//! Who stands between us and a server: one proxy for a scheme, and the hosts that are asked directly.

use std::collections::BTreeMap;
use std::fmt;

use fetch_url_core::{Host, Url, parse};
use hyper_util::client::proxy::matcher::Matcher;

use crate::credentials::Credential;
use crate::{Code, Error, Phase};

/// The port of a proxy that names none.
const PORT: u16 = 1080;

/// The proxies of the caller, by scheme, and the hosts that need none.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    for_scheme: BTreeMap<String, Proxy>,
    for_all: Option<Proxy>,
    direct: String,
}

/// A proxy.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    pub(crate) kind: ProxyKind,
    pub(crate) host: Host<'static>,
    pub(crate) port: u16,
    pub(crate) login: Option<Credential>,
}

/// What is spoken with a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProxyKind {
    /// HTTP (RFC 9112 §3.2.2), and CONNECT (RFC 9110 §9.3.6) for what is in TLS.
    Http,
    /// The same, in TLS.
    Https,
    /// SOCKS 4: names are looked up here.
    Socks4,
    /// SOCKS 4a: names are looked up there.
    Socks4a,
    /// SOCKS 5 (RFC 1928): names are looked up here.
    Socks5,
    /// SOCKS 5: names are looked up there.
    Socks5h,
}

impl ProxyKind {
    const ALL: [(Self, &'static str); 7] = [
        (Self::Http, "http"),
        (Self::Https, "https"),
        (Self::Socks4, "socks4"),
        (Self::Socks4a, "socks4a"),
        (Self::Socks5, "socks5"),
        (Self::Socks5h, "socks5h"),
        (Self::Socks5h, "socks"),
    ];

    /// The scheme of its URL.
    pub(crate) fn scheme(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("http", |(_, name)| name)
    }

    /// Whether the server's name is looked up on this side.
    pub(crate) const fn resolves_here(self) -> bool {
        matches!(self, Self::Socks4 | Self::Socks5)
    }
}

impl Proxies {
    /// The proxy for URLs of `scheme`.
    #[must_use]
    pub fn scheme(mut self, scheme: &str, proxy: Proxy) -> Self {
        self.for_scheme.insert(scheme.to_ascii_lowercase(), proxy);
        self
    }

    /// The proxy for every other scheme that goes over the network.
    #[must_use]
    pub fn all(mut self, proxy: Proxy) -> Self {
        self.for_all = Some(proxy);
        self
    }

    /// Hosts that are asked directly, as `NO_PROXY` lists them: names with all their subdomains,
    /// addresses, networks, `*` for everyone; between commas.
    #[must_use]
    pub fn direct(mut self, hosts: &str) -> Self {
        // curl takes blanks for commas, too.
        self.direct = hosts
            .split([',', ' ', '\t'])
            .map(|host| host.trim_end_matches('.'))
            .filter(|host| !host.is_empty())
            .collect::<Vec<_>>()
            .join(",");
        self
    }

    /// The proxy through which `url` is asked for.
    pub(crate) fn proxy_for(&self, url: &Url<'_>) -> Option<&Proxy> {
        let host = url.host()?;
        let proxy = self.for_scheme.get(url.scheme_name()).or(self.for_all.as_ref())?;
        (!self.is_direct(&host)).then_some(proxy)
    }

    fn is_direct(&self, host: &Host<'_>) -> bool {
        if self.direct.is_empty() {
            return false;
        }
        if self.direct.split(',').any(|entry| entry == "*") {
            return true;
        }
        let Ok(uri) = format!("http://{host}/").parse() else { return false };
        Matcher::builder()
            .all("http://proxy.invalid")
            .no(self.direct.as_str())
            .build()
            .intercept(&uri)
            .is_none()
    }
}

impl Proxy {
    /// Reads `[SCHEME://][USER[:PASSWORD]@]HOST[:PORT]`, as curl does: http and port 1080 when missing.
    ///
    /// # Errors
    /// `usage` when it is no such text.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let wrong = |why: &str| {
            let detail = format!("the proxy {why}");
            Error::new(Code::Usage, Phase::Proxy, detail).with_hint("[SCHEME://][USER:PASSWORD@]HOST[:PORT]")
        };
        let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
        let scheme = scheme.to_ascii_lowercase();
        let known = ProxyKind::ALL.iter().find(|(_, name)| *name == scheme);
        let (kind, _) = known.ok_or_else(|| wrong("is of a kind nobody here knows"))?;
        let url = format!("http://{}/", rest.trim_end_matches('/'));
        let parsed = parse(&url).map_err(|error| wrong(&format!("cannot be read: {error}")))?;
        let Url::Http(url) = parsed.into_owned().url else { return Err(wrong("cannot be read")) };
        if url.path().is_some_and(|path| !path.as_str().is_empty()) || url.search().is_some() {
            return Err(wrong("has a path"));
        }
        let at = url.login().at();
        let port = at.port().map_or(PORT, std::num::NonZeroU16::get);
        Ok(Self { kind: *kind, host: at.host().clone(), port, login: Credential::of_login(url.login()) })
    }

    /// The same proxy, which is to know who we are.
    #[must_use]
    pub fn with_login(mut self, login: Credential) -> Self {
        self.login = Some(login);
        self
    }
}

impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}:{}", self.kind.scheme(), self.host, self.port)
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxy(text: &str) -> String {
        Proxy::parse(text).map_or_else(|error| error.code().word().to_owned(), |proxy| proxy.to_string())
    }

    #[test]
    fn texts() {
        assert_eq!(proxy("p.test"), "http://p.test:1080");
        assert_eq!(proxy("p.test:3128/"), "http://p.test:3128");
        assert_eq!(proxy("SOCKS5h://u:p@[::1]:9050"), "socks5h://[::1]:9050");
        assert_eq!(proxy("socks4a://127.0.0.1"), "socks4a://127.0.0.1:1080");
        for bad in ["", "ftp://p.test", "p.test/path", "p.test:0", "0x7f.1:80", "a b"] {
            assert_eq!(proxy(bad), "usage", "{bad}");
        }
        let shown = format!("{:?}", Proxy::parse("http://u:geheim@p.test").expect("a proxy"));
        assert!(!shown.contains("geheim"));
    }

    #[test]
    fn who_is_asked_through_which() {
        let proxies = Proxies::default()
            .scheme("http", Proxy::parse("one.test").expect("a proxy"))
            .all(Proxy::parse("socks5h://two.test").expect("a proxy"))
            .direct("near.test, 127.0.0.0/8,::1");
        let way = |url: &str| {
            let url = parse(url).expect("a URL").url;
            proxies.proxy_for(&url).map_or_else(|| "direct".to_owned(), ToString::to_string)
        };
        assert_eq!(way("http://a.test/"), "http://one.test:1080");
        assert_eq!(way("https://a.test/"), "socks5h://two.test:1080");
        assert_eq!(way("ftp://a.test/"), "socks5h://two.test:1080");
        for direct in [
            "http://near.test/",
            "http://x.near.test/",
            "http://127.1.2.3/",
            "http://[::1]/",
            "file:///etc/motd",
            "mailto:a@b.test",
        ] {
            assert_eq!(way(direct), "direct", "{direct}");
        }
        assert_eq!(way("http://clear.test/"), "http://one.test:1080");
        let nobody = Proxies::default().all(Proxy::parse("p.test").expect("a proxy")).direct("a.test, *");
        assert_eq!(nobody.proxy_for(&parse("http://192.0.2.1/").expect("a URL").url), None);
        assert_eq!(Proxies::default().proxy_for(&parse("http://a.test/").expect("a URL").url), None);
    }
}
