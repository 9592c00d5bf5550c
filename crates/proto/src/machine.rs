//! The contract between a protocol and whoever moves its octets.

use bytes::Bytes;

use crate::{Entry, Head, Inbox, Refused};

/// A protocol's side of one conversation.
pub trait Machine: Send {
    /// What to do next, given what has arrived.
    ///
    /// Called again after every step but [`Step::Done`]; after [`Step::Need`] only when the inbox
    /// has more, or has been told that nothing more will come. A machine that takes several errands is
    /// called after [`Step::Done`], too, for the next of them.
    ///
    /// # Errors
    /// The peer broke the protocol; the conversation is over.
    fn step(&mut self, inbox: &mut Inbox) -> Result<Step, WireError>;

    /// Whether what the peer says may repeat a secret: then lines are shown, which have lost it, and no octets.
    fn has_secrets(&self) -> bool {
        false
    }
}

/// What a machine wants.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
#[allow(clippy::exhaustive_enums, reason = "whoever drives a machine must know every step")]
pub enum Step {
    /// From here on both sides compress what they say (RFC 8054).
    Deflate,
    /// The conversation, or this errand of several, is complete.
    Done,
    /// Something for the caller.
    Emit(Event),
    /// More octets, or word that there are none.
    Need,
    /// TLS from here on; octets that came before the handshake must be thrown away.
    Secure,
    /// Octets for the peer.
    Send(Bytes),
}

/// What a machine found.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The next octets of the object.
    Body(Bytes),
    /// One line of a listing.
    Entry(Entry),
    /// What is known of the object before its octets.
    Head(Head),
    /// A line that the peer has said, for whoever wants to read the dialogue.
    Heard(Bytes),
    /// Something that whoever asked should know: a departure that loses nothing.
    Note(&'static str),
    /// The peer has no such object, or will not give it: its own words.
    Refused(Box<Refused>),
    /// A line that goes out, without secrets, for whoever wants to read the dialogue.
    Said(String),
    /// The end came without the mark that this names: all of it may have come, or not.
    Unmarked(&'static str),
}

/// How a peer broke the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WireError {
    /// The connection ended in the middle of what `what` names.
    Cut {
        /// What was being read.
        what: &'static str,
    },
    /// More than the limit called `limit` allows.
    Limit {
        /// The name of the limit.
        limit: &'static str,
        /// Its value, in octets or in pieces as its name says.
        most: usize,
    },
    /// Something that the protocol does not allow here.
    Unexpected {
        /// What was being read.
        what: &'static str,
        /// The octets that came instead, shortened.
        got: Bytes,
    },
}

impl std::fmt::Display for WireError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Cut { what } => write!(f, "the connection ended in the middle of {what}"),
            Self::Limit { limit, most } => write!(f, "more than {limit} allows ({most})"),
            Self::Unexpected { what, got } => {
                write!(f, "not {what}: \"{}\"", crate::text::printable(got))
            }
        }
    }
}

impl std::error::Error for WireError {}
