//! The changes that redirects have made to a request.

/// The effects of earlier redirects on the request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RedirectState {
    /// A redirect has led to another origin. Credentials, cookies and headers for the caller's server are no longer
    /// sent, not even after a redirect back.
    pub(crate) is_cross_origin: bool,
    /// The caller sends credentials and headers to other origins, too
    /// ([`RedirectLimits::trust_other_servers`](crate::policy::RedirectLimits::trust_other_servers)).
    pub(crate) trusts_target: bool,
    /// The request is a GET without the caller's method and body, for example after a redirect with status 303.
    pub(crate) is_plain_get: bool,
    /// A server with a public address has chosen the URL, so that private addresses are refused.
    pub(crate) is_from_public: bool,
    /// The request goes to the gateway that the caller configured.
    pub(crate) is_for_gateway: bool,
}
