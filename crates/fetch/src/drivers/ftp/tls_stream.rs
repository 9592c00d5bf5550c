//! The TLS stream that suppaftp reads and writes, and the connector that passes it to suppaftp.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes, BytesMut};
use suppaftp::tokio::{AsyncTlsConnector, TokioTlsStream};
use suppaftp::{FtpError, FtpResult};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// Bytes to write before the next read. suppaftp has no method that sends several commands at once.
#[derive(Clone, Default)]
pub(super) struct WriteQueue(Arc<Mutex<BytesMut>>);

impl fmt::Debug for WriteQueue {
    /// Does not show the bytes: they may contain a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WriteQueue(…)")
    }
}

impl WriteQueue {
    /// Adds bytes to the end of the queue.
    pub(super) fn push(&self, bytes: &[u8]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
    }
}

/// A control connection inside TLS.
#[derive(Debug)]
pub(super) struct ControlTlsStream {
    stream: TlsStream<TcpStream>,
    write_queue: WriteQueue,
    /// The greeting, if it was read before TLS started: the first reads return it to suppaftp.
    greeting: Bytes,
}

impl ControlTlsStream {
    /// Wraps `stream`; reads return `greeting` first.
    pub(super) const fn new(stream: TlsStream<TcpStream>, write_queue: WriteQueue, greeting: Bytes) -> Self {
        Self { stream, write_queue, greeting }
    }

    /// Writes the queue to the connection.
    fn poll_write_queue(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut queue = self.write_queue.0.lock().unwrap_or_else(PoisonError::into_inner);
        while !queue.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(cx, &queue))?;
            queue.advance(written);
        }
        Pin::new(&mut self.stream).poll_flush(cx)
    }
}

impl AsyncRead for ControlTlsStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.greeting.is_empty() {
            let count = self.greeting.len().min(buffer.remaining());
            buffer.put_slice(&self.greeting.split_to(count));
            return Poll::Ready(Ok(()));
        }
        ready!(self.poll_write_queue(cx))?;
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for ControlTlsStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl TokioTlsStream for ControlTlsStream {
    type InnerStream = TlsStream<TcpStream>;

    fn tcp_stream(self) -> FtpResult<TcpStream> {
        Ok(self.stream.into_inner().0)
    }

    fn get_ref(&self) -> &TcpStream {
        self.stream.get_ref().0
    }

    fn mut_ref(&mut self) -> &mut Self::InnerStream {
        &mut self.stream
    }
}

/// A connector that returns a TLS stream that exists already.
///
/// suppaftp takes a TLS stream only from a connector, and passes it a TCP connection that it opens itself. That
/// connection goes to an unused local port and is dropped, so that only `Connector` connects to servers.
#[derive(Debug)]
pub(super) struct ReadyTlsConnector(Mutex<Option<ControlTlsStream>>);

impl ReadyTlsConnector {
    /// Returns a connector for `stream`.
    pub(super) const fn new(stream: ControlTlsStream) -> Self {
        Self(Mutex::new(Some(stream)))
    }
}

#[async_trait::async_trait]
impl AsyncTlsConnector for ReadyTlsConnector {
    type Stream = ControlTlsStream;

    async fn connect(&self, _: &str, _: TcpStream) -> FtpResult<ControlTlsStream> {
        let stream = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        stream.ok_or_else(|| FtpError::SecureError("the TLS stream was taken already".to_owned()))
    }
}
