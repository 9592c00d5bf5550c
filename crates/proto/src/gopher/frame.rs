//! Where an answer ends: where the connection does, or where Gopher+ says.

use bytes::Bytes;

use crate::gopher_plus::Framing;
use crate::{Inbox, WireError};

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// All octets that were announced have come.
    Counted,
    /// The server closed the connection.
    Closed,
    /// The connection was lost.
    Lost,
}

/// What is known of the end of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// So many octets are still to come; what stands behind them is no part of the answer.
    Counted(u64),
    /// A line of one dot stands at the end, by the server's word.
    Dot,
    /// The connection ends; by RFC 1436, a dot should stand there in a text and a menu.
    Plain,
    /// The connection ends, by the server's word.
    Unmarked,
}

/// The next of an answer.
pub(super) enum Chunk {
    Octets(Bytes),
    Need,
    End(End),
}

impl From<Framing> for Frame {
    fn from(framing: Framing) -> Self {
        match framing {
            Framing::Length(length) => Self::Counted(length),
            Framing::Dot => Self::Dot,
            Framing::End => Self::Unmarked,
        }
    }
}

impl Frame {
    /// The next octets of the answer.
    ///
    /// # Errors
    /// The connection ended before the octets had come that were announced.
    pub(super) fn next(&mut self, inbox: &mut Inbox) -> Result<Chunk, WireError> {
        if *self == Self::Counted(0) {
            return Ok(Chunk::End(End::Counted));
        }
        match (self, inbox.octets().is_empty(), inbox.is_ended()) {
            (_, true, false) => Ok(Chunk::Need),
            (Self::Counted(_), true, true) => Err(WireError::Cut { what: "the octets that were announced" }),
            (_, true, true) if inbox.is_lost() => Ok(Chunk::End(End::Lost)),
            (_, true, true) => Ok(Chunk::End(End::Closed)),
            (Self::Counted(left), false, _) => {
                let octets = inbox.take(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= octets.len() as u64;
                Ok(Chunk::Octets(octets))
            }
            (_, false, _) => Ok(Chunk::Octets(inbox.take(usize::MAX))),
        }
    }

    /// What an end without a line of one dot means for a text or a menu: nothing, that the mark is
    /// missing, or that the answer was cut.
    ///
    /// # Errors
    /// The answer was cut.
    pub(super) const fn check_unmarked(self, end: End) -> Result<Option<&'static str>, WireError> {
        /// What a text or a menu is cut without.
        const DOT: &str = "the line of one dot at its end";
        match (self, end) {
            (_, End::Lost) | (Self::Dot, End::Closed) => Err(WireError::Cut { what: "the answer" }),
            (Self::Plain, End::Closed) => Ok(Some(DOT)),
            _ => Ok(None),
        }
    }
}
