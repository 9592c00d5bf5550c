//! Retrieves a document in pieces.

use std::collections::VecDeque;
use std::ops::Range;

use bytes::Bytes;

use super::response::SearchResponse;
use super::search::note;
use super::{DocumentId, WaisName, frame, request};
use crate::{Event, Head, Machine, RecvBuffer, Rejection, Step, WireError};

/// Maximum length of a response in bytes; real servers send at most 100,000.
const MAX_RESPONSE: usize = 1024 * 1024;

/// Retrieves a document or a range of it, a [`Machine`] without I/O.
///
/// The size of a document is not known in advance. It ends when the server reports that the requested range is outside
/// the document, or returns fewer bytes than requested. If it sends another diagnostic instead of a piece, the document is
/// incomplete.
///
/// The next piece is requested as soon as the header of a response announces a full piece. A server discards the second
/// of two requests that arrive together; it accepts a request that arrives while it sends a response.
#[derive(Debug)]
pub struct Retrieval {
    database: WaisName,
    id: DocumentId,
    wtype: WaisName,
    /// The bytes that have not been received.
    wanted: Range<u64>,
    /// The requests without a response, at most two.
    pending: VecDeque<Pending>,
    events: VecDeque<Event>,
    has_ended: bool,
    has_started: bool,
    /// The reference id of the latest request.
    reference_id: u64,
    /// The server returns reference ids.
    has_ids: bool,
}

/// A request without a response.
#[derive(Clone, Copy, Debug)]
struct Pending {
    /// The number of requested bytes.
    count: u64,
    reference_id: u64,
}

impl Retrieval {
    /// The number of bytes per request; servers have little more buffer space.
    pub const BYTES_PER_REQUEST: u64 = 10_000;

    /// Retrieves the byte range `wanted`, as far as the document reaches.
    pub const fn new(database: WaisName, wtype: WaisName, id: DocumentId, wanted: Range<u64>) -> Self {
        Self {
            database,
            id,
            wtype,
            wanted,
            pending: VecDeque::new(),
            events: VecDeque::new(),
            has_ended: false,
            has_started: false,
            // The first id is 3, the value that old clients always sent.
            reference_id: 2,
            has_ids: false,
        }
    }

    /// Returns `true` if the next request must be sent now: nothing is pending, or the server is sending a full
    /// piece.
    fn is_request_due(&self, buffer: &RecvBuffer) -> Result<bool, WireError> {
        match (self.pending.len(), self.pending.front()) {
            (0, _) => frame::check_no_input(buffer).map(|()| true),
            (1, Some(current)) if !self.next_piece().is_empty() => {
                let announced = frame::announced_length(buffer, MAX_RESPONSE)?;
                Ok(announced.is_some_and(|length| length as u64 >= current.count))
            }
            _ => Ok(false),
        }
    }

    /// Returns the byte range of the next request.
    fn next_piece(&self) -> Range<u64> {
        let pending: u64 = self.pending.iter().map(|pending| pending.count).sum();
        let start = self.wanted.start.saturating_add(pending);
        start..start.saturating_add(Self::BYTES_PER_REQUEST).min(self.wanted.end).max(start)
    }

    fn send_request(&mut self) -> Step {
        let piece = self.next_piece();
        self.reference_id += 1;
        self.pending.push_back(Pending { count: piece.end - piece.start, reference_id: self.reference_id });
        Step::Send(request::retrieval(&self.database, &self.id, &self.wtype, &piece, self.reference_id))
    }

    /// Processes a response.
    fn process_response(
        &mut self,
        response: Option<SearchResponse>,
        request: Pending,
    ) -> Result<(), WireError> {
        // Servers that cannot answer send an empty message.
        let Some(response) = response else {
            self.end(rejected(Bytes::new()));
            return Ok(());
        };
        self.check_ids(&response, request.reference_id)?;
        let count: u64 = response.texts.iter().map(|text| text.bytes.len() as u64).sum();
        if count > request.count {
            return Err(expected("the requested number of bytes"));
        }
        if count == 0 {
            let events = self.process_empty_response(&response);
            self.end(events);
        } else {
            self.process_data(response, count, request.count);
        }
        Ok(())
    }

    /// Emits these events and ends.
    fn end(&mut self, events: Vec<Event>) {
        self.events.extend(events);
        self.has_ended = true;
    }

    /// Checks that the response belongs to this request, if the server returns ids.
    fn check_ids(&mut self, response: &SearchResponse, reference: u64) -> Result<(), WireError> {
        let is_ours = |returned: &Bytes| *returned == reference.to_string();
        let has_ids = response.reference.is_some();
        if !response.reference.as_ref().is_none_or(is_ours) || (self.has_ids && !has_ids) {
            return Err(expected("the response to this request"));
        }
        self.has_ids = has_ids;
        let is_other = |id: &Bytes| *id != self.id.0;
        if response.texts.iter().filter_map(|text| text.id.as_ref()).any(is_other) {
            return Err(expected("the requested document"));
        }
        Ok(())
    }

    /// Processes a response without data: an error or the end.
    fn process_empty_response(&mut self, response: &SearchResponse) -> Vec<Event> {
        let is_first = !std::mem::replace(&mut self.has_started, true);
        // freeWAIS answers the request for an empty document with "out of range", and without a text record.
        let has_document = !response.texts.is_empty() || response.reports_end();
        let is_empty = is_first && self.wanted.start == 0 && has_document;
        let error = response.error_diagnostics().next();
        // In a later answer, another diagnostic SF than "out of range" means that the document is no longer available.
        let error = error.or(response.other_diagnostics().next().filter(|_| !is_first));
        if error.is_some() || (is_first && !is_empty) {
            let diagnostic = error.or(response.diagnostics.first());
            return rejected(diagnostic.map(super::Diagnostic::line).unwrap_or_default());
        }
        let mut events = Vec::new();
        if is_empty {
            events.push(Event::Head(Head::default()));
        }
        if !response.reports_end() {
            events.extend(missing_end_mark());
        }
        events
    }

    fn process_data(&mut self, response: SearchResponse, count: u64, requested: u64) {
        let reports_end = response.reports_end();
        let error_text = response.error_diagnostics().next().map(super::Diagnostic::line);
        self.events.extend(response.other_diagnostics().map(|diagnostic| Event::Received(diagnostic.line())));
        if let Some(diagnostic) = response.other_diagnostics().next() {
            let text = diagnostic.line();
            self.events.push_back(note("the server sent a diagnostic about the document:", &text));
        }
        if !std::mem::replace(&mut self.has_started, true) {
            self.events.push_back(Event::Head(Head::default()));
        }
        let bytes = response.texts.into_iter().map(|text| text.bytes).filter(|bytes| !bytes.is_empty());
        self.events.extend(bytes.map(Event::Body));
        self.wanted.start += count;
        if reports_end || self.wanted.is_empty() {
            self.end(Vec::new());
        } else if count < requested {
            // A short piece is the last one, as in old clients. Real servers also send a diagnostic at the end.
            self.end(error_text.map_or_else(missing_end_mark, rejected));
        }
    }
}

fn rejected(text: Bytes) -> Vec<Event> {
    vec![Event::Rejected(Box::new(Rejection::from_text(text)))]
}

fn missing_end_mark() -> Vec<Event> {
    vec![Event::UnterminatedEnd("a diagnostic that reports the end of the document")]
}

fn expected(what: &'static str) -> WireError {
    WireError::Unexpected { what, got: Bytes::new() }
}

impl Machine for Retrieval {
    fn step(&mut self, buffer: &mut RecvBuffer) -> Result<Step, WireError> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(Step::Emit(event));
            }
            if self.has_ended {
                return Ok(Step::Done);
            }
            if self.is_request_due(buffer)? {
                return Ok(self.send_request());
            }
            let Some(message) = frame::read(buffer, MAX_RESPONSE)? else { return Ok(Step::NeedMore) };
            let response = SearchResponse::parse(&message)?;
            let Some(request) = self.pending.pop_front() else { return Err(expected("a request")) };
            self.process_response(response, request)?;
        }
    }
}
