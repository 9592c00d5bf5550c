//! A Prospero server on loopback that answers as dirsrv does unless its [`ProsperoSite`] says otherwise.

use std::fmt;
use std::io::Result;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};

use crate::listener::locked;
use crate::prospero::clerk::Clerk;
use crate::prospero::header::ProsperoDatagram;
use crate::prospero::place::{OTHER_ADDRESS, Places, ProsperoHost};
use crate::prospero::rule::ProsperoAct;
use crate::prospero::site::ProsperoSite;
use crate::prospero::token::lines;

/// The server; it stops when dropped.
pub struct ProsperoServer {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// What the threads of a server have in common: one for each of its sockets.
pub(crate) struct Shared {
    pub(crate) site: ProsperoSite,
    pub(crate) places: Places,
    pub(crate) sockets: Sockets,
    pub(crate) stop: AtomicBool,
    /// From then on no rule holds.
    mended: AtomicBool,
    record: Mutex<Record>,
    /// How often the moment of each rule came.
    counts: Vec<AtomicUsize>,
}

/// Its own socket, and two that serve the same site without rules.
pub(crate) struct Sockets {
    own: UdpSocket,
    port: Option<UdpSocket>,
    address: Option<UdpSocket>,
}

/// What came and went.
#[derive(Default)]
pub(crate) struct Record {
    pub(crate) datagrams: Vec<ProsperoDatagram>,
    pub(crate) requests: Vec<Vec<u8>>,
    pub(crate) datagrams_sent: usize,
}

impl ProsperoServer {
    /// Starts a server for prospero URLs. Not every system has a second address of loopback.
    pub fn start(site: ProsperoSite) -> Result<Self> {
        let bound = |address| UdpSocket::bind((address, 0));
        let own = bound(Ipv4Addr::LOCALHOST)?;
        let sockets =
            Sockets { own, port: Some(bound(Ipv4Addr::LOCALHOST)?), address: bound(OTHER_ADDRESS).ok() };
        let here = sockets.own.local_addr()?;
        let addr = |socket: &Option<UdpSocket>| socket.as_ref().and_then(|socket| socket.local_addr().ok());
        let (other_port, other_address) = (addr(&sockets.port), addr(&sockets.address));
        let places = Places { here, other_port, other_address, name: site.name.clone() };
        let counts = site.rules.iter().map(|_| AtomicUsize::new(0)).collect();
        let (stop, mended) = (AtomicBool::new(false), AtomicBool::new(false));
        let shared = Shared { site, places, sockets, stop, mended, record: Mutex::default(), counts };
        let mut server = Self { shared: Arc::new(shared), threads: Vec::new() };
        for place in [ProsperoHost::Here, ProsperoHost::OtherPort, ProsperoHost::OtherAddress] {
            let shared = Arc::clone(&server.shared);
            let run = move || Clerk::new(&shared, place).run();
            server.threads.push(Builder::new().name("prospero".to_owned()).spawn(run)?);
        }
        Ok(server)
    }

    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.shared.places.here
    }

    /// Where another server for the same site listens, for which no rule holds: see [`ProsperoHost::OtherPort`].
    #[must_use]
    pub fn other_addr(&self) -> Option<SocketAddr> {
        self.shared.places.other_port
    }

    /// The URL of what stands behind the single slash after the host: `/srv/x` for the object `/srv/x`.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("prospero://{}/{path}", self.addr())
    }

    /// The URL of an object.
    #[must_use]
    pub fn object_url(&self, hsoname: &[u8]) -> String {
        self.url(&escaped(hsoname))
    }

    /// The text of every request that came, in the order of arrival. One that is repeated is there once.
    #[must_use]
    pub fn requests(&self) -> Vec<Vec<u8>> {
        locked(&self.shared.record).requests.clone()
    }

    /// The lines of all requests, for comparison.
    #[must_use]
    pub fn dialogue(&self) -> Vec<String> {
        let line = |line: &[u8]| line.strip_suffix(b"\n").unwrap_or(line).escape_ascii().to_string();
        let of_request = |request: &Vec<u8>| lines(request).into_iter().map(line).collect::<Vec<_>>();
        self.requests().iter().flat_map(of_request).map(|line| line.replace("\\'", "'")).collect()
    }

    /// Every datagram that came, repeats and acknowledgements too.
    #[must_use]
    pub fn datagrams(&self) -> Vec<ProsperoDatagram> {
        locked(&self.shared.record).datagrams.clone()
    }

    /// How many datagrams were sent.
    #[must_use]
    pub fn datagrams_sent(&self) -> usize {
        locked(&self.shared.record).datagrams_sent
    }

    /// From now on no rule of the site holds: the fault is gone.
    pub fn mend(&self) {
        self.shared.mended.store(true, Ordering::Relaxed);
    }
}

impl Drop for ProsperoServer {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        // The threads sleep with a limit; a datagram of our own wakes them at once.
        let places = &self.shared.places;
        for addr in [Some(places.here), places.other_port, places.other_address].into_iter().flatten() {
            let _ = UdpSocket::bind((addr.ip(), 0)).and_then(|socket| socket.send_to(&[], addr));
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for ProsperoServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProsperoServer").field("url", &self.url("")).finish_non_exhaustive()
    }
}

impl Shared {
    /// What the rules say of this request.
    pub(crate) fn acts(&self, request: &[u8]) -> Vec<ProsperoAct> {
        if self.is_mended() {
            return Vec::new();
        }
        let rules = self.site.rules.iter().zip(&self.counts);
        let concerned = rules.filter(|(rule, _)| rule.concerns(request));
        let due = concerned.filter(|(rule, count)| rule.is_due(count.fetch_add(1, Ordering::Relaxed) + 1));
        due.map(|(rule, _)| rule.act().clone()).collect()
    }

    pub(crate) fn is_mended(&self) -> bool {
        self.mended.load(Ordering::Relaxed)
    }

    pub(crate) fn note(&self, change: impl FnOnce(&mut Record)) {
        change(&mut locked(&self.record));
    }
}

impl Sockets {
    /// The socket of a place that is one of our own.
    pub(crate) fn of(&self, place: &ProsperoHost) -> Option<&UdpSocket> {
        match place {
            ProsperoHost::Here => Some(&self.own),
            ProsperoHost::OtherPort => self.port.as_ref(),
            ProsperoHost::OtherAddress => self.address.as_ref(),
            ProsperoHost::Named(_) | ProsperoHost::At(_) => None,
        }
    }
}

/// Letters, digits and the few marks that every writer leaves alone.
fn escaped(octets: &[u8]) -> String {
    let octet = |octet: &u8| match octet {
        b'.' | b'-' | b'_' | b'/' => char::from(*octet).to_string(),
        _ if octet.is_ascii_alphanumeric() => char::from(*octet).to_string(),
        _ => format!("%{octet:02X}"),
    };
    octets.iter().map(octet).collect()
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
