//! The octets of a data connection, until the server ends it.

use std::future::{Future as _, poll_fn};
use std::io;
use std::pin::pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// Read at once: what is smaller costs system calls, what is larger does not stay in the cache.
const PIECE: usize = 1024 * 1024;
/// The first piece: most files are small.
const FIRST_PIECE: usize = 16 * 1024;

/// What arrives on a data connection.
pub(super) struct Arrival {
    stream: Stream,
    buffer: BytesMut,
    piece: usize,
    /// What came behind octets that were looked at.
    early: Bytes,
}

enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Arrival {
    pub(super) fn plain(stream: TcpStream) -> Self {
        Self {
            stream: Stream::Plain(stream),
            buffer: BytesMut::new(),
            piece: FIRST_PIECE,
            early: Bytes::new(),
        }
    }

    pub(super) fn tls(stream: TlsStream<TcpStream>) -> Self {
        Self {
            stream: Stream::Tls(Box::new(stream)),
            buffer: BytesMut::new(),
            piece: FIRST_PIECE,
            early: Bytes::new(),
        }
    }

    /// Takes octets off that are here already, if these are they: no server says where in a file it
    /// begins, and there are some that take REST and begin at its beginning.
    pub(super) async fn begins_with(&mut self, expected: &[u8]) -> io::Result<bool> {
        let mut rest = expected;
        while !rest.is_empty() {
            let octets = poll_fn(|cx| self.poll(cx)).await?;
            let few = octets.len().min(rest.len());
            if few == 0 || octets[..few] != rest[..few] {
                return Ok(false);
            }
            rest = &rest[few..];
            self.early = octets.slice(few..);
        }
        Ok(true)
    }

    /// The next octets; empty at the end.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Bytes>> {
        if !self.early.is_empty() {
            return Poll::Ready(Ok(std::mem::take(&mut self.early)));
        }
        self.buffer.reserve(self.piece);
        let count = match &mut self.stream {
            Stream::Plain(stream) => loop {
                ready!(stream.poll_read_ready(cx))?;
                match stream.try_read_buf(&mut self.buffer) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    read => break read?,
                }
            },
            // An end without close_notify is an error here: anybody can end a connection.
            Stream::Tls(stream) => ready!(pin!(stream.read_buf(&mut self.buffer)).poll(cx))?,
        };
        if count == self.piece {
            self.piece = PIECE;
        }
        Poll::Ready(Ok(self.buffer.split().freeze()))
    }
}
