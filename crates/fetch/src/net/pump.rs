//! Moves the octets between a machine and its connection: what it says goes out, what arrives comes to
//! it.

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::Bytes;
use fetch_url_proto::{Inbox, Machine, Step, WireError};

use super::contact::Contact;
use super::stream::Stream;
use crate::{Code, Error, Phase};

/// So often in one go the machine is given more that comes to nothing: then others, such as clocks, have
/// their turn.
const FILLS: u32 = 4;

/// A machine and its connection.
pub(crate) struct Pump<M> {
    machine: M,
    stream: Stream,
    inbox: Inbox,
    outgoing: Bytes,
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
            if !self.outgoing.is_empty()
                && let Err(error) = ready!(self.stream.poll_write(cx, &mut self.outgoing))
            {
                // It may have answered before it went away.
                self.outgoing.clear();
                self.lost = Some(error);
            }
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
                    self.outgoing = octets;
                }
                Ok(step) => return Poll::Ready(Ok(step)),
                Err(error) => return Poll::Ready(Err(self.fault(error))),
            }
        }
    }

    /// Waits for more, or for the end.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match ready!(self.stream.poll_read(cx, self.inbox.room())) {
            // What could not be said cannot have been answered in full.
            Ok(0) if self.lost.is_some() => self.inbox.lose(),
            Ok(0) => self.inbox.end(),
            Ok(_) => {
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
            (WireError::Cut { what }, Some(lost)) => {
                let what = format!("the connection was lost in the middle of {what}");
                Error::io(Code::Truncated, Phase::Body, &what, lost)
            }
            (error, _) => error.into(),
        }
    }
}
