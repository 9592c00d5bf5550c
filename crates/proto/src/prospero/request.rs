//! The parts that all Prospero requests share: sending the request and evaluating response lines.

use bytes::Bytes;

use super::line::Line;
use super::query::{ObjectId, Query};
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
    pub(super) fn new(query: &Query, object: &ObjectId) -> Self {
        let text = query.text(object).into();
        Self { lines: query.lines(object).into_iter(), text: Some(text) }
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
pub(super) enum EvaluatedLine {
    Line(Line),
    /// The server rejected the request.
    Rejected(Event),
}

/// Parses and evaluates a line. `has_line_end` is `false` for a last line without LF, such as that of a rejection.
///
/// # Errors
/// [`WireError::Unexpected`] if the server rejected the request as malformed, or sent too few words.
/// [`WireError::UnexpectedEnd`] if a line with a name or a value has no LF: its last word may be cut.
pub(super) fn evaluate_line(tokens: Tokens, has_line_end: bool) -> Result<EvaluatedLine, WireError> {
    match Line::parse(tokens) {
        Line::Failure(words) | Line::VersionRefused(words) => {
            Ok(EvaluatedLine::Rejected(rejection(words.into())))
        }
        Line::Error(words) => {
            Err(WireError::Unexpected { what: "an answer to the request", got: words.into() })
        }
        line @ (Line::NoneFound | Line::Other) => Ok(EvaluatedLine::Line(line)),
        _ if !has_line_end => Err(cut_line_error()),
        Line::Short => Err(unexpected("a line with all its words")),
        line => Ok(EvaluatedLine::Line(line)),
    }
}

/// Returns the error for an answer that ends within a line.
pub(super) const fn cut_line_error() -> WireError {
    WireError::UnexpectedEnd { what: "the last line" }
}

/// Returns the event for a rejected request.
pub(super) fn rejection(words: Bytes) -> Event {
    Event::Rejected(Box::new(Rejection::from_text(words)))
}

/// Returns the error for a response without `what`.
pub(super) fn unexpected(what: &'static str) -> WireError {
    WireError::Unexpected { what, got: Bytes::new() }
}
