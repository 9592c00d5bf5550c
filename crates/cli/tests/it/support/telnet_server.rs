//! A scripted Telnet server: a test decides which bytes it sends and receives.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use crate::support::{RunResult, fetch_url_command};

// Commands (RFC 854) and the option TIMING-MARK (RFC 860).
pub(crate) const IAC: u8 = 255;
pub(crate) const DONT: u8 = 254;
pub(crate) const DO: u8 = 253;
pub(crate) const WONT: u8 = 252;
pub(crate) const WILL: u8 = 251;
pub(crate) const TIMING_MARK: u8 = 6;

/// Maximum wait for data from or to a client.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(8);
/// The pause between two chunks, so that they arrive as separate segments.
const CHUNK_PAUSE: Duration = Duration::from_micros(200);

/// A Telnet server on loopback that runs the same script in every session. It stops when it is dropped.
pub(crate) struct TelnetServer {
    address: SocketAddr,
    received_bytes: Arc<Mutex<Vec<u8>>>,
    sessions: Arc<AtomicUsize>,
    sent: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl TelnetServer {
    /// Starts the server. When `script` returns, the server closes its side and reads until the client closes.
    pub(crate) fn start(script: impl Fn(&mut TelnetConnection) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let (received_bytes, sessions) = (Arc::<Mutex<Vec<u8>>>::default(), Arc::<AtomicUsize>::default());
        let (over, sent) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let shared =
            (Arc::clone(&received_bytes), Arc::clone(&sessions), Arc::clone(&over), Arc::clone(&sent));
        let thread = thread::spawn(move || {
            let (received_bytes, sessions, over, sent) = shared;
            for stream in listener.incoming() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(stream) = stream else { return };
                sessions.fetch_add(1, Ordering::SeqCst);
                stream.set_read_timeout(Some(CLIENT_TIMEOUT)).expect("a limit");
                stream.set_write_timeout(Some(CLIENT_TIMEOUT)).expect("a limit");
                stream.set_nodelay(true).expect("an option");
                let (received_bytes, sent) = (Arc::clone(&received_bytes), Arc::clone(&sent));
                let mut connection =
                    TelnetConnection { stream, received_bytes, sent, buffer: Vec::new(), is_reset: false };
                script(&mut connection);
                if connection.is_reset {
                    continue;
                }
                let _ = connection.stream.shutdown(Shutdown::Write);
                connection.receive_to_end();
            }
        });
        Self { address, received_bytes, sessions, sent, over, thread: Some(thread) }
    }

    /// Returns the URL of the server.
    pub(crate) fn url(&self) -> String {
        format!("telnet://{}/", self.address)
    }

    /// Returns the URL of the server with `login` (`user` or `user:password`) in it.
    pub(crate) fn url_with_login(&self, login: &str) -> String {
        format!("telnet://{login}@{}/", self.address)
    }

    /// Returns the number of sessions so far.
    pub(crate) fn session_count(&self) -> usize {
        self.sessions.load(Ordering::SeqCst)
    }

    /// Returns the number of bytes that the server sent in all sessions.
    pub(crate) fn bytes_sent(&self) -> usize {
        self.sent.load(Ordering::SeqCst)
    }

    /// Returns all bytes that the server received in all sessions.
    pub(crate) fn received(&self) -> Vec<u8> {
        self.received_bytes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for TelnetServer {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // Wakes the listener. A session that is still running ends at its timeout; the thread is not joined.
        let _ = TcpStream::connect(self.address);
        drop(self.thread.take());
    }
}

/// One Telnet session, as the server sees it.
pub(crate) struct TelnetConnection {
    stream: TcpStream,
    received_bytes: Arc<Mutex<Vec<u8>>>,
    sent: Arc<AtomicUsize>,
    /// Bytes that were received but not yet consumed by the script.
    buffer: Vec<u8>,
    is_reset: bool,
}

impl TelnetConnection {
    /// Sends bytes; a client that has disconnected is not an error.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.try_send(bytes);
    }

    /// Sends bytes. Returns `false` if the client has disconnected.
    pub(crate) fn try_send(&mut self, bytes: &[u8]) -> bool {
        let is_sent = self.stream.write_all(bytes).is_ok();
        self.sent.fetch_add(bytes.len(), Ordering::SeqCst);
        is_sent
    }

    /// Sends bytes in chunks of `size` bytes, or all at once if `size` is 0.
    pub(crate) fn send_in_chunks(&mut self, bytes: &[u8], size: usize) {
        if size == 0 {
            return self.send(bytes);
        }
        for chunk in bytes.chunks(size) {
            self.send(chunk);
            sleep(CHUNK_PAUSE);
        }
    }

    /// Sends DO TIMING-MARK and waits for the answer; then the client has processed everything that was sent before.
    pub(crate) fn sync_with_timing_mark(&mut self) {
        self.send(&[IAC, DO, TIMING_MARK]);
        self.wait_for(&[IAC, WONT, TIMING_MARK]);
    }

    /// Waits until the client has sent these bytes, and consumes everything up to their end.
    pub(crate) fn wait_for(&mut self, bytes: &[u8]) {
        let mut from = 0;
        loop {
            if let Some(at) = self.buffer[from..].windows(bytes.len()).position(|window| window == bytes) {
                self.buffer.drain(..from + at + bytes.len());
                return;
            }
            from = (self.buffer.len() + 1).saturating_sub(bytes.len());
            if !self.receive() {
                return;
            }
        }
    }

    /// Receives until the client disconnects, for at most `limit`.
    pub(crate) fn receive_for(&mut self, limit: Duration) {
        let end = Instant::now() + limit;
        while let Some(left) = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            self.stream.set_read_timeout(Some(left)).expect("a limit");
            if !self.receive() {
                break;
            }
        }
        self.stream.set_read_timeout(Some(CLIENT_TIMEOUT)).expect("a limit");
    }

    /// Waits until at least `count` unconsumed bytes were received.
    pub(crate) fn receive_at_least(&mut self, count: usize) {
        while self.buffer.len() < count && self.receive() {}
    }

    /// Waits for a line that ends in CR LF and returns it without them.
    pub(crate) fn read_line(&mut self) -> String {
        loop {
            if let Some(at) = self.buffer.windows(2).position(|window| window == b"\r\n") {
                let line: Vec<u8> = self.buffer.drain(..at + 2).take(at).collect();
                return String::from_utf8_lossy(&line).into_owned();
            }
            if !self.receive() {
                return String::new();
            }
        }
    }

    /// Closes the connection while an answer of the client is unread, so that the client gets a RST.
    pub(crate) fn reset(&mut self) {
        self.send(&[IAC, DO, TIMING_MARK]);
        sleep(Duration::from_millis(100));
        self.is_reset = true;
    }

    /// Discards the bytes that were already received, without waiting for more.
    pub(crate) fn discard_received(&mut self) {
        let _ = self.stream.set_nonblocking(true);
        let mut discarded = [0; 65536];
        while matches!(self.stream.read(&mut discarded), Ok(1..)) {}
        let _ = self.stream.set_nonblocking(false);
    }

    /// Receives and discards bytes until the client disconnects.
    pub(crate) fn receive_to_end(&mut self) {
        while self.receive() {
            self.buffer.clear();
        }
    }

    /// Waits for bytes. Returns `false` if the client has disconnected or the timeout has passed.
    fn receive(&mut self) -> bool {
        let mut chunk = [0; 8192];
        let count = self.stream.read(&mut chunk).unwrap_or(0);
        self.buffer.extend_from_slice(&chunk[..count]);
        self.received_bytes.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&chunk[..count]);
        count > 0
    }
}

/// Returns the Telnet commands `IAC verb option` for these verbs and options.
pub(crate) fn negotiation(parts: &[(u8, u8)]) -> Vec<u8> {
    parts.iter().flat_map(|&(verb, option)| [IAC, verb, option]).collect()
}

/// Runs `fetch-url --connect` with `input` on standard input, for at most 20 seconds.
pub(crate) fn run_session(input: &[u8], options: &[&str], url: &str) -> RunResult {
    let mut command = fetch_url_command();
    command.args(["--retry", "0", "--connect"]).args(options).arg(url);
    let mut command = assert_cmd::Command::from_std(command);
    let output =
        command.write_stdin(input).timeout(Duration::from_secs(20)).output().expect("it can be started");
    RunResult {
        exit: output.status.code().unwrap_or(-1),
        signal: None,
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
