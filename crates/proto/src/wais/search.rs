//! Searches a database.

use std::collections::VecDeque;

use bytes::Bytes;
use fetch_url_core::PercentEncoded;

use super::answer::Answer;
use super::{DocumentFacts, WaisName, WaisNameError, frame, request};
use crate::{Details, Entry, EntryKind, Event, Head, Machine, RecvBuffer, Rejection, Step, WireError};

/// Maximum number of documents to request, as in the browsers of the time.
const MAX_DOCUMENTS: u32 = 200;

/// A search and its response, a [`Machine`] without I/O: one [`Event::Entry`] per document.
#[derive(Debug)]
pub struct Search {
    state: SearchState,
}

/// The progress of the search.
#[derive(Debug)]
enum SearchState {
    /// The request is not sent yet.
    Send(Bytes),
    /// The response is pending.
    AwaitResponse,
    /// The response was received; these events are still to be emitted.
    Emit(VecDeque<Event>),
}

impl Search {
    /// Searches `database` for the words of a URL. Without words, servers return a description of the
    /// database.
    ///
    /// # Errors
    /// [`WaisNameError::Length`] if the words are longer than 64 KiB.
    pub fn new(database: &WaisName, words: Option<&PercentEncoded<'_>>) -> Result<Self, WaisNameError> {
        let words = words.map(request::words).transpose()?.unwrap_or_default();
        Ok(Self { state: SearchState::Send(request::search(database, &words, MAX_DOCUMENTS)) })
    }
}

impl Machine for Search {
    fn step(&mut self, buffer: &mut RecvBuffer) -> Result<Step, WireError> {
        loop {
            match &mut self.state {
                SearchState::Send(request) => {
                    frame::check_silence(buffer)?;
                    let request = std::mem::take(request);
                    self.state = SearchState::AwaitResponse;
                    return Ok(Step::Send(request));
                }
                SearchState::AwaitResponse => {
                    let Some(message) = frame::read(buffer)? else { return Ok(Step::NeedMore) };
                    self.state = SearchState::Emit(answer_events(Answer::parse(&message)?));
                }
                SearchState::Emit(events) => {
                    return Ok(events.pop_front().map_or(Step::Done, Step::Emit));
                }
            }
        }
    }
}

/// Returns the documents and diagnostics as events. Diagnostics without documents are a rejection.
fn answer_events(answer: Option<Answer>) -> VecDeque<Event> {
    let Some(answer) = answer else { return rejection(Bytes::new()) };
    let diagnostic = answer.diagnostics.first().map(super::Diagnostic::line);
    if let (Some(words), true) = (&diagnostic, answer.documents.is_empty()) {
        return rejection(words.clone());
    }
    let mut events = VecDeque::new();
    if diagnostic.is_some() {
        events.extend(answer.diagnostics.iter().map(|diagnostic| Event::Received(diagnostic.line())));
        events.push_back(Event::Note("the server sent a diagnostic: the result may be incomplete"));
    }
    events.push_back(Event::Head(Head::default()));
    events.extend(answer.documents.into_iter().map(|facts| Event::Entry(entry(facts))));
    events
}

pub(super) fn rejection(words: Bytes) -> VecDeque<Event> {
    VecDeque::from([Event::Rejected(Box::new(Rejection::from_text(words)))])
}

fn entry(facts: DocumentFacts) -> Entry {
    Entry {
        name: facts.headline.clone(),
        size: facts.length,
        details: Details::Document(Box::new(facts)),
        ..Entry::new(EntryKind::File)
    }
}
