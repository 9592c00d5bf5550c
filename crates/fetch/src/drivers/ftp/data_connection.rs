//! The receiving side of a data connection, and the TLS configuration that it shares with its control connection.

use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use rustls::ClientConfig;
use rustls::client::Resumption;
use tokio::net::TcpStream;

use crate::net::stream::Stream;
use crate::{Connector, Error};

/// Maximum number of TLS sessions that are stored for the data connections of one control connection.
const MAX_TLS_SESSIONS: usize = 8;

/// A data connection, read until the server closes it.
pub(super) struct DataConnection {
    stream: Stream,
    buffer: BytesMut,
    /// Received bytes that the next read returns.
    unread: Bytes,
}

impl DataConnection {
    /// Wraps an open connection.
    pub(super) fn new(stream: Stream) -> Self {
        Self { stream, buffer: BytesMut::new(), unread: Bytes::new() }
    }

    /// Reads as many bytes as `expected` has and returns `true` if they are equal. The reply to REST does not prove
    /// the offset: some servers accept REST and still send the file from its start.
    pub(super) async fn strip_expected_prefix(&mut self, expected: &[u8]) -> io::Result<bool> {
        let mut rest = expected;
        while !rest.is_empty() {
            let bytes = poll_fn(|cx| self.poll_bytes(cx)).await?;
            let count = bytes.len().min(rest.len());
            if count == 0 || bytes[..count] != rest[..count] {
                return Ok(false);
            }
            rest = &rest[count..];
            self.unread = bytes.slice(count..);
        }
        Ok(true)
    }

    /// Returns the TCP connection if its next bytes are the next ones of the data, unchanged.
    pub(super) fn direct_tcp(&self) -> Option<&TcpStream> {
        if self.unread.is_empty() { self.stream.direct_tcp() } else { None }
    }

    /// Returns the next bytes, or no bytes at the end.
    pub(super) fn poll_bytes(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Bytes>> {
        if !self.unread.is_empty() {
            return Poll::Ready(Ok(std::mem::take(&mut self.unread)));
        }
        ready!(self.stream.poll_read(cx, &mut self.buffer))?;
        Poll::Ready(Ok(self.buffer.split().freeze()))
    }
}

/// Returns a TLS configuration with a separate session cache: servers require that a data connection resumes the TLS
/// session of its own control connection.
pub(super) fn tls_config_with_own_sessions(connector: &Connector) -> Result<Arc<ClientConfig>, Error> {
    let mut config = (*connector.tls_config()?).clone();
    config.resumption = Resumption::in_memory_sessions(MAX_TLS_SESSIONS);
    Ok(Arc::new(config))
}
