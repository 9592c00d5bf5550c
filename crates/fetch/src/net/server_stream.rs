//! The byte stream to a server: a TCP connection, direct or through the tunnel of a proxy.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use fetch_url_core::Host;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use super::keepalive::set_keepalive;

/// The byte stream to a server: a TCP connection, or a tunnel through a proxy. The bytes of the tunnel are not
/// encrypted, except on the way to an https proxy.
#[derive(Debug)]
pub struct ServerStream {
    transport: Transport,
    remote: RemoteEnd,
}

#[derive(Debug)]
enum Transport {
    Tcp(TcpStream),
    /// TLS to an https proxy.
    TlsToProxy(Box<TlsStream<TcpStream>>),
}

/// The server's end of a connection.
#[derive(Clone, Debug)]
pub(crate) enum RemoteEnd {
    /// The address of the server.
    Address(SocketAddr),
    /// The host that the proxy connected to, as it was sent to the proxy.
    BehindProxy(Host<'static>),
}

impl ServerStream {
    /// Wraps a TCP connection to a server or to a proxy.
    pub(super) const fn tcp(stream: TcpStream, remote: RemoteEnd) -> Self {
        Self { transport: Transport::Tcp(stream), remote }
    }

    /// Wraps a TLS connection to a proxy.
    pub(super) fn tls_to_proxy(stream: TlsStream<TcpStream>, remote: RemoteEnd) -> Self {
        Self { transport: Transport::TlsToProxy(Box::new(stream)), remote }
    }

    /// Returns the server's end of the connection.
    pub(crate) const fn remote(&self) -> &RemoteEnd {
        &self.remote
    }

    /// Returns the TCP connection below, to the server or the proxy.
    pub(crate) fn tcp_ref(&self) -> &TcpStream {
        match &self.transport {
            Transport::Tcp(stream) => stream,
            Transport::TlsToProxy(stream) => stream.get_ref().0,
        }
    }

    /// Lets the system probe the connection while it is silent, so that routers do not forget it.
    pub(crate) fn set_keepalive(&self) {
        set_keepalive(self.tcp_ref());
    }

    /// Returns the TCP connection below.
    pub(crate) fn into_tcp(self) -> TcpStream {
        match self.transport {
            Transport::Tcp(stream) => stream,
            Transport::TlsToProxy(stream) => stream.into_inner().0,
        }
    }

    /// Returns the TCP connection if its bytes are those of the server, without TLS to a proxy.
    pub(crate) const fn as_bare_tcp(&self) -> Option<&TcpStream> {
        match &self.transport {
            Transport::Tcp(stream) => Some(stream),
            Transport::TlsToProxy(_) => None,
        }
    }

    /// Returns the TCP connection for reading, as [`ServerStream::as_bare_tcp`] does.
    pub(crate) const fn as_bare_tcp_mut(&mut self) -> Option<&mut TcpStream> {
        match &mut self.transport {
            Transport::Tcp(stream) => Some(stream),
            Transport::TlsToProxy(_) => None,
        }
    }
}

impl AsyncRead for ServerStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.transport {
            Transport::Tcp(stream) => Pin::new(stream).poll_read(cx, buffer),
            Transport::TlsToProxy(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for ServerStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.transport {
            Transport::Tcp(stream) => Pin::new(stream).poll_write(cx, bytes),
            Transport::TlsToProxy(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut self.transport {
            Transport::Tcp(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
            Transport::TlsToProxy(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match &self.transport {
            Transport::Tcp(stream) => stream.is_write_vectored(),
            Transport::TlsToProxy(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.transport {
            Transport::Tcp(stream) => Pin::new(stream).poll_flush(cx),
            Transport::TlsToProxy(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.transport {
            Transport::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            Transport::TlsToProxy(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
