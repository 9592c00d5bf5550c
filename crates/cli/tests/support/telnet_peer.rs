//! The other end of a telnet session: a socket that says and reads what a test wants, octet for octet.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use crate::support::{Ran, command};

// Commands (RFC 854) and the option TIMING-MARK (RFC 860).
pub(crate) const IAC: u8 = 255;
pub(crate) const DONT: u8 = 254;
pub(crate) const DO: u8 = 253;
pub(crate) const WONT: u8 = 252;
pub(crate) const WILL: u8 = 251;
pub(crate) const TIMING_MARK: u8 = 6;

/// The longest wait for a client.
const PATIENCE: Duration = Duration::from_secs(8);
/// Between two pieces, so that they arrive as two.
const BETWEEN_PIECES: Duration = Duration::from_micros(200);

/// A server that plays the same with everybody. It stops when dropped.
pub(crate) struct Peer {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<u8>>>,
    sessions: Arc<AtomicUsize>,
    sent: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Peer {
    /// Starts it. When `play` returns, the server closes and reads what the client still says.
    pub(crate) fn start(play: impl Fn(&mut Line) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let (seen, sessions) = (Arc::<Mutex<Vec<u8>>>::default(), Arc::<AtomicUsize>::default());
        let (over, sent) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let shared = (Arc::clone(&seen), Arc::clone(&sessions), Arc::clone(&over), Arc::clone(&sent));
        let thread = thread::spawn(move || {
            let (seen, sessions, over, sent) = shared;
            for stream in listener.incoming() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(stream) = stream else { return };
                sessions.fetch_add(1, Ordering::SeqCst);
                stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
                stream.set_write_timeout(Some(PATIENCE)).expect("a limit");
                stream.set_nodelay(true).expect("an option");
                let (seen, sent) = (Arc::clone(&seen), Arc::clone(&sent));
                let mut line = Line { stream, seen, sent, inbox: Vec::new(), is_cut: false };
                play(&mut line);
                if line.is_cut {
                    continue;
                }
                let _ = line.stream.shutdown(Shutdown::Write);
                line.read_all();
            }
        });
        Self { address, seen, sessions, sent, over, thread: Some(thread) }
    }

    pub(crate) fn url(&self) -> String {
        format!("telnet://{}/", self.address)
    }

    /// The URL with user and password in it.
    pub(crate) fn url_with(&self, login: &str) -> String {
        format!("telnet://{login}@{}/", self.address)
    }

    /// How many have come.
    pub(crate) fn sessions(&self) -> usize {
        self.sessions.load(Ordering::SeqCst)
    }

    /// How many octets were said.
    pub(crate) fn sent(&self) -> usize {
        self.sent.load(Ordering::SeqCst)
    }

    /// All that was heard.
    pub(crate) fn seen(&self) -> Vec<u8> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // Wakes the listener; a session that still plays ends by its limit, and nobody waits for it.
        let _ = TcpStream::connect(self.address);
        drop(self.thread.take());
    }
}

/// One session, from the server's side.
pub(crate) struct Line {
    stream: TcpStream,
    seen: Arc<Mutex<Vec<u8>>>,
    sent: Arc<AtomicUsize>,
    /// Heard, and not looked for yet.
    inbox: Vec<u8>,
    is_cut: bool,
}

impl Line {
    /// Says this; a client that is gone is no failure.
    pub(crate) fn send(&mut self, octets: &[u8]) {
        self.sends(octets);
    }

    /// Says this; whether the client is still there.
    pub(crate) fn sends(&mut self, octets: &[u8]) -> bool {
        let is_sent = self.stream.write_all(octets).is_ok();
        self.sent.fetch_add(octets.len(), Ordering::SeqCst);
        is_sent
    }

    /// Says this in pieces of a size; 0 is whole.
    pub(crate) fn send_pieces(&mut self, octets: &[u8], size: usize) {
        if size == 0 {
            return self.send(octets);
        }
        for piece in octets.chunks(size) {
            self.send(piece);
            sleep(BETWEEN_PIECES);
        }
    }

    /// Asks how far the client is (DO TIMING-MARK) and waits for the answer: all that was said is read.
    pub(crate) fn sync(&mut self) {
        self.send(&[IAC, DO, TIMING_MARK]);
        self.wait_for(&[IAC, WONT, TIMING_MARK]);
    }

    /// Waits until the client has said this.
    pub(crate) fn wait_for(&mut self, octets: &[u8]) {
        let mut from = 0;
        loop {
            if let Some(at) = self.inbox[from..].windows(octets.len()).position(|window| window == octets) {
                self.inbox.drain(..from + at + octets.len());
                return;
            }
            from = (self.inbox.len() + 1).saturating_sub(octets.len());
            if !self.hear() {
                return;
            }
        }
    }

    /// Waits until the client is gone, but not for longer than this.
    pub(crate) fn read_for(&mut self, limit: Duration) {
        let end = Instant::now() + limit;
        while let Some(left) = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            self.stream.set_read_timeout(Some(left)).expect("a limit");
            if !self.hear() {
                break;
            }
        }
        self.stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
    }

    /// Waits until so many octets have come.
    pub(crate) fn read(&mut self, count: usize) {
        while self.inbox.len() < count && self.hear() {}
    }

    /// Waits for a line: what stands before its end.
    pub(crate) fn read_line(&mut self) -> String {
        loop {
            if let Some(at) = self.inbox.windows(2).position(|window| window == b"\r\n") {
                let line: Vec<u8> = self.inbox.drain(..at + 2).take(at).collect();
                return String::from_utf8_lossy(&line).into_owned();
            }
            if !self.hear() {
                return String::new();
            }
        }
    }

    /// Has the client answer something and ends without reading it, which makes the end a RST.
    pub(crate) fn cut(&mut self) {
        self.send(&[IAC, DO, TIMING_MARK]);
        sleep(Duration::from_millis(100));
        self.is_cut = true;
    }

    /// Takes what is there and forgets it, waiting for nothing.
    pub(crate) fn skim(&mut self) {
        let _ = self.stream.set_nonblocking(true);
        let mut buffer = [0; 65536];
        while matches!(self.stream.read(&mut buffer), Ok(1..)) {}
        let _ = self.stream.set_nonblocking(false);
    }

    /// Waits until the client is gone.
    pub(crate) fn read_all(&mut self) {
        while self.hear() {
            self.inbox.clear();
        }
    }

    fn hear(&mut self) -> bool {
        let mut buffer = [0; 8192];
        let count = self.stream.read(&mut buffer).unwrap_or(0);
        self.inbox.extend_from_slice(&buffer[..count]);
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&buffer[..count]);
        count > 0
    }
}

/// These verbs and options as octets.
pub(crate) fn answers(parts: &[(u8, u8)]) -> Vec<u8> {
    parts.iter().flat_map(|&(verb, option)| [IAC, verb, option]).collect()
}

/// A session with this on standard input, which then ends.
pub(crate) fn talk(input: &[u8], options: &[&str], url: &str) -> Ran {
    let mut command = command();
    command.args(["--retry", "0", "--connect"]).args(options).arg(url);
    let mut command = assert_cmd::Command::from_std(command);
    let output =
        command.write_stdin(input).timeout(Duration::from_secs(20)).output().expect("it can be started");
    Ran {
        exit: output.status.code().unwrap_or(-1),
        signal: None,
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
