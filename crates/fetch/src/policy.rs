//! The caller's policy: timeouts, limits, retries, redirects, addresses. The engine and the network layer apply it;
//! drivers never read it.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use crate::{Proxies, Proxy, Routes};

/// Timeouts, limits, retries, redirects and the network policy of a fetcher, the same for all schemes.
///
/// Every part has a setter here and fields that can be changed:
///
/// ```
/// use std::time::Duration;
/// use fetch_url::{Fetcher, Policy};
///
/// let mut policy = Policy::default().total_timeout(Duration::from_secs(30)).max_size(10_000_000).max_retries(1);
/// policy.timeouts.idle = Duration::from_secs(5);
/// let fetcher = Fetcher::builder().policy(policy).build();
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Policy {
    /// Timeouts of the steps of a request.
    pub timeouts: Timeouts,
    /// Limits of the size and the transfer rate of bodies and listings.
    pub limits: Limits,
    /// Conditions and limits of retries.
    pub retry: Retry,
    /// The schemes that may be requested, and the limits of redirects.
    pub redirects: RedirectLimits,
    /// The addresses and ports that may be contacted, proxies and routes.
    pub network: NetworkPolicy,
}

impl Policy {
    /// Returns the policy for servers that fetch URLs of untrusted users: only http and https, only public addresses,
    /// at most 5 redirects, at most 5 minutes and 1 GiB per request.
    ///
    /// To test such a program against a server on loopback, build the fetcher of the test with
    /// `policy.network.public_only = false` and keep the rest.
    pub fn strict() -> Self {
        let mut policy = Self { network: NetworkPolicy::strict(), ..Self::default() };
        policy.timeouts.total = Some(Duration::from_secs(300));
        policy.limits.max_size = Some(1 << 30);
        policy.redirects.schemes = Schemes::only(["http", "https"]);
        policy.redirects.max_redirects = Some(5);
        policy
    }

    /// Sets the maximum time for a request, including redirects, retries and the body. Default: no limit.
    #[must_use]
    pub const fn total_timeout(mut self, time: Duration) -> Self {
        self.timeouts.total = Some(time);
        self
    }

    /// Sets the maximum time to resolve a host, connect, and complete the TLS handshake. Default: 30 s.
    #[must_use]
    pub const fn connect_timeout(mut self, time: Duration) -> Self {
        self.timeouts.connect = time;
        self
    }

    /// Sets the maximum time without data, before the reply and within the body. Default: 60 s.
    #[must_use]
    pub const fn read_timeout(mut self, time: Duration) -> Self {
        (self.timeouts.reply, self.timeouts.idle) = (time, time);
        self
    }

    /// Sets the maximum size of an object in bytes. Default: no limit.
    #[must_use]
    pub const fn max_size(mut self, bytes: u64) -> Self {
        self.limits.max_size = Some(bytes);
        self
    }

    /// Sets the maximum number of retries after a transient error. Default: 3.
    #[must_use]
    pub const fn max_retries(mut self, count: u32) -> Self {
        self.retry.max_retries = count;
        self
    }

    /// Sets the maximum number of redirects; with `None`, a redirect is returned as the response. Default: 10.
    #[must_use]
    pub const fn max_redirects(mut self, count: Option<u32>) -> Self {
        self.redirects.max_redirects = count;
        self
    }

    /// Allows only public addresses, also for the URLs of the caller. Default: `false`.
    #[must_use]
    pub const fn public_only(mut self, public_only: bool) -> Self {
        self.network.public_only = public_only;
        self
    }

    /// Sends every request through `proxy`.
    #[must_use]
    pub fn proxy(mut self, proxy: Proxy) -> Self {
        self.network.proxies = self.network.proxies.all(proxy);
        self
    }
}

/// Timeouts of the steps of a request.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Timeouts {
    /// Maximum time to resolve the host, connect, and complete the TLS handshake. Default: 30 s.
    pub connect: Duration,
    /// Maximum time from the request to the first byte of its reply. Default: 60 s.
    pub reply: Duration,
    /// The idle timeout: maximum time without a received byte while the body is transferred. Default: 60 s.
    pub idle: Duration,
    /// Maximum time for the whole request, including redirects, retries and the body. Default: no limit.
    pub total: Option<Duration>,
}

impl Default for Timeouts {
    fn default() -> Self {
        let minute = Duration::from_secs(60);
        Self { connect: Duration::from_secs(30), reply: minute, idle: minute, total: None }
    }
}

/// Limits of the size and the transfer rate of bodies and listings.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Limits {
    /// The maximum size of an object in bytes. A larger one fails with
    /// [`Code::LimitReached`](crate::Code::LimitReached).
    pub max_size: Option<u64>,
    /// The maximum number of entries of a listing.
    pub max_entries: Option<u64>,
    /// The maximum transfer rate of all bodies of a fetcher together, in bytes per second. Clones of the fetcher share
    /// it. 0 means no limit.
    pub max_rate: Option<u64>,
    /// The minimum transfer rate, sent and received, from the connection on; slower transfers fail with
    /// [`Code::TimedOut`](crate::Code::TimedOut).
    pub min_rate: Option<MinRate>,
    /// Rejects bodies whose end the protocol cannot prove ([`Proof::Assumed`](crate::Proof::Assumed)) with
    /// [`Code::Truncated`](crate::Code::Truncated).
    pub requires_proof: bool,
}

/// The minimum average transfer rate over a time window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "--speed-limit and --speed-time are the only fields")]
pub struct MinRate {
    /// The rate, in bytes per second.
    pub bytes_per_second: u64,
    /// The length of the window. With 0, the rate is not checked.
    pub time: Duration,
}

/// When a request that failed with a transient error is sent again.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Retry {
    /// The maximum number of retries. Default: 3.
    pub max_retries: u32,
    /// The time between retries. Default: 1 s before the first retry, doubled for each further one up to 60 s, ± 25 %.
    pub delay: Option<Duration>,
    /// No retry starts later than this after the first attempt. Default: no limit.
    pub max_time: Option<Duration>,
    /// Retries after every error that the server or the network may have caused, not only after transient ones.
    pub all_errors: bool,
}

impl Default for Retry {
    fn default() -> Self {
        Self { max_retries: 3, delay: None, max_time: None, all_errors: false }
    }
}

impl Retry {
    /// Returns the policy without retries.
    pub const fn never() -> Self {
        Self { max_retries: 0, delay: None, max_time: None, all_errors: false }
    }
}

/// The schemes that may be requested, and the limits of redirects.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RedirectLimits {
    /// The maximum number of redirects; with `None`, a redirect is returned as the response. Default: 10.
    pub max_redirects: Option<u32>,
    /// The maximum number of redirects by a name service (Prospero), which are counted separately. Default: 20.
    pub max_name_service_redirects: u32,
    /// Allows redirects from https to http. Default: `false`.
    pub allow_downgrade: bool,
    /// Sends the caller's credentials and header fields to every server that an http or https redirect leads to. Only
    /// Host stays with the caller's server. Default: `false`.
    pub trust_other_servers: bool,
    /// The schemes that may be requested at all. Default: all.
    pub schemes: Schemes,
    /// The schemes that a redirect may lead to; never `file`, `mailto` or `telnet`. Default: http, https.
    pub redirect_schemes: Schemes,
    /// The schemes that a name service (Prospero) may lead to. Default: ftp, gopher, http, https, prospero, telnet,
    /// wais.
    pub name_service_schemes: Schemes,
}

impl Default for RedirectLimits {
    fn default() -> Self {
        Self {
            max_redirects: Some(10),
            max_name_service_redirects: 20,
            allow_downgrade: false,
            trust_other_servers: false,
            schemes: Schemes::All,
            redirect_schemes: Schemes::only(["http", "https"]),
            name_service_schemes: Schemes::only([
                "ftp", "gopher", "http", "https", "prospero", "telnet", "wais",
            ]),
        }
    }
}

/// A set of schemes, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "callers match all variants")]
pub enum Schemes {
    /// All schemes.
    All,
    /// All schemes except these.
    Except(BTreeSet<String>),
    /// Only these schemes.
    Only(BTreeSet<String>),
}

impl Schemes {
    /// Returns the set of `names`.
    pub fn only<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        Self::Only(names.into_iter().map(str::to_ascii_lowercase).collect())
    }

    /// Returns `true` if `name`, in lower case, is in the set.
    pub fn has(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Except(names) => !names.contains(name),
            Self::Only(names) => names.contains(name),
        }
    }
}

/// The addresses and ports that may be contacted, proxies and routes.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct NetworkPolicy {
    /// Allows only public addresses, also for the URLs of the caller: no loopback, private, link-local or multicast
    /// addresses. It is checked after name resolution, for every redirect and for FTP data connections. Default:
    /// `false`.
    pub public_only: bool,
    /// Allows redirects from a public to a private address. Default: `false`.
    pub allow_private: bool,
    /// Ports that are allowed although they belong to another protocol. Default: none.
    pub allowed_ports: Vec<u16>,
    /// Addresses and ports that are never contacted, such as those on which the program itself listens: neither as
    /// servers, nor for FTP data, nor as proxies. An unspecified
    /// address (`0.0.0.0`, `::`) stands for every loopback address. Default: none.
    pub refused_endpoints: Vec<SocketAddr>,
    /// Overrides of name resolution and routing.
    pub routes: Routes,
    /// The proxies. Default: none; the environment is not read.
    pub proxies: Proxies,
}

impl NetworkPolicy {
    /// Returns the policy that allows only public addresses.
    pub fn strict() -> Self {
        Self { public_only: true, ..Self::default() }
    }
}
