//! The wais column of the fault matrix (SECURITY.md, section 3): what a fault is and how a server plays it.
//!
//! The faults themselves are data, in `fault_list.rs` and `search_fault_list.rs`. Run each with
//! [`Before::Absent`](crate::Before) and [`Before::Old`](crate::Before), without retries. After a failure the
//! name is untouched; a partial file beside it, if the client keeps one, is a true prefix.

use std::io::Result;
use std::time::Duration;

use crate::pattern::pattern_vec;
use crate::wais::fault_list::WAIS_FAULTS;
use crate::wais::search_fault_list::WAIS_SEARCH_FAULTS;
use crate::wais::server::WaisServer;
use crate::wais::site::WaisSite;

/// What the name holds after exit status 0.
#[derive(Clone, Copy, Debug)]
pub enum WaisResult {
    /// Exactly this.
    Is(fn(&WaisFaultSetting) -> Vec<u8>),
    /// All of these, and nothing that a terminal would obey.
    Shows(&'static [&'static str]),
}

/// One fault, and what the client must make of it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct WaisFault {
    /// Lower case with underscores; unique.
    pub name: &'static str,
    /// The server.
    pub site: fn(&WaisFaultSetting) -> WaisSite,
    /// What stands behind the slash of the URL.
    pub path: &'static str,
    /// The options that the client needs.
    pub arguments: &'static [&'static str],
    /// The exit status of CLI.md. With any other than 0 the name is untouched.
    pub expect: i32,
    /// Exit statuses that would be right as well.
    pub also: &'static [i32],
    /// What the name holds with exit status 0, also where another was expected.
    pub result: WaisResult,
    /// What standard error says.
    pub says: &'static [&'static str],
}

/// What all faults of a test run share.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WaisFaultSetting {
    /// The document: more than 20,000 octets and less than 30,000, so that it comes in three pieces of 10,000.
    pub content: Vec<u8>,
    /// How long a stalled server says nothing: longer than the client's idle timeout.
    pub stall: Duration,
}

impl Default for WaisFaultSetting {
    /// 25,000 octets and a stall of 10 seconds.
    fn default() -> Self {
        Self { content: pattern_vec(0, 25_000), stall: Duration::from_secs(10) }
    }
}

impl WaisFault {
    /// Those of both tables.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        WAIS_FAULTS.iter().chain(WAIS_SEARCH_FAULTS)
    }

    /// Whether this exit status is right.
    #[must_use]
    pub fn accepts(&self, exit: i32) -> bool {
        exit == self.expect || self.also.contains(&exit)
    }

    /// Starts a server with this fault.
    pub fn serve(&self, setting: &WaisFaultSetting) -> Result<WaisServer> {
        WaisServer::start((self.site)(setting))
    }

    /// The URL on a server with this fault.
    #[must_use]
    pub fn url(&self, server: &WaisServer) -> String {
        server.url(self.path)
    }

    /// A fault of the retrieval of the document. With exit status 0 its content is there.
    pub(crate) const fn document(
        name: &'static str,
        expect: i32,
        site: fn(&WaisFaultSetting) -> WaisSite,
    ) -> Self {
        let result = WaisResult::Is(|setting| setting.content.clone());
        let path = "t/TEXT/%03%01a";
        Self { name, site, path, arguments: &[], expect, also: &[], result, says: &[] }
    }

    /// A fault of the retrieval of a text so short that it comes in one piece.
    pub(crate) const fn short(
        name: &'static str,
        expect: i32,
        site: fn(&WaisFaultSetting) -> WaisSite,
    ) -> Self {
        let result = WaisResult::Is(|_| crate::wais::fault_sites::SHORT.to_vec());
        Self { path: "t/TEXT/%03%01s", result, ..Self::document(name, expect, site) }
    }

    /// A fault of a search. With exit status 0 both headlines are there.
    pub(crate) const fn search(
        name: &'static str,
        expect: i32,
        site: fn(&WaisFaultSetting) -> WaisSite,
    ) -> Self {
        let result = WaisResult::Shows(&["The long document", "The short text"]);
        Self { path: "t?word", result, ..Self::document(name, expect, site) }
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

    pub(crate) const fn is(self, content: fn(&WaisFaultSetting) -> Vec<u8>) -> Self {
        Self { result: WaisResult::Is(content), ..self }
    }

    pub(crate) const fn shows(self, words: &'static [&'static str]) -> Self {
        Self { result: WaisResult::Shows(words), ..self }
    }

    pub(crate) const fn says(self, words: &'static [&'static str]) -> Self {
        Self { says: words, ..self }
    }
}

#[cfg(test)]
#[path = "faults_tests.rs"]
mod tests;
