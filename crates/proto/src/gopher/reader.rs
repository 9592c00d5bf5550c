//! The octets of an answer, read as what it is expected to be.

use bytes::Bytes;

use super::dots::{Tail, TextReader};
use super::frame::{End, Frame};
use super::{Expected, MenuItem, MenuReader};
use crate::gopher_plus::{Attributes, AttributesReader};
use crate::{Inbox, WireError};

/// What an answer is read by.
#[derive(Debug)]
pub(super) enum Reader {
    Attributes(Inbox, AttributesReader, Tail),
    Menu(Inbox, MenuReader),
    Octets(Bytes),
    Text(TextReader),
}

/// The next thing in an answer.
pub(super) enum Found {
    Attributes(Attributes),
    Item(MenuItem),
    Octets(Bytes),
}

impl Reader {
    pub(super) fn new(expected: Expected, frame: Frame) -> Self {
        match expected {
            Expected::Attributes => Self::Attributes(Inbox::new(), AttributesReader::new(), Tail::default()),
            Expected::Menu => Self::Menu(Inbox::new(), MenuReader::new()),
            Expected::Octets => Self::Octets(Bytes::new()),
            Expected::Text(dots) => Self::Text(TextReader::new(dots, frame == Frame::Dot)),
        }
    }

    /// More has arrived.
    pub(super) fn push(&mut self, octets: Bytes) {
        match self {
            Self::Attributes(inbox, _, tail) => {
                tail.remember(&octets);
                inbox.push(&octets);
            }
            Self::Menu(inbox, _) => inbox.push(&octets),
            Self::Octets(held) => *held = octets,
            Self::Text(text) => text.push(octets),
        }
    }

    /// Nothing more will come.
    pub(super) fn end(&mut self, end: End) {
        match self {
            Self::Attributes(inbox, ..) | Self::Menu(inbox, _) if end == End::Lost => inbox.lose(),
            Self::Attributes(inbox, ..) | Self::Menu(inbox, _) => inbox.end(),
            Self::Text(text) => text.end(),
            Self::Octets(_) => {}
        }
    }

    /// The next thing, if it has arrived.
    ///
    /// # Errors
    /// A line is too long, or was cut.
    pub(super) fn next(&mut self) -> Result<Option<Found>, WireError> {
        match self {
            Self::Attributes(inbox, reader, _) => Ok(reader.read(inbox)?.map(Found::Attributes)),
            Self::Menu(inbox, reader) => Ok(reader.read(inbox)?.map(Found::Item)),
            Self::Octets(held) => {
                let octets = std::mem::take(held);
                Ok((!octets.is_empty()).then_some(Found::Octets(octets)))
            }
            Self::Text(text) => Ok(text.next().map(Found::Octets)),
        }
    }

    /// Whether nothing that follows belongs to the answer, whatever the frame says.
    pub(super) fn is_over(&self) -> bool {
        matches!(self, Self::Text(text) if text.is_over())
    }

    /// Whether the end that came is one: the mark that is missing there.
    ///
    /// # Errors
    /// The answer was cut.
    pub(super) fn check_end(&self, frame: Frame, end: End) -> Result<Option<&'static str>, WireError> {
        let is_marked = match self {
            Self::Attributes(_, _, tail) => tail.is_mark(),
            Self::Menu(_, reader) => reader.has_final_dot(),
            Self::Text(text) => text.is_marked(),
            // Its end has no mark by design.
            Self::Octets(_) => end != End::Lost,
        };
        if is_marked { Ok(None) } else { frame.check_unmarked(end) }
    }
}
