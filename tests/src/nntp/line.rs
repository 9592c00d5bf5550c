//! The connection of a news server: in clear or under TLS, with compression or without.

use std::io::{ErrorKind, Result};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rustls::ServerConfig;

use crate::channel::{Channel, End};
use crate::ftp::data::{IDLE, reset_on_close};
use crate::ftp::rule::Ending;
use crate::nntp::deflate::Deflate;
use crate::wire::Wire;

/// Time for the client to take what was sent before a reset.
const BEFORE_RESET: Duration = Duration::from_millis(15);
/// How often a server that waits for more looks.
const TICK: Duration = Duration::from_millis(2);

pub(crate) struct Line {
    /// Absent only while TLS begins.
    channel: Option<Channel>,
    socket: TcpStream,
    deflate: Option<Deflate>,
}

impl Line {
    pub(crate) fn new(stream: TcpStream, stop: &Arc<AtomicBool>) -> Result<Self> {
        let socket = stream.try_clone()?;
        let wire = Wire::new(stream, Arc::clone(stop), IDLE)?;
        Ok(Self { channel: Some(Channel::Plain(wire)), socket, deflate: None })
    }

    /// The next octets of the client; none at its end.
    pub(crate) fn receive(&mut self) -> Result<Vec<u8>> {
        loop {
            let octets = match self.channel()?.receive() {
                // A client that closes without close_notify has closed as well.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => Vec::new(),
                other => other?,
            };
            let Some(deflate) = &mut self.deflate else { return Ok(octets) };
            if octets.is_empty() {
                return Ok(octets);
            }
            let said = deflate.expanded(&octets)?;
            if !said.is_empty() {
                return Ok(said);
            }
        }
    }

    /// Sends in pieces with a pause after each, if so asked.
    pub(crate) fn send(&mut self, octets: &[u8], pieces: Option<(usize, Duration)>) -> Result<()> {
        let compressed = self.deflate.as_mut().map(|deflate| deflate.compressed(octets)).transpose()?;
        let octets = compressed.as_deref().unwrap_or(octets);
        match pieces {
            Some((piece, pause)) => self.channel()?.send_pieces(octets, piece, pause),
            None => self.channel()?.send(octets),
        }
    }

    pub(crate) fn pause(&mut self, length: Duration) -> Result<()> {
        if length.is_zero() { Ok(()) } else { self.channel()?.pause(length) }
    }

    /// TLS from the next octet on; returns when both have shaken hands.
    pub(crate) fn secure(&mut self, config: &Arc<ServerConfig>) -> Result<()> {
        let plain = self.channel.take().ok_or(ErrorKind::NotConnected)?;
        let channel = self.channel.insert(plain.secured(config)?);
        if let Channel::Tls(stream) = channel {
            while stream.conn.is_handshaking() {
                stream.conn.complete_io(&mut stream.sock)?;
            }
        }
        Ok(())
    }

    /// Both directions are compressed from the next octet on.
    pub(crate) fn compress(&mut self) {
        self.deflate = Some(Deflate::new());
    }

    pub(crate) fn is_secure(&self) -> bool {
        matches!(self.channel, Some(Channel::Tls(_)))
    }

    /// Waits so long for octets, and takes none.
    pub(crate) fn hears_something(&mut self, within: Duration) -> Result<bool> {
        let end = Instant::now() + within;
        while !self.has_more() {
            if Instant::now() >= end {
                return Ok(false);
            }
            self.pause(TICK)?;
        }
        Ok(true)
    }

    /// Whether octets wait beside the one that [`Wire`] always holds back.
    fn has_more(&self) -> bool {
        let waiting = self.socket.set_nonblocking(true).and_then(|()| self.socket.peek(&mut [0; 2]));
        self.socket.set_nonblocking(false).is_ok() && waiting.is_ok_and(|octets| octets > 1)
    }

    pub(crate) fn end(mut self, ending: Ending) {
        let end = match ending {
            Ending::Close => End::Close,
            Ending::Fin => End::Fin,
            Ending::Stall(length) => self.pause(length).map_or(End::Fin, |()| End::Close),
            Ending::Reset => {
                let _ = self.pause(BEFORE_RESET);
                let _ = reset_on_close(&self.socket);
                return;
            }
        };
        if let Some(channel) = self.channel {
            channel.end(end);
        }
    }

    fn channel(&mut self) -> Result<&mut Channel> {
        self.channel.as_mut().ok_or_else(|| ErrorKind::NotConnected.into())
    }
}
