//! Plays a script on two listening sockets of 127.0.0.1, and logs each connection.

use std::cell::RefCell;
use std::io::Result;
use std::rc::Rc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::script::{Script, Step};

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum End {
    /// The script has not come to its end; the client closed the connection, or the run is over.
    Client,
    Closed,
    Reset,
}

/// A connection: the bytes in both directions, and its end.
#[derive(Clone, Debug)]
pub(super) struct ConnectionLog {
    /// The client connected to the second listener.
    pub(super) is_second: bool,
    pub(super) received: Vec<u8>,
    pub(super) sent: Vec<u8>,
    pub(super) end: End,
}

/// The connections in the order in which they were accepted.
pub(super) type Log = Rc<RefCell<Vec<ConnectionLog>>>;

/// The ports of the two listeners.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ports {
    pub(super) first: u16,
    pub(super) second: u16,
}

/// Two listening sockets, for one server after the other.
#[derive(Debug)]
pub(super) struct Listeners([std::net::TcpListener; 2]);

impl Listeners {
    pub(super) fn bind() -> Result<Self> {
        let bind = || -> Result<_> {
            let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
            listener.set_nonblocking(true)?;
            Ok(listener)
        };
        Ok(Self([bind()?, bind()?]))
    }

    fn ports(&self) -> Ports {
        let [first, second] =
            [0, 1].map(|number| self.0[number].local_addr().map_or(0, |address| address.port()));
        Ports { first, second }
    }

    fn open(&self) -> Result<[TcpListener; 2]> {
        let open = |number: usize| TcpListener::from_std(self.0[number].try_clone()?);
        Ok([open(0)?, open(1)?])
    }

    /// Closes connections that no server has accepted.
    pub(super) fn drop_waiting(&self) {
        for listener in &self.0 {
            while listener.accept().is_ok() {}
        }
    }
}

/// A running server. Its connections end when it is dropped.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) ports: Ports,
    pub(super) log: Log,
    _tasks: JoinSet<()>,
}

impl Peer {
    /// Starts to play `script`. Must be called within a `LocalSet`.
    pub(super) fn start(script: &Script, listeners: &Listeners) -> Self {
        let (ports, listeners) = (listeners.ports(), listeners.open().expect("two listeners"));
        let (log, mut tasks) = (Log::default(), JoinSet::new());
        let scripts = [script.first.clone(), script.second.clone()];
        for (number, (listener, script)) in listeners.into_iter().zip(scripts).enumerate() {
            tasks.spawn_local(accept_all(listener, number == 1, script, ports, Rc::clone(&log)));
        }
        Self { ports, log, _tasks: tasks }
    }
}

async fn accept_all(listener: TcpListener, is_second: bool, script: Vec<Vec<Step>>, ports: Ports, log: Log) {
    let (mut connections, mut script) = (JoinSet::new(), script.into_iter());
    while let Ok((stream, _)) = listener.accept().await {
        // A small reply would wait for the acknowledgement of the one before it, longer than the client waits.
        stream.set_nodelay(true).expect("a socket");
        let number = log.borrow().len();
        let (received, sent) = Default::default();
        log.borrow_mut().push(ConnectionLog { is_second, received, sent, end: End::Client });
        let steps = script.next().unwrap_or_default();
        let player = Player { stream, number, unread: 0, lines: 0, ports, log: Rc::clone(&log) };
        connections.spawn_local(player.play(steps));
    }
}

/// Plays the steps of one connection.
struct Player {
    stream: TcpStream,
    number: usize,
    /// Received bytes that no step has waited for.
    unread: usize,
    /// Received lines that no step has waited for.
    lines: usize,
    ports: Ports,
    log: Log,
}

impl Player {
    async fn play(mut self, steps: Vec<Step>) {
        let mut end = End::Closed;
        for step in steps {
            let is_alive = match step {
                Step::Send(bytes) => self.send(&bytes).await,
                Step::SendAfterBytes(bytes) => {
                    let is_alive = self.unread > 0 || self.receive().await;
                    self.unread = 0;
                    is_alive && self.send(&bytes).await
                }
                Step::SendAfterLine(bytes) => self.wait_for_line().await && self.send(&bytes).await,
                Step::Pause(time) => {
                    tokio::time::sleep(time).await;
                    true
                }
                Step::Close => break,
                Step::Reset => {
                    end = End::Reset;
                    break;
                }
            };
            if !is_alive {
                return;
            }
        }
        self.log.borrow_mut()[self.number].end = end;
        self.end(end).await;
    }

    async fn end(&mut self, end: End) {
        if end == End::Reset {
            // Closing resets the connection.
            self.stream.set_zero_linger().expect("a socket");
            return;
        }
        // Unread bytes would turn the close into a reset, so the client closes first, or the run ends.
        if self.stream.shutdown().await.is_ok() {
            while self.receive().await {}
        }
    }

    async fn wait_for_line(&mut self) -> bool {
        while self.lines == 0 {
            if !self.receive().await {
                return false;
            }
        }
        self.lines -= 1;
        true
    }

    /// Receives bytes. Returns `false` at the end of the connection.
    async fn receive(&mut self) -> bool {
        let mut buffer = [0; 4096];
        let Ok(length @ 1..) = self.stream.read(&mut buffer).await else { return false };
        self.unread += length;
        self.lines += buffer[..length].iter().filter(|byte| **byte == b'\n').count();
        self.log.borrow_mut()[self.number].received.extend_from_slice(&buffer[..length]);
        true
    }

    async fn send(&mut self, bytes: &[u8]) -> bool {
        let bytes = with_addresses(bytes, self.ports);
        // Logged before it is written: the client may read it before this task continues.
        self.log.borrow_mut()[self.number].sent.extend_from_slice(&bytes);
        let is_sent = self.stream.write_all(&bytes).await.is_ok();
        // The client reads before the next step.
        tokio::task::yield_now().await;
        is_sent
    }
}

fn with_addresses(bytes: &[u8], Ports { first, second }: Ports) -> Vec<u8> {
    let pasv = format!("127,0,0,1,{},{}", second >> 8, second & 0xff);
    let bytes = replace(bytes, b"{pasv}", pasv.as_bytes());
    let bytes = replace(&bytes, b"{port}", second.to_string().as_bytes());
    replace(&bytes, b"{main}", first.to_string().as_bytes())
}

fn replace(bytes: &[u8], name: &[u8], value: &[u8]) -> Vec<u8> {
    let (mut replaced, mut rest) = (Vec::new(), bytes);
    while let Some((&byte, after)) = rest.split_first() {
        if let Some(after) = rest.strip_prefix(name) {
            replaced.extend_from_slice(value);
            rest = after;
        } else {
            replaced.push(byte);
            rest = after;
        }
    }
    replaced
}
