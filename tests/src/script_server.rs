//! A loopback server that plays transcripts and notes where the client departed from them.

use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustls::ServerConfig;

use crate::cert::ServerCert;
use crate::channel::{Channel, End};
use crate::listener::{Listener, locked};
use crate::script::{Script, Step};
use crate::wire::Wire;

/// The longest wait for a client.
const PATIENCE: Duration = Duration::from_secs(5);
/// Between two pieces of `@split`, so that they arrive as two.
const BETWEEN_PIECES: Duration = Duration::from_micros(100);

/// The server. The n-th connection plays the n-th script, and the last script again when there are no more.
#[derive(Debug)]
pub struct ScriptServer {
    listener: Listener,
    record: Arc<Record>,
    patience: Duration,
}

impl ScriptServer {
    /// Starts a server that waits at most 5 seconds for each thing the client must do.
    pub fn start(scripts: Vec<Script>) -> Result<Self> {
        Self::play(scripts, PATIENCE, None)
    }

    /// Starts a server with another longest wait.
    pub fn start_with_patience(scripts: Vec<Script>, patience: Duration) -> Result<Self> {
        Self::play(scripts, patience, None)
    }

    /// Starts a server whose scripts may say `@tls`.
    pub fn start_with_cert(scripts: Vec<Script>, cert: &ServerCert) -> Result<Self> {
        Self::play(scripts, PATIENCE, Some(cert.server_config()?))
    }

    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.listener.addr()
    }

    /// The octets received so far (under TLS: decrypted), one entry per connection.
    #[must_use]
    pub fn seen(&self) -> Vec<Vec<u8>> {
        locked(&self.record.plays).iter().map(|play| play.seen.clone()).collect()
    }

    /// Where the clients departed from the scripts. Waits, within the limit, until every connection is played
    /// to its end.
    #[must_use]
    pub fn failures(&self) -> Vec<String> {
        let end = Instant::now() + self.patience + PATIENCE;
        let mut plays = locked(&self.record.plays);
        while plays.iter().any(|play| !play.ended) && Instant::now() < end {
            let woken = self.record.change.wait_timeout(plays, Duration::from_millis(50));
            plays = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        plays.iter().filter_map(|play| play.failure.clone()).collect()
    }

    fn play(scripts: Vec<Script>, patience: Duration, tls: Option<Arc<ServerConfig>>) -> Result<Self> {
        let record = Arc::new(Record::default());
        let notes = Arc::clone(&record);
        let listener = Listener::start(patience, move |number, wire| {
            notes.open(number);
            let empty = Script::default();
            let script = scripts.get(number).or(scripts.last()).unwrap_or(&empty);
            Player::run(number, wire, script, tls.as_ref(), &notes);
        })?;
        Ok(Self { listener, record, patience })
    }
}

/// What is known of one connection.
#[derive(Debug, Default)]
struct Play {
    seen: Vec<u8>,
    failure: Option<String>,
    ended: bool,
}

/// What is known of all connections.
#[derive(Debug, Default)]
struct Record {
    plays: Mutex<Vec<Play>>,
    change: Condvar,
}

impl Record {
    fn open(&self, number: usize) {
        let mut plays = locked(&self.plays);
        if plays.len() <= number {
            plays.resize_with(number + 1, Play::default);
        }
    }

    fn change(&self, number: usize, change: impl FnOnce(&mut Play)) {
        if let Some(play) = locked(&self.plays).get_mut(number) {
            change(play);
        }
        self.change.notify_all();
    }
}

/// One connection at play.
struct Player<'a> {
    number: usize,
    addr: SocketAddr,
    channel: Option<Channel>,
    tls: Option<&'a Arc<ServerConfig>>,
    record: &'a Record,
    /// Received, not yet compared.
    inbox: Vec<u8>,
    piece: usize,
}

impl<'a> Player<'a> {
    fn run(
        number: usize,
        wire: Wire,
        script: &Script,
        tls: Option<&'a Arc<ServerConfig>>,
        record: &'a Record,
    ) {
        let Ok(addr) = wire.local_addr() else { return };
        let channel = Some(Channel::Plain(wire));
        let mut player = Self { number, addr, channel, tls, record, inbox: Vec::new(), piece: 0 };
        let mut end = End::Close;
        for (line, step) in script.lines() {
            match player.step(step) {
                Ok(None) => {}
                Ok(Some(how)) => {
                    end = how;
                    break;
                }
                Err(why) => {
                    player.fail(*line, &why);
                    break;
                }
            }
        }
        record.change(number, |play| play.ended = true);
        let late = player.channel.map(|channel| channel.end(end)).unwrap_or_default();
        record.change(number, |play| play.seen.extend_from_slice(&late));
    }

    /// Plays one step; an `End` ends the script.
    fn step(&mut self, step: &Step) -> Result<Option<End>> {
        match step {
            Step::Close => return Ok(Some(End::Close)),
            Step::Eof => self.expect_end()?,
            Step::Expect(octets) => self.expect(octets)?,
            Step::Fin => return Ok(Some(End::Fin)),
            Step::Line => self.expect_line()?,
            Step::Reset => return Ok(Some(End::Reset)),
            Step::Send(octets) => self.send(octets)?,
            Step::Split(size) => self.piece = *size,
            Step::Stall(length) => self.channel()?.pause(*length)?,
            Step::Tls => self.secure()?,
        }
        Ok(None)
    }

    fn send(&mut self, octets: &[u8]) -> Result<()> {
        let octets = with_address(octets, self.addr);
        let piece = self.piece;
        match piece {
            0 => self.channel()?.send(&octets),
            _ => self.channel()?.send_pieces(&octets, piece, BETWEEN_PIECES),
        }
    }

    fn expect(&mut self, expected: &[u8]) -> Result<()> {
        while self.inbox.len() < expected.len() && expected.starts_with(&self.inbox) {
            if !self.hear()? {
                break;
            }
        }
        if self.inbox.starts_with(expected) {
            self.inbox.drain(..expected.len());
            return Ok(());
        }
        let came = match self.inbox.as_slice() {
            [] => "the end of the connection".to_owned(),
            inbox => format!("\"{}\"", inbox.escape_ascii()),
        };
        Err(Error::other(format!("expected \"{}\", got {came}", expected.escape_ascii())))
    }

    fn expect_line(&mut self) -> Result<()> {
        loop {
            if let Some(end) = self.inbox.iter().position(|octet| *octet == b'\n') {
                self.inbox.drain(..=end);
                return Ok(());
            }
            if !self.hear()? {
                return Err(Error::other("expected a line, got the end of the connection"));
            }
        }
    }

    fn expect_end(&mut self) -> Result<()> {
        while self.inbox.is_empty() && self.hear()? {}
        match self.inbox.as_slice() {
            [] => Ok(()),
            inbox => Err(Error::other(format!("expected the end, got \"{}\"", inbox.escape_ascii()))),
        }
    }

    /// Receives something; false at the client's end.
    fn hear(&mut self) -> Result<bool> {
        let octets = match self.channel()?.receive() {
            // A client that closes with RST, or without close_notify, has closed as well.
            Err(e) if matches!(e.kind(), ErrorKind::ConnectionReset | ErrorKind::UnexpectedEof) => Vec::new(),
            other => other?,
        };
        self.record.change(self.number, |play| play.seen.extend_from_slice(&octets));
        self.inbox.extend_from_slice(&octets);
        Ok(!octets.is_empty())
    }

    fn secure(&mut self) -> Result<()> {
        let config = self.tls.ok_or_else(|| Error::other("@tls needs start_with_cert"))?;
        let plain = self.channel.take().ok_or_else(no_channel)?;
        self.channel = Some(plain.secured(config)?);
        Ok(())
    }

    fn channel(&mut self) -> Result<&mut Channel> {
        self.channel.as_mut().ok_or_else(no_channel)
    }

    fn fail(&self, line: usize, why: &Error) {
        if why.kind() != ErrorKind::ConnectionAborted {
            let text = format!("connection {}, line {line}: {why}", self.number + 1);
            self.record.change(self.number, |play| play.failure = Some(text));
        }
    }
}

fn no_channel() -> Error {
    Error::other("no connection: the change to TLS failed")
}

/// Puts the server's own address for `{port}` and `{pasv}`.
fn with_address(octets: &[u8], addr: SocketAddr) -> Vec<u8> {
    let port = addr.port();
    let host = addr.ip().to_string().replace('.', ",");
    let pasv = format!("{host},{},{}", port >> 8, port & 0xff);
    let octets = replaced(octets, b"{port}", port.to_string().as_bytes());
    replaced(&octets, b"{pasv}", pasv.as_bytes())
}

fn replaced(octets: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(octets.len());
    let mut rest = octets;
    while let Some(at) = rest.windows(from.len()).position(|window| window == from) {
        result.extend_from_slice(&rest[..at]);
        result.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    result.extend_from_slice(rest);
    result
}

#[cfg(test)]
#[path = "script_server_tests.rs"]
mod tests;
