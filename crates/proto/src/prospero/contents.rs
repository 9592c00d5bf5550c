//! Retrieves the contents of an object over Prospero itself: the access method `PROSPERO-CONTENTS`.

use bytes::Bytes;

use super::question::{ObjectId, Question};
use super::request::{self, OutgoingRequest, Read, unexpected};
use super::tokens::{Next, TokenReader, Tokens, keyword};
use crate::{Event, Head, Machine, RecvBuffer, Step, WireError};

/// A [`Machine`] that retrieves the contents of an object. It emits [`Event::Head`], then [`Event::Body`] as the
/// data arrives. Contents split over several attributes are an error, because their order is undefined.
#[derive(Debug)]
pub struct Contents {
    request_lines: OutgoingRequest,
    reader: TokenReader,
    stage: Stage,
}

#[derive(Debug, Default)]
enum Stage {
    /// The line with the contents has not started.
    #[default]
    Before,
    /// Data is arriving; contains the first data until [`Event::Head`] was emitted.
    Begun(Option<Bytes>),
    /// All data was received.
    Whole,
    /// The contents are empty.
    Empty,
    Refused,
}

impl Contents {
    /// Creates a request for the contents of `object`.
    pub fn new(object: &ObjectId) -> Self {
        let (request_lines, reader) =
            (OutgoingRequest::new(&Question::Contents, object), TokenReader::streaming(contents_follow));
        Self { request_lines, reader, stage: Stage::Before }
    }

    /// Processes received data.
    fn bytes(&mut self, bytes: Bytes) -> Result<Step, WireError> {
        match self.stage {
            Stage::Before => {
                self.stage = Stage::Begun(Some(bytes));
                Ok(Step::Emit(Event::Head(Head::default())))
            }
            Stage::Begun(_) => Ok(Step::Emit(Event::Body(bytes))),
            _ => Err(unexpected("one attribute with the contents")),
        }
    }

    /// Processes a line; `has_end` is `false` if the data ended before the end of the line.
    fn line(&mut self, tokens: Tokens, has_end: bool) -> Result<Option<Step>, WireError> {
        if !is_contents(&tokens) {
            let event = request::received_line(&tokens);
            let event = match request::read(tokens)? {
                Read::Line(_) => event,
                Read::Refused(refused) => {
                    self.stage = Stage::Refused;
                    refused
                }
            };
            return Ok(Some(Step::Emit(event)));
        }
        if !has_end {
            return Err(WireError::UnexpectedEnd { what: "the line with the contents" });
        }
        if !tokens.split_last().is_some_and(|(_, before)| contents_follow(before)) {
            return Err(unexpected("the contents as one token"));
        }
        match self.stage {
            Stage::Before => {
                self.stage = Stage::Empty;
                Ok(Some(Step::Emit(Event::Head(Head::default()))))
            }
            Stage::Begun(_) => {
                self.stage = Stage::Whole;
                Ok(None)
            }
            _ => Err(unexpected("one attribute with the contents")),
        }
    }

    fn end(&mut self) -> Result<Step, WireError> {
        match self.stage {
            Stage::Before => {
                self.stage = Stage::Refused;
                Ok(Step::Emit(request::refused(Bytes::new())))
            }
            Stage::Begun(_) => Err(WireError::UnexpectedEnd { what: "the line with the contents" }),
            _ => Ok(Step::Done),
        }
    }
}

impl Machine for Contents {
    fn step(&mut self, buffer: &mut RecvBuffer) -> Result<Step, WireError> {
        if let Some(step) = self.request_lines.next() {
            return Ok(step);
        }
        if let Stage::Begun(first) = &mut self.stage
            && let Some(bytes) = first.take()
        {
            return Ok(Step::Emit(Event::Body(bytes)));
        }
        loop {
            match self.reader.next(buffer)? {
                Next::Need => return Ok(Step::NeedMore),
                Next::End => return self.end(),
                Next::Data(bytes) => return self.bytes(bytes),
                Next::Line(tokens, has_end) => {
                    if let Some(step) = self.line(tokens, has_end)? {
                        return Ok(step);
                    }
                }
            }
        }
    }
}

/// Returns `true` for `ATTRIBUTE OBJECT nature CONTENTS`. Attributes of links do not count.
fn is_contents(tokens: &[Vec<u8>]) -> bool {
    let [first, precedence, _, name, ..] = tokens else { return false };
    keyword(first) == "ATTRIBUTE" && keyword(precedence) == "OBJECT" && keyword(name) == "CONTENTS"
}

/// Returns `true` if the next token is the contents: after `DATA`, or after `TAGGED` and a tag.
fn contents_follow(tokens: &[Vec<u8>]) -> bool {
    if !is_contents(tokens) {
        return false;
    }
    let values = &tokens[4..];
    let is_sequence = values.first().is_some_and(|first| keyword(first) == "SEQUENCE");
    match &values[usize::from(is_sequence)..] {
        [data] => keyword(data) == "DATA",
        [tagged, _] => keyword(tagged) == "TAGGED",
        _ => false,
    }
}
