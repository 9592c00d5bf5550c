//! The configuration of a Prospero server: its objects and its faults.

use std::time::Duration;

use crate::prospero::object::ProsperoObject;
use crate::prospero::packet::ProsperoPacket;
use crate::prospero::rule::{ProsperoAction, ProsperoRule, ProsperoTrigger};

/// The configuration of a Prospero server: its objects and its behaviour.
#[derive(Clone, Debug, Default)]
pub struct ProsperoConfig {
    objects: Vec<(Vec<u8>, u32, ProsperoObject)>,
    pub(crate) rules: Vec<ProsperoRule>,
    pub(crate) name: Option<String>,
    pub(crate) status: Option<Vec<u8>>,
    /// How long after a window a repeated request is ignored.
    pub(crate) repeat_delay: Duration,
    root: Vec<u8>,
}

/// Objects.
impl ProsperoConfig {
    /// A server without objects. Links name it by its address.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an object.
    #[must_use]
    pub fn object(self, hsoname: impl Into<Vec<u8>>, object: ProsperoObject) -> Self {
        self.version(hsoname, 0, object)
    }

    /// Adds a version of an object.
    #[must_use]
    pub fn version(mut self, hsoname: impl Into<Vec<u8>>, version: u32, object: ProsperoObject) -> Self {
        self.objects.push((hsoname.into(), version, object));
        self
    }

    /// Sets the directory that is served. Other names are refused with NOT-AUTHORIZED.
    #[must_use]
    pub fn root(mut self, prefix: impl Into<Vec<u8>>) -> Self {
        self.root = prefix.into();
        self
    }

    /// Sets the name of the server in links.
    #[must_use]
    pub fn name(self, name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..self }
    }

    /// Sets the response to STATUS.
    #[must_use]
    pub fn status(self, text: impl Into<Vec<u8>>) -> Self {
        Self { status: Some(text.into()), ..self }
    }

    /// Ignores a repeated request for this time after a window was sent. dirsrv ignores it for the rest of
    /// that second.
    #[must_use]
    pub fn ignores_repeats_for(self, time: Duration) -> Self {
        Self { repeat_delay: time, ..self }
    }

    /// Returns an object.
    ///
    /// # Errors
    /// The failure code.
    pub(crate) fn find(&self, hsoname: &[u8], version: u32) -> Result<&ProsperoObject, &'static str> {
        let found = self.objects.iter().find(|(name, number, _)| name == hsoname && *number == version);
        let is_inside = hsoname.starts_with(&self.root);
        found.map(|(_, _, object)| object).ok_or(if is_inside { "NOT-FOUND" } else { "NOT-AUTHORIZED" })
    }
}

/// Faults. All of them are rules; these methods are short forms of frequent rules.
impl ProsperoConfig {
    /// Adds a rule.
    #[must_use]
    pub fn rule(mut self, rule: ProsperoRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Takes this action on these requests.
    #[must_use]
    pub fn on(self, trigger: ProsperoTrigger, action: ProsperoAction) -> Self {
        self.rule(ProsperoRule::on(trigger, action))
    }

    /// Takes this action on every request.
    #[must_use]
    pub fn always(self, action: ProsperoAction) -> Self {
        self.on(ProsperoTrigger::Any, action)
    }

    /// Takes this action on the `nth` request, from 1.
    #[must_use]
    pub fn nth(self, nth: usize, action: ProsperoAction) -> Self {
        self.rule(ProsperoRule::on(ProsperoTrigger::Any, action).nth(nth))
    }

    /// Sends these packets instead of every response.
    #[must_use]
    pub fn replace_packets(self, packets: Vec<ProsperoPacket>) -> Self {
        self.always(ProsperoAction::ReplacePackets(packets, usize::MAX))
    }

    /// Sends this text as every response.
    #[must_use]
    pub fn replace_text(self, text: impl Into<Vec<u8>>) -> Self {
        self.always(ProsperoAction::Answer(text.into()))
    }

    /// Receives requests and sends nothing.
    #[must_use]
    pub fn silent(self) -> Self {
        self.replace_packets(Vec::new())
    }
}
