//! A [`Wire`], plain or under TLS, and the four ways to end it.

use std::io::{Error, Read, Result, Write};
use std::sync::Arc;
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::wire::Wire;

/// How a connection ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum End {
    /// A clean end: under TLS close_notify, then FIN.
    Close,
    /// FIN alone. Under TLS this is what an attacker can forge.
    Fin,
    /// RST.
    Reset,
}

/// What the servers read from and write to.
pub(crate) enum Channel {
    Plain(Wire),
    Tls(Box<StreamOwned<ServerConnection, Wire>>),
}

impl Channel {
    /// Puts TLS on a plain channel. The handshake itself happens with the first octets.
    pub(crate) fn secured(self, config: &Arc<ServerConfig>) -> Result<Self> {
        match self {
            Self::Plain(wire) => {
                let session = ServerConnection::new(Arc::clone(config)).map_err(Error::other)?;
                Ok(Self::Tls(Box::new(StreamOwned::new(session, wire))))
            }
            Self::Tls(_) => Err(Error::other("TLS is on already")),
        }
    }

    /// The next octets of the client; none at its end.
    pub(crate) fn receive(&mut self) -> Result<Vec<u8>> {
        let mut buffer = [0; 16 * 1024];
        let n = match self {
            Self::Plain(wire) => wire.read(&mut buffer)?,
            Self::Tls(stream) => stream.read(&mut buffer)?,
        };
        Ok(buffer[..n].to_vec())
    }

    pub(crate) fn send(&mut self, octets: &[u8]) -> Result<()> {
        match self {
            Self::Plain(wire) => wire.write_all(octets),
            Self::Tls(stream) => stream.write_all(octets).and_then(|()| stream.flush()),
        }
    }

    /// Sends in pieces that the client will most likely read one by one.
    pub(crate) fn send_pieces(&mut self, octets: &[u8], piece: usize, pause: Duration) -> Result<()> {
        for part in octets.chunks(piece.max(1)) {
            self.send(part)?;
            self.pause(pause)?;
        }
        Ok(())
    }

    pub(crate) fn pause(&self, length: Duration) -> Result<()> {
        self.wire().pause(length)
    }

    /// Ends the connection and returns what the client still said in clear.
    pub(crate) fn end(mut self, how: End) -> Vec<u8> {
        if how == End::Reset {
            let _ = self.into_wire().reset();
            return Vec::new();
        }
        if let (Self::Tls(stream), End::Close) = (&mut self, how) {
            stream.conn.send_close_notify();
            let _ = stream.flush();
        }
        let secret = matches!(self, Self::Tls(_));
        let mut wire = self.into_wire();
        let late = wire.say_end().map(|()| wire.linger()).unwrap_or_default();
        if secret { Vec::new() } else { late }
    }

    fn wire(&self) -> &Wire {
        match self {
            Self::Plain(wire) => wire,
            Self::Tls(stream) => &stream.sock,
        }
    }

    /// The connection below.
    pub(crate) fn into_wire(self) -> Wire {
        match self {
            Self::Plain(wire) => wire,
            Self::Tls(stream) => stream.sock,
        }
    }
}
