//! Connections to a Unix socket of the caller, in place of a TCP connection to the server of the URL.

use fetch_url_core::Host;
use tokio::net::UnixStream;
use tokio_rustls::client::TlsStream;

use super::Connector;
use super::policy_checks::AddressRules;
use crate::time::Instant;
use crate::{Code, Deadline, Error, Phase};

impl Connector {
    /// Connects to the Unix socket of the caller, or returns `None` if there is none.
    ///
    /// # Errors
    /// `Code::Policy` if only public addresses are allowed; `Code::ConnectFailed`; `Code::TimedOut`.
    pub(crate) async fn connect_unix(&self, deadline: &Deadline) -> Result<Option<UnixStream>, Error> {
        let Some(path) = &self.network.policy.routes.unix_socket else { return Ok(None) };
        let what = path.display().to_string();
        if self.address_rules() == AddressRules::PublicOnly {
            let detail = format!("{what} is a socket of this machine, not a public address");
            return Err(Error::new(Code::Policy, Phase::Connect, detail));
        }
        let connected = async {
            let stream = UnixStream::connect(path).await;
            stream.map_err(|error| Error::io(Code::ConnectFailed, Phase::Connect, &what, error))
        };
        let stream = deadline.connecting().bound(Phase::Connect, connected).await?;
        self.connection_info().update(|record| {
            record.connected = Some(Instant::now());
            record.opened += 1;
        });
        Ok(Some(stream))
    }

    /// Runs the TLS handshake with `host` over a Unix socket. `alpn` lists the protocol names to offer (RFC 7301).
    ///
    /// # Errors
    /// `Code::TlsFailed`; `Code::TimedOut`.
    pub(crate) async fn tls_over_unix(
        &self,
        stream: UnixStream,
        host: &Host<'_>,
        alpn: &[&[u8]],
        deadline: &Deadline,
    ) -> Result<TlsStream<UnixStream>, Error> {
        let config = self.tls_config_with_alpn(alpn)?;
        let stream = self.handshake(stream, host, config, &deadline.connecting()).await?;
        self.connection_info().update(|record| record.tls_done = Some(Instant::now()));
        Ok(stream)
    }
}
