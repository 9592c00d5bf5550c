//! Searches a database.

use std::collections::{HashSet, VecDeque};

use bytes::Bytes;
use fetch_url_core::PercentEncoded;

use super::response::SearchResponse;
use super::{DocumentDetails, WaisName, WaisNameError, frame, request};
use crate::calendar::to_timestamp;
use crate::text::escape_non_ascii;
use crate::{Details, Entry, EntryKind, Event, Head, Machine, RecvBuffer, Rejection, Step, WireError};

/// Maximum number of documents in the first request, as in the browsers of the time.
const MAX_DOCUMENTS: u32 = 200;
/// Maxima of the later requests, which are sent only if the first response was full. Servers send an empty message if the
/// response does not fit into their buffer (freeWAIS: 100,000 bytes); then the next maximum is tried.
const LARGER_MAXIMA: [u32; 3] = [10_000, 1_000, 300];

/// Maximum length of the first response in bytes; real servers send at most 100,000.
const MAX_RESPONSE: usize = 1024 * 1024;
/// Maximum length of another response in bytes: about 20,000 documents.
const MAX_LARGER_RESPONSE: usize = 8 * MAX_RESPONSE;

/// A search and its responses, a [`Machine`] without I/O: one [`Event::Entry`] per document.
///
/// WAIS cannot request the documents after a given one. If the first response contains as many documents as were requested,
/// the search is sent again with a larger maximum, and only documents with new identifiers are returned. If the server
/// does not answer the larger search, its response is full again, or a response has a diagnostic beside its documents,
/// the end is [`Event::UnterminatedEnd`].
#[derive(Debug)]
pub struct Search {
    database: WaisName,
    words: Vec<u8>,
    /// Maximum number of documents in the current request.
    max_documents: u32,
    /// The maxima of further requests.
    larger_maxima: std::slice::Iter<'static, u32>,
    state: SearchState,
    /// The identifiers of the first response, if it was full.
    first_ids: HashSet<Vec<u8>>,
    /// A response had a diagnostic beside its documents, such as "resources exhausted".
    has_diagnostic: bool,
}

#[derive(Debug)]
enum SearchState {
    Send,
    AwaitResponse,
    /// Events to emit, and whether another request follows.
    Emitting(VecDeque<Event>, bool),
}

impl Search {
    /// Searches `database` for the words of a URL. Without words, servers return a description of the
    /// database.
    ///
    /// # Errors
    /// [`WaisNameError::Length`] if the words are longer than 64 KiB.
    pub fn new(database: &WaisName, words: Option<&PercentEncoded<'_>>) -> Result<Self, WaisNameError> {
        let words = words.map(request::words).transpose()?.unwrap_or_default();
        Ok(Self {
            database: database.clone(),
            words,
            max_documents: MAX_DOCUMENTS,
            larger_maxima: LARGER_MAXIMA.iter(),
            state: SearchState::Send,
            first_ids: HashSet::new(),
            has_diagnostic: false,
        })
    }

    /// Returns `true` if the current request has a larger maximum than the first.
    const fn has_larger_maximum(&self) -> bool {
        self.max_documents > MAX_DOCUMENTS
    }

    const fn max_response(&self) -> usize {
        if self.has_larger_maximum() { MAX_LARGER_RESPONSE } else { MAX_RESPONSE }
    }

    /// Returns the state that sends the search with the next maximum, or reports that the result is cut.
    fn next_request(&mut self) -> SearchState {
        match self.larger_maxima.next() {
            Some(max_documents) => {
                self.max_documents = *max_documents;
                SearchState::Send
            }
            None => SearchState::Emitting(incomplete_result(), false),
        }
    }

    /// Reads a response. Returns `None` if it is incomplete.
    fn receive(&mut self, buffer: &mut RecvBuffer) -> Result<Option<SearchState>, WireError> {
        let response = match frame::read(buffer, self.max_response()) {
            Ok(None) => return Ok(None),
            Ok(Some(message)) => SearchResponse::parse(&message),
            Err(error) => Err(error),
        };
        match response {
            // The documents of the first response are kept, even if a later request fails.
            Ok(None) if self.has_larger_maximum() => Ok(Some(self.next_request())),
            Err(_) if self.has_larger_maximum() => {
                Ok(Some(SearchState::Emitting(incomplete_result(), false)))
            }
            response => Ok(Some(self.next_state(response?))),
        }
    }

    /// Returns the documents and diagnostics as events. Diagnostics without documents are a refusal.
    fn next_state(&mut self, response: Option<SearchResponse>) -> SearchState {
        let Some(response) = response else { return SearchState::Emitting(rejected(Bytes::new()), false) };
        let is_full = response.documents.len() >= self.max_documents as usize;
        let is_first = !self.has_larger_maximum();
        let mut events = if is_first { self.first_events(&response) } else { diagnostic_events(&response) };
        if matches!(events.front(), Some(Event::Rejected(_))) {
            return SearchState::Emitting(events, false);
        }
        let lost_documents = !is_first && response.documents.len() < self.first_ids.len();
        let has_diagnostic = response.error_diagnostics().next().is_some();
        let asks_again = is_first && is_full;
        if asks_again {
            self.first_ids = response.documents.iter().map(|details| details.id.0.clone()).collect();
        }
        let is_new = |details: &DocumentDetails| is_first || !self.first_ids.contains(&details.id.0);
        events.extend(
            response.documents.into_iter().filter(is_new).map(|details| Event::Entry(entry(details))),
        );
        self.has_diagnostic |= has_diagnostic;
        if !asks_again && self.has_diagnostic {
            events.push_back(Event::UnterminatedEnd("a response without a diagnostic"));
        } else if !is_first && (is_full || lost_documents) {
            events.extend(incomplete_result());
        }
        SearchState::Emitting(events, asks_again)
    }

    /// Returns the events before the documents of the first response.
    fn first_events(&self, response: &SearchResponse) -> VecDeque<Event> {
        let diagnostic_text = response.diagnostics.first().map(super::Diagnostic::line);
        if response.documents.is_empty() && (diagnostic_text.is_some() || self.words.is_empty()) {
            // Every database has a description. An empty result without search words therefore means that the database
            // does not exist.
            return rejected(diagnostic_text.unwrap_or_default());
        }
        let mut events = diagnostic_events(response);
        events.push_back(Event::Head(Head::default()));
        events
    }
}

impl Machine for Search {
    fn step(&mut self, buffer: &mut RecvBuffer) -> Result<Step, WireError> {
        loop {
            match &mut self.state {
                SearchState::Send => {
                    frame::check_no_input(buffer)?;
                    self.state = SearchState::AwaitResponse;
                    return Ok(Step::Send(request::search(&self.database, &self.words, self.max_documents)));
                }
                SearchState::AwaitResponse => match self.receive(buffer)? {
                    Some(state) => self.state = state,
                    None => return Ok(Step::NeedMore),
                },
                SearchState::Emitting(events, asks_again) => match events.pop_front() {
                    Some(event) => return Ok(Step::Emit(event)),
                    None if *asks_again => self.state = self.next_request(),
                    None => return Ok(Step::Done),
                },
            }
        }
    }
}

/// Returns the events for the diagnostics beside the documents of a response.
fn diagnostic_events(response: &SearchResponse) -> VecDeque<Event> {
    let lines = response.diagnostics.iter().map(super::Diagnostic::line);
    let mut events: VecDeque<_> = lines.map(Event::Received).collect();
    if let Some(diagnostic) = response.diagnostics.first() {
        let words = diagnostic.line();
        events.push_back(note("the result may be incomplete: the server sent", &words));
    }
    events
}

/// Returns the event for a result that may lack documents.
fn incomplete_result() -> VecDeque<Event> {
    VecDeque::from([Event::UnterminatedEnd("a response with fewer documents than requested")])
}

pub(super) fn rejected(words: Bytes) -> VecDeque<Event> {
    VecDeque::from([Event::Rejected(Box::new(Rejection::from_text(words)))])
}

/// Returns a note that ends with the text of a diagnostic.
pub(super) fn note(text: &str, words: &[u8]) -> Event {
    Event::Note(format!("{text} {}", escape_non_ascii(words)).into())
}

fn entry(details: DocumentDetails) -> Entry {
    Entry {
        name: details.headline.clone(),
        size: details.length,
        modified: date(&details.date),
        details: Details::Document(Box::new(details)),
        ..Entry::new(EntryKind::File)
    }
}

/// Returns the date of a document as a Unix timestamp, or `None` if it is not `YYMMDD` or `YYYYMMDD`. The years
/// 00 to 69 mean 2000 to 2069, and 70 to 99 mean 1970 to 1999.
fn date(text: &[u8]) -> Option<i64> {
    let text =
        std::str::from_utf8(text).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?;
    let (year, rest) = match text.len() {
        6 => text.split_at(2),
        8 => text.split_at(4),
        _ => return None,
    };
    let (month, day) = rest.split_at(2);
    let century = match year.parse().ok()? {
        0..70 => 2000,
        70..100 => 1900,
        _ => 0,
    };
    to_timestamp(century + year.parse::<i64>().ok()?, month.parse().ok()?, day.parse().ok()?, 0, 0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn date_of_six_or_eight_digits_is_a_day_in_utc() {
        for (text, expected) in [
            ("940131", Some(759_974_400)),
            ("19940131", Some(759_974_400)),
            ("691231", to_timestamp(2069, 12, 31, 0, 0, 0)),
            ("700101", Some(0)),
            ("0", None),
            ("", None),
            ("941331", None),
            ("9401xx", None),
            ("1994-01-31", None),
        ] {
            assert_eq!(date(text.as_bytes()), expected, "{text}");
        }
    }
}
