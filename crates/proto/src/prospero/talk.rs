//! What all conversations have in common: the request goes out, lines come back.

use bytes::Bytes;

use super::line::Line;
use super::question::{ObjectId, Question};
use super::tokens::Tokens;
use crate::text::escaped;
use crate::{Event, Refused, Step, WireError};

/// A request that is to go out: its lines are told first.
#[derive(Debug)]
pub(super) struct Saying {
    lines: std::vec::IntoIter<Vec<u8>>,
    text: Option<Bytes>,
}

impl Saying {
    pub(super) fn new(question: &Question, object: &ObjectId) -> Self {
        let text = question.text(object).into();
        Self { lines: question.lines(object).into_iter(), text: Some(text) }
    }

    /// What is to be said next; none when all of it was.
    pub(super) fn next(&mut self) -> Option<Step> {
        if let Some(line) = self.lines.next() {
            return Some(Step::Emit(Event::Said(escaped(&line))));
        }
        self.text.take().map(Step::Send)
    }
}

/// A line for whoever reads the dialogue.
pub(super) fn heard(tokens: &Tokens) -> Event {
    Event::Heard(tokens.join(&b' ').into())
}

/// What a line comes to.
#[derive(Debug)]
pub(super) enum Read {
    Line(Line),
    /// There is no answer.
    Refused(Event),
}

/// Reads a line.
///
/// # Errors
/// The server found the request malformed, or said too little.
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
    Event::Refused(Box::new(Refused::in_words(words)))
}

pub(super) fn unexpected(what: &'static str) -> WireError {
    WireError::Unexpected { what, got: Bytes::new() }
}
