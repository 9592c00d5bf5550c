//! The library's front door: [`Fetcher`] and its builder.

use std::sync::Arc;

use fetch_url_core::Url;
use fetch_url_proto::outline;

use crate::engine::gate::Gate;
use crate::engine::gateway::Gateways;
use crate::net::dial::Dialer;
use crate::registry::{Registry, Standing};
use crate::{
    Credentials, Directory, Driver, Error, Policy, Request, Response, TlsOptions, Trust, drivers, engine,
};

/// Fetches URLs: cheap to clone, and one for a whole program keeps connections open between calls.
#[derive(Clone)]
pub struct Fetcher {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) registry: Registry,
    pub(crate) policy: Policy,
    pub(crate) gate: Gate,
    pub(crate) gateways: Gateways,
    pub(crate) credentials: Credentials,
    pub(crate) dialer: Arc<Dialer>,
}

/// What would happen for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explained {
    /// How the scheme stands here.
    pub standing: Standing,
    /// What would be sent, a line for each command.
    pub commands: Vec<String>,
}

impl Default for Fetcher {
    fn default() -> Self {
        Self::new()
    }
}

impl Fetcher {
    /// Every scheme that is built in, under the default policy.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// For a policy, drivers or roots of one's own.
    pub fn builder() -> FetcherBuilder {
        FetcherBuilder::default()
    }

    /// Fetches the object that `text` names.
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn get(&self, text: &str) -> Result<Response, Error> {
        self.fetch(Request::new(text)?).await
    }

    /// Fetches what `request` asks for.
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn fetch(&self, request: Request) -> Result<Response, Error> {
        engine::fetch(&self.inner, request).await
    }

    /// The directory that `request` asks for, as a whole; a listing that breaks off is asked for anew.
    ///
    /// # Errors
    /// Why there is no answer; `not_found` where the object is no directory.
    pub async fn directory(&self, request: &Request) -> Result<Directory, Error> {
        engine::listed::directory(self, &self.inner, request).await
    }

    /// What would be sent for `request`: no network, no file.
    ///
    /// # Errors
    /// The request may not be sent: `forbidden_octet`.
    pub fn explain(&self, request: &Request) -> Result<Explained, Error> {
        if let Some(made) = self.inner.gateways.through(request.url()) {
            return self.explained_through(made.map_err(|error| error.at(request.url()))?, request);
        }
        self.explained(request)
    }

    /// What the gateway would be sent.
    fn explained_through(&self, made: Url<'static>, request: &Request) -> Result<Explained, Error> {
        let gateway = request.clone().through_gateway(made);
        let mut explained = self.explained(&gateway)?;
        explained.commands.insert(0, format!("asks the gateway: {}", gateway.url().redacted()));
        Ok(explained)
    }

    fn explained(&self, request: &Request) -> Result<Explained, Error> {
        let url = request.url();
        let standing = self.inner.registry.standing(url);
        let at = |error: Error| error.at(url);
        let commands = if standing == Standing::BuiltIn {
            let login = self.inner.credentials.for_hop(url, Some(url));
            let request = request.clone().made_by(login);
            let plan = self.inner.registry.driver(url)?.plan(&request).map_err(at)?;
            plan.to_string().lines().map(str::to_owned).collect()
        } else {
            let outline = outline(url).map_err(|forbidden| at(forbidden.into()))?;
            outline.dialogue().map(fetch_url_proto::text::escaped).collect()
        };
        Ok(Explained { standing, commands })
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.inner
    }

    /// How the scheme of `url` stands here.
    pub fn standing(&self, url: &Url<'_>) -> Standing {
        self.inner.registry.standing(url)
    }
}

impl std::fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fetcher").field("policy", &self.inner.policy).finish_non_exhaustive()
    }
}

/// Makes a [`Fetcher`].
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
    /// Adds a driver; it takes its schemes from whoever had them.
    #[must_use]
    pub fn driver(mut self, driver: impl Driver + 'static) -> Self {
        self.registry.add(Arc::new(driver));
        self
    }

    /// Does without a scheme.
    #[must_use]
    pub fn without(mut self, scheme: &str) -> Self {
        self.registry.remove(scheme);
        self
    }

    /// What is allowed.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Who is asked for URLs of schemes in place of their servers.
    #[must_use]
    pub fn gateways(mut self, gateways: Gateways) -> Self {
        self.gateways = gateways;
        self
    }

    /// Where users and passwords come from.
    #[must_use]
    pub fn credentials(mut self, credentials: Credentials) -> Self {
        self.credentials = credentials;
        self
    }

    /// How TLS is spoken.
    #[must_use]
    pub fn tls(mut self, tls: TlsOptions) -> Self {
        self.tls = tls;
        self
    }

    /// Whose certificates are believed: short for [`TlsOptions::trust`].
    #[must_use]
    pub fn trust(mut self, trust: Trust) -> Self {
        self.tls = self.tls.trust(trust);
        self
    }

    /// The fetcher.
    pub fn build(self) -> Fetcher {
        let dialer = Arc::new(Dialer::new(self.policy.reach.clone(), self.tls.clone()));
        let Self { registry, policy, gateways, credentials, .. } = self;
        let gate = Gate::new(policy.follow.clone(), registry.clone());
        Fetcher { inner: Arc::new(Inner { registry, policy, gate, gateways, credentials, dialer }) }
    }
}
