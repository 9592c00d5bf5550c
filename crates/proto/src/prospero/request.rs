//! The parts that all Prospero requests share: sending the request and evaluating response lines.

use bytes::Bytes;

use super::line::Line;
use super::question::{ObjectId, Question};
use super::tokens::Tokens;
use crate::text::escape_non_ascii;
use crate::{Event, Rejection, Step, WireError};

/// A request to send, preceded by its lines for the wire trace.
#[derive(Debug)]
pub(super) struct OutgoingRequest {
    lines: std::vec::IntoIter<Vec<u8>>,
    text: Option<Bytes>,
}

impl OutgoingRequest {
    pub(super) fn new(question: &Question, object: &ObjectId) -> Self {
        let text = question.text(object).into();
        Self { lines: question.lines(object).into_iter(), text: Some(text) }
    }

    /// Returns the next step, or `None` once the request was sent.
    pub(super) fn next(&mut self) -> Option<Step> {
        if let Some(line) = self.lines.next() {
            return Some(Step::Emit(Event::Sent(escape_non_ascii(&line))));
        }
        self.text.take().map(Step::Send)
    }
}

/// Returns the wire trace event for a received line.
pub(super) fn received_line(tokens: &Tokens) -> Event {
    Event::Received(tokens.join(&b' ').into())
}

/// An evaluated line.
#[derive(Debug)]
pub(super) enum Read {
    Line(Line),
    /// The server refused the request.
    Refused(Event),
}

/// Parses and evaluates a line.
///
/// # Errors
/// [`WireError::Unexpected`] if the server rejected the request as malformed, or sent too few words.
pub(super) fn read(tokens: Tokens) -> Result<Read, WireError> {
    match Line::of(tokens) {
        Line::Failure(words) | Line::VersionRefused(words) => Ok(Read::Refused(refused(words.into()))),
        Line::Error(words) => {
            Err(WireError::Unexpected { what: "an answer to the request", got: words.into() })
        }
        Line::Short => Err(unexpected("a line with all its words")),
        line => Ok(Read::Line(line)),
    }
}

pub(super) fn refused(words: Bytes) -> Event {
    Event::Rejected(Box::new(Rejection::from_text(words)))
}

pub(super) fn unexpected(what: &'static str) -> WireError {
    WireError::Unexpected { what, got: Bytes::new() }
}
