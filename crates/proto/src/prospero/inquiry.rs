//! Queries the attributes of an object.

use super::facts::ObjectFacts;
use super::line::Line;
use super::object::ObjectName;
use super::question::{ObjectId, Question};
use super::request::{self, OutgoingRequest, Read};
use super::tokens::{Next, TokenReader};
use crate::{Machine, RecvBuffer, Step, WireError};

/// Maximum number of attributes of an object.
const MAX_ATTRIBUTES: usize = 4096;
/// Maximum size of a response in bytes.
const MAX_BYTES: usize = 1024 * 1024;

/// Queries the attributes of an object, a [`Machine`] without I/O. An error of the server is an
/// [`Event::Rejected`](crate::Event::Rejected); at [`Step::Done`] the result is in [`Self::into_result`].
#[derive(Debug)]
pub struct Inquiry {
    request_lines: OutgoingRequest,
    reader: TokenReader,
    bytes: usize,
    result: InquiryResult,
    /// A line that answers the query was received.
    is_answered: bool,
    /// The last link received; an UNRESOLVED line may follow it.
    link: Option<ObjectName>,
}

/// The result of an [`Inquiry`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InquiryResult {
    /// The object has moved to this name.
    Elsewhere(ObjectName),
    /// The attributes, possibly none.
    Facts(ObjectFacts),
}

impl Inquiry {
    /// Creates a query about `object`.
    pub fn new(question: &Question, object: &ObjectId) -> Self {
        Self {
            request_lines: OutgoingRequest::new(question, object),
            reader: TokenReader::default(),
            bytes: 0,
            result: InquiryResult::Facts(ObjectFacts::default()),
            is_answered: false,
            link: None,
        }
    }

    /// Returns the result.
    pub fn into_result(self) -> InquiryResult {
        self.result
    }

    fn take(&mut self, line: Line) -> Result<(), WireError> {
        self.is_answered |= !matches!(line, Line::Other);
        match (line, &mut self.result) {
            (Line::Attribute(attribute), InquiryResult::Facts(facts)) => {
                if facts.attributes.len() == MAX_ATTRIBUTES {
                    let limit = "attributes of an object";
                    return Err(WireError::LimitExceeded { limit, max: MAX_ATTRIBUTES });
                }
                facts.attributes.push(attribute);
            }
            (Line::Forwarded(name), _) => self.result = InquiryResult::Elsewhere(name),
            (Line::Link(link), _) => self.link = Some(link.object),
            (Line::Unresolved(rest), _) => {
                if let Some(link) = self.link.take() {
                    self.result = InquiryResult::Elsewhere(link.joined(&rest));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl Machine for Inquiry {
    fn step(&mut self, buffer: &mut RecvBuffer) -> Result<Step, WireError> {
        if let Some(step) = self.request_lines.next() {
            return Ok(step);
        }
        let tokens = match self.reader.next(buffer)? {
            Next::Line(tokens, _) => tokens,
            Next::End if !self.is_answered => return Err(request::unexpected("an answer")),
            Next::End => return Ok(Step::Done),
            Next::Need | Next::Data(_) => return Ok(Step::NeedMore),
        };
        self.bytes += tokens.iter().map(|token| token.len() + 1).sum::<usize>() + 1;
        if self.bytes > MAX_BYTES {
            return Err(WireError::LimitExceeded { limit: "bytes in an answer", max: MAX_BYTES });
        }
        let event = request::received_line(&tokens);
        match request::read(tokens)? {
            Read::Line(line) => {
                self.take(line)?;
                Ok(Step::Emit(event))
            }
            Read::Refused(refused) => {
                self.is_answered = true;
                Ok(Step::Emit(refused))
            }
        }
    }
}
