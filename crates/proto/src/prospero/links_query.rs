//! Lists a directory.

use std::collections::VecDeque;

use super::line::Line;
use super::metadata::LinkDetails;
use super::query::{ObjectId, Query};
use super::request::{self, EvaluatedLine, OutgoingRequest};
use super::tokens::{Next, TokenReader, keyword};
use crate::{Details, Entry, EntryKind, Event, Head, Machine, RecvBuffer, Step, WireError};

/// Maximum number of attributes of a link.
const MAX_ATTRIBUTES: usize = 256;

/// A query for the entries of a directory, a [`Machine`] without I/O: [`Event::Head`], then one [`Event::Entry`] per link.
/// If the server has not resolved some links, the end is [`Event::UnterminatedEnd`].
#[derive(Debug)]
pub struct LinksQuery {
    request: OutgoingRequest,
    reader: TokenReader,
    is_head_emitted: bool,
    is_rejected: bool,
    /// The server has not resolved some links, and the end of the listing has not been reported.
    is_incomplete: bool,
    /// The last link; its attributes may follow.
    link: Option<LinkDetails>,
    events: VecDeque<Event>,
}

impl LinksQuery {
    /// Creates a request for the entries of the directory `object`.
    pub fn new(object: &ObjectId) -> Self {
        Self {
            request: OutgoingRequest::new(&Query::Links, object),
            reader: TokenReader::default(),
            is_head_emitted: false,
            is_rejected: false,
            is_incomplete: false,
            link: None,
            events: VecDeque::new(),
        }
    }

    fn emit_head(&mut self) {
        if !std::mem::replace(&mut self.is_head_emitted, true) {
            self.events.push_back(Event::Head(Head::default()));
        }
    }

    /// Processes a line of the response.
    fn process_line(&mut self, line: Line) -> Result<(), WireError> {
        match line {
            Line::Attribute(attribute) => {
                let Some(link) = &mut self.link else { return Ok(()) };
                if link.metadata.attributes.len() == MAX_ATTRIBUTES {
                    return Err(WireError::LimitExceeded {
                        quantity: "attributes of a link",
                        max: MAX_ATTRIBUTES,
                    });
                }
                link.metadata.attributes.push(attribute);
            }
            Line::Link(link) => {
                self.emit_head();
                self.emit_link();
                self.link = Some(link);
            }
            Line::NoneFound => self.emit_head(),
            Line::Forwarded(_) => return Err(request::unexpected("the links of the directory")),
            Line::Unresolved(_) => {
                self.emit_head();
                self.is_incomplete = true;
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

fn entry(link: LinkDetails) -> Entry {
    Entry {
        name: link.name.clone(),
        size: link.metadata.size(),
        modified: link.metadata.modified(),
        url: link.url(),
        details: Details::Link(Box::new(link.clone())),
        ..Entry::new(kind(&link))
    }
}

fn kind(link: &LinkDetails) -> EntryKind {
    match keyword(&link.target).as_str() {
        "DIRECTORY" | "DIRECTORY+FILE" => EntryKind::Directory,
        "FILE" => EntryKind::File,
        "EXTERNAL" | "SYMBOLIC" => EntryKind::Link,
        _ => EntryKind::Other,
    }
}

impl Machine for LinksQuery {
    fn step(&mut self, buffer: &mut RecvBuffer) -> Result<Step, WireError> {
        if let Some(step) = self.request.next() {
            return Ok(step);
        }
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(Step::Emit(event));
            }
            match self.reader.next(buffer)? {
                Next::Line(tokens, has_line_end) => match request::evaluate_line(tokens, has_line_end)? {
                    // The start of the keyword of another link.
                    EvaluatedLine::Line(Line::Other) if !has_line_end && self.is_head_emitted => {
                        return Err(request::cut_line_error());
                    }
                    EvaluatedLine::Line(line) => self.process_line(line)?,
                    EvaluatedLine::Rejected(rejection) => {
                        self.is_rejected = true;
                        return Ok(Step::Emit(rejection));
                    }
                },
                Next::End if self.is_rejected => return Ok(Step::Done),
                Next::End if !self.is_head_emitted => {
                    return Err(request::unexpected("the links of a directory"));
                }
                Next::End => {
                    self.emit_link();
                    if std::mem::take(&mut self.is_incomplete) {
                        self.events.push_back(Event::UnterminatedEnd("a list without UNRESOLVED"));
                    }
                    return Ok(self.events.pop_front().map_or(Step::Done, Step::Emit));
                }
                Next::NeedMore | Next::Data(_) => return Ok(Step::NeedMore),
            }
        }
    }
}
