//! A loopback server that plays transcripts and reports where the client deviates from them.

use std::io::{Error, ErrorKind, Result};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustls::ServerConfig;

use crate::cert::ServerCert;
use crate::script::{Script, Step};
use crate::server::listener::{Listener, locked};
use crate::server::plain_or_tls_connection::{Ending, PlainOrTlsConnection};
use crate::server::tcp_connection::TcpConnection;
use crate::server::text::{replace_all, take_line};

/// Maximum wait for a client by default.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The pause between two pieces of `@split`, so that they arrive separately.
const BETWEEN_PIECES: Duration = Duration::from_micros(100);

/// The server. The n-th connection plays the n-th script. Further connections play the last script. It stops
/// when dropped.
#[derive(Debug)]
pub struct ScriptServer {
    listener: Listener,
    log: Arc<Log>,
    timeout: Duration,
}

impl ScriptServer {
    /// Starts a server that waits at most 5 seconds for each step of the client.
    pub fn start(scripts: Vec<Script>) -> Result<Self> {
        Self::play(scripts, TIMEOUT, None)
    }

    /// Starts a server that waits at most `timeout` for each step of the client.
    pub fn start_with_timeout(scripts: Vec<Script>, timeout: Duration) -> Result<Self> {
        Self::play(scripts, timeout, None)
    }

    /// Starts a server whose scripts may contain `@tls`.
    pub fn start_with_cert(scripts: Vec<Script>, cert: &ServerCert) -> Result<Self> {
        Self::play(scripts, TIMEOUT, Some(cert.server_config()?))
    }

    /// Returns the address of the server.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.listener.addr()
    }

    /// Returns the bytes that each connection has received (under TLS: decrypted).
    #[must_use]
    pub fn received(&self) -> Vec<Vec<u8>> {
        locked(&self.log.connections).iter().map(|connection| connection.received.clone()).collect()
    }

    /// Returns the deviations of the clients from the scripts. Waits until every connection has ended, at most for
    /// the timeout and 5 seconds.
    #[must_use]
    pub fn failures(&self) -> Vec<String> {
        let end = Instant::now() + self.timeout + TIMEOUT;
        let mut connections = locked(&self.log.connections);
        while connections.iter().any(|connection| !connection.has_ended) && Instant::now() < end {
            let woken = self.log.changed.wait_timeout(connections, Duration::from_millis(50));
            connections = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        connections.iter().filter_map(|connection| connection.failure.clone()).collect()
    }

    fn play(scripts: Vec<Script>, timeout: Duration, tls: Option<Arc<ServerConfig>>) -> Result<Self> {
        let log = Arc::new(Log::default());
        let shared = Arc::clone(&log);
        let serve = move |number, wire| {
            shared.open(number);
            let empty = Script::default();
            let script = scripts.get(number).or(scripts.last()).unwrap_or(&empty);
            Player::run(number, wire, script, tls.as_ref(), &shared);
        };
        let listener = Listener::start("script", Ipv4Addr::LOCALHOST.into(), timeout, serve)?;
        Ok(Self { listener, log, timeout })
    }
}

/// The log of a connection.
#[derive(Debug, Default)]
struct ConnectionLog {
    received: Vec<u8>,
    failure: Option<String>,
    has_ended: bool,
}

/// The log of all connections.
#[derive(Debug, Default)]
struct Log {
    connections: Mutex<Vec<ConnectionLog>>,
    changed: Condvar,
}

impl Log {
    fn open(&self, number: usize) {
        let mut connections = locked(&self.connections);
        if connections.len() <= number {
            connections.resize_with(number + 1, ConnectionLog::default);
        }
    }

    fn change(&self, number: usize, change: impl FnOnce(&mut ConnectionLog)) {
        if let Some(connection) = locked(&self.connections).get_mut(number) {
            change(connection);
        }
        self.changed.notify_all();
    }
}

/// Plays a script on one connection.
struct Player<'a> {
    number: usize,
    addr: SocketAddr,
    channel: Option<PlainOrTlsConnection>,
    tls: Option<&'a Arc<ServerConfig>>,
    log: &'a Log,
    /// Bytes that were received, but not yet compared with the script.
    received: Vec<u8>,
    /// The size of pieces; 0 for no limit.
    piece: usize,
}

impl<'a> Player<'a> {
    fn run(
        number: usize,
        wire: TcpConnection,
        script: &Script,
        tls: Option<&'a Arc<ServerConfig>>,
        log: &'a Log,
    ) {
        let Ok(addr) = wire.local_addr() else { return };
        let channel = Some(PlainOrTlsConnection::Plain(wire));
        let mut player = Self { number, addr, channel, tls, log, received: Vec::new(), piece: 0 };
        let mut ending = Ending::Close;
        for (line, step) in script.lines() {
            match player.step(step) {
                Ok(None) => {}
                Ok(Some(last)) => {
                    ending = last;
                    break;
                }
                Err(why) => {
                    player.fail(*line, &why);
                    break;
                }
            }
        }
        log.change(number, |connection| connection.has_ended = true);
        let late = player.channel.map(|channel| channel.end(ending)).unwrap_or_default();
        log.change(number, |connection| connection.received.extend_from_slice(&late));
    }

    /// Plays one step. Returns an ending if the script ends.
    fn step(&mut self, step: &Step) -> Result<Option<Ending>> {
        match step {
            Step::Close => return Ok(Some(Ending::Close)),
            Step::Eof => self.expect_end()?,
            Step::Expect(bytes) => self.expect(bytes)?,
            Step::Fin => return Ok(Some(Ending::Fin)),
            Step::Line => self.expect_line()?,
            Step::Reset => return Ok(Some(Ending::Reset)),
            Step::Send(bytes) => self.send(bytes)?,
            Step::Split(size) => self.piece = *size,
            Step::Stall(length) => self.channel()?.pause(*length)?,
            Step::Tls => self.start_tls()?,
        }
        Ok(None)
    }

    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        let bytes = with_address(bytes, self.addr);
        let piece = self.piece;
        match piece {
            0 => self.channel()?.send(&bytes),
            _ => self.channel()?.send_pieces(&bytes, piece, BETWEEN_PIECES),
        }
    }

    fn expect(&mut self, expected: &[u8]) -> Result<()> {
        while self.received.len() < expected.len() && expected.starts_with(&self.received) {
            if !self.receive()? {
                break;
            }
        }
        if self.received.starts_with(expected) {
            self.received.drain(..expected.len());
            return Ok(());
        }
        let actual = match self.received.as_slice() {
            [] => "the end of the connection".to_owned(),
            received => format!("\"{}\"", received.escape_ascii()),
        };
        Err(Error::other(format!("expected \"{}\", got {actual}", expected.escape_ascii())))
    }

    fn expect_line(&mut self) -> Result<()> {
        loop {
            if take_line(&mut self.received).is_some() {
                return Ok(());
            }
            if !self.receive()? {
                return Err(Error::other("expected a line, got the end of the connection"));
            }
        }
    }

    fn expect_end(&mut self) -> Result<()> {
        while self.received.is_empty() && self.receive()? {}
        match self.received.as_slice() {
            [] => Ok(()),
            received => Err(Error::other(format!("expected the end, got \"{}\"", received.escape_ascii()))),
        }
    }

    /// Receives bytes. Returns `false` at the end of the client's data.
    fn receive(&mut self) -> Result<bool> {
        let bytes = match self.channel()?.receive() {
            // A reset is an end of the connection, too.
            Err(e) if e.kind() == ErrorKind::ConnectionReset => Vec::new(),
            other => other?,
        };
        self.log.change(self.number, |connection| connection.received.extend_from_slice(&bytes));
        self.received.extend_from_slice(&bytes);
        Ok(!bytes.is_empty())
    }

    fn start_tls(&mut self) -> Result<()> {
        let config = self.tls.ok_or_else(|| Error::other("@tls needs start_with_cert"))?;
        let plain = self.channel.take().ok_or_else(no_channel)?;
        self.channel = Some(plain.start_tls(config)?);
        Ok(())
    }

    fn channel(&mut self) -> Result<&mut PlainOrTlsConnection> {
        self.channel.as_mut().ok_or_else(no_channel)
    }

    fn fail(&self, line: usize, why: &Error) {
        if why.kind() != ErrorKind::ConnectionAborted {
            let text = format!("connection {}, line {line}: {why}", self.number + 1);
            self.log.change(self.number, |connection| connection.failure = Some(text));
        }
    }
}

fn no_channel() -> Error {
    Error::other("no connection: starting TLS failed")
}

/// Replaces `{port}` and `{pasv}` by the address of the server.
fn with_address(bytes: &[u8], addr: SocketAddr) -> Vec<u8> {
    let port = addr.port();
    let host = addr.ip().to_string().replace('.', ",");
    let pasv = format!("{host},{},{}", port >> 8, port & 0xff);
    let bytes = replace_all(bytes, b"{port}", port.to_string().as_bytes());
    replace_all(&bytes, b"{pasv}", pasv.as_bytes())
}

#[cfg(test)]
#[path = "script_server_tests.rs"]
mod tests;
