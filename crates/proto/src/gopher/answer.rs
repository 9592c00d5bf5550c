//! One conversation: a request goes out, and the answer is read as what it is expected to be.

use bytes::Bytes;

use super::doubt::Doubt;
use super::frame::{Chunk, End, Frame};
use super::item::Here;
use super::reader::{Found, Reader};
use super::refusal::RefusalReader;
use super::sniff::{Sniffed, sniff};
use super::{Dots, GopherRequest, ItemType, Plus, described};
use crate::gopher_plus::{Framing, STATUS_OCTETS, Status, status};
use crate::{Event, Head, Inbox, Machine, Refused, Step, WireError};

/// What an answer is expected to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expected {
    /// Gopher+ attributes, an entry for each item.
    Attributes,
    /// A menu, an entry for each line.
    Menu,
    /// Octets as they come.
    Octets,
    /// Text.
    Text(Dots),
}

/// A request and its answer.
#[derive(Debug)]
pub struct Answer {
    stage: Stage,
    is_plus: bool,
    expected: Expected,
    /// What it is expected to be of a server that does not speak Gopher+.
    plain: Expected,
    dots: Dots,
    framing: Option<Framing>,
    here: Option<Here>,
}

#[derive(Debug)]
enum Stage {
    Send(Bytes),
    /// The line that frames an answer of Gopher+.
    Status,
    /// No frame: is it an object at all?
    Sniff,
    /// No frame, and nothing that is read.
    Empty,
    Body(Box<Body>),
    Refusal(RefusalReader),
    Done,
}

#[derive(Debug)]
struct Body {
    frame: Frame,
    reader: Reader,
    doubt: Doubt,
    ended: Option<End>,
}

impl Answer {
    /// Sends `request`, and reads what comes as the answer for an item of type `gtype`; a menu or
    /// attributes as octets when `is_raw`. `tls` is the server that is asked, when it is asked in TLS.
    pub fn new(request: &GopherRequest, gtype: u8, dots: Dots, is_raw: bool, tls: Option<Here>) -> Self {
        let plain = match ItemType::of(gtype) {
            ItemType::Text => Expected::Text(dots),
            ItemType::Menu if is_raw => Expected::Text(Dots::Raw),
            ItemType::Menu => Expected::Menu,
            _ => Expected::Octets,
        };
        let expected = match request.plus() {
            Some(Plus::Attributes(_) | Plus::Form) if is_raw => Expected::Text(Dots::Raw),
            Some(Plus::Attributes(_) | Plus::Form) => Expected::Attributes,
            _ if request.view().is_some_and(|view| !is_menu(view)) => Expected::Octets,
            _ => plain,
        };
        let (stage, is_plus) = (Stage::Send(request.octets()), request.plus().is_some());
        Self { stage, is_plus, expected, plain, dots, framing: None, here: tls }
    }

    /// What the answer has turned out to be.
    pub const fn expected(&self) -> Expected {
        self.expected
    }

    /// How Gopher+ ends the answer; none where it ends as RFC 1436 says.
    pub const fn framing(&self) -> Option<Framing> {
        self.framing
    }

    /// Goes on by one stage; none when there is nothing to be done or told for it.
    fn advance(&mut self, inbox: &mut Inbox) -> Result<Option<Step>, WireError> {
        match &mut self.stage {
            Stage::Send(octets) => {
                let octets = std::mem::take(octets);
                self.stage = if self.is_plus { Stage::Status } else { Stage::Sniff };
                Ok(Some(Step::Send(octets)))
            }
            Stage::Status if inbox.is_ended() && inbox.octets().is_empty() => {
                Err(WireError::Cut { what: "the answer" })
            }
            Stage::Status => Ok(self.read_status(inbox)),
            Stage::Sniff => Ok(self.sniff(inbox)),
            Stage::Empty => Ok(Some(self.begin_body(Frame::Plain, None))),
            Stage::Body(body) => {
                let step = body.step(inbox, self.here.as_ref())?;
                if let Step::Emit(Event::Refused(refused)) = step {
                    return Ok(Some(self.refuse(*refused)));
                }
                if matches!(step, Step::Done | Step::Emit(Event::Unmarked(_))) {
                    self.stage = Stage::Done;
                }
                Ok(Some(step))
            }
            Stage::Refusal(reader) => Ok(Some(match reader.read(inbox) {
                None => Step::Need,
                Some(refused) => self.refuse(refused),
            })),
            Stage::Done => Ok(Some(Step::Done)),
        }
    }

    /// The line in front of an answer of Gopher+. What is none shows that the server does not speak it.
    fn read_status(&mut self, inbox: &mut Inbox) -> Option<Step> {
        /// With CR and LF.
        const MOST: usize = STATUS_OCTETS + 2;
        let octets = inbox.octets();
        let end = octets.iter().take(MOST).position(|&octet| octet == b'\n');
        let may_be = octets.first().is_none_or(|first| matches!(first, b'+' | b'-'));
        if may_be && end.is_none() && octets.len() < MOST && !inbox.is_ended() {
            return Some(Step::Need);
        }
        let line = &octets[..end.unwrap_or(octets.len())];
        match status(line.strip_suffix(b"\r").unwrap_or(line)) {
            Some(status) => {
                inbox.skip(line.len() + usize::from(end.is_some()));
                self.begin(status)
            }
            None => {
                (self.expected, self.stage) = (self.plain, Stage::Sniff);
                let note = "the server does not speak Gopher+: its answer is taken as it is";
                Some(Step::Emit(Event::Note(note)))
            }
        }
    }

    fn begin(&mut self, Status { is_error, framing, .. }: Status) -> Option<Step> {
        if is_error {
            self.stage = Stage::Refusal(RefusalReader::new(framing.into()));
            return None;
        }
        self.framing = Some(framing);
        // Only where a dot ends an answer, its lines can have been changed for it.
        self.expected = match (self.expected, framing) {
            (Expected::Octets, Framing::Dot) => Expected::Text(self.dots),
            (Expected::Text(_), Framing::Length(_) | Framing::End) => Expected::Octets,
            (expected, _) => expected,
        };
        let size = match framing {
            Framing::Length(size) if self.expected == Expected::Octets => Some(size),
            _ => None,
        };
        Some(self.begin_body(framing.into(), size))
    }

    fn begin_body(&mut self, frame: Frame, size: Option<u64>) -> Step {
        let reader = Reader::new(self.expected, frame);
        self.stage = Stage::Body(Box::new(Body { frame, reader, doubt: Doubt::default(), ended: None }));
        Step::Emit(Event::Head(Head { size, modified: None }))
    }

    /// Servers without Gopher+ refuse in a line of type 3.
    fn sniff(&mut self, inbox: &Inbox) -> Option<Step> {
        let sniffed = match self.expected {
            // Where lines are read as items, that one is too.
            Expected::Menu if inbox.octets().is_empty() && !inbox.is_ended() => Sniffed::Need,
            Expected::Menu => Sniffed::Object,
            _ => sniff(inbox),
        };
        Some(match sniffed {
            Sniffed::Need => Step::Need,
            // There are servers that say so that they have no such item.
            Sniffed::Object if self.is_nothing(inbox) => {
                self.stage = Stage::Empty;
                Step::Emit(Event::Note("no octet came: the object is empty, or there is none"))
            }
            Sniffed::Object => self.begin_body(Frame::Plain, None),
            Sniffed::Refusal(words) => self.refuse(Refused::in_words(words)),
        })
    }

    /// Whether the server closed the connection without an octet of what has no mark at its end.
    fn is_nothing(&self, inbox: &Inbox) -> bool {
        self.expected == Expected::Octets && inbox.octets().is_empty() && !inbox.is_lost()
    }

    fn refuse(&mut self, refused: Refused) -> Step {
        self.stage = Stage::Done;
        Step::Emit(Event::Refused(Box::new(refused)))
    }
}

impl Machine for Answer {
    fn step(&mut self, inbox: &mut Inbox) -> Result<Step, WireError> {
        loop {
            if let Some(step) = self.advance(inbox)? {
                return Ok(step);
            }
        }
    }
}

impl Body {
    fn step(&mut self, inbox: &mut Inbox, here: Option<&Here>) -> Result<Step, WireError> {
        loop {
            if let Some(item) = self.doubt.settled() {
                return Ok(Step::Emit(Event::Entry(item.into_entry(here))));
            }
            match self.reader.next()? {
                Some(Found::Attributes(attributes)) => {
                    return Ok(Step::Emit(Event::Entry(described::entry(attributes, here))));
                }
                Some(Found::Octets(octets)) => return Ok(Step::Emit(Event::Body(octets))),
                Some(Found::Item(item)) => {
                    self.doubt.take(item);
                    continue;
                }
                None => {}
            }
            if self.reader.is_over() {
                return Ok(Step::Done);
            }
            if let Some(end) = self.ended {
                if let Some(words) = self.doubt.refusal() {
                    return Ok(Step::Emit(Event::Refused(Box::new(Refused::in_words(words)))));
                }
                if self.doubt.ends() {
                    continue;
                }
                let unmarked = self.reader.check_end(self.frame, end)?;
                return Ok(unmarked.map_or(Step::Done, |mark| Step::Emit(Event::Unmarked(mark))));
            }
            match self.frame.next(inbox)? {
                Chunk::Octets(octets) => self.reader.push(octets),
                Chunk::Need => return Ok(Step::Need),
                Chunk::End(end) => {
                    self.ended = Some(end);
                    self.reader.end(end);
                }
            }
        }
    }
}

/// Whether a view by this media type has the lines of a menu.
fn is_menu(media_type: &[u8]) -> bool {
    let media_type = media_type.to_ascii_lowercase();
    media_type.starts_with(b"application/gopher") || media_type.starts_with(b"directory/")
}
