//! [`Fetcher`] and its builder, the entry points of the library.

use std::sync::Arc;

use fetch_url_core::{Host, Url};
use fetch_url_proto::{Entry, check_sendable};

use crate::body::rate::SharedRate;
use crate::engine::gateway::Gateways;
use crate::engine::redirect_policy::RedirectPolicy;
use crate::engine::settings::Settings;
use crate::net::connector::Network;
use crate::net::server_stream::ServerStream;
use crate::registry::{Registry, SchemeSupport};
use crate::{
    Credentials, DirectoryListing, Driver, Error, IntoRequest, Listing, NotFetchable, Policy, Proxy, Request,
    Response, TlsOptions, Trust, drivers, engine,
};

/// Fetches URLs.
///
/// A fetcher is `Send + Sync` and cheap to clone; clones share connections, cookies and what was learned
/// about servers. Use one fetcher for the whole program. Dropping a future of a fetcher cancels the request. If several
/// tokio runtimes use one fetcher, each has connections of its own.
#[derive(Clone)]
pub struct Fetcher {
    settings: Arc<Settings>,
}

/// The plan of a request that is not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explained {
    /// Whether the scheme is supported.
    pub support: SchemeSupport,
    /// The host and port that the request would be sent to; the default port of the scheme if the URL has
    /// none. `None` if the request contacts no server, or the server is unknown (`news:` without a server).
    pub server: Option<(Host<'static>, u16)>,
    /// The commands that would be sent, one per line.
    pub commands: Vec<String>,
}

impl Default for Fetcher {
    fn default() -> Self {
        Self::new()
    }
}

impl Fetcher {
    /// Returns a fetcher for all schemes that are compiled in, with the default [`Policy`]: 30 s to connect, 60 s
    /// without data, 10 redirects, 3 retries of transient errors (after about 1, 2 and 4 s), no size limit.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Returns a builder, for a policy, credentials, TLS settings, proxies or drivers of your own.
    pub fn builder() -> FetcherBuilder {
        FetcherBuilder::default()
    }

    /// Fetches a URL. The response has the metadata; its body is read afterwards.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), fetch_url::Error> {
    /// let fetcher = fetch_url::Fetcher::new();
    /// let text = fetcher.get("gopher://gopher.example.org/0/about").await?.text().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Every [`Code`](crate::Code) except those of writing a file.
    ///
    /// # Panics
    /// Outside a tokio runtime with I/O and time enabled, as do all async functions of this crate.
    pub async fn get(&self, url: impl IntoRequest) -> Result<Response, Error> {
        self.fetch(url.into_request()?).await
    }

    /// Runs `request`: follows redirects and retries transient errors.
    ///
    /// # Errors
    /// Every [`Code`](crate::Code) except those of writing a file.
    pub async fn fetch(&self, request: Request) -> Result<Response, Error> {
        engine::fetch(&self.settings, request).await
    }

    /// Returns the entries of a directory, a gopher menu, an HTTP index page, or a list of groups or articles, as a
    /// stream.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), fetch_url::Error> {
    /// let fetcher = fetch_url::Fetcher::new();
    /// let mut listing = fetcher.list("ftp://ftp.example.org/pub/").await?;
    /// while let Some(entry) = listing.next().await? {
    ///     println!("{:?} {}", entry.kind, String::from_utf8_lossy(&entry.name));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for [`fetch`](Self::fetch); [`Code::NotFound`](crate::Code::NotFound) if the object is not a directory.
    pub async fn list(&self, url: impl IntoRequest) -> Result<Listing, Error> {
        self.fetch(url.into_request()?.for_listing()).await?.into_listing()
    }

    /// Returns all entries of a directory. A listing that breaks off is fetched again.
    ///
    /// # Errors
    /// As for [`list`](Self::list).
    pub async fn list_all(&self, request: &Request) -> Result<DirectoryListing, Error> {
        engine::list_all::list_all(&self.settings, request, |_| true).await
    }

    /// Returns the entries of a directory for which `is_wanted` returns `true`. The others need no memory.
    ///
    /// # Errors
    /// As for [`list`](Self::list).
    pub async fn list_matching(
        &self,
        request: &Request,
        is_wanted: impl Fn(&Entry) -> bool,
    ) -> Result<DirectoryListing, Error> {
        engine::list_all::list_all(&self.settings, request, is_wanted).await
    }

    /// Returns what would be sent for `request`, without network or file access.
    ///
    /// # Errors
    /// [`Code::ForbiddenByte`](crate::Code::ForbiddenByte) if the request must not be sent.
    pub fn explain(&self, request: &Request) -> Result<Explained, Error> {
        if let Some(made) = self.settings.gateways.gateway_url(request.url()) {
            return self.explained_through(made.map_err(|error| error.with_url(request.url()))?, request);
        }
        self.explained(request)
    }

    /// Returns the plan of `request` through a gateway; `made` is the URL of the request to it.
    fn explained_through(&self, made: Url<'static>, request: &Request) -> Result<Explained, Error> {
        let gateway = request.clone().through_gateway(made);
        let mut explained = self.explained(&gateway)?;
        explained.commands.insert(0, format!("request to the gateway: {}", gateway.url().redacted()));
        Ok(explained)
    }

    fn explained(&self, request: &Request) -> Result<Explained, Error> {
        let url = request.url();
        let standing = self.settings.registry.support(url);
        let at = |error: Error| error.with_url(url);
        let is_built_in = standing == SchemeSupport::BuiltIn;
        let server = url.host().map(Host::into_owned).zip(url.port()).filter(|_| is_built_in);
        let commands = if is_built_in {
            let login = self.settings.credentials.select(url, Some(url));
            let request = request.clone().with_login(login);
            let plan = self.settings.plan(&request).map_err(at)?;
            let proxy = self.settings.describe_proxy(&request).map_err(at)?;
            proxy.into_iter().chain(plan.to_string().lines().map(str::to_owned)).collect()
        } else {
            check_sendable(url).map_err(|forbidden| at(forbidden.into()))?;
            Vec::new()
        };
        Ok(Explained { support: standing, server, commands })
    }

    /// Opens a TCP connection to `host` and `port`, for a program that relays its bytes, such as a proxy that serves
    /// CONNECT. The network policy applies to the addresses of the host; the port is not checked.
    ///
    /// # Errors
    /// [`Code::ResolveFailed`](crate::Code::ResolveFailed), [`Code::ConnectFailed`](crate::Code::ConnectFailed),
    /// [`Code::TimedOut`](crate::Code::TimedOut); [`Code::Policy`](crate::Code::Policy) if an address is not allowed.
    pub async fn connect(&self, host: &Host<'_>, port: u16) -> Result<ServerStream, Error> {
        engine::connect(&self.settings, host, port).await
    }

    pub(crate) fn settings(&self) -> &Arc<Settings> {
        &self.settings
    }

    /// Returns whether the scheme of `url` is supported.
    pub fn support(&self, url: &Url<'_>) -> SchemeSupport {
        self.settings.registry.support(url)
    }
}

/// Checks `request` as [`Fetcher::fetch`] does before it contacts a server: the driver can plan it, and scheme and port
/// are allowed. Returns the advice if the URL does not name an object.
///
/// # Errors
/// Those of [`Fetcher::fetch`] that need no server and no file.
pub fn check_request(fetcher: &Fetcher, request: &Request) -> Result<Option<NotFetchable>, Error> {
    engine::check_request(&fetcher.settings, request.clone())
}

impl std::fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fetcher").field("policy", &self.settings.policy).finish_non_exhaustive()
    }
}

/// Builds a [`Fetcher`]; made by [`Fetcher::builder`].
pub struct FetcherBuilder {
    registry: Registry,
    policy: Policy,
    gateways: Gateways,
    credentials: Credentials,
    tls: TlsOptions,
}

impl Default for FetcherBuilder {
    fn default() -> Self {
        Self {
            registry: drivers::built_in(),
            policy: Policy::default(),
            gateways: Gateways::default(),
            credentials: Credentials::default(),
            tls: TlsOptions::default(),
        }
    }
}

impl FetcherBuilder {
    /// Adds a driver. It replaces other drivers for its schemes.
    #[must_use]
    pub fn driver(mut self, driver: impl Driver + 'static) -> Self {
        self.registry.add(Arc::new(driver));
        self
    }

    /// Removes the driver of a scheme: its URLs fail with [`Code::Unsupported`](crate::Code::Unsupported).
    #[must_use]
    pub fn without(mut self, scheme: &str) -> Self {
        self.registry.remove(scheme);
        self
    }

    /// Sets the policy: timeouts, limits, retries, redirects, allowed addresses.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets the gateways: servers that fetch URLs of other schemes for this client.
    #[must_use]
    pub fn gateways(mut self, gateways: Gateways) -> Self {
        self.gateways = gateways;
        self
    }

    /// Sets where user names and passwords come from, if not from the URL.
    #[must_use]
    pub fn credentials(mut self, credentials: Credentials) -> Self {
        self.credentials = credentials;
        self
    }

    /// Sets the TLS options.
    #[must_use]
    pub fn tls(mut self, tls: TlsOptions) -> Self {
        self.tls = tls;
        self
    }

    /// Sets which certification authorities are trusted; a shortcut for [`TlsOptions::trust`].
    #[must_use]
    pub fn trust(mut self, trust: Trust) -> Self {
        self.tls = self.tls.trust(trust);
        self
    }

    /// Sends every request through `proxy`; a shortcut for `policy.network.proxies`.
    #[must_use]
    pub fn proxy(mut self, proxy: Proxy) -> Self {
        self.policy.network.proxies = self.policy.network.proxies.all(proxy);
        self
    }

    /// Returns the fetcher. Invalid PEM of certification authorities is reported by the first TLS connection;
    /// [`try_build`](Self::try_build) reports it at once.
    pub fn build(self) -> Fetcher {
        let network = Arc::new(Network::new(self.policy.network.clone(), self.tls.clone()));
        let Self { registry, policy, gateways, credentials, .. } = self;
        let redirect_policy = RedirectPolicy::new(policy.redirects.clone(), registry.schemes());
        let max_rate = SharedRate::from_limits(&policy.limits);
        let settings =
            Settings { registry, policy, redirect_policy, gateways, credentials, network, max_rate };
        Fetcher { settings: Arc::new(settings) }
    }

    /// Returns the fetcher after checking the TLS options.
    ///
    /// # Errors
    /// [`Code::Usage`](crate::Code::Usage) if the PEM of the certification authorities is invalid or empty.
    pub fn try_build(self) -> Result<Fetcher, Error> {
        self.tls.check()?;
        Ok(self.build())
    }
}

impl std::fmt::Debug for FetcherBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FetcherBuilder")
            .field("policy", &self.policy)
            .field("tls", &self.tls)
            .finish_non_exhaustive()
    }
}
