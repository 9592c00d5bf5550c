//! The rows of the Gopher fault tables (docs/spec/faults.md, section 3). Gopher cannot resume: after a failure
//! nothing is left over.

use std::io::Result;

use crate::cert::ServerCert;
use crate::fault::row::{Fault, FaultFixture, FaultResult, FaultServer, Transport};
use crate::gopher::config::GopherConfig;
use crate::gopher::fault_list::GOPHER_FAULTS;
use crate::gopher::plus_fault_list::GOPHER_PLUS_FAULTS;
use crate::gopher::server::GopherServer;

/// A row of a Gopher fault table.
pub type GopherFault = Fault<GopherServer>;

type Play = fn(&FaultFixture) -> GopherConfig;

impl FaultServer for GopherServer {
    type Play = Play;

    fn start_fault(
        fault: &Fault<Self>,
        transport: Transport,
        fixture: &FaultFixture,
        cert: &ServerCert,
    ) -> Result<Self> {
        let config = (fault.play)(fixture);
        if transport == Transport::Plain { Self::start(config) } else { Self::start_tls(config, cert) }
    }

    fn fault_url(&self, path: &str) -> String {
        self.url(path)
    }

    fn disable_rules(&self) {
        self.disable_rules();
    }
}

impl GopherFault {
    /// Returns the rows of both tables.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        GOPHER_FAULTS.iter().chain(GOPHER_PLUS_FAULTS)
    }

    /// A row about a binary item, over both transports. After exit status 0 its content is stored, and
    /// assumed to be complete.
    pub(crate) const fn new(name: &'static str, exit: i32, play: Play) -> Self {
        Self::row(name, exit, play, "9/a").plain_and_tls().assumed()
    }

    /// A row about a text, over both transports. After exit status 0 its content is stored and proven to be
    /// complete.
    pub(crate) const fn text(name: &'static str, exit: i32, play: Play) -> Self {
        let stored = FaultResult::Exactly(|fixture| fixture.text.clone());
        Self { result: stored, ..Self::row(name, exit, play, "0/t").plain_and_tls().proven() }
    }

    /// A row about a menu, in plaintext. After exit status 0 the output contains these words.
    pub(crate) const fn menu(
        name: &'static str,
        exit: i32,
        play: Play,
        shows: &'static [&'static str],
    ) -> Self {
        Self::row(name, exit, play, "1/m").shows(shows).proven()
    }

    /// A row about a binary item by Gopher+, in plaintext. After exit status 0 its content is stored and
    /// proven to be complete.
    pub(crate) const fn plus(name: &'static str, exit: i32, play: Play) -> Self {
        Self::row(name, exit, play, "9/a%09%09+").proven()
    }
}

#[cfg(test)]
#[path = "faults_tests.rs"]
mod tests;
