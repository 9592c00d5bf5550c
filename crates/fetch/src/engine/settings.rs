//! The settings of a fetcher, shared by all its requests.

use std::sync::Arc;

use super::gateway::Gateways;
use super::redirect_policy::RedirectPolicy;
use crate::body::rate::SharedRate;
use crate::net::connector::Network;
use crate::registry::Registry;
use crate::{Credentials, Policy};

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
