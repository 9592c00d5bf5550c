//! A question about an object, and all that is told in answer.

use super::facts::{ObjectFacts, ObjectName};
use super::line::Line;
use super::question::{ObjectId, Question};
use super::talk::{self, Read, Saying};
use super::tokens::{Next, TokenReader};
use crate::{Inbox, Machine, Step, WireError};

/// The most attributes of an object.
const MOST_ATTRIBUTES: usize = 4096;
/// The most octets of an answer.
const MOST_OCTETS: usize = 1024 * 1024;

/// Asks for attributes; an error of the server is an [`Event::Refused`](crate::Event::Refused). What was found is told when it is done.
#[derive(Debug)]
pub struct Inquiry {
    saying: Saying,
    reader: TokenReader,
    octets: usize,
    found: Inquired,
    /// Some line was an answer.
    is_answered: bool,
    /// The link that was named last: it leads on where the next line says so.
    link: Option<ObjectName>,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Inquired {
    /// The object is elsewhere.
    Elsewhere(ObjectName),
    /// This is known of it, which may be nothing.
    Facts(ObjectFacts),
}

impl Inquiry {
    /// Asks this about `object`.
    pub fn new(question: &Question, object: &ObjectId) -> Self {
        Self {
            saying: Saying::new(question, object),
            reader: TokenReader::default(),
            octets: 0,
            found: Inquired::Facts(ObjectFacts::default()),
            is_answered: false,
            link: None,
        }
    }

    /// What was found.
    pub fn into_found(self) -> Inquired {
        self.found
    }

    fn take(&mut self, line: Line) -> Result<(), WireError> {
        self.is_answered |= !matches!(line, Line::Other);
        match (line, &mut self.found) {
            (Line::Attribute(attribute), Inquired::Facts(facts)) => {
                if facts.attributes.len() == MOST_ATTRIBUTES {
                    let limit = "attributes of an object";
                    return Err(WireError::Limit { limit, most: MOST_ATTRIBUTES });
                }
                facts.attributes.push(attribute);
            }
            (Line::Forwarded(name), _) => self.found = Inquired::Elsewhere(name),
            (Line::Link(link), _) => self.link = Some(link.object),
            (Line::Unresolved(rest), _) => {
                if let Some(link) = self.link.take() {
                    self.found = Inquired::Elsewhere(link.joined(&rest));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl Machine for Inquiry {
    fn step(&mut self, inbox: &mut Inbox) -> Result<Step, WireError> {
        if let Some(step) = self.saying.next() {
            return Ok(step);
        }
        let tokens = match self.reader.next(inbox)? {
            Next::Line(tokens, _) => tokens,
            Next::End if !self.is_answered => return Err(talk::unexpected("an answer")),
            Next::End => return Ok(Step::Done),
            Next::Need | Next::Octets(_) => return Ok(Step::Need),
        };
        self.octets += tokens.iter().map(|token| token.len() + 1).sum::<usize>() + 1;
        if self.octets > MOST_OCTETS {
            return Err(WireError::Limit { limit: "octets of an answer", most: MOST_OCTETS });
        }
        let heard = talk::heard(&tokens);
        match talk::read(tokens)? {
            Read::Line(line) => {
                self.take(line)?;
                Ok(Step::Emit(heard))
            }
            Read::Refused(refused) => {
                self.is_answered = true;
                Ok(Step::Emit(refused))
            }
        }
    }
}
