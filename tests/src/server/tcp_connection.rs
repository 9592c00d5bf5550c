//! An accepted TCP connection. Every wait has a limit, and ends when the server stops.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tokio::net::TcpSocket;

/// How often a waiting thread checks whether its server was stopped.
const TICK: Duration = Duration::from_millis(20);
/// How long [`TcpConnection::drain`] reads after the end of the reply. Closing a socket with unread bytes sends RST
/// instead of FIN.
const DRAIN: Duration = Duration::from_secs(1);
/// Maximum number of bytes that [`TcpConnection::drain`] reads.
const MAX_DRAINED: usize = 1 << 20;
/// How long [`TcpConnection::reset`] waits for a client that has not sent anything.
const FIRST_BYTES: Duration = Duration::from_millis(500);
/// Time for the client to read the sent bytes. After RST its kernel discards unread data.
const BEFORE_RESET: Duration = Duration::from_millis(15);

/// A TCP connection with a stop flag and an idle timeout.
#[derive(Debug)]
pub(crate) struct TcpConnection {
    stream: TcpStream,
    stop: Arc<AtomicBool>,
    idle_timeout: Duration,
    has_received: bool,
}

impl TcpConnection {
    /// Fixes the size of the receive buffer, in bytes. By default it grows while it is read quickly, and can then hold a
    /// whole upload, which the client takes for sent.
    pub(crate) fn limit_receive_buffer(&self, size: usize) -> Result<()> {
        Ok(rustix::net::sockopt::set_socket_recv_buffer_size(&self.stream, size)?)
    }

    pub(crate) fn new(stream: TcpStream, stop: Arc<AtomicBool>, idle_timeout: Duration) -> Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TICK))?;
        stream.set_write_timeout(Some(TICK))?;
        Ok(Self { stream, stop, idle_timeout, has_received: false })
    }

    /// Wraps another connection of the same server, with the same stop flag and idle timeout.
    pub(crate) fn wrap(&self, stream: TcpStream) -> Result<Self> {
        Self::new(stream, Arc::clone(&self.stop), self.idle_timeout)
    }

    /// Returns a second handle, so that one thread can read while another writes.
    pub(crate) fn try_clone(&self) -> Result<Self> {
        self.wrap(self.stream.try_clone()?)
    }

    pub(crate) fn local_addr(&self) -> Result<SocketAddr> {
        self.stream.local_addr()
    }

    pub(crate) fn peer_addr(&self) -> Result<SocketAddr> {
        self.stream.peer_addr()
    }

    /// Sleeps for `length`.
    ///
    /// # Errors
    /// `ConnectionAborted` as soon as the server is stopped.
    pub(crate) fn pause(&self, length: Duration) -> Result<()> {
        let end = Instant::now() + length;
        loop {
            self.check_running()?;
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            sleep(left.min(TICK));
        }
    }

    /// Returns `true` if received bytes wait to be read.
    pub(crate) fn has_pending(&self) -> bool {
        let pending = self.stream.set_nonblocking(true).and_then(|()| self.stream.peek(&mut [0]));
        self.stream.set_nonblocking(false).is_ok() && pending.is_ok_and(|bytes| bytes > 0)
    }

    /// Sends FIN. The client sees a clean end and may still send.
    pub(crate) fn send_fin(&self) -> Result<()> {
        self.stream.shutdown(Shutdown::Write)
    }

    /// Reads until the client closes, 1 s passes without data or the server stops. Returns the bytes read.
    pub(crate) fn drain(&mut self) -> Vec<u8> {
        self.idle_timeout = self.idle_timeout.min(DRAIN);
        let mut late = Vec::new();
        let mut buffer = [0; 4096];
        while late.len() < MAX_DRAINED {
            match self.read(&mut buffer) {
                Ok(0) | Err(_) => break,
                Ok(n) => late.extend_from_slice(&buffer[..n]),
            }
        }
        late
    }

    /// Makes the next close of the connection send RST instead of FIN.
    pub(crate) fn reset_on_close(&self) -> Result<()> {
        TcpSocket::from_std_stream(self.stream.try_clone()?).set_zero_linger()
    }

    /// Closes with RST. A client that has sent nothing yet gets 500 ms to do so, so that the reset interrupts its
    /// request and not its connection attempt.
    pub(crate) fn reset(mut self) -> Result<()> {
        if !self.has_received {
            let _ = self.wait(FIRST_BYTES, |stream| stream.peek(&mut [0]));
        }
        self.pause_before_reset()?;
        self.reset_on_close()
    }

    /// Gives the client time to read what was sent before a reset.
    pub(crate) fn pause_before_reset(&self) -> Result<()> {
        self.pause(BEFORE_RESET)
    }

    fn check_running(&self) -> Result<()> {
        match self.stop.load(Ordering::Relaxed) {
            true => Err(Error::new(ErrorKind::ConnectionAborted, "the server was stopped")),
            false => Ok(()),
        }
    }

    /// Repeats an operation, which blocks for at most one tick, until it succeeds or `limit` has passed.
    fn wait(
        &mut self,
        limit: Duration,
        mut operation: impl FnMut(&mut TcpStream) -> Result<usize>,
    ) -> Result<usize> {
        let end = Instant::now() + limit;
        loop {
            self.check_running()?;
            match operation(&mut self.stream) {
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                other => return other,
            }
            if Instant::now() >= end {
                return Err(Error::new(ErrorKind::TimedOut, format!("no progress within {limit:?}")));
            }
        }
    }
}

impl Read for TcpConnection {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let n = self.wait(self.idle_timeout, |stream| stream.read(buffer))?;
        self.has_received |= n > 0;
        Ok(n)
    }
}

impl Write for TcpConnection {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.wait(self.idle_timeout, |stream| stream.write(bytes))
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}
