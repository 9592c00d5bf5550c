//! A document, piece by piece.

use std::ops::Range;

use bytes::Bytes;

use super::answer::Answer;
use super::{DocumentId, WaisName, frame, request};
use crate::{Event, Head, Inbox, Machine, Refused, Step, WireError};

/// The retrieval of a document, or of a part of it.
///
/// Nobody tells how long a document is: it is over when fewer octets come than were asked for, or when the server
/// says that the range is out of it.
#[derive(Debug)]
pub struct Retrieval {
    database: WaisName,
    id: DocumentId,
    wtype: WaisName,
    wanted: Range<u64>,
    stage: Stage,
    is_begun: bool,
    /// What tells the answer to this request from others.
    reference: u64,
}

#[derive(Debug)]
enum Stage {
    Ask,
    /// So many octets were asked for.
    Answer(u64),
    /// What else is to be told.
    Tell(Vec<Event>, bool),
    Done,
}

impl Retrieval {
    /// So much is asked for at a time: servers have no room for much more.
    pub const PIECE: u64 = 10_000;

    /// The octets of `wanted`, as far as there are any.
    pub const fn new(database: WaisName, wtype: WaisName, id: DocumentId, wanted: Range<u64>) -> Self {
        // The programs of the time said 3, always.
        Self { database, id, wtype, wanted, stage: Stage::Ask, is_begun: false, reference: 2 }
    }

    fn ask(&mut self, inbox: &Inbox) -> Result<Step, WireError> {
        frame::check_silence(inbox)?;
        let count = Self::PIECE.min(self.wanted.end.saturating_sub(self.wanted.start));
        let piece = self.wanted.start..self.wanted.start + count;
        self.stage = Stage::Answer(count);
        self.reference += 1;
        let request = request::retrieval(&self.database, &self.id, &self.wtype, &piece, self.reference);
        Ok(Step::Send(request))
    }

    /// What an answer comes to: what is told, and whether that was all.
    fn take(&mut self, answer: Option<Answer>, asked: u64) -> Result<(Vec<Event>, bool), WireError> {
        // Nothing at all is what servers send that cannot answer.
        let Some(answer) = answer else { return self.refuse(Bytes::new()) };
        if answer.reference.as_ref().is_some_and(|reference| *reference != self.reference.to_string()) {
            return Err(WireError::Unexpected { what: "the answer to this request", got: Bytes::new() });
        }
        if answer.texts.is_empty() {
            let words = answer.diagnostics.first().map(super::Diagnostic::line).unwrap_or_default();
            return self.end_without(words);
        }
        let count: u64 = answer.texts.iter().map(|text| text.len() as u64).sum();
        if count > asked {
            return Err(WireError::Unexpected { what: "the octets that were asked for", got: Bytes::new() });
        }
        let mut events = Vec::new();
        let mut complaints = answer.complaints().peekable();
        if complaints.peek().is_some() {
            events.extend(complaints.map(|complaint| Event::Heard(complaint.line())));
            events.push(Event::Note("the server has a complaint about the document"));
        }
        if !std::mem::replace(&mut self.is_begun, true) {
            events.push(Event::Head(Head::default()));
        }
        events.extend(answer.texts.iter().filter(|text| !text.is_empty()).cloned().map(Event::Body));
        self.wanted.start += count;
        let is_over = count < asked || answer.says_end() || self.wanted.is_empty();
        Ok((events, is_over))
    }

    /// No octets: of a document that has begun, that is the end.
    fn end_without(&self, words: Bytes) -> Result<(Vec<Event>, bool), WireError> {
        let is_end = words.starts_with(b"SF") || words.is_empty();
        if self.is_begun && is_end { Ok((Vec::new(), true)) } else { self.refuse(words) }
    }

    fn refuse(&self, words: Bytes) -> Result<(Vec<Event>, bool), WireError> {
        if self.is_begun {
            return Err(WireError::Unexpected { what: "the rest of the document", got: words });
        }
        Ok((vec![Event::Refused(Box::new(Refused::in_words(words)))], true))
    }
}

impl Machine for Retrieval {
    fn step(&mut self, inbox: &mut Inbox) -> Result<Step, WireError> {
        loop {
            match &mut self.stage {
                Stage::Ask => return self.ask(inbox),
                Stage::Answer(asked) => {
                    let asked = *asked;
                    let Some(message) = frame::read(inbox)? else { return Ok(Step::Need) };
                    let (mut events, is_over) = self.take(Answer::parse(&message)?, asked)?;
                    events.reverse();
                    self.stage = Stage::Tell(events, is_over);
                }
                Stage::Tell(events, is_over) => match events.pop() {
                    Some(event) => return Ok(Step::Emit(event)),
                    None => self.stage = if *is_over { Stage::Done } else { Stage::Ask },
                },
                Stage::Done => return Ok(Step::Done),
            }
        }
    }
}
