//! Where one request has been, and whether it may go on: a redirect is a value, and it is judged here.

use fetch_url_core::{Url, mask_password, parse, resolve};

use super::gate::{Gate, is_same_server};
use crate::request::HopStanding;
use crate::{Code, Error, Hop, HopKind, Phase, Request};

/// Where one request has been.
pub(super) struct Journey<'g> {
    start: Url<'static>,
    gate: &'g Gate,
    hops: u32,
    /// How many of the hops name services told.
    names: u32,
    visited: Vec<String>,
    has_left_public_ground: bool,
}

impl<'g> Journey<'g> {
    pub(super) fn new(gate: &'g Gate, start: &Url<'static>) -> Self {
        let visited = vec![start.to_string()];
        Self { start: start.clone(), gate, hops: 0, names: 0, visited, has_left_public_ground: false }
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
    pub(super) fn follows(&self) -> bool {
        self.gate.rules().max_hops.is_some()
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
        self.count(hop)?;
        let target = self.target(from, hop)?;
        let judged = self.gate.check_hop(from, &target, hop.kind);
        judged.map_err(|error| error.with_reply(hop.why.as_bytes()))?;
        let text = target.to_string();
        // To be sent back to ask plainly is no circle: RFC 9110 §15.4.4.
        if hop.changes_state || (hop.is_plain && !request.is_plain()) {
            self.visited.clear();
        }
        if self.visited.contains(&text) {
            return Err(loop_error(&target, hop));
        }
        self.visited.push(text);
        let standing = HopStanding {
            is_abroad: request.is_abroad() || !is_same_server(from, &target),
            // Nobody meant a body for whoever a name service names.
            is_plain: request.is_plain() || hop.is_plain || hop.kind == HopKind::Access,
            is_for_gateway: false,
        };
        Ok((target, standing))
    }

    /// One hop more, if that is not too many.
    fn count(&mut self, hop: &Hop) -> Result<(), Error> {
        let rules = self.gate.rules();
        let (count, most) = match hop.kind {
            HopKind::Access => (self.names, rules.max_names),
            HopKind::Redirect => (self.hops - self.names, rules.max_hops.unwrap_or(0)),
        };
        if count >= most {
            let detail = format!("more than {most} of them");
            return Err(Error::new(Code::TooManyHops, Phase::Hop, detail).with_reply(hop.why.as_bytes()));
        }
        self.names += u32::from(hop.kind == HopKind::Access);
        self.hops += 1;
        Ok(())
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
}

fn loop_error(target: &Url<'_>, hop: &Hop) -> Error {
    let detail = format!("they lead in a circle, back to {}", target.redacted());
    Error::new(Code::TooManyHops, Phase::Hop, detail).with_reply(hop.why.as_bytes())
}
