//! An interactive session with a server: the content of a `telnet:` URL (RFC 1738 §3.8) when the caller has
//! requested the session.

use std::fmt;
use std::future::poll_fn;
use std::task::Poll;

use bytes::Bytes;
use fetch_url_proto::telnet::TelnetSession;
use fetch_url_proto::{Event, Step};

use crate::net::connection::Connection;
use crate::{Code, Deadline, Error, Phase};

/// An interactive telnet session (RFC 854). Every telnet option that the server requests is refused.
pub struct Session {
    connection: Connection<TelnetSession>,
    deadline: Deadline,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Session")
    }
}

impl Session {
    pub(crate) const fn new(connection: Connection<TelnetSession>, deadline: Deadline) -> Self {
        Self { connection, deadline }
    }

    /// Returns the next text from the server with local line ends, an empty chunk when all typed text has been sent,
    /// or `None` when the server has closed the session.
    ///
    /// Cancel safe: the call can be dropped and repeated without loss.
    ///
    /// # Errors
    /// `Code::TimedOut` if the total time is over; `Code::Truncated` if the connection was lost, or `Code::EmptyReply` if
    /// that happens before any data arrived.
    pub async fn receive(&mut self) -> Result<Option<Bytes>, Error> {
        let deadline = self.deadline;
        let was_sending = self.is_sending();
        let received = poll_fn(|cx| match self.connection.poll_step(cx) {
            Poll::Pending if was_sending && !self.connection.is_sending() => {
                Poll::Ready(Ok(Step::Emit(Event::Body(Bytes::new()))))
            }
            polled => polled,
        });
        match deadline.bound_total(Phase::Body, received).await? {
            Step::Emit(Event::Body(text)) => Ok(Some(text)),
            Step::Done => Ok(None),
            _ => Err(Error::new(Code::Internal, Phase::Body, "unexpected step of the telnet protocol")),
        }
    }

    /// Returns `true` while typed text waits to be sent. A caller should stop reading input then, because the server
    /// does not read and more text would accumulate.
    pub const fn is_sending(&self) -> bool {
        self.connection.is_sending()
    }

    /// Ends the input: a CR at its end is completed. The connection stays open in both directions until the server closes
    /// it, because telnetd ends a session as soon as the client closes its side, and drops the output of its commands.
    pub fn finish_sending(&mut self) {
        self.connection.machine_mut().finish_sending_text();
    }

    /// Returns the deadline of the session.
    pub const fn deadline(&self) -> Deadline {
        self.deadline
    }

    /// Returns `true` if the server insists on echoing input (RFC 857) although that was refused.
    pub const fn may_echo(&self) -> bool {
        self.connection.machine().insists_on_echo()
    }

    /// Queues `text` for sending; it is sent while [`Session::receive`] runs.
    pub fn send(&mut self, text: &[u8]) {
        self.connection.machine_mut().queue_text(text);
    }
}
