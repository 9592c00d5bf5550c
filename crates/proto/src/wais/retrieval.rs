//! A document, piece by piece.

use std::ops::Range;

use bytes::Bytes;

use super::answer::Answer;
use super::{DocumentId, WaisName, frame, request};
use crate::{Event, Head, Inbox, Machine, Refused, Step, WireError};

/// The retrieval of a document, or of a part of it.
///
/// Nobody tells how long a document is: it is over when the server says that the range is out of it, or gives fewer
/// octets than were asked for; a refusal may come after some of them, and then not all have come.
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
    /// The server says which request it answers.
    is_named: bool,
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
        Self {
            database,
            id,
            wtype,
            wanted,
            stage: Stage::Ask,
            is_begun: false,
            reference: 2,
            is_named: false,
        }
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
        let Some(answer) = answer else { return Ok((refused(Bytes::new()), true)) };
        self.check_names(&answer)?;
        let count: u64 = answer.texts.iter().map(|text| text.octets.len() as u64).sum();
        if count > asked {
            return Err(unexpected("the octets that were asked for"));
        }
        Ok(if count == 0 {
            (self.take_nothing(&answer), true)
        } else {
            self.take_octets(answer, count, asked)
        })
    }

    /// The answer must be the one to this request, where the server says which it is.
    fn check_names(&mut self, answer: &Answer) -> Result<(), WireError> {
        let is_ours = |reference: &Bytes| *reference == self.reference.to_string();
        let is_named = answer.reference.is_some();
        if !answer.reference.as_ref().is_none_or(is_ours) || (self.is_named && !is_named) {
            return Err(unexpected("the answer to this request"));
        }
        self.is_named = is_named;
        let is_other = |id: &Bytes| *id != self.id.0;
        if answer.texts.iter().filter_map(|text| text.id.as_ref()).any(is_other) {
            return Err(unexpected("the document that was asked for"));
        }
        Ok(())
    }

    /// No octets: a refusal, or the end.
    fn take_nothing(&mut self, answer: &Answer) -> Vec<Event> {
        let is_first = !std::mem::replace(&mut self.is_begun, true);
        let is_empty = is_first && self.wanted.start == 0 && !answer.texts.is_empty();
        let words = answer.complaints().next().or(answer.diagnostics.first()).map(super::Diagnostic::line);
        let mut events = Vec::new();
        if answer.complaints().next().is_some() || (is_first && !is_empty) {
            return refused(words.unwrap_or_default());
        }
        if is_empty {
            events.push(Event::Head(Head::default()));
        }
        if !answer.says_end() {
            events.extend(unmarked());
        }
        events
    }

    fn take_octets(&mut self, answer: Answer, count: u64, asked: u64) -> (Vec<Event>, bool) {
        let says_end = answer.says_end();
        let complaint = answer.complaints().next().map(super::Diagnostic::line);
        let mut events: Vec<Event> =
            answer.complaints().map(|complaint| Event::Heard(complaint.line())).collect();
        if complaint.is_some() {
            events.push(Event::Note("the server has a complaint about the document"));
        }
        if !std::mem::replace(&mut self.is_begun, true) {
            events.push(Event::Head(Head::default()));
        }
        let octets = answer.texts.into_iter().map(|text| text.octets).filter(|octets| !octets.is_empty());
        events.extend(octets.map(Event::Body));
        self.wanted.start += count;
        let is_short = count < asked && !says_end;
        if is_short {
            // As the programs of the time had it, fewer octets than were asked for are the end; real servers say so.
            events.extend(complaint.map_or_else(unmarked, refused));
        }
        (events, is_short || says_end || self.wanted.is_empty())
    }
}

fn refused(words: Bytes) -> Vec<Event> {
    vec![Event::Refused(Box::new(Refused::in_words(words)))]
}

fn unmarked() -> Vec<Event> {
    vec![Event::Unmarked("the server's word that the document has ended")]
}

fn unexpected(what: &'static str) -> WireError {
    WireError::Unexpected { what, got: Bytes::new() }
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
