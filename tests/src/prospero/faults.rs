//! The rows of the Prospero fault tables (docs/spec/faults.md, section 3).

use std::io::Result;

use crate::cert::ServerCert;
use crate::fault::row::{Fault, FaultFixture, FaultResult, FaultServer, Transport};
use crate::pattern::pattern_vec;
use crate::prospero::config::ProsperoConfig;
use crate::prospero::directory_fault_list::PROSPERO_DIRECTORY_FAULTS;
use crate::prospero::fault_configs::SHORT;
use crate::prospero::fault_list::PROSPERO_FAULTS;
use crate::prospero::redirect_fault_list::PROSPERO_REDIRECT_FAULTS;
use crate::prospero::server::ProsperoServer;
use crate::prospero::text_fault_list::PROSPERO_TEXT_FAULTS;

/// A row of a Prospero fault table.
pub type ProsperoFault = Fault<ProsperoServer>;

type Play = fn(&FaultFixture) -> ProsperoConfig;

impl FaultServer for ProsperoServer {
    type Play = Play;

    /// Returns a file of 29,500 bytes. It takes 24 packets: a window of 16 and a window of 8.
    fn fixture() -> FaultFixture {
        FaultFixture { content: pattern_vec(0, 29_500), ..FaultFixture::default() }
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

impl ProsperoFault {
    /// Returns the rows of all tables.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        [PROSPERO_FAULTS, PROSPERO_TEXT_FAULTS, PROSPERO_REDIRECT_FAULTS, PROSPERO_DIRECTORY_FAULTS]
            .into_iter()
            .flatten()
    }

    /// A row about the retrieval of the file.
    pub(crate) const fn file(name: &'static str, exit: i32, play: Play) -> Self {
        Self::row(name, exit, play, "/srv/file")
    }

    /// A row about the retrieval of a text that is sent in one packet.
    pub(crate) const fn short(name: &'static str, exit: i32, play: Play) -> Self {
        let stored = FaultResult::Exactly(|_| SHORT.to_vec());
        Self { result: stored, ..Self::row(name, exit, play, "/srv/short") }
    }

    /// A row about a directory. After exit status 0 the output contains the names of both files.
    pub(crate) const fn directory(name: &'static str, exit: i32, play: Play) -> Self {
        Self::row(name, exit, play, "/srv/dir").shows(&["the long file", "the short text"])
    }
}

#[cfg(test)]
#[path = "faults_tests.rs"]
mod tests;
