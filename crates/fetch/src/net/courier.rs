//! Moves a request and its answer between a machine and datagrams, by ARDP: what [`super::pump`] is for connections.

use std::future::poll_fn;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::net::SocketAddrV4;
use std::num::NonZeroU16;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use fetch_url_proto::ardp::{Exchange, Move};
use fetch_url_proto::{Event, Inbox, Machine, Step, WireError};

use super::contact::Contact;
use super::datagram::{Arrival, Datagrams};
use crate::engine::alarm::Alarm;
use crate::engine::dialogue;
use crate::{Code, Error, Phase};

/// A machine that asks once, and its exchange.
pub(crate) struct Courier<M> {
    machine: M,
    datagrams: Datagrams,
    inbox: Inbox,
    /// None before the machine has asked.
    exchange: Option<Exchange>,
    outgoing: Option<Bytes>,
    /// How often it was said again.
    tries: u32,
    needs_more: bool,
    /// How long all tries together wait.
    patience: Duration,
    begun: Instant,
    alarm: Alarm,
    contact: Contact,
    has_heard: bool,
}

/// What comes of the conversation.
#[derive(Debug)]
pub(crate) enum Came {
    /// This server is to be asked instead.
    Elsewhere(SocketAddrV4),
    /// What the machine comes to.
    Step(Step),
}

impl<M: Machine> Courier<M> {
    /// `machine` asks by `datagrams`; `patience` is how long a server that says nothing is asked.
    pub(crate) fn new(machine: M, datagrams: Datagrams, patience: Duration, contact: &Contact) -> Self {
        Self {
            machine,
            datagrams,
            inbox: Inbox::new(),
            exchange: None,
            outgoing: None,
            tries: 0,
            needs_more: false,
            patience,
            begun: Instant::now(),
            alarm: Alarm::default(),
            contact: contact.clone(),
            has_heard: false,
        }
    }

    /// The machine, and the way to the server for another one.
    pub(crate) fn into_parts(self) -> (M, Datagrams) {
        (self.machine, self.datagrams)
    }

    /// What the machine comes to next.
    ///
    /// # Errors
    /// The peer broke the protocol, refuses to answer, is not there, or says nothing.
    pub(crate) async fn step(&mut self) -> Result<Came, Error> {
        poll_fn(|cx| self.poll_step(cx)).await
    }

    /// The same, for sources of octets and entries.
    pub(crate) fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<Result<Came, Error>> {
        loop {
            if self.needs_more
                && let Some(address) = ready!(self.poll_fill(cx))?
            {
                return Poll::Ready(Ok(Came::Elsewhere(address)));
            }
            match self.machine.step(&mut self.inbox).map_err(fault)? {
                Step::Need if self.inbox.is_ended() => return Poll::Ready(Err(disagree())),
                Step::Need => self.needs_more = true,
                Step::Send(request) => self.ask(&request),
                Step::Emit(Event::Heard(line)) => dialogue::heard(&line),
                Step::Emit(Event::Said(line)) => dialogue::said(&line),
                step => return Poll::Ready(Ok(Came::Step(step))),
            }
        }
    }

    fn ask(&mut self, request: &[u8]) {
        self.contact.note(|facts| facts.sent = Some(Instant::now()));
        let exchange = Exchange::new(random_id(), request, self.patience, self.begun.elapsed());
        // Whoever does not want the answer any more says so.
        self.datagrams.farewell = Some(exchange.cancellation());
        self.exchange = Some(exchange);
    }

    /// Until there is more for the machine, or word that somebody else is to be asked.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<SocketAddrV4>, Error>> {
        loop {
            if let Some(datagram) = &self.outgoing {
                let sent = ready!(self.datagrams.poll_send(cx, datagram));
                self.outgoing = None;
                sent.or_else(|error| self.is_not_there(error))?;
            }
            let has_come = self.hear(cx)?;
            let now = self.begun.elapsed();
            let Some(exchange) = &mut self.exchange else { return Poll::Ready(Err(disagree())) };
            match exchange.next(now) {
                Move::Send(datagram) => {
                    // Who says nothing may be answered for by another address.
                    if std::mem::replace(&mut self.tries, exchange.tries()) < exchange.tries()
                        && !exchange.has_begun()
                    {
                        self.datagrams.turn();
                    }
                    self.outgoing = Some(datagram);
                }
                Move::Piece(octets) => {
                    if exchange.is_complete() {
                        self.datagrams.farewell = None;
                    }
                    self.inbox.push(&octets);
                    break;
                }
                Move::Done => {
                    self.datagrams.farewell = None;
                    self.inbox.end();
                    break;
                }
                Move::Elsewhere(address) => {
                    self.datagrams.farewell = None;
                    return Poll::Ready(Ok(Some(address)));
                }
                Move::Refused => return Poll::Ready(Err(refused())),
                Move::GiveUp => return Poll::Ready(Err(self.silence())),
                Move::Wait(_) if has_come => {}
                Move::Wait(until) => ready!(self.alarm.poll_after(self.begun, until, cx)),
            }
        }
        self.needs_more = false;
        Poll::Ready(Ok(None))
    }

    /// Hears a datagram; whether one was there.
    fn hear(&mut self, cx: &mut Context<'_>) -> Result<bool, Error> {
        let datagram = match self.datagrams.poll_receive(cx) {
            Poll::Pending => return Ok(false),
            Poll::Ready(Arrival::Refusal(error)) => {
                self.is_not_there(error)?;
                return Ok(true);
            }
            Poll::Ready(Arrival::Datagram(datagram)) => datagram,
        };
        let Some(exchange) = &mut self.exchange else { return Ok(true) };
        if exchange.hear(datagram, self.begun.elapsed()).map_err(fault)? {
            let now = Instant::now();
            let is_first = !std::mem::replace(&mut self.has_heard, true);
            self.contact.note(|facts| {
                facts.heard = Some(now);
                facts.replied = facts.replied.filter(|_| !is_first).or(Some(now));
            });
            self.datagrams.settle();
        }
        Ok(true)
    }

    fn has_begun(&self) -> bool {
        self.exchange.as_ref().is_some_and(Exchange::has_begun)
    }

    /// A datagram did not arrive: the next address of the server is asked at once, if there is one.
    fn is_not_there(&mut self, error: io::Error) -> Result<(), Error> {
        if self.has_begun() {
            return Ok(());
        }
        let peer = self.datagrams.peer();
        if !self.datagrams.shut() {
            return Err(Error::io(Code::ConnectFailed, Phase::Connect, &peer.to_string(), error));
        }
        if let Some(exchange) = &mut self.exchange {
            exchange.ask_anew();
        }
        Ok(())
    }

    fn silence(&self) -> Error {
        let (phase, detail) = match self.has_begun() {
            true => (Phase::Body, "while the answer came: nothing more, however often it was asked for"),
            false => (Phase::Reply, "no answer, however often it was asked"),
        };
        Error::new(Code::TimedOut, phase, detail)
    }
}

/// There is no connection that could have ended.
fn fault(error: WireError) -> Error {
    match error {
        WireError::Cut { what } => {
            Error::new(Code::Truncated, Phase::Body, format!("the answer ended in the middle of {what}"))
        }
        error => error.into(),
    }
}

fn refused() -> Error {
    Error::new(Code::ConnectFailed, Phase::Reply, "the server refuses to answer")
}

fn disagree() -> Error {
    Error::new(Code::Internal, Phase::Reply, "the machine and its courier disagree")
}

/// Nobody who has not seen our datagrams can guess it.
fn random_id() -> NonZeroU16 {
    let bits = RandomState::new().hash_one(0).to_be_bytes();
    let mut ids = bits.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
    ids.find_map(NonZeroU16::new).unwrap_or(NonZeroU16::MIN)
}
