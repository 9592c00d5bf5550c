//! Moves the octets between a machine and its connection: what it says goes out, what arrives comes to
//! it.

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll, Waker, ready};
use std::time::Instant;

use bytes::Bytes;
use fetch_url_core::Host;
use fetch_url_proto::{Event, Inbox, Machine, Step, WireError};

use super::contact::Contact;
use super::deflate;
use super::dial::Dial;
use super::stream::Stream;
use crate::engine::dialogue;
use crate::{Code, Deadline, Error, Phase};

/// So often in one go the machine is given more that comes to nothing: then others, such as clocks, have
/// their turn.
const FILLS: u32 = 4;

/// A machine and its connection.
pub(crate) struct Pump<M> {
    machine: M,
    stream: Stream,
    inbox: Inbox,
    outgoing: Bytes,
    /// Not all of it has gone out, or it waits in TLS.
    is_saying: bool,
    contact: Contact,
    /// The machine has to be given more before it is asked again.
    needs_more: bool,
    has_heard: bool,
    /// Why the connection was lost.
    lost: Option<io::Error>,
}

impl<M: Machine> Pump<M> {
    /// `machine` speaks over `stream`.
    pub(crate) fn new(machine: M, stream: Stream, contact: &Contact) -> Self {
        Self {
            machine,
            stream,
            inbox: Inbox::new(),
            outgoing: Bytes::new(),
            is_saying: false,
            contact: contact.clone(),
            needs_more: false,
            has_heard: false,
            lost: None,
        }
    }

    /// The machine.
    pub(crate) const fn machine(&self) -> &M {
        &self.machine
    }

    /// Whether something of what is said has not gone out.
    pub(crate) const fn is_saying(&self) -> bool {
        self.is_saying
    }

    /// The machine, for one more errand: it is asked again, whether there is more for it or not.
    pub(crate) const fn machine_mut(&mut self) -> &mut M {
        self.needs_more = false;
        &mut self.machine
    }

    /// From here on `contact` is told: the connection is used once more.
    pub(crate) fn meet(&mut self, contact: &Contact) {
        self.stream.meet(contact);
        (self.contact, self.has_heard) = (contact.clone(), !self.inbox.octets().is_empty());
        if self.has_heard {
            self.contact.note(|facts| facts.replied = Some(Instant::now()));
        }
    }

    /// Whether the peer has said nothing that nobody has asked for, such as goodbye.
    pub(crate) fn is_silent(&mut self) -> bool {
        let is_empty = !self.is_saying && self.inbox.octets().is_empty() && !self.inbox.is_ended();
        is_empty && self.poll_fill(&mut Context::from_waker(Waker::noop())).is_pending()
    }

    /// The machine has asked for TLS: its connection goes on in it.
    ///
    /// # Errors
    /// `tls_failed`, also when octets came in the clear behind the reply: whoever is on the way could put
    /// replies there, to be taken for the server's own.
    pub(crate) async fn secured(
        mut self,
        host: &Host<'_>,
        dial: &Dial,
        deadline: &Deadline,
    ) -> Result<Self, Error> {
        let refused = |detail| Err(Error::new(Code::TlsFailed, Phase::Tls, detail));
        if !self.inbox.octets().is_empty() {
            return refused("octets in the clear behind the reply to STARTTLS");
        }
        let Some(plain) = self.stream.into_plain() else { return refused("TLS in TLS") };
        self.stream = dial.start_tls_on(plain, host, deadline).await?;
        Ok(self)
    }

    /// What the machine comes to next: an event, its end, or the wish for TLS.
    ///
    /// # Errors
    /// The peer broke the protocol, or the connection was lost before the machine had all it wants.
    pub(crate) async fn step(&mut self) -> Result<Step, Error> {
        poll_fn(|cx| self.poll_step(cx)).await
    }

    /// The same, for sources of octets and entries.
    pub(crate) fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<Result<Step, Error>> {
        let mut fills = 0;
        loop {
            // What the peer says is heard even while it does not listen: it may not, before it was heard.
            let _ = self.poll_out(cx);
            if self.needs_more {
                if fills == FILLS {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                fills += 1;
                ready!(self.poll_fill(cx));
            }
            match self.machine.step(&mut self.inbox) {
                Ok(Step::Need) if self.inbox.is_ended() => {
                    return Poll::Ready(Err(Error::new(
                        Code::Internal,
                        Phase::Reply,
                        "it wants more than all",
                    )));
                }
                Ok(Step::Need) => self.needs_more = true,
                Ok(Step::Send(octets)) => {
                    self.contact.note(|facts| facts.sent = Some(Instant::now()));
                    match self.stream.wrapped(octets) {
                        Ok(octets) if self.outgoing.is_empty() => self.outgoing = octets,
                        Ok(octets) => self.outgoing = [&self.outgoing[..], &octets].concat().into(),
                        Err(error) => self.lost = Some(error),
                    }
                    self.is_saying = true;
                }
                Ok(Step::Deflate) => {
                    let arrived = self.inbox.take(usize::MAX);
                    self.stream.deflate(&arrived);
                }
                Ok(Step::Emit(Event::Heard(line))) => dialogue::heard(&line),
                Ok(Step::Emit(Event::Said(line))) => dialogue::said(&line),
                Ok(step) => return Poll::Ready(Ok(step)),
                Err(error) => return Poll::Ready(Err(self.fault(error))),
            }
        }
    }

    /// Writes what goes out, to its last octet.
    fn poll_out(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_saying {
            if let Err(error) = ready!(self.stream.poll_write(cx, &mut self.outgoing)) {
                // It may have answered before it went away.
                self.outgoing.clear();
                self.lost = Some(error);
            }
            self.is_saying = false;
        }
        Poll::Ready(())
    }

    /// Waits for more, or for the end.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match ready!(self.stream.poll_read(cx, self.inbox.room())) {
            // What could not be said cannot have been answered in full.
            Ok(0) if self.lost.is_some() => self.inbox.lose(),
            Ok(0) => self.inbox.end(),
            Ok(count) => {
                if !self.machine.has_secrets() {
                    let octets = self.inbox.octets();
                    dialogue::came(&octets[octets.len() - count..]);
                }
                if !std::mem::replace(&mut self.has_heard, true) {
                    self.contact.note(|facts| facts.replied = Some(Instant::now()));
                }
            }
            Err(error) => {
                self.lost = Some(error);
                self.inbox.lose();
            }
        }
        self.needs_more = false;
        Poll::Ready(())
    }

    /// What the machine misses, and why it did not come.
    fn fault(&mut self, error: WireError) -> Error {
        match (error, self.lost.take()) {
            (WireError::Cut { .. }, Some(lost)) if !self.has_heard => {
                Error::io(Code::EmptyReply, Phase::Reply, "the connection was lost", lost)
            }
            (WireError::Cut { .. }, None) if !self.has_heard => {
                Error::new(Code::EmptyReply, Phase::Reply, "the connection ended")
            }
            (WireError::Cut { .. }, Some(lost)) if deflate::is_broken(&lost) => {
                Error::io(Code::PeerMisbehaved, Phase::Body, "what was to be compressed", lost)
            }
            (WireError::Cut { what }, Some(lost)) => {
                let what = format!("the connection was lost in the middle of {what}");
                Error::io(Code::Truncated, Phase::Body, &what, lost)
            }
            (error, _) => error.into(),
        }
    }
}
