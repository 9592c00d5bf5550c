//! One accepted TCP connection whose every wait is limited, and which can be reset without `unsafe`.
//!
//! The standard library cannot set SO_LINGER. But Linux and the BSDs answer `close` with RST when octets wait
//! unread, so [`Wire`] hands out what it *peeks* and takes all but the last octet from the kernel: there is
//! nearly always one unread octet to reset with, and a clean close takes it first.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often a waiting thread looks whether its server was stopped.
const TICK: Duration = Duration::from_millis(20);
/// How long a closed connection still listens, so that unread octets of the client do not turn FIN into RST.
const LINGER: Duration = Duration::from_secs(1);
/// Time for the client to take what was sent before the reset that makes its kernel forget the rest.
const BEFORE_RESET: Duration = Duration::from_millis(15);

/// A connection with a stop flag and a limit for each wait.
#[derive(Debug)]
pub(crate) struct Wire {
    stream: TcpStream,
    stop: Arc<AtomicBool>,
    patience: Duration,
    /// Whether the octet handed out last is still in the kernel.
    held: bool,
}

impl Wire {
    pub(crate) fn new(stream: TcpStream, stop: Arc<AtomicBool>, patience: Duration) -> Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TICK))?;
        stream.set_write_timeout(Some(TICK))?;
        Ok(Self { stream, stop, patience, held: false })
    }

    /// Another connection with the stop flag and the limits of this one.
    pub(crate) fn peer(&self, stream: TcpStream) -> Result<Self> {
        Self::new(stream, Arc::clone(&self.stop), self.patience)
    }

    /// The same connection once more, so that one thread can read and another write.
    pub(crate) fn twin(&self) -> Result<Self> {
        self.peer(self.stream.try_clone()?)
    }

    pub(crate) fn local_addr(&self) -> Result<SocketAddr> {
        self.stream.local_addr()
    }

    /// Sleeps, but no longer than the server lives.
    pub(crate) fn pause(&self, length: Duration) -> Result<()> {
        let end = Instant::now() + length;
        loop {
            self.alive()?;
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            sleep(left.min(TICK));
        }
    }

    /// Says FIN, so that the client sees a clean end; it may still talk.
    pub(crate) fn say_end(&mut self) -> Result<()> {
        self.release()?;
        self.stream.shutdown(Shutdown::Write)
    }

    /// Listens to what the client still says until it closes, a limit passes or the server stops.
    pub(crate) fn linger(&mut self) -> Vec<u8> {
        self.patience = self.patience.min(LINGER);
        let mut late = Vec::new();
        let mut buffer = [0; 4096];
        while late.len() < 1 << 20 {
            match self.read(&mut buffer) {
                Ok(0) | Err(_) => break,
                Ok(n) => late.extend_from_slice(&buffer[..n]),
            }
        }
        let _ = self.release();
        late
    }

    /// Closes with RST. If the client never spoke, waits until it does.
    pub(crate) fn reset(mut self) -> Result<()> {
        if !self.held {
            self.wait(|stream| stream.peek(&mut [0]))?;
        }
        self.pause(BEFORE_RESET)
    }

    fn alive(&self) -> Result<()> {
        match self.stop.load(Ordering::Relaxed) {
            true => Err(Error::new(ErrorKind::ConnectionAborted, "the server was stopped")),
            false => Ok(()),
        }
    }

    /// Takes the held octet from the kernel.
    fn release(&mut self) -> Result<()> {
        if self.held {
            self.stream.read_exact(&mut [0])?;
            self.held = false;
        }
        Ok(())
    }

    /// Repeats an operation of at most one tick until it is done or its limit passed.
    fn wait(&mut self, mut operation: impl FnMut(&mut TcpStream) -> Result<usize>) -> Result<usize> {
        let end = Instant::now() + self.patience;
        loop {
            self.alive()?;
            match operation(&mut self.stream) {
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                other => return other,
            }
            if Instant::now() >= end {
                return Err(Error::new(
                    ErrorKind::TimedOut,
                    format!("nothing moved for {:?}", self.patience),
                ));
            }
        }
    }
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        self.release()?;
        let n = self.wait(|stream| stream.peek(buffer))?;
        if n > 0 {
            self.stream.read_exact(&mut buffer[..n - 1])?;
            self.held = true;
        }
        Ok(n)
    }
}

impl Write for Wire {
    fn write(&mut self, octets: &[u8]) -> Result<usize> {
        self.wait(|stream| stream.write(octets))
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}
