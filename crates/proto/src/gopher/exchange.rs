//! The Gopher client as a state machine without I/O: it sends one request and parses the response.

use bytes::Bytes;

use super::dot_stuffing::{LastBytes, ends_with_terminator};
use super::error_response::ErrorResponseReader;
use super::item::ServerAddress;
use super::reader::{ParsedPart, Reader, ResponseKind};
use super::refusal_detector::RefusalDetector;
use super::response_framing::{Chunk, ResponseEnd, ResponseFraming};
use super::sniff::{Detection, sniff};
use super::{DotStuffing, GopherRequest, ItemType, PlusRequest, entry};
use crate::gopher_plus::{Framing, MAX_STATUS_BYTES, Status, status};
use crate::{Event, Head, Machine, RecvBuffer, Rejection, Step, WireError};

/// One Gopher request and its response (RFC 1436, Gopher+), a [`Machine`] without I/O.
#[derive(Debug)]
pub struct Exchange {
    state: ExchangeState,
    is_plus: bool,
    expected: ResponseKind,
    /// The expected type of the response if the server does not support Gopher+.
    plain_expected: ResponseKind,
    dots: DotStuffing,
    framing: Option<Framing>,
    /// The object is a text. Servers may announce the line of one dot at its end and not send it.
    is_text: bool,
    /// The address of the server if the connection is in TLS.
    tls_server: Option<ServerAddress>,
}

/// The progress of the exchange.
#[derive(Debug)]
enum ExchangeState {
    /// The request is not sent yet.
    Send(Bytes),
    /// Reading the Gopher+ status line.
    Status,
    /// No Gopher+ status line: checking for an error item.
    Sniff,
    /// The response was empty.
    Empty,
    /// Reading the body.
    Body(Box<Body>),
    /// Reading the body of a Gopher+ error response.
    Refusal(ErrorResponseReader),
    Done,
}

#[derive(Debug)]
struct Body {
    frame: ResponseFraming,
    reader: Reader,
    refusal_detector: RefusalDetector,
    ended: Option<ResponseEnd>,
    /// The last bytes received.
    tail: LastBytes,
    is_text: bool,
    /// The last byte received is a line feed.
    ends_line: bool,
}

impl Exchange {
    /// Creates the client for `request`. The response is parsed by the item type `gtype`; menus and
    /// attributes are returned unparsed if `is_raw`. `tls_server` is the server's address if
    /// it is contacted over TLS: menu items on that server then get `gophers:` URLs.
    pub fn new(
        request: &GopherRequest,
        gtype: u8,
        dots: DotStuffing,
        is_raw: bool,
        tls_server: Option<ServerAddress>,
    ) -> Self {
        let plain_expected = match ItemType::from_gtype(gtype) {
            ItemType::Text => ResponseKind::Text(dots),
            ItemType::Menu if is_raw => ResponseKind::Text(DotStuffing::Raw),
            ItemType::Menu => ResponseKind::Menu,
            _ => ResponseKind::Binary,
        };
        let expected = match request.plus() {
            Some(PlusRequest::Attributes(_) | PlusRequest::RequestForm) if is_raw => {
                ResponseKind::Text(DotStuffing::Raw)
            }
            Some(PlusRequest::Attributes(_) | PlusRequest::RequestForm) => ResponseKind::Attributes,
            _ if request.view().is_some_and(|view| !is_menu(view)) => ResponseKind::Binary,
            _ => plain_expected,
        };
        let is_text = match request.view() {
            Some(view) => view.to_ascii_lowercase().starts_with(b"text/"),
            None => gtype == b'h' || ItemType::from_gtype(gtype) == ItemType::Text,
        };
        let (state, is_plus) = (ExchangeState::Send(request.bytes()), request.plus().is_some());
        Self { state, is_plus, expected, plain_expected, dots, framing: None, is_text, tls_server }
    }

    /// Returns the type of the response. It may change until [`Event::Head`] is emitted.
    pub const fn expected(&self) -> ResponseKind {
        self.expected
    }

    /// Returns the framing from the Gopher+ status line, or `None` for a plain RFC 1436 response.
    pub const fn framing(&self) -> Option<Framing> {
        self.framing
    }

    /// Returns `true` if the last bytes received are the line of one dot that ends the response. The machine still waits
    /// for the end of the connection, because the line may be within the text; some servers keep the connection open.
    /// `received` contains the bytes that the machine has not taken yet.
    pub fn has_final_dot(&self, received: &RecvBuffer) -> bool {
        let body = match &self.state {
            ExchangeState::Sniff => return ends_with_terminator(received.bytes()),
            ExchangeState::Body(body) => body,
            _ => return false,
        };
        let may_end = match body.frame {
            ResponseFraming::Dot => true,
            ResponseFraming::Plain => self.expected != ResponseKind::Binary,
            ResponseFraming::Counted(_) | ResponseFraming::ConnectionEnd => false,
        };
        may_end && body.ended.is_none() && body.tail.is_terminator()
    }

    /// Processes input. Returns `None` if there is no step to return yet.
    fn advance(&mut self, buffer: &mut RecvBuffer) -> Result<Option<Step>, WireError> {
        match &mut self.state {
            ExchangeState::Send(bytes) => {
                let bytes = std::mem::take(bytes);
                self.state = if self.is_plus { ExchangeState::Status } else { ExchangeState::Sniff };
                Ok(Some(Step::Send(bytes)))
            }
            ExchangeState::Status if buffer.is_ended() && buffer.bytes().is_empty() => {
                Err(WireError::UnexpectedEnd { what: "the response" })
            }
            ExchangeState::Status => Ok(self.read_status(buffer)),
            // Nothing was received: the request can be repeated.
            ExchangeState::Sniff if buffer.is_lost() && buffer.bytes().is_empty() => {
                Err(WireError::UnexpectedEnd { what: "the response" })
            }
            ExchangeState::Sniff => Ok(self.sniff(buffer)),
            ExchangeState::Empty => Ok(Some(self.begin_body(ResponseFraming::Plain, None))),
            ExchangeState::Body(body) => {
                let step = body.step(buffer, self.tls_server.as_ref())?;
                if let Step::Emit(Event::Rejected(rejection)) = step {
                    return Ok(Some(self.reject(*rejection)));
                }
                if matches!(step, Step::Done | Step::Emit(Event::UnterminatedEnd(_))) {
                    self.state = ExchangeState::Done;
                }
                Ok(Some(step))
            }
            ExchangeState::Refusal(reader) => Ok(Some(match reader.read(buffer) {
                None => Step::NeedMore,
                Some(rejection) => self.reject(rejection),
            })),
            ExchangeState::Done => Ok(Some(Step::Done)),
        }
    }

    /// Parses the Gopher+ status line. If there is none, the response is handled as plain Gopher.
    fn read_status(&mut self, buffer: &mut RecvBuffer) -> Option<Step> {
        /// Maximum length with CRLF, in bytes.
        const MAX_LINE: usize = MAX_STATUS_BYTES + 2;
        let bytes = buffer.bytes();
        let end = bytes.iter().take(MAX_LINE).position(|&byte| byte == b'\n');
        let may_be_status = bytes.first().is_none_or(|first| matches!(first, b'+' | b'-'));
        if may_be_status && end.is_none() && bytes.len() < MAX_LINE && !buffer.is_ended() {
            return Some(Step::NeedMore);
        }
        let line = &bytes[..end.unwrap_or(bytes.len())];
        match status(line.strip_suffix(b"\r").unwrap_or(line)) {
            Some(status) => {
                buffer.skip(line.len() + usize::from(end.is_some()));
                self.begin(status)
            }
            None => {
                (self.expected, self.state) = (self.plain_expected, ExchangeState::Sniff);
                let note = "the server does not support Gopher+: its response is used as it is";
                Some(Step::Emit(Event::Note(note.into())))
            }
        }
    }

    /// Processes the status line: starts the body or reads an error response.
    fn begin(&mut self, Status { is_error, framing, .. }: Status) -> Option<Step> {
        if is_error {
            self.state = ExchangeState::Refusal(ErrorResponseReader::new(framing.into()));
            return None;
        }
        self.framing = Some(framing);
        // Dot-stuffing is used only in responses that end with a line of one dot.
        self.expected = match (self.expected, framing) {
            (ResponseKind::Binary, Framing::Dot) => ResponseKind::Text(self.dots),
            (ResponseKind::Text(_), Framing::Length(_) | Framing::End) => ResponseKind::Binary,
            (expected, _) => expected,
        };
        let size = match framing {
            Framing::Length(size) if self.expected == ResponseKind::Binary => Some(size),
            _ => None,
        };
        Some(self.begin_body(framing.into(), size))
    }

    /// Starts the body and emits [`Event::Head`].
    fn begin_body(&mut self, frame: ResponseFraming, size: Option<u64>) -> Step {
        let reader = Reader::new(self.expected, frame);
        self.state = ExchangeState::Body(Box::new(Body {
            frame,
            reader,
            refusal_detector: RefusalDetector::default(),
            ended: None,
            tail: LastBytes::default(),
            is_text: self.is_text,
            ends_line: false,
        }));
        Step::Emit(Event::Head(Head { size, ..Head::default() }))
    }

    /// Checks whether a plain response is a single error item (type 3), which is a refusal.
    fn sniff(&mut self, buffer: &RecvBuffer) -> Option<Step> {
        let sniffed = match self.expected {
            // In a menu, the error item is parsed as an entry.
            ResponseKind::Menu if buffer.bytes().is_empty() && !buffer.is_ended() => Detection::NeedMore,
            ResponseKind::Menu => Detection::NotARefusal,
            _ => sniff(buffer),
        };
        Some(match sniffed {
            Detection::NeedMore => Step::NeedMore,
            // Some servers send nothing for a missing item.
            Detection::NotARefusal if self.is_empty_response(buffer) => {
                self.state = ExchangeState::Empty;
                Step::Emit(Event::Note("the server sent no data: the item is empty or does not exist".into()))
            }
            Detection::NotARefusal => self.begin_body(ResponseFraming::Plain, None),
            Detection::Refusal(words) => self.reject(Rejection::from_text(words)),
        })
    }

    /// Returns `true` if the server closed the connection without data for an item that has no terminator.
    fn is_empty_response(&self, buffer: &RecvBuffer) -> bool {
        self.expected == ResponseKind::Binary && buffer.bytes().is_empty() && !buffer.is_lost()
    }

    /// Ends the exchange with a rejection.
    fn reject(&mut self, rejection: Rejection) -> Step {
        self.state = ExchangeState::Done;
        Step::Emit(Event::Rejected(Box::new(rejection)))
    }
}

impl Machine for Exchange {
    fn step(&mut self, buffer: &mut RecvBuffer) -> Result<Step, WireError> {
        loop {
            if let Some(step) = self.advance(buffer)? {
                return Ok(step);
            }
        }
    }
}

impl Body {
    fn step(
        &mut self,
        buffer: &mut RecvBuffer,
        tls_server: Option<&ServerAddress>,
    ) -> Result<Step, WireError> {
        loop {
            if let Some(item) = self.refusal_detector.next_decided_item() {
                return Ok(Step::Emit(Event::Entry(item.into_entry(tls_server))));
            }
            match self.reader.next()? {
                Some(ParsedPart::Attributes(attributes)) => {
                    return Ok(Step::Emit(Event::Entry(entry::attributes_entry(attributes, tls_server))));
                }
                Some(ParsedPart::Data(bytes)) => return Ok(Step::Emit(Event::Body(bytes))),
                Some(ParsedPart::Item(item)) => {
                    self.refusal_detector.push(item);
                    continue;
                }
                None => {}
            }
            if self.reader.is_over() {
                return Ok(Step::Done);
            }
            if let Some(end) = self.ended {
                if let Some(words) = self.refusal_detector.refusal() {
                    return Ok(Step::Emit(Event::Rejected(Box::new(Rejection::from_text(words)))));
                }
                if self.refusal_detector.release_buffered() {
                    continue;
                }
                let missing = self.reader.check_end(self.frame, end, self.is_text && self.ends_line)?;
                return Ok(missing.map_or(Step::Done, |name| Step::Emit(Event::UnterminatedEnd(name))));
            }
            match self.frame.next(buffer)? {
                Chunk::Data(bytes) => {
                    self.ends_line = bytes.ends_with(b"\n");
                    self.tail.remember(&bytes);
                    self.reader.push(bytes);
                }
                Chunk::NeedMore => return Ok(Step::NeedMore),
                Chunk::End(end) => {
                    self.ended = Some(end);
                    self.reader.end(end);
                }
            }
        }
    }
}

/// Returns `true` if a view of this media type is a menu.
fn is_menu(media_type: &[u8]) -> bool {
    let media_type = media_type.to_ascii_lowercase();
    media_type.starts_with(b"application/gopher") || media_type.starts_with(b"directory/")
}
