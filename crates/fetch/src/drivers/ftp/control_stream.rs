//! The stream that suppaftp reads and writes if this crate has read the greeting or started TLS, and the connector that
//! passes it to suppaftp.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::{Buf, BytesMut};
use fetch_url_proto::text::BareCodes;
use suppaftp::tokio::{AsyncTlsConnector, TokioTlsStream};
use suppaftp::{FtpError, FtpResult};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tokio_util::either::Either;

use crate::net::server_stream::ServerStream;

/// The greeting that suppaftp reads if this crate has read the greeting of the server. suppaftp accepts only the code
/// 220.
const ACCEPTED_GREETING: &[u8] = b"220 \r\n";

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

/// A control connection: TLS, or plain text that suppaftp does not read from a TCP connection of its own.
pub(super) type ControlTransport = Either<Box<TlsStream<ServerStream>>, ServerStream>;

/// A control connection whose first reads return bytes that were read before.
#[derive(Debug)]
pub(super) struct ControlStream {
    stream: ControlTransport,
    write_queue: WriteQueue,
    /// A greeting that suppaftp accepts, and bytes that the server sent after its own greeting.
    received: BytesMut,
    /// suppaftp does not end a reply at a code without a space.
    codes: BareCodes,
}

/// Maximum number of bytes that one read takes from the connection.
const READ_SIZE: usize = 4096;

impl ControlStream {
    /// Wraps `stream`; reads return the greeting `220`, and then `received`, first.
    pub(super) fn new(stream: ControlTransport, write_queue: WriteQueue, received: &[u8]) -> Self {
        let (mut codes, mut ready) = (BareCodes::default(), BytesMut::from(ACCEPTED_GREETING));
        codes.push(received, &mut ready);
        Self { stream, write_queue, received: ready, codes }
    }

    /// Reads replies from the connection. At its end, nothing is received.
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut bytes = [0; READ_SIZE];
        while self.received.is_empty() {
            let mut buffer = ReadBuf::new(&mut bytes);
            ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer))?;
            if buffer.filled().is_empty() {
                self.codes.finish(&mut self.received);
                break;
            }
            self.codes.push(buffer.filled(), &mut self.received);
        }
        Poll::Ready(Ok(()))
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

impl AsyncRead for ControlStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.received.is_empty() {
            ready!(self.poll_write_queue(cx))?;
            ready!(self.poll_receive(cx))?;
        }
        let count = self.received.len().min(buffer.remaining());
        buffer.put_slice(&self.received.split_to(count));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ControlStream {
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

impl TokioTlsStream for ControlStream {
    type InnerStream = ControlTransport;

    fn tcp_stream(self) -> FtpResult<TcpStream> {
        Ok(match self.stream {
            Either::Left(tls) => tls.into_inner().0.into_tcp(),
            Either::Right(plain) => plain.into_tcp(),
        })
    }

    fn get_ref(&self) -> &TcpStream {
        match &self.stream {
            Either::Left(tls) => tls.get_ref().0.tcp_ref(),
            Either::Right(plain) => plain.tcp_ref(),
        }
    }

    fn mut_ref(&mut self) -> &mut Self::InnerStream {
        &mut self.stream
    }
}

/// A connector that returns a stream that exists already.
///
/// suppaftp accepts a stream of another type than TCP only from a TLS connector, to which it passes a TCP connection
/// that it opens itself. That connection goes to an unused local port and is dropped, so that only `Connector` connects
/// to servers.
#[derive(Debug)]
pub(super) struct ReadyConnector(Mutex<Option<ControlStream>>);

impl ReadyConnector {
    /// Returns a connector for `stream`.
    pub(super) const fn new(stream: ControlStream) -> Self {
        Self(Mutex::new(Some(stream)))
    }
}

#[async_trait::async_trait]
impl AsyncTlsConnector for ReadyConnector {
    type Stream = ControlStream;

    async fn connect(&self, _: &str, _: TcpStream) -> FtpResult<ControlStream> {
        let stream = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        stream.ok_or_else(|| FtpError::SecureError("the stream was taken already".to_owned()))
    }
}
