//! Proxies by scheme, and the hosts that are contacted directly.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use fetch_url_core::{Host, Url, parse};
use hyper_util::client::proxy::matcher::Matcher;

use crate::ascii_host::ascii_host;
use crate::credentials::Credential;
use crate::{Code, Error, Phase};

/// The default port of a proxy URL, as in curl.
const DEFAULT_PORT: u16 = 1080;

/// The proxies of a fetcher by URL scheme, and the hosts that are contacted directly.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    for_scheme: BTreeMap<String, ProxyOrError>,
    for_all: Option<ProxyOrError>,
    direct: String,
    tunnel: bool,
}

/// A proxy, or the error of the requests that use it if its value is invalid.
pub(super) type ProxyOrError = Result<Proxy, Error>;

/// A proxy: protocol, host, port and credentials. `Debug` and `Display` do not show the credentials.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    pub(crate) kind: ProxyKind,
    pub(crate) host: Host<'static>,
    pub(crate) port: u16,
    pub(crate) login: Option<Credential>,
}

/// The protocol of a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProxyKind {
    /// An HTTP proxy: http and ftp URLs are sent to it (RFC 9112 §3.2.2), other schemes use CONNECT (RFC 9110 §9.3.6).
    Http,
    /// An HTTP proxy over TLS.
    Https,
    /// SOCKS 4; host names are resolved by the client.
    Socks4,
    /// SOCKS 4a; host names are resolved by the proxy.
    Socks4a,
    /// SOCKS 5 (RFC 1928); host names are resolved by the client.
    Socks5,
    /// SOCKS 5 (RFC 1928); host names are resolved by the proxy.
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

    /// Returns the scheme of the proxy URL.
    pub(crate) fn scheme(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("http", |(_, name)| name)
    }

    /// Returns `true` for proxies that read HTTP requests.
    pub(crate) const fn is_http(self) -> bool {
        matches!(self, Self::Http | Self::Https)
    }

    /// Returns `true` if the client resolves host names.
    pub(crate) const fn resolves_here(self) -> bool {
        matches!(self, Self::Socks4 | Self::Socks5)
    }
}

impl Proxies {
    /// Sets the proxy for URLs of `scheme`.
    #[must_use]
    pub fn scheme(mut self, scheme: &str, proxy: Proxy) -> Self {
        self.for_scheme.insert(scheme.to_ascii_lowercase(), Ok(proxy));
        self
    }

    /// Sets the proxy for URLs of `scheme` to the value of the environment variable `name`. A value that
    /// [`Proxy::parse`] rejects fails only the requests that would use it, with `Code::Usage`.
    #[must_use]
    pub fn scheme_from_variable(mut self, scheme: &str, name: &str, value: &str) -> Self {
        self.for_scheme.insert(scheme.to_ascii_lowercase(), parse_variable(name, value));
        self
    }

    /// Sets the proxy for all schemes without a proxy of their own, except `file`.
    #[must_use]
    pub fn all(mut self, proxy: Proxy) -> Self {
        self.for_all = Some(Ok(proxy));
        self
    }

    /// Sets the proxy for all schemes without a proxy of their own, as [`Proxies::scheme_from_variable`] does.
    #[must_use]
    pub fn all_from_variable(mut self, name: &str, value: &str) -> Self {
        self.for_all = Some(parse_variable(name, value));
        self
    }

    /// Sets the credentials for all proxies. They replace those in the URLs of the proxies.
    #[must_use]
    pub fn with_login(mut self, login: &Credential) -> Self {
        for proxy in self.for_scheme.values_mut().chain(&mut self.for_all).flatten() {
            proxy.login = Some(login.clone());
        }
        self
    }

    /// Sets the hosts that are contacted directly, in the form of `NO_PROXY`: a comma-separated list of names (with
    /// their subdomains), addresses, networks, or `*` for all hosts.
    #[must_use]
    pub fn direct(mut self, hosts: &str) -> Self {
        // curl accepts spaces as separators too.
        self.direct = hosts
            .split([',', ' ', '\t'])
            .map(|host| ascii_host(host.trim_end_matches('.')))
            .filter(|host| !host.is_empty())
            .collect::<Vec<_>>()
            .join(",");
        self
    }

    /// Opens a tunnel (CONNECT) through HTTP proxies for http and ftp URLs too, in place of sending them the URL.
    /// Default: `false`.
    #[must_use]
    pub const fn tunnel(mut self, tunnel: bool) -> Self {
        self.tunnel = tunnel;
        self
    }

    /// Returns `true` if http and ftp URLs use a tunnel too.
    pub(crate) const fn uses_tunnel(&self) -> bool {
        self.tunnel
    }

    /// Returns the proxy for URLs of `scheme`, without regard to the host.
    pub(super) fn for_scheme(&self, scheme: &str) -> Option<&ProxyOrError> {
        self.for_scheme.get(scheme).or(self.for_all.as_ref())
    }

    /// Returns the proxy for URLs of `scheme` to `host`, or `None` for a direct connection.
    ///
    /// # Errors
    /// `Code::Usage` if the proxy's environment variable is invalid.
    pub(crate) fn proxy_for(&self, scheme: &str, host: &Host<'_>) -> Result<Option<&Proxy>, Error> {
        match self.for_scheme(scheme) {
            Some(proxy) if !self.is_direct(host) => proxy.as_ref().map(Some).map_err(Error::clone),
            _ => Ok(None),
        }
    }

    /// Returns `true` if `host` is contacted directly.
    pub(super) fn is_direct(&self, host: &Host<'_>) -> bool {
        if self.direct.is_empty() {
            return false;
        }
        if self.direct.split(',').any(|entry| entry == "*") {
            return true;
        }
        let host = host.to_string();
        // `direct` removes the final dot of each entry.
        let host = host.strip_suffix('.').unwrap_or(&host);
        let Ok(uri) = format!("http://{host}/").parse() else { return false };
        Matcher::builder()
            .all("http://proxy.invalid")
            .no(self.direct.as_str())
            .build()
            .intercept(&uri)
            .is_none()
    }
}

/// Parses the value of an environment variable. The error names the variable, not its value, which may contain a
/// password.
fn parse_variable(name: &str, value: &str) -> ProxyOrError {
    Proxy::parse(value).map_err(|error| error.replace_in_detail("the proxy", &format!("the proxy in {name}")))
}

impl Proxy {
    /// Parses `[SCHEME://][USER[:PASSWORD]@]HOST[:PORT]` as curl does. The default scheme is http, the default port
    /// 1080.
    ///
    /// # Errors
    /// `Code::Usage` if the text is not of this form.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let wrong = |why: &str| {
            let detail = format!("the proxy {why}");
            Error::new(Code::Usage, Phase::Proxy, detail).with_hint("[SCHEME://][USER:PASSWORD@]HOST[:PORT]")
        };
        let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
        let scheme = scheme.to_ascii_lowercase();
        let known = ProxyKind::ALL.iter().find(|(_, name)| *name == scheme);
        let (kind, _) = known.ok_or_else(|| wrong("has an unknown scheme"))?;
        let url = format!("http://{}/", rest.trim_end_matches('/'));
        let parsed = parse(&url).map_err(|error| wrong(&format!("is not a valid URL: {error}")))?;
        let Url::Http(url) = parsed.into_owned().url else { return Err(wrong("is not a valid URL")) };
        if url.path().is_some_and(|path| !path.as_str().is_empty()) || url.query().is_some() {
            return Err(wrong("must not have a path"));
        }
        let host_port = url.authority().host_port();
        let port = host_port.port().map_or(DEFAULT_PORT, std::num::NonZeroU16::get);
        let login = url.authority().user_info().map(Credential::from_user_info);
        Ok(Self { kind: *kind, host: host_port.host().clone(), port, login })
    }

    /// Sets the credentials for the proxy.
    #[must_use]
    pub fn with_login(mut self, login: Credential) -> Self {
        self.login = Some(login);
        self
    }
}

impl FromStr for Proxy {
    type Err = Error;

    /// Parses a proxy, as [`Proxy::parse`] does.
    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
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
        Proxy::parse(text).map_or_else(|error| error.code().name().to_owned(), |proxy| proxy.to_string())
    }

    #[test]
    fn proxy_text_is_parsed_as_in_curl() {
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
    fn proxy_is_selected_by_scheme_and_host() {
        let proxies = Proxies::default()
            .scheme("http", Proxy::parse("one.test").expect("a proxy"))
            .all(Proxy::parse("socks5h://two.test").expect("a proxy"))
            .direct("near.test, 127.0.0.0/8,::1 bücher.test");
        let selected = |url: &str| {
            let url = parse(url).expect("a URL").url;
            let proxy =
                url.host().and_then(|host| proxies.proxy_for(url.scheme_name(), &host).expect("valid"));
            proxy.map_or_else(|| "direct".to_owned(), ToString::to_string)
        };
        assert_eq!(selected("http://a.test/"), "http://one.test:1080");
        assert_eq!(selected("https://a.test/"), "socks5h://two.test:1080");
        assert_eq!(selected("ftp://a.test/"), "socks5h://two.test:1080");
        for direct in [
            "http://near.test/",
            "http://x.near.test/",
            "http://near.test./",
            "https://x.NEAR.test./",
            "http://127.1.2.3/",
            "http://x.xn--bcher-kva.test/",
            "http://[::1]/",
            "file:///etc/motd",
            "mailto:a@b.test",
        ] {
            assert_eq!(selected(direct), "direct", "{direct}");
        }
        assert_eq!(selected("http://clear.test/"), "http://one.test:1080");
        let all_direct = Proxies::default().all(Proxy::parse("p.test").expect("a proxy")).direct("a.test, *");
        let host = Host::Name("a.example".into());
        assert!(matches!(all_direct.proxy_for("http", &host), Ok(None)));
        assert!(matches!(Proxies::default().proxy_for("http", &host), Ok(None)));
    }
}
