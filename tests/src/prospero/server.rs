//! A Prospero server on loopback that imitates dirsrv. It follows the protocol, except for
//! the rules of its [`ProsperoConfig`].

use std::fmt;
use std::io::Result;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};

use crate::prospero::config::ProsperoConfig;
use crate::prospero::header::ProsperoDatagram;
use crate::prospero::host::{Addresses, OTHER_ADDRESS, ProsperoHost};
use crate::prospero::rule::{ProsperoAction, ProsperoTrigger};
use crate::prospero::socket_handler::SocketHandler;
use crate::prospero::token::lines;
use crate::reserved_port::ReservedPort;
use crate::server::running_server::{Service, Shared};
use crate::server::text::percent_encode;

/// Number of further ports to try if the UDP port of a free TCP port is taken.
const MAX_BIND_ATTEMPTS: u32 = 100;

/// A Prospero server. It stops when dropped.
pub struct ProsperoServer {
    shared: Arc<Shared<ProsperoService>>,
    threads: Vec<JoinHandle<()>>,
    /// Nothing listens at the TCP port of this number, to which access methods without a host lead.
    _closed_port: ReservedPort,
}

/// The state that the threads of a server share. Each socket has its own thread.
pub(crate) struct ProsperoService {
    pub(crate) config: ProsperoConfig,
    pub(crate) addresses: Addresses,
    pub(crate) sockets: Sockets,
    pub(crate) stop: AtomicBool,
}

/// The socket of the server, and two that serve the same objects without rules.
pub(crate) struct Sockets {
    own: UdpSocket,
    port: Option<UdpSocket>,
    address: Option<UdpSocket>,
}

/// Log entries other than requests.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) datagrams: Vec<ProsperoDatagram>,
    pub(crate) datagrams_sent: usize,
}

impl Service for ProsperoService {
    type Trigger = ProsperoTrigger;
    type Action = ProsperoAction;
    /// The text of a request.
    type Request = Vec<u8>;
    type Counters = Counters;
}

impl ProsperoServer {
    /// Starts a server for prospero URLs. [`ProsperoHost::OtherAddress`] is missing on systems without a second
    /// loopback address.
    pub fn start(mut config: ProsperoConfig) -> Result<Self> {
        let bind = |address| UdpSocket::bind((address, 0));
        let (own, closed_port) = bind_with_closed_tcp_port()?;
        let sockets =
            Sockets { own, port: Some(bind(Ipv4Addr::LOCALHOST)?), address: bind(OTHER_ADDRESS).ok() };
        let here = sockets.own.local_addr()?;
        let addr = |socket: &Option<UdpSocket>| socket.as_ref().and_then(|socket| socket.local_addr().ok());
        let (other_port, other_address) = (addr(&sockets.port), addr(&sockets.address));
        let addresses = Addresses { here, other_port, other_address, name: config.name.clone() };
        let rules = std::mem::take(&mut config.rules);
        let service = ProsperoService { config, addresses, sockets, stop: AtomicBool::new(false) };
        let shared = Arc::new(Shared::new(service, rules));
        let mut server = Self { shared, threads: Vec::new(), _closed_port: closed_port };
        for host in [ProsperoHost::Here, ProsperoHost::OtherPort, ProsperoHost::OtherAddress] {
            let shared = Arc::clone(&server.shared);
            let run = move || SocketHandler::new(&shared, host).run();
            server.threads.push(Builder::new().name("prospero".to_owned()).spawn(run)?);
        }
        Ok(server)
    }

    /// Returns the address of the server.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.shared.addresses.here
    }

    /// Returns the address of the other server with the same objects and without rules, see
    /// [`ProsperoHost::OtherPort`].
    #[must_use]
    pub fn other_addr(&self) -> Option<SocketAddr> {
        self.shared.addresses.other_port
    }

    /// Returns the URL of a path without the slash after the host: `/srv/x` for the object `/srv/x`.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("prospero://{}/{path}", self.addr())
    }

    /// Returns the URL of an object.
    #[must_use]
    pub fn object_url(&self, hsoname: &[u8]) -> String {
        self.url(&percent_encode(hsoname, b".-_/"))
    }

    /// Returns the text of every request in the order of arrival. Repetitions are not included.
    #[must_use]
    pub fn requests(&self) -> Vec<Vec<u8>> {
        self.shared.requests()
    }

    /// Returns the lines of all requests as text.
    #[must_use]
    pub fn received_text(&self) -> Vec<String> {
        let line = |line: &[u8]| line.strip_suffix(b"\n").unwrap_or(line).escape_ascii().to_string();
        let lines_of = |request: &Vec<u8>| lines(request).into_iter().map(line).collect::<Vec<_>>();
        self.requests().iter().flat_map(lines_of).map(|line| line.replace("\\'", "'")).collect()
    }

    /// Returns every received datagram, including repetitions and acknowledgements.
    #[must_use]
    pub fn datagrams(&self) -> Vec<ProsperoDatagram> {
        self.shared.read_log(|log| log.counters.datagrams.clone())
    }

    /// Returns the number of sent datagrams.
    #[must_use]
    pub fn datagrams_sent(&self) -> usize {
        self.shared.read_log(|log| log.counters.datagrams_sent)
    }

    /// Disables all rules. From now on the server follows the protocol.
    pub fn disable_rules(&self) {
        self.shared.rules().disable();
    }
}

impl Drop for ProsperoServer {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        // The threads sleep in `recv_from` until this datagram wakes them.
        let addresses = &self.shared.addresses;
        let all = [Some(addresses.here), addresses.other_port, addresses.other_address];
        for addr in all.into_iter().flatten() {
            let _ = UdpSocket::bind((addr.ip(), 0)).and_then(|socket| socket.send_to(&[], addr));
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Binds a UDP socket whose port is reserved for TCP, too.
fn bind_with_closed_tcp_port() -> Result<(UdpSocket, ReservedPort)> {
    let mut attempts = 0;
    loop {
        let closed = ReservedPort::tcp()?;
        match UdpSocket::bind(closed.addr()) {
            Ok(socket) => return Ok((socket, closed)),
            Err(error) if attempts == MAX_BIND_ATTEMPTS => return Err(error),
            // Another program has the UDP port.
            Err(_) => attempts += 1,
        }
    }
}

impl fmt::Debug for ProsperoServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProsperoServer").field("url", &self.url("")).finish_non_exhaustive()
    }
}

impl Sockets {
    /// Returns the socket of a host, if it belongs to this server.
    pub(crate) fn of(&self, host: &ProsperoHost) -> Option<&UdpSocket> {
        match host {
            ProsperoHost::Here => Some(&self.own),
            ProsperoHost::OtherPort => self.port.as_ref(),
            ProsperoHost::OtherAddress => self.address.as_ref(),
            ProsperoHost::Named(_) | ProsperoHost::At(_) => None,
        }
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
