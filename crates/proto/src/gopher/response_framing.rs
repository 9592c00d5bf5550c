//! Finds the end of a response: the end of the connection, or the framing of Gopher+.

use bytes::Bytes;

use crate::gopher_plus::Framing;
use crate::{RecvBuffer, WireError};

/// How a response ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResponseEnd {
    /// All announced bytes were received.
    Counted,
    /// The server closed the connection.
    Closed,
    /// The connection was lost.
    Lost,
}

/// The framing of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResponseFraming {
    /// This many bytes are left; data after them does not belong to the response.
    Counted(u64),
    /// Gopher+ status `-1`: the response ends with a line of one dot.
    Dot,
    /// Plain Gopher: the response ends with the connection, and texts and menus should end with a line of one
    /// dot (RFC 1436).
    Plain,
    /// Gopher+ status `-2`: the response ends with the connection.
    ConnectionEnd,
}

/// The next part of a response, as the framing delimits it.
pub(super) enum Chunk {
    Data(Bytes),
    NeedMore,
    End(ResponseEnd),
}

impl From<Framing> for ResponseFraming {
    fn from(framing: Framing) -> Self {
        match framing {
            Framing::Length(length) => Self::Counted(length),
            Framing::Dot => Self::Dot,
            Framing::End => Self::ConnectionEnd,
        }
    }
}

impl ResponseFraming {
    /// Returns the next bytes of the response.
    ///
    /// # Errors
    /// [`WireError::UnexpectedEnd`] if the connection ended before all announced bytes were received.
    pub(super) fn next(&mut self, buffer: &mut RecvBuffer) -> Result<Chunk, WireError> {
        if *self == Self::Counted(0) {
            return Ok(Chunk::End(ResponseEnd::Counted));
        }
        match (self, buffer.bytes().is_empty(), buffer.is_ended()) {
            (_, true, false) => Ok(Chunk::NeedMore),
            (Self::Counted(_), true, true) => {
                Err(WireError::UnexpectedEnd { what: "the announced number of bytes" })
            }
            (_, true, true) if buffer.is_lost() => Ok(Chunk::End(ResponseEnd::Lost)),
            (_, true, true) => Ok(Chunk::End(ResponseEnd::Closed)),
            (Self::Counted(left), false, _) => {
                let bytes = buffer.take(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= bytes.len() as u64;
                Ok(Chunk::Data(bytes))
            }
            (_, false, _) => Ok(Chunk::Data(buffer.take(usize::MAX))),
        }
    }

    /// Checks whether a text or menu without a final line of one dot is complete. Returns `None` if it is, or the name
    /// of the missing terminator if that is unknown. `ends_line` is `true` if this is a text that ends with a line
    /// feed: UMN servers announce the line of one dot and close the connection after the last line of a file.
    ///
    /// # Errors
    /// [`WireError::UnexpectedEnd`] if the response was truncated.
    pub(super) const fn check_unterminated(
        self,
        end: ResponseEnd,
        ends_line: bool,
    ) -> Result<Option<&'static str>, WireError> {
        /// The terminator of a text or menu, for messages.
        const DOT: &str = "the line of one dot at its end";
        match (self, end) {
            (Self::Dot, ResponseEnd::Closed) if ends_line => Ok(Some(DOT)),
            (_, ResponseEnd::Lost) | (Self::Dot, ResponseEnd::Closed) => {
                Err(WireError::UnexpectedEnd { what: "the response" })
            }
            (Self::Plain, ResponseEnd::Closed) => Ok(Some(DOT)),
            _ => Ok(None),
        }
    }
}
