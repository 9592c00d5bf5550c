//! Lists a directory.

use std::collections::VecDeque;

use super::facts::LinkFacts;
use super::line::Line;
use super::question::{ObjectId, Question};
use super::request::{self, OutgoingRequest, Read};
use super::tokens::{Next, TokenReader, keyword};
use crate::{Details, Entry, EntryKind, Event, Head, Machine, RecvBuffer, Step, WireError};

/// Maximum number of attributes of a link.
const MAX_ATTRIBUTES: usize = 256;

/// Lists a directory, a [`Machine`] without I/O: [`Event::Head`], then one [`Event::Entry`] per link.
#[derive(Debug)]
pub struct Links {
    request_lines: OutgoingRequest,
    reader: TokenReader,
    is_head_emitted: bool,
    is_refused: bool,
    /// The last link; its attributes may follow.
    link: Option<LinkFacts>,
    events: VecDeque<Event>,
}

impl Links {
    /// Creates a request for the entries of the directory `object`.
    pub fn new(object: &ObjectId) -> Self {
        Self {
            request_lines: OutgoingRequest::new(&Question::Links, object),
            reader: TokenReader::default(),
            is_head_emitted: false,
            is_refused: false,
            link: None,
            events: VecDeque::new(),
        }
    }

    fn begin(&mut self) {
        if !std::mem::replace(&mut self.is_head_emitted, true) {
            self.events.push_back(Event::Head(Head::default()));
        }
    }

    fn take(&mut self, line: Line) -> Result<(), WireError> {
        match line {
            Line::Attribute(attribute) => {
                let Some(link) = &mut self.link else { return Ok(()) };
                if link.facts.attributes.len() == MAX_ATTRIBUTES {
                    return Err(WireError::LimitExceeded {
                        limit: "attributes of a link",
                        max: MAX_ATTRIBUTES,
                    });
                }
                link.facts.attributes.push(attribute);
            }
            Line::Link(link) => {
                self.begin();
                self.emit_link();
                self.link = Some(link);
            }
            Line::NoneFound => self.begin(),
            Line::Forwarded(_) => return Err(request::unexpected("the links of the directory")),
            Line::Unresolved(_) => {
                self.begin();
                self.events.push_back(Event::Note("some links of the directory were not resolved".into()));
            }
            _ => {}
        }
        Ok(())
    }

    fn emit_link(&mut self) {
        self.events.extend(self.link.take().map(|link| Event::Entry(entry(link))));
    }
}

fn entry(link: LinkFacts) -> Entry {
    Entry {
        name: link.name.clone(),
        size: link.facts.size(),
        modified: link.facts.modified(),
        url: link.url(),
        details: Details::Link(Box::new(link.clone())),
        ..Entry::new(kind(&link))
    }
}

fn kind(link: &LinkFacts) -> EntryKind {
    match keyword(&link.target).as_str() {
        "DIRECTORY" | "DIRECTORY+FILE" => EntryKind::Directory,
        "FILE" => EntryKind::File,
        "EXTERNAL" | "SYMBOLIC" => EntryKind::Link,
        _ => EntryKind::Other,
    }
}

impl Machine for Links {
    fn step(&mut self, buffer: &mut RecvBuffer) -> Result<Step, WireError> {
        if let Some(step) = self.request_lines.next() {
            return Ok(step);
        }
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(Step::Emit(event));
            }
            match self.reader.next(buffer)? {
                Next::Line(tokens, _) => match request::read(tokens)? {
                    Read::Line(line) => self.take(line)?,
                    Read::Refused(refused) => {
                        self.is_refused = true;
                        return Ok(Step::Emit(refused));
                    }
                },
                Next::End if self.is_refused => return Ok(Step::Done),
                Next::End if !self.is_head_emitted => {
                    return Err(request::unexpected("the links of a directory"));
                }
                Next::End => {
                    self.emit_link();
                    return Ok(self.events.pop_front().map_or(Step::Done, Step::Emit));
                }
                Next::Need | Next::Data(_) => return Ok(Step::NeedMore),
            }
        }
    }
}
