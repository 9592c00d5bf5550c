//! The scheme and redirect policy: which schemes may be requested, and which redirects are followed.

use std::collections::BTreeSet;
use std::sync::Arc;

use fetch_url_core::{SchemeFamily, Security, Url, parse};

use crate::{Code, Connector, Error, Hint, Phase, RedirectKind, RedirectLimits};

/// The caller's rules for schemes and redirects. Clones share the rules.
#[derive(Clone)]
pub struct RedirectPolicy(Arc<Rules>);

struct Rules {
    follow: RedirectLimits,
    /// The schemes that have a driver.
    built_in: BTreeSet<String>,
}

impl std::fmt::Debug for RedirectPolicy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("RedirectPolicy").field(&self.0.follow).finish()
    }
}

impl RedirectPolicy {
    pub(crate) fn new(follow: RedirectLimits, built_in: BTreeSet<String>) -> Self {
        Self(Arc::new(Rules { follow, built_in }))
    }

    pub(super) fn limits(&self) -> &RedirectLimits {
        &self.0.follow
    }

    /// Returns `true` if the name service `from` may redirect to `target` and the network policy of
    /// `connector` allows its host and port. Drivers use it to choose from several targets; the engine checks
    /// the chosen target again.
    pub fn allows(&self, from: &Url<'_>, target: &str, connector: &Connector) -> bool {
        let Ok(parsed) = parse(target) else { return false };
        let is_built_in = self.0.built_in.contains(parsed.url.scheme_name());
        is_built_in
            && self.check_redirect(from, &parsed.url, RedirectKind::NameService).is_ok()
            && connector.would_allow(&parsed.url)
    }

    /// Checks the scheme of `url`.
    ///
    /// # Errors
    /// `Code::Policy` if the caller does not allow the scheme.
    pub(super) fn check_scheme(&self, url: &Url<'_>) -> Result<(), Error> {
        let name = url.scheme_name();
        if self.0.follow.schemes.has(name) {
            return Ok(());
        }
        let detail = format!("the scheme \"{name}:\" is not allowed");
        Err(Error::new(Code::Policy, Phase::Plan, detail))
    }

    /// Checks a redirect from `from` to `target`. The scheme of `target` must be allowed for requests, and be in the
    /// caller's list for this kind of redirect; the list does not apply to redirects within one server that is not an
    /// HTTP server. Redirects from https to http must be allowed separately. Redirects to `file` and `mailto` are never
    /// followed, and redirects to `telnet` only from name services.
    ///
    /// # Errors
    /// `Code::Policy`, with a hint.
    pub(super) fn check_redirect(
        &self,
        from: &Url<'_>,
        target: &Url<'_>,
        kind: RedirectKind,
    ) -> Result<(), Error> {
        let rules = self.limits();
        let (here, there) = (from.scheme(), target.scheme());
        let refused = |hint: Hint| {
            let (from, to) = (from.scheme_name(), target.scheme_name());
            let detail = format!("redirects from {from} to {to} are not followed");
            Err(Error::new(Code::Policy, Phase::Redirect, detail).with_hint(hint))
        };
        let name = target.scheme_name();
        let is_never = match kind {
            RedirectKind::NameService => matches!(there.family, SchemeFamily::File | SchemeFamily::Mailto),
            RedirectKind::Redirect => {
                matches!(there.family, SchemeFamily::File | SchemeFamily::Mailto | SchemeFamily::Telnet)
            }
        };
        // Redirects within one server are allowed, except in HTTP, where the list of schemes decides.
        let is_own = from.same_origin(target) && here.family != SchemeFamily::Http;
        let schemes = match kind {
            RedirectKind::NameService => &rules.name_service_schemes,
            RedirectKind::Redirect => &rules.redirect_schemes,
        };
        if is_never || !(schemes.has(name) || is_own) || !rules.schemes.has(name) {
            return refused(format!("the redirect points to {}", target.redacted()).into());
        }
        let is_downgrade = here.security == Security::Tls && there.security == Security::Plain;
        if is_downgrade && !rules.allow_downgrade {
            return refused(Hint::Downgrade);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::connector::{Network, UrlChooser};
    use crate::{NetworkPolicy, TlsOptions};

    /// Each target breaks one rule, except the first.
    #[test]
    fn target_of_a_name_service_must_be_allowed_by_all_rules() {
        let schemes = ["prospero", "ftp", "file"].map(str::to_owned);
        let policy = RedirectPolicy::new(RedirectLimits::default(), schemes.into());
        let from = parse("prospero://example.org//x").expect("a URL").url;
        let network = Arc::new(Network::new(NetworkPolicy::default(), TlsOptions::default()));
        let connector = network.connector(&from, UrlChooser::PublicServer);
        for (target, is_allowed) in [
            ("ftp://example.org/x", true),
            ("not a URL", false),
            ("gopher://example.org/0x", false),
            ("file:///x", false),
            ("ftp://10.0.0.1/x", false),
        ] {
            assert_eq!(policy.allows(&from, target, &connector), is_allowed, "{target}");
        }
    }
}
