//! The ftp column of the fault matrix (SECURITY.md, section 3): what a fault is and how a server plays it.
//!
//! The faults themselves are data, in `fault_list.rs`. Run each with [`Before::Absent`](crate::Before)
//! and [`Before::Old`](crate::Before), without retries: the server has the fault until it is mended.

use std::io::Result;
use std::time::Duration;

use crate::cert::ServerCert;
use crate::ftp::server::FtpServer;
use crate::ftp::site::FtpSite;
use crate::pattern::pattern_vec;

/// How the control connection is protected.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FtpTransport {
    /// By AUTH TLS, which the client must insist on.
    Explicit,
    /// ftps.
    Implicit,
    /// ftp, not at all.
    Plain,
}

/// What the server shows, measured against what the client trusts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FtpFaultCert {
    /// Nothing wrong, but on data connections a certificate that its owner signed.
    DataSelfSigned,
    /// It ended in 2001.
    Expired,
    /// Nothing wrong.
    Good,
    /// It begins in the year 4000.
    NotYetValid,
    /// Signed by its owner.
    SelfSigned,
    /// Nothing wrong, but TLS 1.2 only.
    Tls12,
    /// For another host.
    WrongName,
}

/// One fault, and what the client must make of it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FtpFault {
    /// Lower case with underscores; unique.
    pub name: &'static str,
    /// Plain or one of the two kinds of TLS.
    pub transport: FtpTransport,
    /// What the server shows under TLS.
    pub cert: FtpFaultCert,
    /// The server.
    pub site: fn(&FtpFaultSetting) -> FtpSite,
    /// The path of the URL, without its first slash.
    pub path: &'static str,
    /// The exit status of CLI.md. With 0 the name holds the whole content; with any other it is untouched.
    pub expect: i32,
    /// Exit statuses that would be right as well.
    pub also: &'static [i32],
    /// Whether a true prefix of the content, of at least one octet, stays for a resume. If not, nothing is
    /// left over (an empty partial file aside).
    pub keeps_part: bool,
}

/// What all faults of a test run share.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FtpFaultSetting {
    /// The content that an honest server would give; more than 514 octets.
    pub content: Vec<u8>,
    /// How long a stalled server says nothing: longer than the client's idle timeout.
    pub stall: Duration,
}

impl Default for FtpFaultSetting {
    /// 2000 octets and a stall of 10 seconds.
    fn default() -> Self {
        Self { content: pattern_vec(0, 2000), stall: Duration::from_secs(10) }
    }
}

impl FtpFault {
    /// Whether this exit status is right.
    #[must_use]
    pub fn accepts(&self, exit: i32) -> bool {
        exit == self.expect || self.also.contains(&exit)
    }

    /// The options that the client needs for this fault, beside those for the certificate.
    #[must_use]
    pub fn arguments(&self) -> &'static [&'static str] {
        match self.transport {
            FtpTransport::Explicit => &["--ssl-reqd"],
            FtpTransport::Implicit | FtpTransport::Plain => &[],
        }
    }

    /// The URL of the file on a server with this fault.
    #[must_use]
    pub fn url(&self, server: &FtpServer) -> String {
        server.url(self.path)
    }

    /// Starts a server with this fault. Also gives the CA certificate that the client trusts, in PEM; `cert`
    /// is what the server shows if nothing is wrong with it.
    pub fn serve(&self, setting: &FtpFaultSetting, cert: &ServerCert) -> Result<(FtpServer, String)> {
        let (shown, trusted) = self.certificates(cert)?;
        let mut site = (self.site)(setting);
        if self.cert == FtpFaultCert::DataSelfSigned {
            site = site.data_cert(&ServerCert::self_signed()?);
        }
        let server = match self.transport {
            FtpTransport::Explicit => FtpServer::start_tls(site, &shown),
            FtpTransport::Implicit => FtpServer::start_implicit(site, &shown),
            FtpTransport::Plain => FtpServer::start(site),
        };
        Ok((server?, trusted))
    }

    /// What the server shows and what the client trusts.
    fn certificates(&self, good: &ServerCert) -> Result<(ServerCert, String)> {
        let shown = match self.cert {
            FtpFaultCert::Good | FtpFaultCert::DataSelfSigned => good.clone(),
            FtpFaultCert::Expired => ServerCert::expired()?,
            FtpFaultCert::NotYetValid => ServerCert::not_yet_valid()?,
            FtpFaultCert::SelfSigned => ServerCert::self_signed()?,
            FtpFaultCert::Tls12 => good.clone().only_tls12(),
            FtpFaultCert::WrongName => ServerCert::wrong_name()?,
        };
        // Who trusts a self-signed certificate finds nothing wrong with it.
        let trusted = if self.cert == FtpFaultCert::SelfSigned { good } else { &shown };
        let trusted = trusted.ca_pem().to_owned();
        Ok((shown, trusted))
    }

    /// A fault in clear after which nothing is left over.
    pub(crate) const fn new(name: &'static str, expect: i32, site: fn(&FtpFaultSetting) -> FtpSite) -> Self {
        Self {
            name,
            transport: FtpTransport::Plain,
            cert: FtpFaultCert::Good,
            site,
            path: "pub/a.bin",
            expect,
            also: &[],
            keeps_part: false,
        }
    }

    pub(crate) const fn or(self, also: &'static [i32]) -> Self {
        Self { also, ..self }
    }

    pub(crate) const fn keeping_part(self) -> Self {
        Self { keeps_part: true, ..self }
    }

    pub(crate) const fn at(self, path: &'static str) -> Self {
        Self { path, ..self }
    }

    pub(crate) const fn explicit(self) -> Self {
        Self { transport: FtpTransport::Explicit, ..self }
    }

    pub(crate) const fn implicit(self) -> Self {
        Self { transport: FtpTransport::Implicit, ..self }
    }

    pub(crate) const fn showing(self, cert: FtpFaultCert) -> Self {
        Self { cert, ..self }
    }
}

#[cfg(test)]
#[path = "faults_tests.rs"]
mod tests;
