//! The rows of the FTP fault table (docs/spec/faults.md, section 3).

use std::io::Result;

use crate::cert::ServerCert;
use crate::fault::row::{Fault, FaultCert, FaultFixture, FaultServer, Transport};
use crate::ftp::config::FtpConfig;
use crate::ftp::server::FtpServer;

/// A row of the FTP fault table.
pub type FtpFault = Fault<FtpServer>;

impl FaultServer for FtpServer {
    type Play = fn(&FaultFixture) -> FtpConfig;

    fn start_fault(
        fault: &Fault<Self>,
        transport: Transport,
        fixture: &FaultFixture,
        cert: &ServerCert,
    ) -> Result<Self> {
        let mut config = (fault.play)(fixture);
        if fault.cert == FaultCert::DataSelfSigned {
            config = config.data_cert(&ServerCert::self_signed()?);
        }
        match transport {
            Transport::Plain => Self::start(config),
            Transport::StartTls | Transport::StartTlsOffered => Self::start_tls(config, cert),
            Transport::Tls => Self::start_implicit(config, cert),
        }
    }

    fn fault_url(&self, path: &str) -> String {
        self.url(path)
    }

    fn client_arguments(&self, transport: Transport, _path: &str) -> Vec<String> {
        let requires_tls = transport == Transport::StartTls;
        requires_tls.then(|| "--ssl-reqd".to_owned()).into_iter().collect()
    }

    fn disable_rules(&self) {
        self.disable_rules();
    }
}

impl FtpFault {
    /// A row in plaintext.
    pub(crate) const fn new(name: &'static str, exit: i32, play: fn(&FaultFixture) -> FtpConfig) -> Self {
        Self::row(name, exit, play, "pub/a.bin")
    }
}

#[cfg(test)]
#[path = "faults_tests.rs"]
mod tests;
