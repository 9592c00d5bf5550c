//! Queries the attributes of an object.

use super::line::Line;
use super::metadata::ObjectMetadata;
use super::object::ObjectName;
use super::query::{ObjectId, Query};
use super::request::{self, EvaluatedLine, OutgoingRequest};
use super::tokens::{Next, TokenReader};
use crate::{Machine, RecvBuffer, Step, WireError};

/// Maximum number of attributes of an object.
const MAX_ATTRIBUTES: usize = 4096;
/// Maximum size of a response in bytes.
const MAX_BYTES: usize = 1024 * 1024;

/// A query for the attributes of an object, a [`Machine`] without I/O. An error of the server is an
/// [`Event::Rejected`](crate::Event::Rejected); at [`Step::Done`] the result is in [`Self::into_result`].
#[derive(Debug)]
pub struct AttributesQuery {
    request: OutgoingRequest,
    reader: TokenReader,
    bytes: usize,
    result: AttributesResult,
    /// A line that answers the query was received.
    is_answered: bool,
    /// The last link received; an UNRESOLVED line may follow it.
    link: Option<ObjectName>,
}

/// The result of an [`AttributesQuery`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AttributesResult {
    /// The object has moved to this name.
    Moved(ObjectName),
    /// The attributes, possibly none.
    Metadata(ObjectMetadata),
}

impl AttributesQuery {
    /// Creates a query about `object`.
    pub fn new(query: &Query, object: &ObjectId) -> Self {
        Self {
            request: OutgoingRequest::new(query, object),
            reader: TokenReader::default(),
            bytes: 0,
            result: AttributesResult::Metadata(ObjectMetadata::default()),
            is_answered: false,
            link: None,
        }
    }

    /// Returns the result.
    pub fn into_result(self) -> AttributesResult {
        self.result
    }

    /// Processes a line of the response.
    fn process_line(&mut self, line: Line) -> Result<(), WireError> {
        self.is_answered |= !matches!(line, Line::Other);
        match (line, &mut self.result) {
            (Line::Attribute(attribute), AttributesResult::Metadata(metadata)) => {
                if metadata.attributes.len() == MAX_ATTRIBUTES {
                    let limit = "attributes of an object";
                    return Err(WireError::LimitExceeded { quantity: limit, max: MAX_ATTRIBUTES });
                }
                metadata.attributes.push(attribute);
            }
            (Line::Forwarded(name), _) => self.result = AttributesResult::Moved(name),
            (Line::Link(link), _) => self.link = Some(link.object),
            (Line::Unresolved(rest), _) => {
                if let Some(link) = self.link.take() {
                    self.result = AttributesResult::Moved(link.joined(&rest));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl Machine for AttributesQuery {
    fn step(&mut self, buffer: &mut RecvBuffer) -> Result<Step, WireError> {
        if let Some(step) = self.request.next() {
            return Ok(step);
        }
        let (tokens, has_line_end) = match self.reader.next(buffer)? {
            Next::Line(tokens, has_line_end) => (tokens, has_line_end),
            Next::End if !self.is_answered => return Err(request::unexpected("an answer")),
            Next::End => return Ok(Step::Done),
            Next::NeedMore | Next::Data(_) => return Ok(Step::NeedMore),
        };
        self.bytes += tokens.iter().map(|token| token.len() + 1).sum::<usize>() + 1;
        if self.bytes > MAX_BYTES {
            return Err(WireError::LimitExceeded { quantity: "bytes in an answer", max: MAX_BYTES });
        }
        let event = request::received_line(&tokens);
        match request::evaluate_line(tokens, has_line_end)? {
            EvaluatedLine::Line(Line::Other) if !has_line_end && self.is_answered => {
                Err(request::cut_line_error())
            }
            EvaluatedLine::Line(line) => {
                self.process_line(line)?;
                Ok(Step::Emit(event))
            }
            EvaluatedLine::Rejected(rejection) => {
                self.is_answered = true;
                Ok(Step::Emit(rejection))
            }
        }
    }
}
