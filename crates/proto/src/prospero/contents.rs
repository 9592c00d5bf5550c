//! The octets of an object, over Prospero itself (PROSPERO-CONTENTS).

use bytes::Bytes;

use super::line::keyword;
use super::question::{ObjectId, Question};
use super::talk::{self, Read, Saying, unexpected};
use super::tokens::{Next, TokenReader, Tokens};
use crate::{Event, Head, Inbox, Machine, Step, WireError};

/// Asks for the octets and hands them on as they come: an [`Event::Head`], then each [`Event::Body`]. Octets in several
/// attributes are an error: nobody tells what they make together.
#[derive(Debug)]
pub struct Contents {
    saying: Saying,
    reader: TokenReader,
    stage: Stage,
}

#[derive(Debug, Default)]
enum Stage {
    /// The line with the octets has not begun.
    #[default]
    Before,
    /// They come; what of them came already, while it waits for the head to be told.
    Begun(Option<Bytes>),
    /// All of them have come.
    Whole,
    /// They have come, and were none.
    Empty,
    Refused,
}

impl Contents {
    /// Asks for the octets of `object`.
    pub fn new(object: &ObjectId) -> Self {
        let (saying, reader) = (Saying::new(&Question::Contents, object), TokenReader::streaming(are_next));
        Self { saying, reader, stage: Stage::Before }
    }

    /// The octets go on, or begin.
    fn octets(&mut self, octets: Bytes) -> Result<Step, WireError> {
        match self.stage {
            Stage::Before => {
                self.stage = Stage::Begun(Some(octets));
                Ok(Step::Emit(Event::Head(Head::default())))
            }
            Stage::Begun(_) => Ok(Step::Emit(Event::Body(octets))),
            _ => Err(unexpected("one answer with the octets")),
        }
    }

    /// A line is over: the one with the octets, or another.
    fn line(&mut self, tokens: Tokens, has_end: bool) -> Result<Option<Step>, WireError> {
        if !is_contents(&tokens) {
            let heard = talk::heard(&tokens);
            let event = match talk::read(tokens)? {
                Read::Line(_) => heard,
                Read::Refused(refused) => {
                    self.stage = Stage::Refused;
                    refused
                }
            };
            return Ok(Some(Step::Emit(event)));
        }
        if !has_end {
            return Err(WireError::Cut { what: "the line with the octets" });
        }
        if !tokens.split_last().is_some_and(|(_, before)| are_next(before)) {
            return Err(unexpected("the octets as one token"));
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
            _ => Err(unexpected("one answer with the octets")),
        }
    }

    fn end(&mut self) -> Result<Step, WireError> {
        match self.stage {
            Stage::Before => {
                self.stage = Stage::Refused;
                Ok(Step::Emit(talk::refused(Bytes::new())))
            }
            Stage::Begun(_) => Err(WireError::Cut { what: "the line with the octets" }),
            _ => Ok(Step::Done),
        }
    }
}

impl Machine for Contents {
    fn step(&mut self, inbox: &mut Inbox) -> Result<Step, WireError> {
        if let Some(step) = self.saying.next() {
            return Ok(step);
        }
        if let Stage::Begun(first) = &mut self.stage
            && let Some(octets) = first.take()
        {
            return Ok(Step::Emit(Event::Body(octets)));
        }
        loop {
            match self.reader.next(inbox)? {
                Next::Need => return Ok(Step::Need),
                Next::End => return self.end(),
                Next::Octets(octets) => return self.octets(octets),
                Next::Line(tokens, has_end) => {
                    if let Some(step) = self.line(tokens, has_end)? {
                        return Ok(step);
                    }
                }
            }
        }
    }
}

/// `ATTRIBUTE OBJECT nature CONTENTS`, and what follows: those of a link are not the object's.
fn is_contents(tokens: &[Vec<u8>]) -> bool {
    let [first, precedence, _, name, ..] = tokens else { return false };
    keyword(first) == "ATTRIBUTE" && keyword(precedence) == "OBJECT" && keyword(name) == "CONTENTS"
}

/// Whether the octets are the next token: behind `DATA`, or `TAGGED` and a tag.
fn are_next(tokens: &[Vec<u8>]) -> bool {
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
