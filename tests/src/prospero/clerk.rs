//! Who sits at one socket of a Prospero server: takes datagrams, puts requests together, sends what is due.

use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::prospero::desk::Desk;
use crate::prospero::exchange::{Answer, Exchange};
use crate::prospero::header::{ACKNOWLEDGE, ProsperoDatagram, ProsperoHeader};
use crate::prospero::place::{Places, ProsperoHost};
use crate::prospero::sending::{Outgoing, Sending};
use crate::prospero::server::Shared;

/// So many finished requests are kept for those who ask again.
const KEPT: usize = 20;
/// An acknowledgement without news, this soon after a window, was made by that window, and more would be made by the
/// next: two that never wait would keep each other busy.
const ECHO: Duration = Duration::from_millis(20);
/// The longest sleep.
const PATIENCE: Duration = Duration::from_millis(500);

pub(crate) struct Clerk<'a> {
    shared: &'a Shared,
    place: ProsperoHost,
    /// As seen from this socket.
    places: Places,
    exchanges: Vec<Exchange>,
    due: Vec<Due>,
}

/// A datagram that goes later.
struct Due {
    at: Instant,
    to: SocketAddr,
    connection: u16,
    out: Outgoing,
}

impl<'a> Clerk<'a> {
    pub(crate) fn new(shared: &'a Shared, place: ProsperoHost) -> Self {
        let addr = shared.sockets.of(&place).and_then(|socket| socket.local_addr().ok());
        let places = Places { here: addr.unwrap_or(shared.places.here), ..shared.places.clone() };
        Self { shared, place, places, exchanges: Vec::new(), due: Vec::new() }
    }

    /// Until the server stops.
    pub(crate) fn run(mut self) {
        let Some(socket) = self.shared.sockets.of(&self.place) else { return };
        let mut buffer = vec![0; 65_536];
        while !self.shared.stop.load(Ordering::Relaxed) {
            self.send_due();
            if let Some((length, from)) = received(socket, &mut buffer, self.time_to_sleep()) {
                if self.shared.stop.load(Ordering::Relaxed) {
                    return;
                }
                self.take(&ProsperoDatagram::new(from, &buffer[..length]));
            }
        }
    }

    fn take(&mut self, datagram: &ProsperoDatagram) {
        self.shared.note(|record| record.datagrams.push(datagram.clone()));
        let Some(header) = datagram.header else { return };
        let is_it = |it: &Exchange| it.connection == header.connection && it.peer == datagram.from;
        let known = self.exchanges.iter().position(is_it);
        if datagram.is_cancel() {
            self.exchanges.retain(|exchange| !is_it(exchange));
            self.due.retain(|due| due.to != datagram.from || due.connection != header.connection);
            return;
        }
        let at = match known {
            Some(at) => at,
            None if datagram.is_request() => self.opened(datagram.from, &header),
            None => return,
        };
        if self.exchanges[at].answer.is_none() {
            self.gather(at, &header, datagram);
        } else {
            self.hear_again(at, &header);
        }
        // Who sends no id cannot ask again.
        if header.connection == 0 {
            self.exchanges.retain(|exchange| !is_it(exchange) || exchange.answer.is_none());
        }
    }

    fn opened(&mut self, from: SocketAddr, header: &ProsperoHeader) -> usize {
        let finished = self.exchanges.iter().filter(|exchange| exchange.is_finished()).count();
        if finished >= KEPT {
            let oldest = self.exchanges.iter().position(Exchange::is_finished);
            oldest.map(|oldest| self.exchanges.remove(oldest));
        }
        self.exchanges.push(Exchange::new(from, header));
        self.exchanges.len() - 1
    }

    /// A packet of a request; if it is the last that was missing, the answer goes.
    fn gather(&mut self, at: usize, header: &ProsperoHeader, datagram: &ProsperoDatagram) {
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
        let text = Desk { site: &self.shared.site, places: &self.places }.answer(&request);
        let acts = if self.place == ProsperoHost::Here { self.shared.acts(&request) } else { Vec::new() };
        self.exchanges[at].answer = Some(Answer::new(text, acts));
        self.shared.note(|record| record.requests.push(request));
        self.send_window(at);
    }

    /// An acknowledgement, or the request once more: the rest goes.
    fn hear_again(&mut self, at: usize, header: &ProsperoHeader) {
        let Some(answer) = &mut self.exchanges[at].answer else { return };
        let is_news = header.through > answer.through;
        answer.through = answer.through.max(header.through);
        let deaf = if header.number > 0 { self.shared.site.deaf } else { ECHO };
        let is_deaf = !is_news && answer.last.elapsed() < deaf;
        if !is_deaf && !answer.is_over() {
            self.send_window(at);
        }
    }

    fn acknowledge(&mut self, at: usize) {
        let exchange = &self.exchanges[at];
        let (connection, through) = (exchange.connection, exchange.through());
        let header = ProsperoHeader { length: 9, connection, through, ..ProsperoHeader::default() };
        let (octets, from) = (header.octets(), ProsperoHost::Here);
        self.post(
            exchange.peer,
            connection,
            vec![Outgoing { octets, from, after: Duration::ZERO, again: None }],
        );
    }

    fn send_window(&mut self, at: usize) {
        let exchange = &mut self.exchanges[at];
        let (peer, connection) = (exchange.peer, exchange.connection);
        let Some(answer) = &mut exchange.answer else { return };
        answer.last = Instant::now();
        let acts = if self.shared.is_mended() { Vec::new() } else { answer.acts.clone() };
        let window = Sending::new(exchange, &self.places, acts).window();
        self.post(peer, connection, window);
    }

    /// Sends what has no time of its own, and keeps the rest.
    fn post(&mut self, to: SocketAddr, connection: u16, window: Vec<Outgoing>) {
        let now = Instant::now();
        for out in window {
            self.due.push(Due { at: now + out.after, to, connection, out });
        }
        self.send_due();
    }

    /// What is due at the same time goes in the order in which it was posted.
    fn send_due(&mut self) {
        let now = Instant::now();
        let (ready, later): (Vec<_>, Vec<_>) = self.due.drain(..).partition(|due| due.at <= now);
        self.due = later;
        for mut due in ready {
            self.send(&due);
            if let Some((every, times)) =
                due.out.again.filter(|(_, times)| *times > 1 && !self.shared.is_mended())
            {
                due.out.again = Some((every, times - 1));
                due.at = now + every.max(Duration::from_millis(1));
                self.due.push(due);
            }
        }
    }

    fn send(&self, due: &Due) {
        let place = if due.out.from == ProsperoHost::Here { &self.place } else { &due.out.from };
        let Some(socket) = self.shared.sockets.of(place) else { return };
        self.shared.note(|record| record.datagrams_sent += 1);
        // A client that has gone is none of the server's business.
        let _ = socket.send_to(&due.out.octets, due.to);
    }

    fn time_to_sleep(&self) -> Duration {
        let next = self.due.iter().map(|due| due.at).min();
        let time = next.map_or(PATIENCE, |at| at.saturating_duration_since(Instant::now()));
        time.clamp(Duration::from_millis(1), PATIENCE)
    }
}

/// A datagram, if one comes in time.
fn received(socket: &UdpSocket, buffer: &mut [u8], time: Duration) -> Option<(usize, SocketAddr)> {
    socket.set_read_timeout(Some(time)).ok()?;
    socket.recv_from(buffer).ok()
}
