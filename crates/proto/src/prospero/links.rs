//! The links of a directory.

use std::collections::VecDeque;

use super::facts::LinkFacts;
use super::line::Line;
use super::question::{ObjectId, Question};
use super::talk::{self, Read, Saying};
use super::tokens::{Next, TokenReader};
use crate::{Details, Entry, Event, Head, Inbox, Machine, Step, WireError};

/// The most attributes of a link.
const MOST_ATTRIBUTES: usize = 256;

/// Asks for the links, an [`Event::Entry`] for each: an [`Event::Head`] comes first, when the answer is one.
#[derive(Debug)]
pub struct Links {
    saying: Saying,
    reader: TokenReader,
    has_begun: bool,
    is_refused: bool,
    /// The link whose attributes may still come.
    link: Option<LinkFacts>,
    found: VecDeque<Event>,
}

impl Links {
    /// Asks what the directory `object` holds.
    pub fn new(object: &ObjectId) -> Self {
        Self {
            saying: Saying::new(&Question::Links, object),
            reader: TokenReader::default(),
            has_begun: false,
            is_refused: false,
            link: None,
            found: VecDeque::new(),
        }
    }

    fn begin(&mut self) {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.found.push_back(Event::Head(Head::default()));
        }
    }

    fn take(&mut self, line: Line) -> Result<(), WireError> {
        match line {
            Line::Attribute(attribute) => {
                let Some(link) = &mut self.link else { return Ok(()) };
                if link.facts.attributes.len() == MOST_ATTRIBUTES {
                    return Err(WireError::Limit { limit: "attributes of a link", most: MOST_ATTRIBUTES });
                }
                link.facts.attributes.push(attribute);
            }
            Line::Link(link) => {
                self.begin();
                self.tell_link();
                self.link = Some(link);
            }
            Line::NoneFound => self.begin(),
            Line::Forwarded(_) => return Err(talk::unexpected("the links of the directory")),
            Line::Unresolved(_) => {
                self.begin();
                self.found.push_back(Event::Note("some links of the directory were not resolved"));
            }
            _ => {}
        }
        Ok(())
    }

    fn tell_link(&mut self) {
        self.found.extend(self.link.take().map(|link| Event::Entry(entry(link))));
    }
}

fn entry(link: LinkFacts) -> Entry {
    Entry {
        name: link.name.clone(),
        size: link.facts.size(),
        modified: link.facts.modified(),
        url: link.url(),
        details: Details::Link(Box::new(link.clone())),
        ..Entry::new(link.kind())
    }
}

impl Machine for Links {
    fn step(&mut self, inbox: &mut Inbox) -> Result<Step, WireError> {
        if let Some(step) = self.saying.next() {
            return Ok(step);
        }
        loop {
            if let Some(event) = self.found.pop_front() {
                return Ok(Step::Emit(event));
            }
            match self.reader.next(inbox)? {
                Next::Line(tokens, _) => match talk::read(tokens)? {
                    Read::Line(line) => self.take(line)?,
                    Read::Refused(refused) => {
                        self.is_refused = true;
                        return Ok(Step::Emit(refused));
                    }
                },
                Next::End if self.is_refused => return Ok(Step::Done),
                Next::End if !self.has_begun => return Err(talk::unexpected("the links of a directory")),
                Next::End => {
                    self.tell_link();
                    return Ok(self.found.pop_front().map_or(Step::Done, Step::Emit));
                }
                Next::Need | Next::Octets(_) => return Ok(Step::Need),
            }
        }
    }
}
