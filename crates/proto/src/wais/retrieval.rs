//! Retrieves a document in pieces.

use std::ops::Range;

use bytes::Bytes;

use super::answer::Answer;
use super::{DocumentId, WaisName, frame, request};
use crate::{Event, Head, Machine, RecvBuffer, Rejection, Step, WireError};

/// Retrieves a document or a range of it, a [`Machine`] without I/O.
///
/// The size of a document is not known in advance. It has ended when the server reports that the range is outside
/// it, or returns fewer bytes than requested. An error after some pieces means that the document is incomplete.
#[derive(Debug)]
pub struct Retrieval {
    database: WaisName,
    id: DocumentId,
    wtype: WaisName,
    wanted: Range<u64>,
    state: RetrievalState,
    has_started: bool,
    /// The reference id of the current request.
    reference_id: u64,
    /// The server returns reference ids.
    has_ids: bool,
}

/// The progress of the retrieval.
#[derive(Debug)]
enum RetrievalState {
    /// The next request is to be sent.
    Send,
    /// The response to a request for this many bytes is pending.
    AwaitResponse(u64),
    /// Events to emit, and whether the document has ended.
    Emit(Vec<Event>, bool),
    Done,
}

impl Retrieval {
    /// The number of bytes per request; servers have little more buffer space.
    pub const PIECE: u64 = 10_000;

    /// Retrieves the byte range `wanted`, as far as the document reaches.
    pub const fn new(database: WaisName, wtype: WaisName, id: DocumentId, wanted: Range<u64>) -> Self {
        // Old clients always sent 3, so the first id is 3.
        Self {
            database,
            id,
            wtype,
            wanted,
            state: RetrievalState::Send,
            has_started: false,
            reference_id: 2,
            has_ids: false,
        }
    }

    /// Sends the request for the next piece.
    fn send_request(&mut self, buffer: &RecvBuffer) -> Result<Step, WireError> {
        frame::check_silence(buffer)?;
        let count = Self::PIECE.min(self.wanted.end.saturating_sub(self.wanted.start));
        let piece = self.wanted.start..self.wanted.start + count;
        self.state = RetrievalState::AwaitResponse(count);
        self.reference_id += 1;
        let request = request::retrieval(&self.database, &self.id, &self.wtype, &piece, self.reference_id);
        Ok(Step::Send(request))
    }

    /// Processes a response. Returns the events and whether the document has ended.
    fn process_answer(
        &mut self,
        answer: Option<Answer>,
        requested: u64,
    ) -> Result<(Vec<Event>, bool), WireError> {
        // Servers that cannot answer send an empty message.
        let Some(answer) = answer else { return Ok((rejection(Bytes::new()), true)) };
        self.check_ids(&answer)?;
        let count: u64 = answer.texts.iter().map(|text| text.bytes.len() as u64).sum();
        if count > requested {
            return Err(unexpected("the requested number of bytes"));
        }
        Ok(if count == 0 {
            (self.process_empty_answer(&answer), true)
        } else {
            self.process_data(answer, count, requested)
        })
    }

    /// Checks that the response belongs to this request, if the server returns ids.
    fn check_ids(&mut self, answer: &Answer) -> Result<(), WireError> {
        let is_ours = |reference: &Bytes| *reference == self.reference_id.to_string();
        let has_ids = answer.reference.is_some();
        if !answer.reference.as_ref().is_none_or(is_ours) || (self.has_ids && !has_ids) {
            return Err(unexpected("the answer to this request"));
        }
        self.has_ids = has_ids;
        let is_other = |id: &Bytes| *id != self.id.0;
        if answer.texts.iter().filter_map(|text| text.id.as_ref()).any(is_other) {
            return Err(unexpected("the requested document"));
        }
        Ok(())
    }

    /// Processes a response without data: an error, or the end of the document.
    fn process_empty_answer(&mut self, answer: &Answer) -> Vec<Event> {
        let is_first = !std::mem::replace(&mut self.has_started, true);
        let is_empty = is_first && self.wanted.start == 0 && !answer.texts.is_empty();
        let words =
            answer.error_diagnostics().next().or(answer.diagnostics.first()).map(super::Diagnostic::line);
        let mut events = Vec::new();
        if answer.error_diagnostics().next().is_some() || (is_first && !is_empty) {
            return rejection(words.unwrap_or_default());
        }
        if is_empty {
            events.push(Event::Head(Head::default()));
        }
        if !answer.says_end() {
            events.extend(unterminated_end());
        }
        events
    }

    /// Processes a response with data. Returns the events and whether the document has ended.
    fn process_data(&mut self, answer: Answer, count: u64, requested: u64) -> (Vec<Event>, bool) {
        let says_end = answer.says_end();
        let diagnostic = answer.error_diagnostics().next().map(super::Diagnostic::line);
        let mut events: Vec<Event> =
            answer.error_diagnostics().map(|diagnostic| Event::Received(diagnostic.line())).collect();
        if diagnostic.is_some() {
            events.push(Event::Note("the server sent a diagnostic about the document"));
        }
        if !std::mem::replace(&mut self.has_started, true) {
            events.push(Event::Head(Head::default()));
        }
        let bytes = answer.texts.into_iter().map(|text| text.bytes).filter(|bytes| !bytes.is_empty());
        events.extend(bytes.map(Event::Body));
        self.wanted.start += count;
        let is_short = count < requested && !says_end;
        if is_short {
            // Fewer bytes than requested are the end, as in old clients; real servers also report it.
            events.extend(diagnostic.map_or_else(unterminated_end, rejection));
        }
        (events, is_short || says_end || self.wanted.is_empty())
    }
}

fn rejection(words: Bytes) -> Vec<Event> {
    vec![Event::Rejected(Box::new(Rejection::from_text(words)))]
}

fn unterminated_end() -> Vec<Event> {
    vec![Event::UnterminatedEnd("the server's word that the document has ended")]
}

fn unexpected(what: &'static str) -> WireError {
    WireError::Unexpected { what, got: Bytes::new() }
}

impl Machine for Retrieval {
    fn step(&mut self, buffer: &mut RecvBuffer) -> Result<Step, WireError> {
        loop {
            match &mut self.state {
                RetrievalState::Send => return self.send_request(buffer),
                RetrievalState::AwaitResponse(requested) => {
                    let requested = *requested;
                    let Some(message) = frame::read(buffer)? else { return Ok(Step::NeedMore) };
                    let (mut events, is_over) = self.process_answer(Answer::parse(&message)?, requested)?;
                    events.reverse();
                    self.state = RetrievalState::Emit(events, is_over);
                }
                RetrievalState::Emit(events, is_over) => match events.pop() {
                    Some(event) => return Ok(Step::Emit(event)),
                    None => self.state = if *is_over { RetrievalState::Done } else { RetrievalState::Send },
                },
                RetrievalState::Done => return Ok(Step::Done),
            }
        }
    }
}
