//! The interface between a protocol and the code that owns its connection.

use std::borrow::Cow;

use bytes::Bytes;

use crate::{Entry, Head, RecvBuffer, Rejection, WireError};

/// The client side of one protocol exchange, without a socket: it reads from a [`RecvBuffer`] and returns [`Step`]s.
///
/// The caller performs each step (send, receive, start TLS) and calls [`Machine::step`] again. A machine never blocks,
/// so the same code runs on any runtime and can be tested byte by byte.
pub trait Machine: Send {
    /// Consumes bytes from `buffer` and returns the next action for the caller.
    ///
    /// Call it again after every step except [`Step::Done`]; after [`Step::NeedMore`] only when `buffer` has grown or
    /// was marked as closed or lost. A machine that serves several requests accepts calls after [`Step::Done`] too.
    ///
    /// # Errors
    /// The peer broke the protocol, or the connection ended too early. The exchange cannot be continued.
    fn step(&mut self, buffer: &mut RecvBuffer) -> Result<Step, WireError>;

    /// Returns `true` if the peer's bytes may repeat a secret that was sent, such as a password. A trace must then show
    /// [`Event::Received`], from which the machine removes secrets, instead of the received bytes.
    fn may_echo_secrets(&self) -> bool {
        false
    }
}

/// The next action for the caller of a [`Machine`].
#[derive(Debug, PartialEq, Eq)]
#[must_use]
#[allow(clippy::exhaustive_enums, reason = "the caller of a machine must handle every step")]
pub enum Step {
    /// The exchange is complete. For a machine that serves several requests: the current request is complete.
    Done,
    /// Pass this event on, then call [`Machine::step`] again.
    Emit(Event),
    /// Receive more bytes into the buffer, or mark the buffer as closed or lost.
    NeedMore,
    /// Send these bytes to the peer.
    Send(Bytes),
    /// Compress both directions with DEFLATE from here on (RFC 8054).
    StartDeflate,
    /// Start TLS on the connection. Bytes received before the handshake must be discarded.
    StartTls,
}

/// A result that a [`Machine`] returns during the exchange.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The next bytes of the object.
    Body(Bytes),
    /// One entry of a listing.
    Entry(Entry),
    /// The size and modification time of the object, if they are known before its body.
    Head(Head),
    /// A departure from the protocol that loses no data, as a sentence for the user.
    Note(Cow<'static, str>),
    /// A line received from the peer, with secrets masked, for a wire trace.
    Received(Bytes),
    /// The peer answered that it has no such object or does not return it.
    Rejected(Box<Rejection>),
    /// A line sent to the peer, with secrets masked, for a wire trace.
    Sent(String),
    /// The connection ended without the terminator that this text names, so the object may be incomplete.
    UnterminatedEnd(&'static str),
}
