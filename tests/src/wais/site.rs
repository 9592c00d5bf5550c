//! What a WAIS server of the tests is told: its databases and its faults.

use std::time::Duration;

use crate::ftp::rule::Ending;
use crate::wais::database::{Place, WaisDatabase};
use crate::wais::rule::{WaisAct, WaisCut, WaisOn, WaisRule};

/// A site.
#[derive(Clone, Debug)]
pub struct WaisSite {
    pub(crate) databases: Vec<WaisDatabase>,
    pub(crate) rules: Vec<WaisRule>,
    name: String,
    directory: String,
}

impl Default for WaisSite {
    fn default() -> Self {
        Self::new()
    }
}

/// What there is.
impl WaisSite {
    /// Nothing. Identifiers are to be of `localhost:210` and databases in `/wais`.
    #[must_use]
    pub fn new() -> Self {
        let (name, directory) = ("localhost:210".to_owned(), "/wais".to_owned());
        Self { databases: Vec::new(), rules: Vec::new(), name, directory }
    }

    /// One more database.
    #[must_use]
    pub fn database(mut self, database: WaisDatabase) -> Self {
        self.databases.push(database);
        self
    }

    /// The server that identifiers tell of.
    #[must_use]
    pub fn name(mut self, host_port: &str) -> Self {
        host_port.clone_into(&mut self.name);
        self
    }

    /// Where the databases are on the server.
    #[must_use]
    pub fn directory(mut self, path: &str) -> Self {
        path.clone_into(&mut self.directory);
        self
    }

    /// `database/TYPE/wpath` of the document with this headline in its first type, as RFC 1738 spells it;
    /// none if there is no such document.
    #[must_use]
    pub fn path(&self, database: &str, headline: &str) -> Option<String> {
        let found = self.databases.iter().find(|found| found.name == database)?;
        let mut documents = found.documents.iter();
        let document = documents.find(|document| document.headline == headline.as_bytes())?;
        let wtype = &document.forms[0].wtype;
        let wtype = if wtype.is_empty() { b"TEXT" } else { wtype.as_slice() };
        let parts = [database.as_bytes(), wtype, &found.id(self.place(), document)];
        Some(parts.map(escaped).join("/"))
    }

    pub(crate) fn place(&self) -> Place<'_> {
        Place { server: &self.name, directory: &self.directory }
    }
}

/// Faults. All of them are rules; those with a name here are frequent.
impl WaisSite {
    /// One more rule.
    #[must_use]
    pub fn rule(mut self, rule: WaisRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// What happens at these requests.
    #[must_use]
    pub fn on(self, on: WaisOn, act: WaisAct) -> Self {
        self.rule(WaisRule::on(on, act))
    }

    /// What happens at every request.
    #[must_use]
    pub fn always(self, act: WaisAct) -> Self {
        self.on(WaisOn::Any, act)
    }

    /// What happens at the `nth` request, from 1, counted over all connections.
    #[must_use]
    pub fn nth(self, nth: usize, act: WaisAct) -> Self {
        self.rule(WaisRule::on(WaisOn::Any, act).nth(nth))
    }

    /// Every answer is cut.
    #[must_use]
    pub fn cut(self, cut: WaisCut, ending: Ending) -> Self {
        self.always(WaisAct::Cut(cut, ending))
    }

    /// Every answer is in pieces of so many octets.
    #[must_use]
    pub fn drip(self, octets: usize, pause: Duration) -> Self {
        self.always(WaisAct::Drip(octets, pause))
    }
}

/// Letters, digits and the few marks that every writer leaves alone.
fn escaped(octets: &[u8]) -> String {
    octets
        .iter()
        .map(|octet| match octet {
            b'.' | b'-' | b'_' | b'$' => char::from(*octet).to_string(),
            _ if octet.is_ascii_alphanumeric() => char::from(*octet).to_string(),
            _ => format!("%{octet:02X}"),
        })
        .collect()
}
