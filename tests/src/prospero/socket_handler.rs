//! The loop of one socket of the Prospero server: receives datagrams, assembles requests, and sends datagrams
//! when they are due.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::prospero::exchange::{Exchange, ResponseState};
use crate::prospero::header::{ACKNOWLEDGE, ProsperoDatagram, ProsperoHeader};
use crate::prospero::host::{Addresses, ProsperoHost};
use crate::prospero::request_handler::RequestHandler;
use crate::prospero::server::ProsperoService;
use crate::prospero::window::{Outgoing, WindowBuilder};
use crate::server::running_server::Shared;

/// How many answered requests are kept for repetitions.
const MAX_ANSWERED: usize = 20;
/// An acknowledgement without progress is ignored for this time after a window was sent: the window caused it, and
/// sending the window again would cause another one.
const ECHO_DELAY: Duration = Duration::from_millis(20);
/// Maximum sleep.
const MAX_SLEEP: Duration = Duration::from_millis(500);

pub(crate) struct SocketHandler<'a> {
    shared: &'a Shared<ProsperoService>,
    host: ProsperoHost,
    /// The addresses as seen from this socket.
    addresses: Addresses,
    exchanges: Vec<Exchange>,
    scheduled: Vec<Scheduled>,
}

/// A datagram that is sent later.
struct Scheduled {
    at: Instant,
    to: SocketAddr,
    connection: u16,
    datagram: Outgoing,
}

impl<'a> SocketHandler<'a> {
    pub(crate) fn new(shared: &'a Shared<ProsperoService>, host: ProsperoHost) -> Self {
        let addr = shared.sockets.of(&host).and_then(|socket| socket.local_addr().ok());
        let addresses = Addresses { here: addr.unwrap_or(shared.addresses.here), ..shared.addresses.clone() };
        Self { shared, host, addresses, exchanges: Vec::new(), scheduled: Vec::new() }
    }

    /// Runs until the server stops.
    pub(crate) fn run(mut self) {
        let Some(socket) = self.shared.sockets.of(&self.host) else { return };
        let mut buffer = vec![0; 65_536];
        while !self.shared.stop.load(Ordering::Relaxed) {
            self.send_due();
            if let Some((length, from)) = receive(socket, &mut buffer, self.time_to_sleep()) {
                if self.shared.stop.load(Ordering::Relaxed) {
                    return;
                }
                self.handle(&ProsperoDatagram::new(from, &buffer[..length]));
            }
        }
    }

    fn handle(&mut self, datagram: &ProsperoDatagram) {
        self.shared.record(|log| log.counters.datagrams.push(datagram.clone()));
        let Some(header) = datagram.header else { return };
        let is_same = |it: &Exchange| it.connection == header.connection && it.peer == datagram.from;
        let known = self.exchanges.iter().position(is_same);
        if datagram.is_cancel() {
            self.exchanges.retain(|exchange| !is_same(exchange));
            self.scheduled.retain(|it| it.to != datagram.from || it.connection != header.connection);
            return;
        }
        let at = match known {
            Some(at) => at,
            None if datagram.is_request() => self.open_exchange(datagram.from, &header),
            None => return,
        };
        if self.exchanges[at].response.is_none() {
            self.handle_request_packet(at, &header, datagram);
        } else {
            self.handle_acknowledgement(at, &header);
        }
        // A client without a connection id cannot repeat its request.
        if header.connection == 0 {
            self.exchanges.retain(|exchange| !is_same(exchange) || exchange.response.is_none());
        }
    }

    fn open_exchange(&mut self, from: SocketAddr, header: &ProsperoHeader) -> usize {
        let answered = self.exchanges.iter().filter(|exchange| exchange.is_answered()).count();
        if answered >= MAX_ANSWERED {
            let oldest = self.exchanges.iter().position(Exchange::is_answered);
            oldest.map(|oldest| self.exchanges.remove(oldest));
        }
        self.exchanges.push(Exchange::new(from, header));
        self.exchanges.len() - 1
    }

    /// Takes a packet of a request. If the request is complete, sends the first window of the response.
    fn handle_request_packet(&mut self, at: usize, header: &ProsperoHeader, datagram: &ProsperoDatagram) {
        let exchange = &mut self.exchanges[at];
        if header.number > 0 {
            exchange.take(header, datagram);
        }
        let Some(request) = exchange.request() else {
            if header.flags & ACKNOWLEDGE != 0 {
                self.acknowledge(at);
            }
            return;
        };
        let handler = RequestHandler { config: &self.shared.config, addresses: &self.addresses };
        let text = handler.answer(&request);
        let is_own = self.host == ProsperoHost::Here;
        let actions = if is_own { self.shared.actions(&request) } else { Vec::new() };
        self.exchanges[at].response = Some(ResponseState::new(text, actions));
        self.shared.record_request(0, request);
        self.send_window(at);
    }

    /// Handles an acknowledgement or a repeated request: sends the packets that the client has not acknowledged.
    fn handle_acknowledgement(&mut self, at: usize, header: &ProsperoHeader) {
        let Some(response) = &mut self.exchanges[at].response else { return };
        let is_progress = header.through > response.through;
        response.through = response.through.max(header.through);
        let delay = if header.number > 0 { self.shared.config.repeat_delay } else { ECHO_DELAY };
        let is_ignored = !is_progress && response.last_sent.elapsed() < delay;
        if !is_ignored && !response.is_received() {
            self.send_window(at);
        }
    }

    fn acknowledge(&mut self, at: usize) {
        let exchange = &self.exchanges[at];
        let (connection, through) = (exchange.connection, exchange.through());
        let header = ProsperoHeader { length: 9, connection, through, ..ProsperoHeader::default() };
        self.schedule(exchange.peer, connection, vec![Outgoing::now(header.encode())]);
    }

    fn send_window(&mut self, at: usize) {
        let exchange = &mut self.exchanges[at];
        let (peer, connection) = (exchange.peer, exchange.connection);
        let Some(response) = &mut exchange.response else { return };
        response.last_sent = Instant::now();
        let actions =
            if self.shared.rules().is_disabled() { Arc::default() } else { Arc::clone(&response.actions) };
        let window = WindowBuilder::new(exchange, &self.addresses, actions).build();
        self.schedule(peer, connection, window);
    }

    /// Schedules datagrams and sends those whose time has come.
    fn schedule(&mut self, to: SocketAddr, connection: u16, window: Vec<Outgoing>) {
        let now = Instant::now();
        for datagram in window {
            self.scheduled.push(Scheduled { at: now + datagram.after, to, connection, datagram });
        }
        self.send_due();
    }

    /// Sends the datagrams whose time has come, in the order of scheduling.
    fn send_due(&mut self) {
        let now = Instant::now();
        let (due, later): (Vec<_>, Vec<_>) = self.scheduled.drain(..).partition(|it| it.at <= now);
        self.scheduled = later;
        for mut scheduled in due {
            self.send(&scheduled);
            let repeat = scheduled.datagram.repeat.filter(|(_, times)| *times > 1);
            if let Some((interval, times)) = repeat.filter(|_| !self.shared.rules().is_disabled()) {
                scheduled.datagram.repeat = Some((interval, times - 1));
                scheduled.at = now + interval.max(Duration::from_millis(1));
                self.scheduled.push(scheduled);
            }
        }
    }

    fn send(&self, scheduled: &Scheduled) {
        let from = &scheduled.datagram.from;
        let host = if *from == ProsperoHost::Here { &self.host } else { from };
        let Some(socket) = self.shared.sockets.of(host) else { return };
        self.shared.record(|log| log.counters.datagrams_sent += 1);
        // The error means that the client has closed its socket.
        let _ = socket.send_to(&scheduled.datagram.bytes, scheduled.to);
    }

    fn time_to_sleep(&self) -> Duration {
        let next = self.scheduled.iter().map(|it| it.at).min();
        let time = next.map_or(MAX_SLEEP, |at| at.saturating_duration_since(Instant::now()));
        time.clamp(Duration::from_millis(1), MAX_SLEEP)
    }
}

/// Receives a datagram. Returns `None` if there is none within this time.
fn receive(socket: &UdpSocket, buffer: &mut [u8], time: Duration) -> Option<(usize, SocketAddr)> {
    socket.set_read_timeout(Some(time)).ok()?;
    socket.recv_from(buffer).ok()
}
