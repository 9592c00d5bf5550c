//! FTP's second connection, beside the one that commands go over: always to or from the server that
//! was approved, wherever its replies would send us (RFC 2577 §3).

use std::net::{IpAddr, SocketAddr};

use tokio::net::{TcpListener, TcpStream};

use super::dial::{Dial, open};
use super::ports;
use crate::{Code, Deadline, Error, Phase};

impl Dial {
    /// Whether data may be fetched from this port of a server.
    pub(crate) fn takes_data_from(&self, port: u16) -> bool {
        ports::is_for_data(port) || self.allows_port(port)
    }

    /// A connection to `port` of the server at `peer`, that a connection is open to.
    ///
    /// # Errors
    /// `policy` for a port that belongs to another protocol; `connect_failed`. The caller bounds it.
    pub(crate) async fn connect_beside(&self, peer: IpAddr, port: u16) -> Result<TcpStream, Error> {
        if !self.takes_data_from(port) {
            let detail = format!("the server wants its data fetched from port {port}");
            return Err(Error::new(Code::Policy, Phase::Connect, detail));
        }
        let address = SocketAddr::new(peer, port);
        open(address, self.interface()).await.map_err(|error| {
            Error::io(
                Code::ConnectFailed,
                Phase::Connect,
                &format!("the data connection to {address}"),
                error,
            )
        })
    }
}

/// A place where one server may connect to us.
#[derive(Debug)]
pub(crate) struct Door {
    listener: TcpListener,
    peer: IpAddr,
}

impl Door {
    /// Opens one at `local`, for the server at `peer` alone.
    ///
    /// # Errors
    /// `connect_failed`.
    pub(crate) async fn open(local: IpAddr, peer: IpAddr) -> Result<Self, Error> {
        let listener = TcpListener::bind(SocketAddr::new(local, 0)).await.map_err(failed)?;
        Ok(Self { listener, peer })
    }

    /// Where it is.
    ///
    /// # Errors
    /// `connect_failed`.
    pub(crate) fn address(&self) -> Result<SocketAddr, Error> {
        self.listener.local_addr().map_err(failed)
    }

    /// Waits for the server. Whoever else comes is sent away.
    ///
    /// # Errors
    /// `timed_out`; `connect_failed`.
    pub(crate) async fn enter(self, deadline: &Deadline) -> Result<TcpStream, Error> {
        let entered = async {
            loop {
                let (stream, from) = self.listener.accept().await.map_err(failed)?;
                if from.ip().to_canonical() == self.peer.to_canonical() {
                    return Ok(stream);
                }
                tracing::debug!(%from, "not the server: sent away");
            }
        };
        deadline.bound(Phase::Connect, entered).await
    }
}

fn failed(error: std::io::Error) -> Error {
    Error::io(Code::ConnectFailed, Phase::Connect, "listening for the data connection", error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timeouts;

    #[tokio::test]
    async fn only_the_server_may_enter() {
        let here: IpAddr = "127.0.0.1".parse().expect("an address");
        let stranger: IpAddr = "127.0.0.2".parse().expect("an address");
        let connect = std::time::Duration::from_millis(200);
        let deadline = Deadline::start(Timeouts { connect, ..Timeouts::default() });
        for (peer, enters) in [(here, true), (stranger, false)] {
            let door = Door::open(here, peer).await.expect("a port is free");
            let to = door.address().expect("it has one");
            let _guest = std::net::TcpStream::connect(to).expect("it listens");
            assert_eq!(door.enter(&deadline).await.is_ok(), enters, "{peer}");
        }
    }
}
