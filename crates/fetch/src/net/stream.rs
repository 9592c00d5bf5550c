//! A plain or TLS connection that is read in large chunks.

use std::future::Future as _;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes, BytesMut};
use tokio::io::{AsyncReadExt as _, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use super::connection_info::ConnectionInfo;
use super::deflate::Deflate;
use super::server_stream::ServerStream;
use crate::time::Instant;

/// Size of a read in bytes: smaller ones cost system calls, larger ones exceed the CPU cache.
const MAX_READ: usize = 1024 * 1024;
/// Size of the first read in bytes: most files are small.
const FIRST_READ: usize = 16 * 1024;

/// A plain or TLS connection, optionally compressed.
pub(crate) struct Stream {
    transport: Transport,
    read_size: usize,
    connection_info: ConnectionInfo,
    deflate: Option<Box<Deflate>>,
}

enum Transport {
    Plain(ServerStream),
    Tls(Box<TlsStream<ServerStream>>),
    /// TLS, where the end of the connection without close_notify is accepted.
    Truncatable(Box<TlsStream<ServerStream>>),
}

impl Stream {
    /// Wraps a plain connection. `connection_info` records when bytes arrive.
    pub(crate) fn plain(stream: ServerStream, connection_info: &ConnectionInfo) -> Self {
        Self::on(Transport::Plain(stream), connection_info)
    }

    /// Wraps a TLS connection. If it ends without close_notify, an attacker may have truncated it, so this is an error
    /// unless `allows_truncation` is `true`.
    pub(crate) fn tls(
        stream: TlsStream<ServerStream>,
        connection_info: &ConnectionInfo,
        allows_truncation: bool,
    ) -> Self {
        let stream = Box::new(stream);
        let transport =
            if allows_truncation { Transport::Truncatable(stream) } else { Transport::Tls(stream) };
        Self::on(transport, connection_info)
    }

    fn on(transport: Transport, connection_info: &ConnectionInfo) -> Self {
        Self { transport, read_size: FIRST_READ, connection_info: connection_info.clone(), deflate: None }
    }

    /// Records later reads in another `connection_info`.
    pub(super) fn set_connection_info(&mut self, connection_info: &ConnectionInfo) {
        self.connection_info = connection_info.clone();
    }

    /// Returns the TCP connection if its bytes are those of the stream: without TLS and compression.
    pub(crate) fn direct_tcp(&self) -> Option<&TcpStream> {
        match &self.transport {
            Transport::Plain(stream) if self.deflate.is_none() => stream.as_bare_tcp(),
            _ => None,
        }
    }

    /// Returns the connection if it is plain and not compressed.
    pub(super) fn into_plain(self) -> Option<ServerStream> {
        match self.transport {
            Transport::Plain(stream) if self.deflate.is_none() => Some(stream),
            _ => None,
        }
    }

    /// Starts compression in both directions. `arrived` contains the bytes of the compressed stream that were read
    /// before.
    pub(super) fn start_deflate(&mut self, arrived: &[u8]) {
        let mut deflate = Deflate::new();
        deflate.input.extend_from_slice(arrived);
        self.deflate = Some(Box::new(deflate));
    }

    /// Converts output for [`Stream::poll_write`]: compresses it if compression is on.
    pub(super) fn encode(&mut self, bytes: Bytes) -> io::Result<Bytes> {
        match &mut self.deflate {
            Some(deflate) => deflate.compress(&bytes),
            None => Ok(bytes),
        }
    }

    /// Reads bytes to the end of `buffer` and returns their number; 0 at the end of the connection.
    pub(crate) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut BytesMut,
    ) -> Poll<io::Result<usize>> {
        let Some(mut deflate) = self.deflate.take() else { return self.poll_read_raw(cx, buffer) };
        let polled = loop {
            match deflate.decompress(buffer) {
                Ok(0) if deflate.has_ended() => break Poll::Ready(Ok(0)),
                Ok(0) => {}
                decompressed => break Poll::Ready(decompressed),
            }
            match self.poll_read_raw(cx, &mut deflate.input) {
                Poll::Ready(Ok(1..)) => {}
                polled => break polled,
            }
        };
        self.deflate = Some(deflate);
        polled
    }

    fn poll_read_raw(&mut self, cx: &mut Context<'_>, buffer: &mut BytesMut) -> Poll<io::Result<usize>> {
        buffer.reserve(self.read_size);
        let count = match &mut self.transport {
            Transport::Plain(stream) => match stream.as_bare_tcp() {
                Some(tcp) => loop {
                    ready!(tcp.poll_read_ready(cx))?;
                    match tcp.try_read_buf(buffer) {
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                        read => break read?,
                    }
                },
                None => ready!(pin!(stream.read_buf(buffer)).poll(cx)).map_err(truncated)?,
            },
            Transport::Tls(stream) => ready!(pin!(stream.read_buf(buffer)).poll(cx)).map_err(truncated)?,
            Transport::Truncatable(stream) => match ready!(pin!(stream.read_buf(buffer)).poll(cx)) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => 0,
                read => read?,
            },
        };
        if count == self.read_size {
            self.read_size = MAX_READ;
        }
        if count > 0 {
            self.connection_info.update(|record| {
                record.last_received = Some(Instant::now());
                record.received_bytes = record.received_bytes.saturating_add(count as u64);
            });
        }
        Poll::Ready(Ok(count))
    }

    /// Writes and flushes the rest of `bytes`, which [`Stream::encode`] has returned.
    pub(crate) fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &mut Bytes) -> Poll<io::Result<()>> {
        while !bytes.is_empty() {
            let written = match &mut self.transport {
                Transport::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
                Transport::Tls(stream) | Transport::Truncatable(stream) => {
                    Pin::new(stream).poll_write(cx, bytes)
                }
            };
            match ready!(written)? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => bytes.advance(count),
            }
        }
        match &mut self.transport {
            Transport::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Transport::Tls(stream) | Transport::Truncatable(stream) => Pin::new(stream).poll_flush(cx),
        }
    }
}

/// Shortens the message of rustls for a connection that ended without close_notify.
fn truncated(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => io::Error::new(error.kind(), "TLS ended without close_notify"),
        _ => error,
    }
}
