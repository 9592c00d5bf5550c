//! Drives a protocol machine over ARDP (UDP), as [`super::connection`] does over TCP.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddrV4;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use fetch_url_proto::ardp::{Action, Exchange};
use fetch_url_proto::{Event, Machine, RecvBuffer, Step, WireError};

use super::connection_info::ConnectionInfo;
use super::datagram::{Arrival, DatagramSockets};
use super::trace;
use crate::time::Instant;
use crate::time::timer::Timer;
use crate::{Code, Error, Phase};

/// A protocol machine with one request, and its ARDP exchange.
pub(crate) struct DatagramConnection<M> {
    machine: M,
    datagrams: DatagramSockets,
    buffer: RecvBuffer,
    /// `None` before the machine has sent its request.
    exchange: Option<Exchange>,
    outgoing: Option<Bytes>,
    /// Number of retransmissions.
    retransmissions: u32,
    needs_more: bool,
    /// Maximum time without a response, over all retransmissions.
    time_limit: Duration,
    started: Instant,
    timer: Timer,
    connection_info: ConnectionInfo,
    has_received: bool,
}

/// The result of a step.
#[derive(Debug)]
pub(crate) enum DatagramStep {
    /// The server redirects the request to this address.
    Redirect(SocketAddrV4),
    /// A step of the machine.
    Step(Step),
}

impl<M: Machine> DatagramConnection<M> {
    /// Creates a connection that drives `machine` over `datagrams`. `time_limit` is the maximum time without a
    /// response.
    pub(crate) fn new(
        machine: M,
        datagrams: DatagramSockets,
        time_limit: Duration,
        connection_info: &ConnectionInfo,
    ) -> Self {
        Self {
            machine,
            datagrams,
            buffer: RecvBuffer::new(),
            exchange: None,
            outgoing: None,
            retransmissions: 0,
            needs_more: false,
            time_limit,
            started: Instant::now(),
            timer: Timer::default(),
            connection_info: connection_info.clone(),
            has_received: false,
        }
    }

    /// Returns the machine and the sockets.
    pub(crate) fn into_parts(self) -> (M, DatagramSockets) {
        (self.machine, self.datagrams)
    }

    /// Returns the next step of the machine.
    ///
    /// # Errors
    /// An error of the protocol; `Code::ConnectFailed` if the server refuses the request; `Code::TimedOut` if it does
    /// not respond.
    pub(crate) async fn step(&mut self) -> Result<DatagramStep, Error> {
        poll_fn(|cx| self.poll_step(cx)).await
    }

    /// Polls for the next step, as [`DatagramConnection::step`] does.
    pub(crate) fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<Result<DatagramStep, Error>> {
        loop {
            if self.needs_more
                && let Some(address) = ready!(self.poll_fill(cx))?
            {
                return Poll::Ready(Ok(DatagramStep::Redirect(address)));
            }
            match self.machine.step(&mut self.buffer).map_err(machine_error)? {
                Step::NeedMore if self.buffer.is_ended() => return Poll::Ready(Err(unexpected_step_error())),
                Step::NeedMore => self.needs_more = true,
                Step::Send(request) => self.send_request(&request),
                Step::Emit(Event::Received(line)) => trace::received(&line),
                Step::Emit(Event::Sent(line)) => trace::sent(&line),
                step => return Poll::Ready(Ok(DatagramStep::Step(step))),
            }
        }
    }

    fn send_request(&mut self, request: &[u8]) {
        self.connection_info.update(|record| record.sent = Some(Instant::now()));
        let id = self.datagrams.ids.next_id();
        let exchange = Exchange::new(id, request, self.time_limit, self.started.elapsed());
        // If this connection is dropped before the response is complete, the request is cancelled.
        self.datagrams.cancellation = Some(exchange.cancellation());
        self.exchange = Some(exchange);
    }

    /// Waits for more input for the machine, or for a redirect to another server.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<SocketAddrV4>, Error>> {
        loop {
            if let Some(datagram) = &self.outgoing {
                let sent = ready!(self.datagrams.poll_send(cx, datagram));
                self.outgoing = None;
                sent.or_else(|error| self.handle_unreachable(error))?;
            }
            let has_received = self.receive(cx)?;
            let now = self.started.elapsed();
            let Some(exchange) = &mut self.exchange else { return Poll::Ready(Err(unexpected_step_error())) };
            match exchange.next(now) {
                Action::Send(datagram) => {
                    // If an address does not respond, the request is sent to the next address of the server.
                    if std::mem::replace(&mut self.retransmissions, exchange.retransmissions())
                        < exchange.retransmissions()
                        && !exchange.has_received_data()
                    {
                        self.datagrams.use_next_address();
                    }
                    self.outgoing = Some(datagram);
                }
                Action::Piece(bytes) => {
                    if exchange.is_complete() {
                        self.datagrams.cancellation = None;
                    }
                    self.buffer.push(&bytes);
                    break;
                }
                Action::Done => {
                    self.datagrams.cancellation = None;
                    self.buffer.mark_closed();
                    break;
                }
                Action::Redirect(address) => {
                    self.datagrams.cancellation = None;
                    return Poll::Ready(Ok(Some(address)));
                }
                Action::Refused => return Poll::Ready(Err(refused_error())),
                Action::TimedOut => return Poll::Ready(Err(self.no_answer_error())),
                Action::Wait(_) if has_received => {}
                Action::Wait(until) => ready!(self.timer.poll_after(self.started, until, cx)),
            }
        }
        self.needs_more = false;
        Poll::Ready(Ok(None))
    }

    /// Receives a datagram. Returns `true` if there was one.
    fn receive(&mut self, cx: &mut Context<'_>) -> Result<bool, Error> {
        let datagram = match self.datagrams.poll_receive(cx) {
            Poll::Pending => return Ok(false),
            Poll::Ready(Arrival::Refusal(error)) => {
                self.handle_unreachable(error)?;
                return Ok(true);
            }
            Poll::Ready(Arrival::Datagram(datagram)) => datagram,
        };
        let Some(exchange) = &mut self.exchange else { return Ok(true) };
        let length = datagram.len() as u64;
        if exchange.receive(datagram, self.started.elapsed()).map_err(machine_error)? {
            let now = Instant::now();
            let is_first = !std::mem::replace(&mut self.has_received, true);
            self.connection_info.update(|record| {
                record.last_received = Some(now);
                record.received_bytes = record.received_bytes.saturating_add(length);
                record.first_byte = record.first_byte.filter(|_| !is_first).or(Some(now));
            });
            self.datagrams.keep_current_address();
        }
        Ok(true)
    }

    fn has_received_data(&self) -> bool {
        self.exchange.as_ref().is_some_and(Exchange::has_received_data)
    }

    /// Switches to the next address of the server after an ICMP error, if there is one.
    fn handle_unreachable(&mut self, error: io::Error) -> Result<(), Error> {
        if self.has_received_data() {
            return Ok(());
        }
        let peer = self.datagrams.peer();
        if !self.datagrams.mark_refused() {
            return Err(Error::io(Code::ConnectFailed, Phase::Connect, &peer.to_string(), error));
        }
        if let Some(exchange) = &mut self.exchange {
            exchange.resend_request();
        }
        Ok(())
    }

    fn no_answer_error(&self) -> Error {
        let (phase, detail) = match self.has_received_data() {
            true => (Phase::Body, "receiving the response: no more data after all retransmissions"),
            false => (Phase::Reply, "no response after all retransmissions"),
        };
        Error::new(Code::TimedOut, phase, detail)
    }
}

/// Converts an error of the machine. UDP has no end of a connection, so an unexpected end is that of the response.
fn machine_error(error: WireError) -> Error {
    match error {
        WireError::UnexpectedEnd { what } => {
            Error::new(Code::Truncated, Phase::Body, format!("the response ended in the middle of {what}"))
        }
        error => error.into(),
    }
}

fn refused_error() -> Error {
    Error::new(Code::ConnectFailed, Phase::Reply, "the server refused the request")
}

fn unexpected_step_error() -> Error {
    Error::new(Code::Internal, Phase::Reply, "unexpected step of the datagram protocol")
}
