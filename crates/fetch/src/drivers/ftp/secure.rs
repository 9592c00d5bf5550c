//! TLS for suppaftp: a stream of ours that it reads and writes, and the way to hand it over.

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

/// What is to go out before anything more is read: several commands in one piece, which suppaftp's own
/// methods cannot say.
#[derive(Clone, Default)]
pub(super) struct Outbox(Arc<Mutex<BytesMut>>);

impl fmt::Debug for Outbox {
    /// A password may be among it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Outbox(…)")
    }
}

impl Outbox {
    pub(super) fn put(&self, octets: &[u8]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(octets);
    }
}

/// A control connection in TLS.
#[derive(Debug)]
pub(super) struct SecureLine {
    stream: TlsStream<TcpStream>,
    outbox: Outbox,
    /// The greeting, when it came before TLS: suppaftp is yet to hear it.
    greeting: Bytes,
}

impl SecureLine {
    pub(super) const fn new(stream: TlsStream<TcpStream>, outbox: Outbox, greeting: Bytes) -> Self {
        Self { stream, outbox, greeting }
    }

    fn poll_outbox(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut waiting = self.outbox.0.lock().unwrap_or_else(PoisonError::into_inner);
        while !waiting.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(cx, &waiting))?;
            waiting.advance(written);
        }
        Pin::new(&mut self.stream).poll_flush(cx)
    }
}

impl AsyncRead for SecureLine {
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
        ready!(self.poll_outbox(cx))?;
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for SecureLine {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, octets: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, octets)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl TokioTlsStream for SecureLine {
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

/// Hands over a line that is in TLS already. suppaftp takes one from a connector only, which it calls with a
/// connection of its own making: that one goes to a port of ours where nobody listens to it, so that no
/// server is dialled but through `Dial`.
#[derive(Debug)]
pub(super) struct HandOver(Mutex<Option<SecureLine>>);

impl HandOver {
    pub(super) const fn new(line: SecureLine) -> Self {
        Self(Mutex::new(Some(line)))
    }
}

#[async_trait::async_trait]
impl AsyncTlsConnector for HandOver {
    type Stream = SecureLine;

    async fn connect(&self, _: &str, _: TcpStream) -> FtpResult<SecureLine> {
        let line = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        line.ok_or_else(|| FtpError::SecureError("handed over already".to_owned()))
    }
}
