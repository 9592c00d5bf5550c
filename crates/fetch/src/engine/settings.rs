//! The settings of a fetcher, shared by all its requests.

use std::sync::Arc;

use super::gateway::Gateways;
use super::redirect_policy::RedirectPolicy;
use crate::body::rate::SharedRate;
use crate::net::connector::Network;
use crate::registry::Registry;
use crate::{Code, Credentials, Error, Hint, Phase, Plan, Policy, Request};

/// Drivers, policy and connections of one [`Fetcher`](crate::Fetcher).
pub(crate) struct Settings {
    pub(crate) registry: Registry,
    pub(crate) policy: Policy,
    pub(crate) redirect_policy: RedirectPolicy,
    pub(crate) gateways: Gateways,
    pub(crate) credentials: Credentials,
    pub(crate) network: Arc<Network>,
    /// The rate limit that all transfers share.
    pub(crate) max_rate: Option<Arc<SharedRate>>,
}

impl Settings {
    /// Returns the plan of the driver for `request`. FTP over an HTTP proxy is planned by the HTTP driver.
    ///
    /// # Errors
    /// The errors of the driver; `Code::Usage` if the proxy's environment variable is invalid.
    pub(crate) fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        let driver = self.registry.driver(request.url())?;
        if driver.id() == "ftp" && self.forwards_ftp(request)? {
            return self.registry.driver_of_scheme("http")?.plan(request);
        }
        driver.plan(request)
    }

    /// Returns `true` if an HTTP proxy fetches the FTP URL of `request`.
    fn forwards_ftp(&self, request: &Request) -> Result<bool, Error> {
        let Some(host) = request.url().host().filter(|_| request.url().scheme_name() == "ftp") else {
            return Ok(false);
        };
        // The options of the data connection have a meaning only if this program speaks FTP.
        #[cfg(feature = "ftp")]
        if request.extra::<crate::ftp::FtpOptions>().is_some_and(|options| options.active.is_some()) {
            return Ok(false);
        }
        self.network.forwards_ftp(&host)
    }

    /// Describes the proxy of `request` for an explanation; `None` for a direct connection.
    ///
    /// # Errors
    /// `Code::Usage` if the proxy's environment variable is invalid; `Code::Unsupported` if the scheme cannot use a
    /// proxy.
    pub(crate) fn describe_proxy(&self, request: &Request) -> Result<Option<String>, Error> {
        let url = request.url();
        let Some(host) = url.host() else { return Ok(None) };
        let scheme = url.scheme_name();
        let Some(proxy) = self.network.proxy_for(scheme, &host)? else { return Ok(None) };
        if scheme == "prospero" {
            let detail = format!("{scheme} uses UDP, which the proxy {proxy} does not carry");
            return Err(Error::new(Code::Unsupported, Phase::Proxy, detail).with_hint(Hint::Direct));
        }
        let is_plain_http =
            scheme == "http" && proxy.kind.is_http() && !self.policy.network.proxies.uses_tunnel();
        let is_read_by_proxy = is_plain_http || self.forwards_ftp(request)?;
        let how = if is_read_by_proxy { "request to the proxy" } else { "tunnel through the proxy" };
        Ok(Some(format!("{how}: {proxy}")))
    }
}
