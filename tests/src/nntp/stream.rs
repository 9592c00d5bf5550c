//! The byte stream of a news connection: in plaintext or under TLS, with compression or without.

use std::io::{ErrorKind, Result};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::ServerConfig;

use crate::nntp::deflate::Deflate;
use crate::server::plain_or_tls_connection::{Ending, PlainOrTlsConnection};
use crate::server::tcp_connection::TcpConnection;

/// How often a server that waits for bytes checks for them.
const TICK: Duration = Duration::from_millis(2);

pub(crate) struct NntpStream {
    /// `None` only while TLS starts.
    channel: Option<PlainOrTlsConnection>,
    deflate: Option<Deflate>,
}

impl NntpStream {
    pub(crate) fn new(wire: TcpConnection) -> Self {
        Self { channel: Some(PlainOrTlsConnection::Plain(wire)), deflate: None }
    }

    /// Returns the next bytes of the client, or none after its end.
    pub(crate) fn receive(&mut self) -> Result<Vec<u8>> {
        loop {
            let bytes = self.channel()?.receive()?;
            let Some(deflate) = &mut self.deflate else { return Ok(bytes) };
            if bytes.is_empty() {
                return Ok(bytes);
            }
            let received = deflate.decompress(&bytes)?;
            if !received.is_empty() {
                return Ok(received);
            }
        }
    }

    /// Sends the bytes, in pieces if `drip` gives their size and the pause after each.
    pub(crate) fn send(&mut self, bytes: &[u8], drip: Option<(usize, Duration)>) -> Result<()> {
        let compressed = self.deflate.as_mut().map(|deflate| deflate.compress(bytes)).transpose()?;
        self.channel()?.send_dripped(compressed.as_deref().unwrap_or(bytes), drip)
    }

    pub(crate) fn pause(&mut self, length: Duration) -> Result<()> {
        self.channel()?.pause(length)
    }

    /// Starts TLS with the next byte. Returns after the handshake.
    pub(crate) fn start_tls(&mut self, config: &Arc<ServerConfig>) -> Result<()> {
        let plain = self.channel.take().ok_or(ErrorKind::NotConnected)?;
        self.channel = Some(plain.start_tls_and_wait(config)?.0);
        Ok(())
    }

    /// Compresses both directions from the next byte.
    pub(crate) fn start_compression(&mut self) {
        self.deflate = Some(Deflate::new());
    }

    pub(crate) fn is_tls(&self) -> bool {
        self.channel.as_ref().is_some_and(PlainOrTlsConnection::is_tls)
    }

    /// Waits for bytes without reading them. Returns `false` if there are none within this time.
    pub(crate) fn wait_for_bytes(&mut self, within: Duration) -> Result<bool> {
        let end = Instant::now() + within;
        while !self.channel()?.wire().has_pending() {
            if Instant::now() >= end {
                return Ok(false);
            }
            self.pause(TICK)?;
        }
        Ok(true)
    }

    pub(crate) fn end(self, ending: Ending) {
        if let Some(channel) = self.channel {
            channel.end(ending);
        }
    }

    fn channel(&mut self) -> Result<&mut PlainOrTlsConnection> {
        self.channel.as_mut().ok_or_else(|| ErrorKind::NotConnected.into())
    }
}
