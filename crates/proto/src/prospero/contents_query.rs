//! Retrieves the contents of an object over Prospero itself (access method `PROSPERO-CONTENTS`).

use bytes::Bytes;

use super::query::{ObjectId, Query};
use super::request::{self, EvaluatedLine, OutgoingRequest, unexpected};
use super::tokens::{Next, TokenReader, Tokens, keyword};
use crate::{Event, Head, Machine, RecvBuffer, Step, WireError};

/// A query for the contents of an object, a [`Machine`] without I/O. It emits [`Event::Head`], then [`Event::Body`] as
/// data arrives. Contents split over several attributes are an error, because their order is undefined.
#[derive(Debug)]
pub struct ContentsQuery {
    request: OutgoingRequest,
    reader: TokenReader,
    state: ContentsState,
}

/// The progress of the response.
#[derive(Debug, Default)]
enum ContentsState {
    /// The line with the contents has not started.
    #[default]
    AwaitContents,
    /// Data is arriving. Contains the first data until it is emitted after [`Event::Head`].
    Receiving(Option<Bytes>),
    /// All data was received.
    Complete,
    /// The contents are empty.
    Empty,
    /// The server rejected the request.
    Rejected,
}

impl ContentsQuery {
    /// Creates a request for the contents of `object`.
    pub fn new(object: &ObjectId) -> Self {
        let (request, reader) =
            (OutgoingRequest::new(&Query::Contents, object), TokenReader::streaming(is_contents_value_next));
        Self { request, reader, state: ContentsState::AwaitContents }
    }

    /// Processes a chunk of the contents.
    fn process_data(&mut self, bytes: Bytes) -> Result<Step, WireError> {
        match self.state {
            ContentsState::AwaitContents => {
                self.state = ContentsState::Receiving(Some(bytes));
                Ok(Step::Emit(Event::Head(Head::default())))
            }
            ContentsState::Receiving(_) => Ok(Step::Emit(Event::Body(bytes))),
            _ => Err(unexpected("one attribute with the contents")),
        }
    }

    /// Processes a line. `has_line_end` is `false` if the response ended before the line end.
    fn process_line(&mut self, tokens: Tokens, has_line_end: bool) -> Result<Option<Step>, WireError> {
        if !is_contents(&tokens) {
            let event = request::received_line(&tokens);
            let event = match request::evaluate_line(tokens, has_line_end)? {
                EvaluatedLine::Line(_) => event,
                EvaluatedLine::Rejected(rejection) => {
                    self.state = ContentsState::Rejected;
                    rejection
                }
            };
            return Ok(Some(Step::Emit(event)));
        }
        if !has_line_end {
            return Err(WireError::UnexpectedEnd { what: "the line with the contents" });
        }
        if !tokens.split_last().is_some_and(|(_, before)| is_contents_value_next(before)) {
            return Err(unexpected("the contents as one token"));
        }
        match self.state {
            ContentsState::AwaitContents => {
                self.state = ContentsState::Empty;
                Ok(Some(Step::Emit(Event::Head(Head::default()))))
            }
            ContentsState::Receiving(_) => {
                self.state = ContentsState::Complete;
                Ok(None)
            }
            _ => Err(unexpected("one attribute with the contents")),
        }
    }

    /// Processes the end of the response.
    fn process_end(&mut self) -> Result<Step, WireError> {
        match self.state {
            ContentsState::AwaitContents => {
                self.state = ContentsState::Rejected;
                Ok(Step::Emit(request::rejection(Bytes::new())))
            }
            ContentsState::Receiving(_) => {
                Err(WireError::UnexpectedEnd { what: "the line with the contents" })
            }
            _ => Ok(Step::Done),
        }
    }
}

impl Machine for ContentsQuery {
    fn step(&mut self, buffer: &mut RecvBuffer) -> Result<Step, WireError> {
        if let Some(step) = self.request.next() {
            return Ok(step);
        }
        if let ContentsState::Receiving(first) = &mut self.state
            && let Some(bytes) = first.take()
        {
            return Ok(Step::Emit(Event::Body(bytes)));
        }
        loop {
            match self.reader.next(buffer)? {
                Next::NeedMore => return Ok(Step::NeedMore),
                Next::End => return self.process_end(),
                Next::Data(bytes) => return self.process_data(bytes),
                Next::Line(tokens, has_line_end) => {
                    if let Some(step) = self.process_line(tokens, has_line_end)? {
                        return Ok(step);
                    }
                }
            }
        }
    }
}

/// Returns `true` for a line `ATTRIBUTE OBJECT nature CONTENTS`, an attribute of the object and not of a link.
fn is_contents(tokens: &[Vec<u8>]) -> bool {
    let [first, precedence, _, name, ..] = tokens else { return false };
    keyword(first) == "ATTRIBUTE" && keyword(precedence) == "OBJECT" && keyword(name) == "CONTENTS"
}

/// Returns `true` if the token after `tokens` is the contents: it follows `DATA`, or `TAGGED` and a tag.
fn is_contents_value_next(tokens: &[Vec<u8>]) -> bool {
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
