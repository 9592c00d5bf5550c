//! A [`TcpConnection`] in plaintext or under TLS, and the ways to end it.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::sync::Arc;
use std::time::Duration;

use rustls::{HandshakeKind, ServerConfig, ServerConnection, StreamOwned};

use crate::server::tcp_connection::TcpConnection;

/// How a server ends a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ending {
    /// A clean end: under TLS close_notify, then FIN.
    Close,
    /// FIN alone. Under TLS the client sees an end without close_notify, which an attacker can forge.
    Fin,
    /// RST.
    Reset,
    /// Sends nothing for this time, then ends cleanly.
    Stall(Duration),
}

/// The connection that a server reads from and writes to.
pub(crate) enum PlainOrTlsConnection {
    Plain(TcpConnection),
    Tls(Box<StreamOwned<ServerConnection, TcpConnection>>),
}

impl PlainOrTlsConnection {
    /// Starts TLS on a plaintext channel. The handshake happens with the first read or write.
    pub(crate) fn start_tls(self, config: &Arc<ServerConfig>) -> Result<Self> {
        match self {
            Self::Plain(wire) => {
                let session = ServerConnection::new(Arc::clone(config)).map_err(Error::other)?;
                Ok(Self::Tls(Box::new(StreamOwned::new(session, wire))))
            }
            Self::Tls(_) => Err(Error::other("TLS has already started")),
        }
    }

    /// Starts TLS and completes the handshake. Returns `true` in the second value if the client resumed a
    /// session.
    pub(crate) fn start_tls_and_wait(self, config: &Arc<ServerConfig>) -> Result<(Self, bool)> {
        let mut channel = self.start_tls(config)?;
        let Self::Tls(stream) = &mut channel else { return Err(ErrorKind::Unsupported.into()) };
        while stream.conn.is_handshaking() {
            if stream.conn.complete_io(&mut stream.sock)? == (0, 0) {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        let resumed = stream.conn.handshake_kind() == Some(HandshakeKind::Resumed);
        Ok((channel, resumed))
    }

    pub(crate) fn is_tls(&self) -> bool {
        matches!(self, Self::Tls(_))
    }

    /// Returns the next bytes of the client, or none after its end. A TLS client that closes without
    /// close_notify has ended too.
    pub(crate) fn receive(&mut self) -> Result<Vec<u8>> {
        let mut buffer = [0; 16 * 1024];
        let read = match self {
            Self::Plain(wire) => wire.read(&mut buffer),
            Self::Tls(stream) => stream.read(&mut buffer),
        };
        match read {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(Vec::new()),
            read => Ok(buffer[..read?].to_vec()),
        }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Plain(wire) => wire.write_all(bytes),
            Self::Tls(stream) => stream.write_all(bytes).and_then(|()| stream.flush()),
        }
    }

    /// Sends pieces of `size` bytes with a pause after each, so that the client most likely reads them one
    /// by one.
    pub(crate) fn send_pieces(&mut self, bytes: &[u8], size: usize, pause: Duration) -> Result<()> {
        for piece in bytes.chunks(size.max(1)) {
            self.send(piece)?;
            self.pause(pause)?;
        }
        Ok(())
    }

    /// Sends the bytes, in pieces if `drip` gives their size and the pause after each.
    pub(crate) fn send_dripped(&mut self, bytes: &[u8], drip: Option<(usize, Duration)>) -> Result<()> {
        match drip {
            Some((size, pause)) => self.send_pieces(bytes, size, pause),
            None if bytes.is_empty() => Ok(()),
            None => self.send(bytes),
        }
    }

    pub(crate) fn pause(&self, length: Duration) -> Result<()> {
        if length.is_zero() { Ok(()) } else { self.wire().pause(length) }
    }

    /// Sends close_notify unless the ending leaves it out, then FIN. The client may still send.
    pub(crate) fn send_end(&mut self, ending: Ending) -> Result<()> {
        if let (Self::Tls(stream), true) = (&mut *self, ending != Ending::Fin) {
            stream.conn.send_close_notify();
            stream.flush()?;
        }
        self.wire().send_fin()
    }

    /// Ends the connection and returns the remaining plaintext bytes of the client.
    pub(crate) fn end(mut self, ending: Ending) -> Vec<u8> {
        let ending = match ending {
            Ending::Stall(length) => self.pause(length).map_or(Ending::Fin, |()| Ending::Close),
            other => other,
        };
        if ending == Ending::Reset {
            let _ = self.into_wire().reset();
            return Vec::new();
        }
        let is_ended = self.send_end(ending).or_else(|_| self.wire().send_fin()).is_ok();
        let is_tls = self.is_tls();
        let late = if is_ended { self.into_wire().drain() } else { Vec::new() };
        if is_tls { Vec::new() } else { late }
    }

    /// The TCP connection below TLS.
    pub(crate) fn wire(&self) -> &TcpConnection {
        match self {
            Self::Plain(wire) => wire,
            Self::Tls(stream) => &stream.sock,
        }
    }

    pub(crate) fn into_wire(self) -> TcpConnection {
        match self {
            Self::Plain(wire) => wire,
            Self::Tls(stream) => stream.sock,
        }
    }
}
