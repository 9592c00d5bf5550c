//! The one gate for hops: a redirect is a value, and it is judged here.

use fetch_url_core::{Family, Security, Url, mask_password, parse, resolve};

use crate::{Code, Error, Follow, Hop, Phase};

/// Where one request has been.
pub(super) struct Journey {
    start: Url<'static>,
    rules: Follow,
    visited: Vec<String>,
    has_left_public_ground: bool,
}

impl Journey {
    pub(super) fn new(rules: Follow, start: &Url<'static>) -> Self {
        let visited = vec![start.to_string()];
        Self { start: start.clone(), rules, visited, has_left_public_ground: false }
    }

    /// Where it began.
    pub(super) const fn start(&self) -> &Url<'static> {
        &self.start
    }

    /// Whether hops are followed at all.
    pub(super) const fn follows(&self) -> bool {
        self.rules.max_hops.is_some()
    }

    pub(super) fn hops(&self) -> u32 {
        u32::try_from(self.visited.len() - 1).unwrap_or(u32::MAX)
    }

    /// Whether some server so far had a public address: from then on, private ones are out of reach.
    pub(super) const fn has_left_public_ground(&self) -> bool {
        self.has_left_public_ground
    }

    pub(super) const fn remember(&mut self, was_public: bool) {
        self.has_left_public_ground |= was_public;
    }

    /// Where `hop` leads from `from`, if it may.
    pub(super) fn judge(&mut self, from: &Url<'_>, hop: &Hop) -> Result<Url<'static>, Error> {
        if self.hops() >= self.rules.max_hops.unwrap_or(0) {
            let detail = format!("more than {} of them", self.rules.max_hops.unwrap_or(0));
            return Err(Error::new(Code::TooManyHops, Phase::Hop, detail).with_reply(hop.why.as_bytes()));
        }
        let target = self.target(from, hop)?;
        self.check_scheme(from, &target, hop)?;
        let text = target.to_string();
        if self.visited.contains(&text) {
            return Err(loop_error(&target, hop));
        }
        self.visited.push(text);
        Ok(target)
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

    /// http and https lead to each other, down only when asked; to nothing else.
    fn check_scheme(&self, from: &Url<'_>, target: &Url<'_>, hop: &Hop) -> Result<(), Error> {
        let (here, there) = (from.scheme(), target.scheme());
        let refused =
            |detail: String| Err(Error::new(Code::Policy, Phase::Hop, detail).with_reply(hop.why.as_bytes()));
        if there.family != Family::Http {
            let (from, to) = (from.scheme_name(), target.scheme_name());
            return refused(format!("a redirect from {from} to {to} is not followed"));
        }
        let is_downgrade = here.security == Security::Tls && there.security == Security::Plain;
        if is_downgrade && !self.rules.allow_downgrade {
            return refused("a redirect from https to http is not followed".to_owned());
        }
        Ok(())
    }
}

fn loop_error(target: &Url<'_>, hop: &Hop) -> Error {
    let detail = format!("they lead in a circle, back to {}", target.redacted());
    Error::new(Code::TooManyHops, Phase::Hop, detail).with_reply(hop.why.as_bytes())
}
