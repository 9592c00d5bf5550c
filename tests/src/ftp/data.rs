//! The data connections of the FTP server: how one comes to be, how it carries octets, how it ends.

use std::io::{ErrorKind, Result, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rustls::{HandshakeKind, ServerConfig};
use tokio::net::TcpSocket;

use crate::channel::Channel;
use crate::ftp::rule::Ending;
use crate::wire::Wire;

/// The longest wait for a data connection to be made.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest wait for the client to take something.
pub(crate) const IDLE: Duration = Duration::from_secs(60);
/// How often a waiting server looks.
const TICK: Duration = Duration::from_micros(300);
/// Time for the client to take what was sent before the reset that makes its kernel forget the rest.
const BEFORE_RESET: Duration = Duration::from_millis(15);

/// How the next data connection will be made.
#[derive(Debug, Default)]
pub(crate) enum Plan {
    /// The client said where it listens.
    Active(SocketAddr),
    /// A port that is taken, but where nobody listens.
    Dead { _taken: TcpSocket },
    #[default]
    None,
    /// The server listens.
    Passive(TcpListener),
}

/// One data connection.
pub(crate) struct DataConnection {
    channel: Channel,
    socket: TcpStream,
}

impl Plan {
    pub(crate) fn passive(ip: IpAddr) -> Result<(Self, SocketAddr)> {
        let listener = TcpListener::bind((ip, 0))?;
        listener.set_nonblocking(true)?;
        let addr = listener.local_addr()?;
        Ok((Self::Passive(listener), addr))
    }

    pub(crate) fn dead(ip: IpAddr) -> Result<(Self, SocketAddr)> {
        let socket = if ip.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        socket.bind(SocketAddr::new(ip, 0))?;
        let addr = socket.local_addr()?;
        Ok((Self::Dead { _taken: socket }, addr))
    }

    /// The connection. `peer` is whose alone it may be; `pause` waits, and fails when the server stops.
    pub(crate) fn connection(
        self,
        peer: IpAddr,
        stop: &Arc<AtomicBool>,
        pause: impl FnMut(Duration) -> Result<()>,
    ) -> Result<DataConnection> {
        let stream = match self {
            Self::Active(addr) => TcpStream::connect_timeout(&addr, PATIENCE)?,
            Self::Passive(listener) => accepted(&listener, peer, pause)?,
            Self::Dead { .. } | Self::None => return Err(ErrorKind::NotConnected.into()),
        };
        let socket = stream.try_clone()?;
        let channel = Channel::Plain(Wire::new(stream, Arc::clone(stop), IDLE)?);
        Ok(DataConnection { channel, socket })
    }
}

impl DataConnection {
    /// Puts TLS on it and shakes hands; says whether the session was resumed.
    pub(crate) fn secured(self, config: &Arc<ServerConfig>) -> Result<(Self, bool)> {
        let Self { channel, socket } = self;
        let mut channel = channel.secured(config)?;
        let Channel::Tls(stream) = &mut channel else { return Err(ErrorKind::Unsupported.into()) };
        while stream.conn.is_handshaking() {
            if stream.conn.complete_io(&mut stream.sock)? == (0, 0) {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        let resumed = stream.conn.handshake_kind() == Some(HandshakeKind::Resumed);
        Ok((Self { channel, socket }, resumed))
    }

    pub(crate) fn send(&mut self, octets: &[u8]) -> Result<()> {
        self.channel.send(octets)
    }

    /// Ends what the server has to say. The client may still listen and talk; the connection itself goes with
    /// this value.
    pub(crate) fn end(&mut self, how: Ending) -> Result<()> {
        match how {
            Ending::Stall(length) => self.channel.pause(length)?,
            Ending::Reset => {
                self.channel.pause(BEFORE_RESET)?;
                return reset_on_close(&self.socket);
            }
            Ending::Close | Ending::Fin => {}
        }
        if let (Channel::Tls(stream), true) = (&mut self.channel, how != Ending::Fin) {
            stream.conn.send_close_notify();
            stream.flush()?;
        }
        match &mut self.channel {
            Channel::Plain(wire) => wire.say_end(),
            Channel::Tls(stream) => stream.sock.say_end(),
        }
    }

    /// Waits until the client has closed its side.
    pub(crate) fn await_end(&mut self) {
        while self.channel.receive().is_ok_and(|octets| !octets.is_empty()) {}
    }
}

/// Makes the coming close of a connection an RST, whatever was said on it.
pub(crate) fn reset_on_close(socket: &TcpStream) -> Result<()> {
    TcpSocket::from_std_stream(socket.try_clone()?).set_zero_linger()
}

fn accepted(
    listener: &TcpListener,
    peer: IpAddr,
    mut pause: impl FnMut(Duration) -> Result<()>,
) -> Result<TcpStream> {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        match listener.accept() {
            Ok((stream, from)) if from.ip() == peer => {
                stream.set_nonblocking(false)?;
                return Ok(stream);
            }
            Ok((stream, _)) => drop(stream.shutdown(Shutdown::Both)),
            Err(e) if e.kind() == ErrorKind::WouldBlock => pause(TICK)?,
            Err(e) => return Err(e),
        }
    }
    Err(ErrorKind::TimedOut.into())
}
