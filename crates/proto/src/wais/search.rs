//! A search and what it finds.

use std::collections::VecDeque;

use bytes::Bytes;
use fetch_url_core::Escaped;

use super::answer::Answer;
use super::{DocumentFacts, WaisName, WaisNameError, frame, request};
use crate::{Details, Entry, EntryKind, Event, Head, Inbox, Machine, Refused, Step, WireError};

/// As many documents as the browsers of the time asked for.
const MOST_DOCUMENTS: u32 = 200;

/// A search and its answer.
#[derive(Debug)]
pub struct Search {
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Send(Bytes),
    Answer,
    Tell(VecDeque<Event>),
}

impl Search {
    /// For these words of a URL, or for none: servers answer those with what the database is about.
    ///
    /// # Errors
    /// They are too many.
    pub fn new(database: &WaisName, words: Option<&Escaped<'_>>) -> Result<Self, WaisNameError> {
        let words = words.map(request::words).transpose()?.unwrap_or_default();
        Ok(Self { stage: Stage::Send(request::search(database, &words, MOST_DOCUMENTS)) })
    }
}

impl Machine for Search {
    fn step(&mut self, inbox: &mut Inbox) -> Result<Step, WireError> {
        loop {
            match &mut self.stage {
                Stage::Send(request) => {
                    frame::check_silence(inbox)?;
                    let request = std::mem::take(request);
                    self.stage = Stage::Answer;
                    return Ok(Step::Send(request));
                }
                Stage::Answer => {
                    let Some(message) = frame::read(inbox)? else { return Ok(Step::Need) };
                    self.stage = Stage::Tell(told(Answer::parse(&message)?));
                }
                Stage::Tell(events) => {
                    return Ok(events.pop_front().map_or(Step::Done, Step::Emit));
                }
            }
        }
    }
}

/// Documents, and what the server says beside them; its words alone are a refusal.
fn told(answer: Option<Answer>) -> VecDeque<Event> {
    let Some(answer) = answer else { return refused(Bytes::new()) };
    let complaint = answer.diagnostics.first().map(super::Diagnostic::line);
    if let (Some(words), true) = (&complaint, answer.documents.is_empty()) {
        return refused(words.clone());
    }
    let mut events = VecDeque::new();
    if complaint.is_some() {
        events.extend(answer.diagnostics.iter().map(|diagnostic| Event::Heard(diagnostic.line())));
        events.push_back(Event::Note("the server has a complaint: these may not be all documents"));
    }
    events.push_back(Event::Head(Head::default()));
    events.extend(answer.documents.into_iter().map(|facts| Event::Entry(entry(facts))));
    events
}

pub(super) fn refused(words: Bytes) -> VecDeque<Event> {
    VecDeque::from([Event::Refused(Box::new(Refused::in_words(words)))])
}

fn entry(facts: DocumentFacts) -> Entry {
    Entry {
        name: facts.headline.clone(),
        size: facts.length,
        details: Details::Document(Box::new(facts)),
        ..Entry::new(EntryKind::File)
    }
}
