//! Parses the body of a response by its expected type.

use bytes::Bytes;

use super::dot_stuffing::{LastBytes, TextReader};
use super::response_framing::{ResponseEnd, ResponseFraming};
use super::{DotStuffing, MenuItem, MenuReader};
use crate::gopher_plus::{Attributes, AttributesReader};
use crate::{RecvBuffer, WireError};

/// The end of a connection that was not lost, for messages.
const CONNECTION_END: &str = "a regular end of the connection";

/// The expected type of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResponseKind {
    /// Gopher+ attributes, one entry per item.
    Attributes,
    /// A menu, one entry per line.
    Menu,
    /// Binary data, unchanged.
    Binary,
    /// A text, with this handling of its dots.
    Text(DotStuffing),
}

/// The parser of a response body.
#[derive(Debug)]
pub(super) enum Reader {
    /// With the last bytes received, which may be the terminator.
    Attributes(RecvBuffer, AttributesReader, LastBytes),
    Menu(RecvBuffer, MenuReader),
    Data(Bytes),
    Text(TextReader),
}

/// The next parsed part of a response.
pub(super) enum ParsedPart {
    Attributes(Attributes),
    Item(MenuItem),
    Data(Bytes),
}

impl Reader {
    pub(super) fn new(expected: ResponseKind, frame: ResponseFraming) -> Self {
        match expected {
            ResponseKind::Attributes => {
                Self::Attributes(RecvBuffer::new(), AttributesReader::new(), LastBytes::default())
            }
            ResponseKind::Menu => Self::Menu(RecvBuffer::new(), MenuReader::new()),
            ResponseKind::Binary => Self::Data(Bytes::new()),
            ResponseKind::Text(dots) => Self::Text(TextReader::new(dots, frame == ResponseFraming::Dot)),
        }
    }

    /// Adds received bytes.
    pub(super) fn push(&mut self, bytes: Bytes) {
        match self {
            Self::Attributes(buffer, _, tail) => {
                tail.remember(&bytes);
                buffer.push(&bytes);
            }
            Self::Menu(buffer, _) => buffer.push(&bytes),
            Self::Data(held) => *held = bytes,
            Self::Text(text) => text.push(bytes),
        }
    }

    /// Ends the input.
    pub(super) fn end(&mut self, end: ResponseEnd) {
        match self {
            Self::Attributes(buffer, ..) | Self::Menu(buffer, _) if end == ResponseEnd::Lost => {
                buffer.mark_lost()
            }
            Self::Attributes(buffer, ..) | Self::Menu(buffer, _) => buffer.mark_closed(),
            Self::Text(text) => text.end(),
            Self::Data(_) => {}
        }
    }

    /// Returns the next parsed part, or `None` if more data is needed.
    ///
    /// # Errors
    /// [`WireError`] if a line is too long or was truncated.
    pub(super) fn next(&mut self) -> Result<Option<ParsedPart>, WireError> {
        match self {
            Self::Attributes(buffer, reader, _) => Ok(reader.read(buffer)?.map(ParsedPart::Attributes)),
            Self::Menu(buffer, reader) => Ok(reader.read(buffer)?.map(ParsedPart::Item)),
            Self::Data(held) => {
                let bytes = std::mem::take(held);
                Ok((!bytes.is_empty()).then_some(ParsedPart::Data(bytes)))
            }
            Self::Text(text) => Ok(text.next().map(ParsedPart::Data)),
        }
    }

    /// Returns `true` if the response has ended, even if its framing continues.
    pub(super) fn is_over(&self) -> bool {
        matches!(self, Self::Text(text) if text.is_over())
    }

    /// Checks the end of the response. Returns the name of the missing terminator if completeness is unknown.
    ///
    /// # Errors
    /// [`WireError::UnexpectedEnd`] if the response was truncated.
    pub(super) fn check_end(
        &self,
        frame: ResponseFraming,
        end: ResponseEnd,
        ends_line: bool,
    ) -> Result<Option<&'static str>, WireError> {
        let is_terminated = match self {
            Self::Attributes(_, _, tail) => tail.is_terminator(),
            Self::Menu(_, reader) => reader.has_final_dot(),
            Self::Text(text) => text.is_terminated(),
            // Binary data has no terminator.
            Self::Data(_) => end != ResponseEnd::Lost,
        };
        let ends_line = ends_line && matches!(self, Self::Text(text) if !text.has_inner_dot());
        match (is_terminated, end) {
            // A line of one dot may be part of the text, unless Gopher+ has announced it.
            (true, ResponseEnd::Lost) if frame != ResponseFraming::Dot => Ok(Some(CONNECTION_END)),
            (true, _) => Ok(None),
            (false, _) => frame.check_unterminated(end, ends_line),
        }
    }
}
