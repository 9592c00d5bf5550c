//! The rows of the WAIS fault tables (docs/spec/faults.md, section 3).

use std::io::Result;

use crate::cert::ServerCert;
use crate::fault::row::{Fault, FaultFixture, FaultResult, FaultServer, Transport};
use crate::pattern::pattern_vec;
use crate::wais::config::WaisConfig;
use crate::wais::fault_configs::SHORT;
use crate::wais::fault_list::WAIS_FAULTS;
use crate::wais::search_fault_list::WAIS_SEARCH_FAULTS;
use crate::wais::server::WaisServer;

/// A row of a WAIS fault table.
pub type WaisFault = Fault<WaisServer>;

type Play = fn(&FaultFixture) -> WaisConfig;

impl FaultServer for WaisServer {
    type Play = Play;

    /// Returns a document of 25,000 bytes, which is retrieved in three pieces of at most 10,000 bytes.
    fn fixture() -> FaultFixture {
        FaultFixture { content: pattern_vec(0, 25_000), ..FaultFixture::default() }
    }

    fn start_fault(
        fault: &Fault<Self>,
        _transport: Transport,
        fixture: &FaultFixture,
        _cert: &ServerCert,
    ) -> Result<Self> {
        Self::start((fault.play)(fixture))
    }

    fn fault_url(&self, path: &str) -> String {
        self.url(path)
    }

    fn disable_rules(&self) {
        self.disable_rules();
    }
}

impl WaisFault {
    /// Returns the rows of both tables.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        WAIS_FAULTS.iter().chain(WAIS_SEARCH_FAULTS)
    }

    /// A row about the retrieval of the document.
    pub(crate) const fn document(name: &'static str, exit: i32, play: Play) -> Self {
        Self::row(name, exit, play, "t/TEXT/%03%01a")
    }

    /// A row about the retrieval of a text that is sent in one piece.
    pub(crate) const fn short(name: &'static str, exit: i32, play: Play) -> Self {
        let stored = FaultResult::Exactly(|_| SHORT.to_vec());
        Self { result: stored, ..Self::row(name, exit, play, "t/TEXT/%03%01s") }
    }

    /// A row about a search. After exit status 0 the output contains both headlines.
    pub(crate) const fn search(name: &'static str, exit: i32, play: Play) -> Self {
        Self::row(name, exit, play, "t?word").shows(&["The long document", "The short text"])
    }
}

#[cfg(test)]
#[path = "faults_tests.rs"]
mod tests;
