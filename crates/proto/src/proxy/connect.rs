//! HTTP CONNECT (RFC 9110 §9.3.6): the request for a tunnel, and the head of the response.

use bytes::Bytes;
use fetch_url_core::Host;

use super::Refusal;
use super::destination::InvalidDestination;
use crate::text::{LineReader, ReadLine, mask_secret};
use crate::{Event, Machine, RecvBuffer, Step, WireError};

/// Maximum length of a line of the response, in bytes.
const MAX_LINE: usize = 8 * 1024;
/// Maximum size of all heads of the response together, in bytes.
const MAX_HEADS: usize = 64 * 1024;
/// Maximum number of interim (1xx) responses.
const MAX_INTERIM: u32 = 32;
/// Number of bytes kept of the reason phrase.
const MAX_REASON: usize = 200;
const REPLY: &str = "the response to CONNECT";

/// The request for a tunnel through an HTTP proxy, a [`Machine`] without I/O. Emits the lines that were sent and
/// received, without the login.
///
/// The content of a response is not read: a 2xx response to CONNECT has none (RFC 9110 §9.3.6), and after another status
/// the connection is of no use.
pub struct HttpConnect {
    /// The value of Host, and the request target (RFC 9112 §3.2.3).
    authority: String,
    authorization: Option<String>,
    lines: LineReader,
    state: State,
    heads_size: usize,
    interim: u32,
    refusal: Option<Refusal>,
}

enum State {
    Start,
    /// Emits the request line for the trace.
    Sent,
    StatusLine,
    /// Waits for header fields, up to the empty line.
    Fields(Status),
    Done,
}

#[derive(Clone)]
struct Status {
    code: u16,
    reason: Bytes,
}

impl std::fmt::Debug for HttpConnect {
    /// Does not show the login.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpConnect").field("authority", &self.authority).finish_non_exhaustive()
    }
}

impl HttpConnect {
    /// Creates a request for a tunnel to `port` at `host`. `authorization` is the value of `Proxy-Authorization`, such
    /// as `Basic bWU6c2VjcmV0`.
    ///
    /// # Errors
    /// [`InvalidDestination`] if the host is an IPv6 address with a zone, or if the host or the login contains a byte
    /// that a header field forbids.
    pub fn new(
        host: &Host<'_>,
        port: u16,
        authorization: Option<String>,
    ) -> Result<Self, InvalidDestination> {
        if let Host::V6Zone(..) = host {
            return Err(InvalidDestination::Zone);
        }
        let authority = format!("{host}:{port}");
        if !authority.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(InvalidDestination::Name);
        }
        let is_sendable = |text: &String| text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
        if !authorization.as_ref().is_none_or(is_sendable) {
            return Err(InvalidDestination::Login);
        }
        let lines = LineReader::new(REPLY, "bytes in a line of the response to CONNECT", MAX_LINE);
        let (state, refusal) = (State::Start, None);
        Ok(Self { authority, authorization, lines, state, heads_size: 0, interim: 0, refusal })
    }

    /// Returns the refusal of the proxy; `None` if the tunnel is open.
    pub const fn refusal(&self) -> Option<&Refusal> {
        self.refusal.as_ref()
    }

    fn request(&self) -> Bytes {
        let authority = &self.authority;
        let mut request = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n");
        if let Some(value) = &self.authorization {
            request.push_str(&format!("Proxy-Authorization: {value}\r\n"));
        }
        request.push_str("\r\n");
        request.into()
    }

    /// Reads one line and returns it, with the login masked, as an event for the trace.
    fn read_line(&mut self, buffer: &mut RecvBuffer) -> Result<Option<Bytes>, WireError> {
        let line = match self.lines.read_line(buffer)? {
            ReadLine::Line(line) => line,
            ReadLine::NeedMore => return Ok(None),
            ReadLine::End => return Err(WireError::UnexpectedEnd { what: REPLY }),
        };
        self.heads_size += line.len() + 2;
        if self.heads_size > MAX_HEADS {
            let quantity = "bytes in the response to CONNECT";
            return Err(WireError::LimitExceeded { quantity, max: MAX_HEADS });
        }
        Ok(Some(line))
    }

    /// Ends the head of a response: an interim response is followed by another one.
    fn end_head(&mut self, status: Status) -> Result<(), WireError> {
        self.state = State::Done;
        match status.code {
            200..=299 => {}
            101 => {
                return Err(WireError::Unexpected {
                    what: "a final response to CONNECT",
                    got: status.reason,
                });
            }
            100..=199 => {
                self.interim += 1;
                if self.interim > MAX_INTERIM {
                    let quantity = "interim responses to CONNECT";
                    return Err(WireError::LimitExceeded { quantity, max: MAX_INTERIM as usize });
                }
                self.state = State::StatusLine;
            }
            407 if self.authorization.is_some() => self.refusal = Some(Refusal::LoginRejected),
            407 => self.refusal = Some(Refusal::LoginRequired),
            code => self.refusal = Some(Refusal::Status { status: code, reason: status.reason }),
        }
        Ok(())
    }

    fn shown(&self, line: &Bytes) -> Step {
        let secret = self.authorization.as_deref().and_then(|value| value.rsplit(' ').next());
        Step::Emit(Event::Received(mask_secret(line, secret.unwrap_or_default().as_bytes())))
    }
}

impl Machine for HttpConnect {
    fn step(&mut self, buffer: &mut RecvBuffer) -> Result<Step, WireError> {
        match &self.state {
            State::Start => {
                self.state = State::Sent;
                return Ok(Step::Send(self.request()));
            }
            State::Sent => {
                self.state = State::StatusLine;
                return Ok(Step::Emit(Event::Sent(format!("CONNECT {} HTTP/1.1", self.authority))));
            }
            State::Done => return Ok(Step::Done),
            State::StatusLine => check_start(buffer.bytes())?,
            State::Fields(_) => {}
        }
        let Some(line) = self.read_line(buffer)? else { return Ok(Step::NeedMore) };
        match std::mem::replace(&mut self.state, State::Done) {
            State::Fields(status) if line.is_empty() => self.end_head(status)?,
            State::Fields(status) => self.state = State::Fields(status),
            _ => self.state = State::Fields(parse_status_line(&line)?),
        }
        Ok(self.shown(&line))
    }

    fn may_echo_secrets(&self) -> bool {
        true
    }
}

/// Rejects a response that does not begin with `HTTP/1.` as soon as its first bytes show it.
fn check_start(received: &[u8]) -> Result<(), WireError> {
    const START: &[u8] = b"HTTP/1.";
    if received.iter().zip(START).all(|(one, other)| one == other) {
        return Ok(());
    }
    Err(unexpected(received))
}

/// Parses `HTTP/1.1 200 Connection established` (RFC 9112 §4). The reason phrase may be missing.
fn parse_status_line(line: &Bytes) -> Result<Status, WireError> {
    let [b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'0'..=b'9', b' ', a, b, c, rest @ ..] = &line[..] else {
        return Err(unexpected(line));
    };
    let is_digits = [a, b, c].iter().all(|byte| byte.is_ascii_digit());
    if !is_digits || !matches!(rest, [] | [b' ', ..]) || *a == b'0' {
        return Err(unexpected(line));
    }
    let code = [a, b, c].iter().fold(0, |code, byte| code * 10 + u16::from(**byte - b'0'));
    let reason = rest.trim_ascii();
    let reason = Bytes::copy_from_slice(&reason[..reason.len().min(MAX_REASON)]);
    Ok(Status { code, reason })
}

fn unexpected(got: &[u8]) -> WireError {
    WireError::Unexpected { what: REPLY, got: Bytes::copy_from_slice(&got[..got.len().min(MAX_REASON)]) }
}
