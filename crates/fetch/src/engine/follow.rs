//! The one gate for hops: a redirect is a value, and it is judged here.

use fetch_url_core::{Family, Security, Url, mask_password, parse, resolve};

use crate::request::HopStanding;
use crate::{Code, Error, Follow, Hop, Phase, Request};

/// Where one request has been.
pub(super) struct Journey<'r> {
    start: Url<'static>,
    rules: &'r Follow,
    hops: u32,
    visited: Vec<String>,
    has_left_public_ground: bool,
}

impl<'r> Journey<'r> {
    pub(super) fn new(rules: &'r Follow, start: &Url<'static>) -> Self {
        let visited = vec![start.to_string()];
        Self { start: start.clone(), rules, hops: 0, visited, has_left_public_ground: false }
    }

    /// Where it began.
    pub(super) const fn start(&self) -> &Url<'static> {
        &self.start
    }

    /// Where it began, as long as it has not left that server.
    pub(super) fn home(&self, request: &Request) -> Option<&Url<'static>> {
        (!request.is_abroad()).then_some(&self.start)
    }

    /// Whether hops are followed at all.
    pub(super) const fn follows(&self) -> bool {
        self.rules.max_hops.is_some()
    }

    pub(super) const fn hops(&self) -> u32 {
        self.hops
    }

    /// Whether some server so far had a public address: from then on, private ones are out of reach.
    pub(super) const fn has_left_public_ground(&self) -> bool {
        self.has_left_public_ground
    }

    pub(super) const fn remember(&mut self, was_public: bool) {
        self.has_left_public_ground |= was_public;
    }

    /// Where `hop` leads, if it may, and what that means for the request.
    pub(super) fn judge(
        &mut self,
        request: &Request,
        hop: &Hop,
    ) -> Result<(Url<'static>, HopStanding), Error> {
        let from = request.url();
        if self.hops >= self.rules.max_hops.unwrap_or(0) {
            let detail = format!("more than {} of them", self.rules.max_hops.unwrap_or(0));
            return Err(Error::new(Code::TooManyHops, Phase::Hop, detail).with_reply(hop.why.as_bytes()));
        }
        let target = self.target(from, hop)?;
        self.check_hop(from, &target, hop)?;
        let text = target.to_string();
        // To be sent back to ask plainly is no circle: RFC 9110 §15.4.4.
        if hop.changes_state || (hop.is_plain && !request.is_plain()) {
            self.visited.clear();
        }
        if self.visited.contains(&text) {
            return Err(loop_error(&target, hop));
        }
        self.visited.push(text);
        self.hops += 1;
        let standing = HopStanding {
            is_abroad: request.is_abroad() || !is_same_server(from, &target),
            is_plain: request.is_plain() || hop.is_plain,
        };
        Ok((target, standing))
    }

    /// Whether the caller lets URLs of this scheme be asked at all.
    pub(super) fn check_scheme(&self, url: &Url<'_>) -> Result<(), Error> {
        let name = url.scheme_name();
        if self.rules.schemes.has(name) {
            return Ok(());
        }
        Err(Error::new(
            Code::Policy,
            Phase::Plan,
            format!("the scheme \"{name}:\" is not among those allowed"),
        ))
    }

    /// The reference, resolved and read by the same rules as everything else. A raw space is
    /// written `%20`: servers send them and every browser takes them.
    fn target(&self, from: &Url<'_>, hop: &Hop) -> Result<Url<'static>, Error> {
        let text = resolve(&from.to_string(), &hop.to.replace(' ', "%20"));
        match parse(&text) {
            Ok(parsed) => Ok(parsed.into_owned().url),
            Err(error) => {
                let detail = format!("the redirect's target is not a URL: {error}");
                Err(Error::new(Code::PeerMisbehaved, Phase::Hop, detail)
                    .with_reply(mask_password(&hop.to).as_bytes()))
            }
        }
    }

    /// http and https lead to each other, down only when asked; to others only when asked; to a file
    /// of this machine never.
    fn check_hop(&self, from: &Url<'_>, target: &Url<'_>, hop: &Hop) -> Result<(), Error> {
        let (here, there) = (from.scheme(), target.scheme());
        let refused = |detail: String, hint: &str| {
            let error = Error::new(Code::Policy, Phase::Hop, detail).with_reply(hop.why.as_bytes());
            Err(error.with_hint(hint))
        };
        let (name, is_file) = (target.scheme_name(), there.family == Family::File);
        // Where hops are no habit of the protocol, the server that was asked may name another place of its own.
        let is_own = is_same_server(from, target) && here.family != Family::Http;
        let may_lead_there = self.rules.hop_schemes.has(name) || is_own;
        if is_file || !may_lead_there || !self.rules.schemes.has(name) {
            let detail = format!("a redirect from {} to {name} is not followed", from.scheme_name());
            return refused(detail, &format!("it points to {}", target.redacted()));
        }
        let is_downgrade = here.security == Security::Tls && there.security == Security::Plain;
        if is_downgrade && !self.rules.allow_downgrade {
            let detail = format!("a redirect from {} to {name} is not followed", from.scheme_name());
            return refused(detail, "it would go on without TLS; --proto-redir =http,https allows it");
        }
        Ok(())
    }
}

/// Whether two URLs are of one server: the same scheme, host and port.
fn is_same_server(one: &Url<'_>, other: &Url<'_>) -> bool {
    one.scheme_name() == other.scheme_name() && one.host() == other.host() && one.port() == other.port()
}

fn loop_error(target: &Url<'_>, hop: &Hop) -> Error {
    let detail = format!("they lead in a circle, back to {}", target.redacted());
    Error::new(Code::TooManyHops, Phase::Hop, detail).with_reply(hop.why.as_bytes())
}
