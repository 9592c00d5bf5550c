//! FTP data connections. They are opened only to or from the address of the control connection, and through the proxy
//! of the control connection. Addresses in the
//! server's replies are ignored (RFC 2577 §3).

use std::net::{IpAddr, SocketAddr};

use tokio::net::TcpListener;

use super::connector::Connector;
use super::connector::connect_error::{lacks_descriptors, no_descriptors_error};
use super::open_tcp::open_tcp;
use super::ports;
use super::server_stream::{RemoteEnd, ServerStream};
use crate::{Code, Deadline, Error, Phase};

impl Connector {
    /// Returns `true` if a data connection may be opened to this port.
    pub(crate) fn allows_data_port(&self, port: u16) -> bool {
        ports::is_data_port(port) || self.allows_port(port)
    }

    /// Opens a data connection to `port` at the server of the control connection, through the same proxy. The caller
    /// sets a timeout.
    ///
    /// # Errors
    /// `Code::Policy` if the port belongs to another protocol; `Code::ConnectFailed`; the errors of the proxy.
    pub(crate) async fn connect_data(
        &self,
        remote: &RemoteEnd,
        port: u16,
        deadline: &Deadline,
    ) -> Result<ServerStream, Error> {
        match remote {
            RemoteEnd::Address(peer) => self.connect_data_directly(*peer, port).await,
            RemoteEnd::BehindProxy(host) => {
                self.check_data_port(port)?;
                Box::pin(self.connect_to_same_host(host, port, deadline)).await
            }
        }
    }

    /// Opens a data connection to `port` at `peer`, the server's end of the control connection. The caller sets a
    /// timeout.
    ///
    /// # Errors
    /// `Code::Policy` if the port belongs to another protocol or to the program itself; `Code::ConnectFailed`.
    pub(crate) async fn connect_data_directly(
        &self,
        mut peer: SocketAddr,
        port: u16,
    ) -> Result<ServerStream, Error> {
        self.check_data_port(port)?;
        // Only the port is replaced: a link-local IPv6 address keeps its zone.
        peer.set_port(port);
        self.check_endpoint(peer)?;
        let stream = open_tcp(peer, self.interface()).await.map_err(|error| {
            let what = format!("the data connection to {peer}");
            match lacks_descriptors(&error) {
                true => no_descriptors_error(Phase::Connect, &what, error),
                false => Error::io(Code::ConnectFailed, Phase::Connect, &what, error),
            }
        })?;
        Ok(ServerStream::tcp(stream, RemoteEnd::Address(peer)))
    }

    fn check_data_port(&self, port: u16) -> Result<(), Error> {
        if self.allows_data_port(port) {
            return Ok(());
        }
        let detail = format!(
            "the server requests a data connection to port {port}, which belongs to another protocol"
        );
        Err(Error::new(Code::Policy, Phase::Connect, detail))
    }
}

/// A listening socket for one active data connection (PORT, EPRT).
#[derive(Debug)]
pub(crate) struct ActiveListener {
    listener: TcpListener,
    peer: IpAddr,
}

impl ActiveListener {
    /// Listens on a free port of the address of `local`, for connections from the address of `peer` only.
    ///
    /// # Errors
    /// `Code::ConnectFailed`.
    pub(crate) async fn bind(mut local: SocketAddr, peer: IpAddr) -> Result<Self, Error> {
        local.set_port(0);
        let listener = TcpListener::bind(local).await.map_err(listen_error)?;
        Ok(Self { listener, peer })
    }

    /// Returns the address that the server should connect to (PORT, EPRT).
    ///
    /// # Errors
    /// `Code::ConnectFailed`.
    pub(crate) fn address(&self) -> Result<SocketAddr, Error> {
        self.listener.local_addr().map_err(listen_error)
    }

    /// Waits for the connection of the server. Connections from other addresses are closed.
    ///
    /// # Errors
    /// `Code::TimedOut`; `Code::ConnectFailed`.
    pub(crate) async fn accept(self, deadline: &Deadline) -> Result<ServerStream, Error> {
        let accepted = async {
            loop {
                let (stream, from) = self.listener.accept().await.map_err(listen_error)?;
                if from.ip().to_canonical() == self.peer.to_canonical() {
                    return Ok(ServerStream::tcp(stream, RemoteEnd::Address(from)));
                }
                tracing::debug!(%from, "closed a connection from another address than that of the server");
            }
        };
        deadline.bound(Phase::Connect, accepted).await
    }
}

fn listen_error(error: std::io::Error) -> Error {
    Error::io(Code::ConnectFailed, Phase::Connect, "listening for the data connection", error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timeouts;

    #[tokio::test]
    async fn only_connections_of_the_server_are_accepted() {
        let here: IpAddr = "127.0.0.1".parse().expect("an address");
        let other: IpAddr = "127.0.0.2".parse().expect("an address");
        let connect = std::time::Duration::from_millis(200);
        let deadline = Deadline::start(Timeouts { connect, ..Timeouts::default() });
        for (peer, is_accepted) in [(here, true), (other, false)] {
            let listener =
                ActiveListener::bind(SocketAddr::new(here, 0), peer).await.expect("a port is free");
            let address = listener.address().expect("a bound socket has an address");
            let _connection = std::net::TcpStream::connect(address).expect("it listens");
            assert_eq!(listener.accept(&deadline).await.is_ok(), is_accepted, "{peer}");
        }
    }
}
