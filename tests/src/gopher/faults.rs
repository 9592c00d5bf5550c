//! The gopher column of the fault matrix (SECURITY.md, section 3): what a fault is and how a server plays it.
//!
//! The faults themselves are data, in `fault_list.rs` and `plus_fault_list.rs`. Run each with
//! [`Before::Absent`](crate::Before) and [`Before::Old`](crate::Before), without retries, over each of its
//! transports. Gopher knows no resume: after a failure nothing is left over.

use std::io::Result;
use std::time::Duration;

use crate::cert::ServerCert;
use crate::gopher::server::GopherServer;
use crate::gopher::site::GopherSite;
use crate::http::faults::Transport;
use crate::pattern::pattern_vec;

/// What a server under TLS shows, measured against what the client trusts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum GopherFaultCert {
    /// It ended in 2001.
    Expired,
    /// Nothing wrong.
    Good,
    /// Signed by its owner.
    SelfSigned,
    /// For another host.
    WrongName,
}

/// What the name holds after exit status 0.
#[derive(Clone, Copy, Debug)]
pub enum GopherResult {
    /// Exactly this.
    Is(fn(&GopherFaultSetting) -> Vec<u8>),
    /// All of these, and nothing that a terminal would obey.
    Shows(&'static [&'static str]),
}

/// What speaks for it that a result is whole.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum GopherProof {
    /// Nothing but a clean end, where a mark is missing: there is a note, and `--require-complete` refuses it.
    Noted,
    /// Enough, but there is a note.
    Told,
    /// Enough: `--require-complete` takes it.
    Whole,
    /// Nothing but the end, as is the way of such items: `--require-complete` refuses it.
    Unproven,
}

/// One fault, and what the client must make of it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct GopherFault {
    /// Lower case with underscores; unique.
    pub name: &'static str,
    /// In clear, under TLS, or both.
    pub transports: &'static [Transport],
    /// What the server shows under TLS.
    pub cert: GopherFaultCert,
    /// The server.
    pub site: fn(&GopherFaultSetting) -> GopherSite,
    /// What stands behind the slash of the URL.
    pub path: &'static str,
    /// The options that the client needs.
    pub arguments: &'static [&'static str],
    /// The exit status of CLI.md. With any other than 0 the name is untouched.
    pub expect: i32,
    /// Exit statuses that would be right as well.
    pub also: &'static [i32],
    /// What the name holds with exit status 0.
    pub result: GopherResult,
    /// Whether that is whole.
    pub proof: GopherProof,
    /// What standard error says.
    pub says: &'static [&'static str],
}

/// What all faults of a test run share.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GopherFaultSetting {
    /// The content of an honest binary item; more than 514 octets.
    pub content: Vec<u8>,
    /// The content of an honest text: whole lines that end in CR LF and do not begin with a dot; more than
    /// 514 octets.
    pub text: Vec<u8>,
    /// How long a stalled server says nothing: longer than the client's idle timeout.
    pub stall: Duration,
}

impl Default for GopherFaultSetting {
    /// 2000 octets, a hundred lines and a stall of 10 seconds.
    fn default() -> Self {
        let text = (0..100).map(|line| format!("{line:02}: a line.\r\n")).collect::<String>();
        Self { content: pattern_vec(0, 2000), text: text.into_bytes(), stall: Duration::from_secs(10) }
    }
}

impl GopherFault {
    /// Whether this exit status is right.
    #[must_use]
    pub fn accepts(&self, exit: i32) -> bool {
        exit == self.expect || self.also.contains(&exit)
    }

    /// The URL of the item on a server with this fault.
    #[must_use]
    pub fn url(&self, server: &GopherServer) -> String {
        server.url(self.path)
    }

    /// Starts a server with this fault. Also gives the CA certificate that the client trusts, in PEM; `good`
    /// is what the server shows if nothing is wrong with it.
    pub fn serve(
        &self,
        transport: Transport,
        setting: &GopherFaultSetting,
        good: &ServerCert,
    ) -> Result<(GopherServer, String)> {
        let site = (self.site)(setting);
        if transport == Transport::Plain {
            return Ok((GopherServer::start(site)?, good.ca_pem().to_owned()));
        }
        let shown = match self.cert {
            GopherFaultCert::Expired => ServerCert::expired()?,
            GopherFaultCert::Good => good.clone(),
            GopherFaultCert::SelfSigned => ServerCert::self_signed()?,
            GopherFaultCert::WrongName => ServerCert::wrong_name()?,
        };
        // Who trusts a self-signed certificate finds nothing wrong with it.
        let trusted = if self.cert == GopherFaultCert::SelfSigned { good } else { &shown };
        Ok((GopherServer::start_tls(site, &shown)?, trusted.ca_pem().to_owned()))
    }

    /// A fault of a binary item, over both transports. With exit status 0 its content is there, unproven.
    pub(crate) const fn new(
        name: &'static str,
        expect: i32,
        site: fn(&GopherFaultSetting) -> GopherSite,
    ) -> Self {
        Self {
            name,
            transports: &[Transport::Plain, Transport::Tls],
            cert: GopherFaultCert::Good,
            site,
            path: "9/a",
            arguments: &[],
            expect,
            also: &[],
            result: GopherResult::Is(|setting| setting.content.clone()),
            proof: GopherProof::Unproven,
            says: &[],
        }
    }

    /// A fault of a text. With exit status 0 its content is there, whole.
    pub(crate) const fn text(
        name: &'static str,
        expect: i32,
        site: fn(&GopherFaultSetting) -> GopherSite,
    ) -> Self {
        let result = GopherResult::Is(|setting| setting.text.clone());
        Self { path: "0/t", result, proof: GopherProof::Whole, ..Self::new(name, expect, site) }
    }

    /// A fault of a menu, in clear. With exit status 0 this is in it, whole.
    pub(crate) const fn menu(
        name: &'static str,
        expect: i32,
        site: fn(&GopherFaultSetting) -> GopherSite,
        shows: &'static [&'static str],
    ) -> Self {
        let result = GopherResult::Shows(shows);
        let transports = &[Transport::Plain];
        Self { path: "1/m", result, proof: GopherProof::Whole, transports, ..Self::new(name, expect, site) }
    }

    /// A fault of a binary item by Gopher+, in clear. With exit status 0 its content is there, whole.
    pub(crate) const fn plus(
        name: &'static str,
        expect: i32,
        site: fn(&GopherFaultSetting) -> GopherSite,
    ) -> Self {
        let transports = &[Transport::Plain];
        Self { path: "9/a%09%09+", proof: GopherProof::Whole, transports, ..Self::new(name, expect, site) }
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

    pub(crate) const fn is(self, content: fn(&GopherFaultSetting) -> Vec<u8>) -> Self {
        Self { result: GopherResult::Is(content), ..self }
    }

    pub(crate) const fn shows(self, words: &'static [&'static str]) -> Self {
        Self { result: GopherResult::Shows(words), ..self }
    }

    pub(crate) const fn told(self) -> Self {
        Self { proof: GopherProof::Told, ..self }
    }

    pub(crate) const fn noted(self) -> Self {
        Self { proof: GopherProof::Noted, ..self }
    }

    pub(crate) const fn unproven(self) -> Self {
        Self { proof: GopherProof::Unproven, ..self }
    }

    pub(crate) const fn says(self, words: &'static [&'static str]) -> Self {
        Self { says: words, ..self }
    }

    pub(crate) const fn tls(self) -> Self {
        Self { transports: &[Transport::Tls], ..self }
    }

    pub(crate) const fn plain(self) -> Self {
        Self { transports: &[Transport::Plain], ..self }
    }

    pub(crate) const fn both(self) -> Self {
        Self { transports: &[Transport::Plain, Transport::Tls], ..self }
    }

    pub(crate) const fn showing(self, cert: GopherFaultCert) -> Self {
        Self { cert, ..self.tls() }
    }
}

#[cfg(test)]
#[path = "faults_tests.rs"]
mod tests;
