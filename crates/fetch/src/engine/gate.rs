//! The one gate: which schemes may be asked at all, and where an answer may lead.

use std::sync::Arc;

use fetch_url_core::{Family, Security, Url, parse};

use crate::registry::Registry;
use crate::{Code, Dial, Error, Follow, HopKind, Phase};

/// What the caller allows of schemes and hops; clones are of the same one.
#[derive(Clone)]
pub struct Gate(Arc<Rules>);

struct Rules {
    follow: Follow,
    registry: Registry,
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Gate").field(&self.0.follow).finish()
    }
}

impl Gate {
    pub(crate) fn new(follow: Follow, registry: Registry) -> Self {
        Self(Arc::new(Rules { follow, registry }))
    }

    pub(super) fn rules(&self) -> &Follow {
        &self.0.follow
    }

    /// Whether the answer of `from`, a name service that `dial` reaches, may lead `to` that URL: for a driver that has
    /// several ways to choose from. What it chooses is judged again.
    pub fn lets(&self, from: &Url<'_>, to: &str, dial: &Dial) -> bool {
        let Ok(parsed) = parse(to) else { return false };
        let is_built_in = self.0.registry.driver(&parsed.url).is_ok();
        is_built_in
            && self.check_hop(from, &parsed.url, HopKind::Access).is_ok()
            && dial.would_ask(&parsed.url)
    }

    /// Whether the caller lets URLs of this scheme be asked at all.
    pub(super) fn check_scheme(&self, url: &Url<'_>) -> Result<(), Error> {
        let name = url.scheme_name();
        if self.0.follow.schemes.has(name) {
            return Ok(());
        }
        let detail = format!("the scheme \"{name}:\" is not among those allowed");
        Err(Error::new(Code::Policy, Phase::Plan, detail))
    }

    /// http and https lead to each other, down only when asked; to others only when asked, or where leading on is
    /// what the protocol is for; to a file of this machine, or to what names no object, never.
    pub(super) fn check_hop(&self, from: &Url<'_>, target: &Url<'_>, kind: HopKind) -> Result<(), Error> {
        let rules = self.rules();
        let (here, there) = (from.scheme(), target.scheme());
        let refused = |hint: &str| {
            let (from, to) = (from.scheme_name(), target.scheme_name());
            let detail = format!("a redirect from {from} to {to} is not followed");
            Err(Error::new(Code::Policy, Phase::Hop, detail).with_hint(hint))
        };
        let name = target.scheme_name();
        let is_never = match kind {
            HopKind::Access => matches!(there.family, Family::File | Family::Mailto),
            HopKind::Redirect => matches!(there.family, Family::File | Family::Mailto | Family::Telnet),
        };
        // Where hops are no habit of the protocol, the server that was asked may name another place of its own.
        let is_own = is_same_server(from, target) && here.family != Family::Http;
        let schemes = match kind {
            HopKind::Access => &rules.access_schemes,
            HopKind::Redirect => &rules.hop_schemes,
        };
        if is_never || !(schemes.has(name) || is_own) || !rules.schemes.has(name) {
            return refused(&format!("it points to {}", target.redacted()));
        }
        let is_downgrade = here.security == Security::Tls && there.security == Security::Plain;
        if is_downgrade && !rules.allow_downgrade {
            return refused("it would go on without TLS; --proto-redir =http,https allows it");
        }
        Ok(())
    }
}

/// Whether two URLs are of one server: the same scheme, host and port.
pub(crate) fn is_same_server(one: &Url<'_>, other: &Url<'_>) -> bool {
    one.scheme_name() == other.scheme_name() && one.host() == other.host() && one.port() == other.port()
}
