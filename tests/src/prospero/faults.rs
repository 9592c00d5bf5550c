//! The prospero column of the fault matrix (SECURITY.md, section 3): what a fault is and how a server plays it.
//!
//! The faults themselves are data: what happens to packets in `fault_list.rs`, to texts in `text_fault_list.rs`, to
//! hops and access methods in `hop_fault_list.rs`, to directories in `link_fault_list.rs`. Run each with
//! [`Before::Absent`](crate::Before) and [`Before::Old`](crate::Before), without retries. After a failure the name is
//! untouched and nothing is left over.

use std::io::Result;
use std::time::Duration;

use crate::pattern::pattern_vec;
use crate::prospero::fault_list::PROSPERO_FAULTS;
use crate::prospero::hop_fault_list::PROSPERO_HOP_FAULTS;
use crate::prospero::link_fault_list::PROSPERO_LINK_FAULTS;
use crate::prospero::server::ProsperoServer;
use crate::prospero::site::ProsperoSite;
use crate::prospero::text_fault_list::PROSPERO_TEXT_FAULTS;

/// What the name holds after exit status 0.
#[derive(Clone, Copy, Debug)]
pub enum ProsperoResult {
    /// Exactly this.
    Is(fn(&ProsperoFaultSetting) -> Vec<u8>),
    /// All of these, and nothing that a terminal would obey.
    Shows(&'static [&'static str]),
}

/// One fault, and what the client must make of it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ProsperoFault {
    /// Lower case with underscores; unique.
    pub name: &'static str,
    /// The server.
    pub site: fn(&ProsperoFaultSetting) -> ProsperoSite,
    /// What stands behind the single slash of the URL: an object of the root `/srv` has a slash of its own.
    pub path: &'static str,
    /// The options that the client needs.
    pub arguments: &'static [&'static str],
    /// The exit status of CLI.md. With any other than 0 the name is untouched.
    pub expect: i32,
    /// Exit statuses that would be right as well.
    pub also: &'static [i32],
    /// What the name holds with exit status 0, also where another was expected.
    pub result: ProsperoResult,
    /// What standard error says.
    pub says: &'static [&'static str],
}

/// What all faults of a test run share.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProsperoFaultSetting {
    /// The file: its contents take 24 packets, which are two windows, the second of 8.
    pub content: Vec<u8>,
    /// What comes after this time comes too late for the client.
    pub late: Duration,
}

impl Default for ProsperoFaultSetting {
    /// 29,500 octets, and 10 seconds.
    fn default() -> Self {
        Self { content: pattern_vec(0, 29_500), late: Duration::from_secs(10) }
    }
}

impl ProsperoFault {
    /// Those of all tables.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        [PROSPERO_FAULTS, PROSPERO_TEXT_FAULTS, PROSPERO_HOP_FAULTS, PROSPERO_LINK_FAULTS]
            .into_iter()
            .flatten()
    }

    /// Whether this exit status is right.
    #[must_use]
    pub fn accepts(&self, exit: i32) -> bool {
        exit == self.expect || self.also.contains(&exit)
    }

    /// Starts a server with this fault.
    pub fn serve(&self, setting: &ProsperoFaultSetting) -> Result<ProsperoServer> {
        ProsperoServer::start((self.site)(setting))
    }

    /// The URL on a server with this fault.
    #[must_use]
    pub fn url(&self, server: &ProsperoServer) -> String {
        server.url(self.path)
    }

    /// A fault of the retrieval of the file. With exit status 0 its content is there.
    pub(crate) const fn file(
        name: &'static str,
        expect: i32,
        site: fn(&ProsperoFaultSetting) -> ProsperoSite,
    ) -> Self {
        let result = ProsperoResult::Is(|setting| setting.content.clone());
        Self { name, site, path: "/srv/file", arguments: &[], expect, also: &[], result, says: &[] }
    }

    /// A fault of the retrieval of a text so short that it comes in one packet.
    pub(crate) const fn short(
        name: &'static str,
        expect: i32,
        site: fn(&ProsperoFaultSetting) -> ProsperoSite,
    ) -> Self {
        let result = ProsperoResult::Is(|_| crate::prospero::fault_sites::SHORT.to_vec());
        Self { path: "/srv/short", result, ..Self::file(name, expect, site) }
    }

    /// A fault of a directory. With exit status 0 the names of both files are there.
    pub(crate) const fn directory(
        name: &'static str,
        expect: i32,
        site: fn(&ProsperoFaultSetting) -> ProsperoSite,
    ) -> Self {
        let result = ProsperoResult::Shows(&["the long file", "the short text"]);
        Self { path: "/srv/dir", result, ..Self::file(name, expect, site) }
    }

    pub(crate) const fn or(self, also: &'static [i32]) -> Self {
        Self { also, ..self }
    }

    pub(crate) const fn at(self, path: &'static str) -> Self {
        Self { path, ..self }
    }

    pub(crate) const fn with(self, arguments: &'static [&'static str]) -> Self {
        Self { arguments, ..self }
    }

    pub(crate) const fn is(self, content: fn(&ProsperoFaultSetting) -> Vec<u8>) -> Self {
        Self { result: ProsperoResult::Is(content), ..self }
    }

    pub(crate) const fn shows(self, words: &'static [&'static str]) -> Self {
        Self { result: ProsperoResult::Shows(words), ..self }
    }

    pub(crate) const fn says(self, words: &'static [&'static str]) -> Self {
        Self { says: words, ..self }
    }
}

#[cfg(test)]
#[path = "faults_tests.rs"]
mod tests;
