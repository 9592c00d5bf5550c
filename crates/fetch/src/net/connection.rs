//! Drives a protocol machine over a TCP or TLS connection: sends its output and feeds it the received bytes.

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use fetch_url_core::Host;
use fetch_url_proto::{Event, Machine, RecvBuffer, Step, WireError};
use memchr::memchr;

use super::connection_info::ConnectionInfo;
use super::connector::Connector;
use super::deflate;
use super::stream::Stream;
use super::{tls, trace};
use crate::time::Instant;
use crate::{Code, Deadline, Error, Phase};

/// Maximum number of reads in one poll, so that timers and other tasks can run.
const MAX_READS_PER_POLL: u32 = 4;

/// The number of received bytes that are searched for the end of a line before each step. A reply line is not longer,
/// with its end.
const MAX_LINE_SEARCH: usize = 4096 + 2;

/// A protocol machine and its connection.
pub(crate) struct Connection<M> {
    machine: M,
    stream: Stream,
    buffer: RecvBuffer,
    outgoing: Bytes,
    /// Output has not been written or flushed completely.
    is_sending: bool,
    connection_info: ConnectionInfo,
    /// The machine needs more input before its next step.
    needs_more: bool,
    has_received: bool,
    /// The I/O error that ended the connection.
    lost_error: Option<io::Error>,
}

impl<M: Machine> Connection<M> {
    /// Creates a connection that drives `machine` over `stream`.
    pub(crate) fn new(machine: M, stream: Stream, connection_info: &ConnectionInfo) -> Self {
        Self {
            machine,
            stream,
            buffer: RecvBuffer::new(),
            outgoing: Bytes::new(),
            is_sending: false,
            connection_info: connection_info.clone(),
            needs_more: false,
            has_received: false,
            lost_error: None,
        }
    }

    /// Returns the machine.
    pub(crate) const fn machine(&self) -> &M {
        &self.machine
    }

    /// Returns the received bytes that the machine has not taken yet.
    pub(crate) const fn received(&self) -> &RecvBuffer {
        &self.buffer
    }

    /// Returns `true` if output has not been sent completely.
    pub(crate) const fn is_sending(&self) -> bool {
        self.is_sending
    }

    /// Returns the machine, for another request. It is stepped again before more input is read.
    pub(crate) const fn machine_mut(&mut self) -> &mut M {
        self.needs_more = false;
        &mut self.machine
    }

    /// Reuses the connection for another attempt, which `connection_info` records.
    pub(crate) fn reuse(&mut self, connection_info: &ConnectionInfo) {
        self.stream.set_connection_info(connection_info);
        (self.connection_info, self.has_received) =
            (connection_info.clone(), !self.buffer.bytes().is_empty());
        if self.has_received {
            self.connection_info.update(|record| record.first_byte = Some(Instant::now()));
        }
    }

    /// Returns `true` if the idle connection is open and no unread bytes have arrived, such as a closing reply.
    pub(crate) fn is_idle(&mut self) -> bool {
        let is_empty = !self.is_sending && self.buffer.bytes().is_empty() && !self.buffer.is_ended();
        is_empty && self.poll_fill(&mut Context::from_waker(Waker::noop())).is_pending()
    }

    /// Upgrades the connection to TLS after STARTTLS.
    ///
    /// # Errors
    /// `Code::TlsFailed`, even if plain bytes follow the reply to STARTTLS, because an attacker could have injected
    /// them (CVE-2011-0411).
    pub(crate) async fn upgrade_to_tls(
        mut self,
        host: &Host<'_>,
        connector: &Connector,
        deadline: &Deadline,
    ) -> Result<Self, Error> {
        let refused = |detail| Err(Error::new(Code::TlsFailed, Phase::Tls, detail));
        if !self.buffer.bytes().is_empty() {
            return refused("plain bytes follow the reply to STARTTLS");
        }
        let Some(plain) = self.stream.into_plain() else {
            return refused("the connection is encrypted already");
        };
        self.stream = connector.start_tls_on(plain, host, deadline).await?;
        Ok(self)
    }

    /// Returns the next step of the machine: an event, the end of the machine, or a request for TLS.
    ///
    /// # Errors
    /// An error of the protocol, or of the connection if it was lost before the machine was done.
    pub(crate) async fn step(&mut self) -> Result<Step, Error> {
        poll_fn(|cx| self.poll_step(cx)).await
    }

    /// Polls for the next step, as [`Connection::step`] does.
    pub(crate) fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<Result<Step, Error>> {
        let mut reads = 0;
        loop {
            // Read even if writing is blocked: the server may not read before its own output has been read.
            let _ = self.poll_write(cx);
            if self.needs_more {
                if reads == MAX_READS_PER_POLL {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                reads += 1;
                ready!(self.poll_fill(cx));
            }
            let received = self.buffer.bytes().len();
            let line_end = memchr(b'\n', &self.buffer.bytes()[..received.min(MAX_LINE_SEARCH)]);
            let step = self.machine.step(&mut self.buffer);
            let taken = received.saturating_sub(self.buffer.bytes().len());
            if line_end.is_some_and(|line_end| line_end < taken) {
                self.connection_info.update(|record| record.last_line = Some(Instant::now()));
            }
            match step {
                Ok(Step::NeedMore) if self.buffer.is_ended() => {
                    return Poll::Ready(Err(Error::new(
                        Code::Internal,
                        Phase::Reply,
                        "the protocol machine needs more input after the end",
                    )));
                }
                Ok(Step::NeedMore) => self.needs_more = true,
                Ok(Step::Send(bytes)) => {
                    self.connection_info.update(|record| record.sent = Some(Instant::now()));
                    match self.stream.encode(bytes) {
                        Ok(bytes) if self.outgoing.is_empty() => self.outgoing = bytes,
                        Ok(bytes) => self.outgoing = [&self.outgoing[..], &bytes].concat().into(),
                        Err(error) => self.lost_error = Some(error),
                    }
                    self.is_sending = true;
                }
                Ok(Step::StartDeflate) => {
                    let arrived = self.buffer.take(usize::MAX);
                    self.stream.start_deflate(&arrived);
                }
                Ok(Step::Emit(Event::Received(line))) => trace::received(&line),
                Ok(Step::Emit(Event::Sent(line))) => trace::sent(&line),
                Ok(step) => return Poll::Ready(Ok(step)),
                Err(error) => return Poll::Ready(Err(self.explain_error(error))),
            }
        }
    }

    /// Ends the input: the server keeps the connection open after the end of its response.
    pub(crate) const fn end_input(&mut self) {
        self.buffer.mark_closed();
        self.needs_more = false;
    }

    /// Writes and flushes the output.
    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_sending {
            if let Err(error) = ready!(self.stream.poll_write(cx, &mut self.outgoing)) {
                // The server may have replied before it closed the connection.
                self.outgoing.clear();
                self.lost_error = Some(error);
            }
            self.is_sending = false;
        }
        Poll::Ready(())
    }

    /// Reads more input, or the end of the connection.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match ready!(self.stream.poll_read(cx, self.buffer.storage_mut())) {
            // A write failed before, so the end of the input means that the connection was lost.
            Ok(0) if self.lost_error.is_some() => self.buffer.mark_lost(),
            Ok(0) => self.buffer.mark_closed(),
            Ok(count) => {
                if !self.machine.may_echo_secrets() {
                    let bytes = self.buffer.bytes();
                    trace::raw(&bytes[bytes.len() - count..]);
                }
                if !std::mem::replace(&mut self.has_received, true) {
                    self.connection_info.update(|record| record.first_byte = Some(Instant::now()));
                }
            }
            Err(error) => {
                self.lost_error = Some(error);
                self.buffer.mark_lost();
            }
        }
        self.needs_more = false;
        Poll::Ready(())
    }

    /// Converts an error of the machine. If the connection was lost, the I/O error is added as the cause.
    fn explain_error(&mut self, error: WireError) -> Error {
        match (error, self.lost_error.take()) {
            (WireError::UnexpectedEnd { .. }, Some(lost)) if !self.has_received => {
                tls::lost_connection_error(Code::EmptyReply, Phase::Reply, "the connection was lost", lost)
            }
            (WireError::UnexpectedEnd { .. }, None) if !self.has_received => Error::new(
                Code::EmptyReply,
                Phase::Reply,
                "the server closed the connection without a response",
            ),
            (WireError::UnexpectedEnd { .. }, Some(lost)) if deflate::is_invalid_data(&lost) => {
                Error::io(Code::PeerMisbehaved, Phase::Body, "invalid compressed data", lost)
            }
            (WireError::UnexpectedEnd { what }, Some(lost)) => {
                let what = format!("the connection was lost in the middle of {what}");
                Error::io(Code::Truncated, Phase::Body, &what, lost)
            }
            (error, _) => error.into(),
        }
    }
}
