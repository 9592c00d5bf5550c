//! A connection, plain or in TLS, and the octets that arrive on it.

use std::future::Future as _;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::{Buf as _, Bytes, BytesMut};
use tokio::io::{AsyncReadExt as _, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use super::contact::Contact;
use super::deflate::Deflate;

/// Read at once: what is smaller costs system calls, what is larger does not stay in the cache.
const PIECE: usize = 1024 * 1024;
/// The first piece: most files are small.
const FIRST_PIECE: usize = 16 * 1024;

/// A connection that is read in large pieces.
pub(crate) struct Stream {
    road: Road,
    piece: usize,
    contact: Contact,
    deflate: Option<Box<Deflate>>,
}

enum Road {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
    /// In TLS, and an end without close_notify is one.
    Truncatable(Box<TlsStream<TcpStream>>),
}

impl Stream {
    /// In the clear; `contact` is told when octets arrive.
    pub(crate) fn plain(stream: TcpStream, contact: &Contact) -> Self {
        Self::on(Road::Plain(stream), contact)
    }

    /// In TLS. An end without close_notify is an error, since anybody can end a connection, unless
    /// `allows_truncation`.
    pub(crate) fn tls(stream: TlsStream<TcpStream>, contact: &Contact, allows_truncation: bool) -> Self {
        let stream = Box::new(stream);
        let road = if allows_truncation { Road::Truncatable(stream) } else { Road::Tls(stream) };
        Self::on(road, contact)
    }

    fn on(road: Road, contact: &Contact) -> Self {
        Self { road, piece: FIRST_PIECE, contact: contact.clone(), deflate: None }
    }

    /// From here on `contact` is told.
    pub(super) fn meet(&mut self, contact: &Contact) {
        self.contact = contact.clone();
    }

    /// The connection itself, as long as it is in the clear.
    pub(super) fn into_plain(self) -> Option<TcpStream> {
        match self.road {
            Road::Plain(stream) if self.deflate.is_none() => Some(stream),
            _ => None,
        }
    }

    /// From here on both sides compress what they say; `arrived` came already, and was not read.
    pub(super) fn deflate(&mut self, arrived: &[u8]) {
        let mut deflate = Deflate::new();
        deflate.arrived.extend_from_slice(arrived);
        self.deflate = Some(Box::new(deflate));
    }

    /// What [`Stream::poll_write`] is to be given for `octets`.
    pub(super) fn wrapped(&mut self, octets: Bytes) -> io::Result<Bytes> {
        match &mut self.deflate {
            Some(deflate) => deflate.shut(&octets),
            None => Ok(octets),
        }
    }

    /// Reads what has arrived to the end of `buffer`: so many octets; 0 at the end.
    pub(crate) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut BytesMut,
    ) -> Poll<io::Result<usize>> {
        let Some(mut deflate) = self.deflate.take() else { return self.poll_read_road(cx, buffer) };
        let polled = loop {
            match deflate.open(buffer) {
                Ok(0) if deflate.has_ended() => break Poll::Ready(Ok(0)),
                Ok(0) => {}
                opened => break Poll::Ready(opened),
            }
            match self.poll_read_road(cx, &mut deflate.arrived) {
                Poll::Ready(Ok(1..)) => {}
                polled => break polled,
            }
        };
        self.deflate = Some(deflate);
        polled
    }

    fn poll_read_road(&mut self, cx: &mut Context<'_>, buffer: &mut BytesMut) -> Poll<io::Result<usize>> {
        buffer.reserve(self.piece);
        let count = match &mut self.road {
            Road::Plain(stream) => loop {
                ready!(stream.poll_read_ready(cx))?;
                match stream.try_read_buf(buffer) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    read => break read?,
                }
            },
            Road::Tls(stream) => ready!(pin!(stream.read_buf(buffer)).poll(cx)).map_err(truncated)?,
            Road::Truncatable(stream) => match ready!(pin!(stream.read_buf(buffer)).poll(cx)) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => 0,
                read => read?,
            },
        };
        if count == self.piece {
            self.piece = PIECE;
        }
        if count > 0 {
            self.contact.note(|facts| facts.heard = Some(Instant::now()));
        }
        Poll::Ready(Ok(count))
    }

    /// Writes `octets`, as far as they have not gone out; [`Stream::wrapped`] has made them.
    pub(crate) fn poll_write(&mut self, cx: &mut Context<'_>, octets: &mut Bytes) -> Poll<io::Result<()>> {
        while !octets.is_empty() {
            let written = match &mut self.road {
                Road::Plain(stream) => Pin::new(stream).poll_write(cx, octets),
                Road::Tls(stream) | Road::Truncatable(stream) => Pin::new(stream).poll_write(cx, octets),
            };
            match ready!(written)? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => octets.advance(count),
            }
        }
        match &mut self.road {
            Road::Plain(_) => Poll::Ready(Ok(())),
            Road::Tls(stream) | Road::Truncatable(stream) => Pin::new(stream).poll_flush(cx),
        }
    }
}

/// rustls says the same at greater length.
fn truncated(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => io::Error::new(error.kind(), "TLS ended without close_notify"),
        _ => error,
    }
}
