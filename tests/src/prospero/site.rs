//! What a Prospero server of the tests is told: its objects and its faults.

use std::time::Duration;

use crate::prospero::object::ProsperoObject;
use crate::prospero::packet::ProsperoPacket;
use crate::prospero::rule::{ProsperoAct, ProsperoOn, ProsperoRule};

/// A site.
#[derive(Clone, Debug, Default)]
pub struct ProsperoSite {
    objects: Vec<(Vec<u8>, u32, ProsperoObject)>,
    pub(crate) rules: Vec<ProsperoRule>,
    pub(crate) name: Option<String>,
    pub(crate) status: Option<Vec<u8>>,
    pub(crate) deaf: Duration,
    root: Vec<u8>,
}

/// What there is.
impl ProsperoSite {
    /// Nothing. The server calls itself by its address.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One more object.
    #[must_use]
    pub fn object(self, hsoname: impl Into<Vec<u8>>, object: ProsperoObject) -> Self {
        self.version(hsoname, 0, object)
    }

    /// One more object, for those who ask for this version of it.
    #[must_use]
    pub fn version(mut self, hsoname: impl Into<Vec<u8>>, version: u32, object: ProsperoObject) -> Self {
        self.objects.push((hsoname.into(), version, object));
        self
    }

    /// The tree that it serves. For other names than those of its objects nobody is authorized.
    #[must_use]
    pub fn root(mut self, prefix: impl Into<Vec<u8>>) -> Self {
        self.root = prefix.into();
        self
    }

    /// What it calls itself in links.
    #[must_use]
    pub fn name(self, name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..self }
    }

    /// What it answers to STATUS.
    #[must_use]
    pub fn status(self, text: impl Into<Vec<u8>>) -> Self {
        Self { status: Some(text.into()), ..self }
    }

    /// How long after it sent something it does not listen to the same request. dirsrv: the rest of that second.
    #[must_use]
    pub fn deaf(self, time: Duration) -> Self {
        Self { deaf: time, ..self }
    }

    /// The object, or why there is none.
    pub(crate) fn find(&self, hsoname: &[u8], version: u32) -> Result<&ProsperoObject, &'static str> {
        let is_it = |found: &&(Vec<u8>, u32, ProsperoObject)| found.0 == hsoname && found.1 == version;
        let found = self.objects.iter().find(is_it).map(|(_, _, object)| object);
        let is_inside = hsoname.starts_with(&self.root);
        found.ok_or(if is_inside { "NOT-FOUND" } else { "NOT-AUTHORIZED" })
    }
}

/// Faults. All of them are rules; those with a name here are frequent.
impl ProsperoSite {
    /// One more rule.
    #[must_use]
    pub fn rule(mut self, rule: ProsperoRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// What happens at these requests.
    #[must_use]
    pub fn on(self, on: ProsperoOn, act: ProsperoAct) -> Self {
        self.rule(ProsperoRule::on(on, act))
    }

    /// What happens at every request.
    #[must_use]
    pub fn always(self, act: ProsperoAct) -> Self {
        self.on(ProsperoOn::Any, act)
    }

    /// What happens at the `nth` request, from 1.
    #[must_use]
    pub fn nth(self, nth: usize, act: ProsperoAct) -> Self {
        self.rule(ProsperoRule::on(ProsperoOn::Any, act).nth(nth))
    }

    /// This comes in the place of every answer.
    #[must_use]
    pub fn instead(self, packets: Vec<ProsperoPacket>) -> Self {
        self.always(ProsperoAct::Instead(packets, usize::MAX))
    }

    /// Every answer is this text.
    #[must_use]
    pub fn answering(self, text: impl Into<Vec<u8>>) -> Self {
        self.always(ProsperoAct::Answer(text.into()))
    }

    /// It hears everything and says nothing.
    #[must_use]
    pub fn silent(self) -> Self {
        self.instead(Vec::new())
    }
}
