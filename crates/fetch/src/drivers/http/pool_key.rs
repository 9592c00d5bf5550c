//! The key of a pooled connection.

use fetch_url_core::Host;

use crate::net::connector::policy_checks::AddressRules;

/// The properties that a request must share with a connection to use it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct HttpPoolKey {
    pub(super) is_tls: bool,
    /// The connection leads to a proxy that reads the requests.
    pub(super) is_forwarded: bool,
    pub(super) allows_http2: bool,
    pub(super) host: Host<'static>,
    pub(super) port: u16,
    pub(super) address_rules: AddressRules,
    /// The proxy; `None` for a direct connection.
    pub(super) proxy: Option<String>,
    /// A keyed hash of the credentials.
    pub(super) identity: u64,
}
