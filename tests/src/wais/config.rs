//! The configuration of a WAIS server: its databases and its faults.

use std::time::Duration;

use crate::server::plain_or_tls_connection::Ending;
use crate::server::rule::CutPoint;
use crate::server::text::percent_encode;
use crate::wais::database::{Location, WaisDatabase};
use crate::wais::rule::{WaisAction, WaisRule, WaisTrigger};

/// The configuration of a WAIS server: its databases and its behaviour.
#[derive(Clone, Debug)]
pub struct WaisConfig {
    pub(crate) databases: Vec<WaisDatabase>,
    pub(crate) rules: Vec<WaisRule>,
    name: String,
    directory: String,
}

impl Default for WaisConfig {
    fn default() -> Self {
        Self::new()
    }
}

/// Databases.
impl WaisConfig {
    /// A server without databases. Document identifiers name the server `localhost:210` and the directory
    /// `/wais`.
    #[must_use]
    pub fn new() -> Self {
        let (name, directory) = ("localhost:210".to_owned(), "/wais".to_owned());
        Self { databases: Vec::new(), rules: Vec::new(), name, directory }
    }

    /// Adds a database.
    #[must_use]
    pub fn database(mut self, database: WaisDatabase) -> Self {
        self.databases.push(database);
        self
    }

    /// Sets the server in document identifiers, `host:port`.
    #[must_use]
    pub fn name(mut self, host_port: &str) -> Self {
        host_port.clone_into(&mut self.name);
        self
    }

    /// Sets the directory of the databases on the server.
    #[must_use]
    pub fn directory(mut self, path: &str) -> Self {
        path.clone_into(&mut self.directory);
        self
    }

    /// Returns `database/TYPE/wpath` (RFC 1738 §3.8) of the document with this headline, in its first type.
    /// Returns `None` if there is no such document.
    #[must_use]
    pub fn path(&self, database: &str, headline: &str) -> Option<String> {
        let found = self.databases.iter().find(|found| found.name == database)?;
        let mut documents = found.documents.iter();
        let document = documents.find(|document| document.headline == headline.as_bytes())?;
        let wtype = &document.versions[0].wtype;
        let wtype = if wtype.is_empty() { b"TEXT" } else { wtype.as_slice() };
        let parts = [database.as_bytes(), wtype, &found.id(self.location(), document)];
        Some(parts.map(|part| percent_encode(part, b".-_$")).join("/"))
    }

    pub(crate) fn location(&self) -> Location<'_> {
        Location { server: &self.name, directory: &self.directory }
    }
}

/// Faults. All of them are rules; these methods are short forms of frequent rules.
impl WaisConfig {
    /// Adds a rule.
    #[must_use]
    pub fn rule(mut self, rule: WaisRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Takes this action on these requests.
    #[must_use]
    pub fn on(self, trigger: WaisTrigger, action: WaisAction) -> Self {
        self.rule(WaisRule::on(trigger, action))
    }

    /// Takes this action on every request.
    #[must_use]
    pub fn always(self, action: WaisAction) -> Self {
        self.on(WaisTrigger::Any, action)
    }

    /// Takes this action on the `nth` request: from 1, counted over all connections.
    #[must_use]
    pub fn nth(self, nth: usize, action: WaisAction) -> Self {
        self.rule(WaisRule::on(WaisTrigger::Any, action).nth(nth))
    }

    /// Cuts every response.
    #[must_use]
    pub fn cut(self, cut: CutPoint, ending: Ending) -> Self {
        self.always(WaisAction::Cut(cut, ending))
    }

    /// Sends every response in pieces of this many bytes.
    #[must_use]
    pub fn drip(self, bytes: usize, pause: Duration) -> Self {
        self.always(WaisAction::Drip(bytes, pause))
    }
}
