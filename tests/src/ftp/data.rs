//! The data connections of the FTP server: how one is opened, and how it ends.

use std::io::{ErrorKind, Result};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::ServerConfig;

use crate::reserved_port::ReservedPort;
use crate::server::plain_or_tls_connection::{Ending, PlainOrTlsConnection};
use crate::server::tcp_connection::TcpConnection;

/// Maximum wait for a data connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How often a listening server checks for a connection.
const TICK: Duration = Duration::from_micros(300);

/// How the next data connection is opened.
#[derive(Debug, Default)]
pub(crate) enum DataMode {
    /// The server connects to this address of the client.
    Active(SocketAddr),
    /// Nothing listens at the announced port.
    Closed { _port: ReservedPort },
    /// No PORT or PASV has been sent.
    #[default]
    None,
    /// The server listens.
    Passive(TcpListener),
}

/// A data connection.
pub(crate) struct DataConnection(PlainOrTlsConnection);

impl DataMode {
    pub(crate) fn passive(ip: IpAddr) -> Result<(Self, SocketAddr)> {
        let listener = TcpListener::bind((ip, 0))?;
        listener.set_nonblocking(true)?;
        let addr = listener.local_addr()?;
        Ok((Self::Passive(listener), addr))
    }

    pub(crate) fn closed(ip: IpAddr) -> Result<(Self, SocketAddr)> {
        let port = ReservedPort::tcp_of(ip)?;
        let addr = port.addr();
        Ok((Self::Closed { _port: port }, addr))
    }

    /// Opens the connection. Connections from another address than that of the client are refused.
    pub(crate) fn open(self, control: &TcpConnection) -> Result<DataConnection> {
        let stream = match self {
            Self::Active(addr) => TcpStream::connect_timeout(&addr, CONNECT_TIMEOUT)?,
            Self::Passive(listener) => accept_from(&listener, control)?,
            Self::Closed { .. } | Self::None => return Err(ErrorKind::NotConnected.into()),
        };
        Ok(DataConnection(PlainOrTlsConnection::Plain(control.wrap(stream)?)))
    }
}

impl DataConnection {
    /// Starts TLS and completes the handshake. Returns `true` in the second value if the client resumed the
    /// session.
    pub(crate) fn start_tls(self, config: &Arc<ServerConfig>) -> Result<(Self, bool)> {
        let (channel, resumed) = self.0.start_tls_and_wait(config)?;
        Ok((Self(channel), resumed))
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.send(bytes)
    }

    /// Ends the data of the server. The client may still read and send; the connection is closed when this
    /// value is dropped.
    pub(crate) fn end(&mut self, ending: Ending) -> Result<()> {
        match ending {
            Ending::Stall(length) => self.0.pause(length)?,
            Ending::Reset => {
                self.0.wire().pause_before_reset()?;
                return self.0.wire().reset_on_close();
            }
            Ending::Close | Ending::Fin => {}
        }
        self.0.send_end(ending)
    }

    /// Waits until the client has closed its side.
    pub(crate) fn wait_for_client(&mut self) {
        while self.0.receive().is_ok_and(|bytes| !bytes.is_empty()) {}
    }
}

fn accept_from(listener: &TcpListener, control: &TcpConnection) -> Result<TcpStream> {
    let client = control.peer_addr()?.ip();
    let end = Instant::now() + CONNECT_TIMEOUT;
    while Instant::now() < end {
        match listener.accept() {
            Ok((stream, from)) if from.ip() == client => {
                stream.set_nonblocking(false)?;
                return Ok(stream);
            }
            Ok((stream, _)) => drop(stream.shutdown(Shutdown::Both)),
            Err(e) if e.kind() == ErrorKind::WouldBlock => control.pause(TICK)?,
            Err(e) => return Err(e),
        }
    }
    Err(ErrorKind::TimedOut.into())
}
