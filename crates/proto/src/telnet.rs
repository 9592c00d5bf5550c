//! A Telnet client (RFC 854): a network virtual terminal that refuses every option once (RFC 855; repeated refusals
//! could loop, RFC 1143) and sends no information about the client.

use bytes::Bytes;

use crate::{Event, Machine, RecvBuffer, Step, WireError};

const SE: u8 = 240;
const SB: u8 = 250;
const WILL: u8 = 251;
const WONT: u8 = 252;
const DO: u8 = 253;
const DONT: u8 = 254;
const IAC: u8 = 255;
/// The ECHO option (RFC 857): the server echoes the input.
const ECHO: u8 = 1;
/// The TIMING-MARK option (RFC 860), which must be answered each time, even by a refusal.
const TIMING_MARK: u8 = 6;
/// Maximum number of timing marks answered in a session.
const MAX_TIMING_MARKS: u32 = 256;

/// A Telnet session, a [`Machine`] without I/O. Text from the server is emitted as [`Event::Body`] with local
/// line ends (RFC 854). The session ends when the server closes the connection; a lost connection is an error.
#[derive(Debug)]
pub struct TelnetSession {
    state: StreamState,
    outgoing: Vec<u8>,
    /// The last byte sent is a CR; the next byte decides its meaning.
    last_sent_is_cr: bool,
    refused: Refusals,
    /// The number of timing marks answered.
    timing_marks: u32,
    /// The server repeated WILL ECHO after it was refused.
    insists_on_echo: bool,
}

/// The state of the parser after the last received byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StreamState {
    Text,
    /// After a CR; the next byte decides its meaning.
    AfterCr,
    /// After an IAC; the next byte is a command.
    AfterIac,
    /// The option byte of WILL, WONT, DO or DONT follows.
    Option(u8),
    /// In the subnegotiation of an option.
    Subnegotiation,
    /// After an IAC in a subnegotiation.
    SubnegotiationIac,
}

/// The options refused already, for DO and for WILL.
struct Refusals([[bool; 256]; 2]);

impl std::fmt::Debug for Refusals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Refusals")
    }
}

impl Default for TelnetSession {
    fn default() -> Self {
        Self::new()
    }
}

impl TelnetSession {
    /// Creates a session at its start.
    pub const fn new() -> Self {
        Self {
            state: StreamState::Text,
            outgoing: Vec::new(),
            last_sent_is_cr: false,
            refused: Refusals([[false; 256]; 2]),
            timing_marks: 0,
            insists_on_echo: false,
        }
    }

    /// Returns `true` if the server repeated WILL ECHO after a refusal: the caller then disables local echo.
    pub const fn insists_on_echo(&self) -> bool {
        self.insists_on_echo
    }

    /// Queues text for the server. LF and CRLF are sent as CRLF, a lone CR as CR NUL, and 0xFF is doubled
    /// (RFC 854).
    pub fn queue_text(&mut self, text: &[u8]) {
        for &byte in text {
            match (std::mem::take(&mut self.last_sent_is_cr), byte) {
                (true, b'\n') => {
                    self.outgoing.push(b'\n');
                    continue;
                }
                (true, _) => self.outgoing.push(0),
                (false, _) => {}
            }
            match byte {
                b'\n' => self.outgoing.extend_from_slice(b"\r\n"),
                b'\r' => {
                    self.outgoing.push(b'\r');
                    self.last_sent_is_cr = true;
                }
                IAC => self.outgoing.extend_from_slice(&[IAC, IAC]),
                byte => self.outgoing.push(byte),
            }
        }
    }

    /// Ends the input; a pending CR is completed with NUL.
    pub fn finish_sending_text(&mut self) {
        if std::mem::take(&mut self.last_sent_is_cr) {
            self.outgoing.push(0);
        }
    }

    /// Decodes received bytes and returns their text.
    fn decode(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut text = Vec::with_capacity(bytes.len());
        for &byte in bytes {
            self.state = self.process_byte(byte, &mut text);
        }
        text
    }

    /// Processes one byte and returns the next state.
    fn process_byte(&mut self, byte: u8, text: &mut Vec<u8>) -> StreamState {
        match (self.state, byte) {
            (StreamState::AfterCr, 0) => {
                text.push(b'\r');
                StreamState::Text
            }
            (StreamState::AfterCr, b'\n') => {
                text.push(b'\n');
                StreamState::Text
            }
            (StreamState::AfterCr, byte) => {
                text.push(b'\r');
                self.state = StreamState::Text;
                self.process_byte(byte, text)
            }
            (StreamState::Text, IAC) => StreamState::AfterIac,
            (StreamState::Text, b'\r') => StreamState::AfterCr,
            (StreamState::Text, byte) => {
                text.push(byte);
                StreamState::Text
            }
            (StreamState::AfterIac, IAC) => {
                text.push(IAC);
                StreamState::Text
            }
            (StreamState::AfterIac, WILL..=DONT) => StreamState::Option(byte),
            (StreamState::AfterIac, SB) => StreamState::Subnegotiation,
            (StreamState::AfterIac, _) => StreamState::Text,
            (StreamState::Option(verb), option) => {
                self.refuse(verb, option);
                StreamState::Text
            }
            (StreamState::Subnegotiation, IAC) => StreamState::SubnegotiationIac,
            (StreamState::SubnegotiationIac, SE) => StreamState::Text,
            (StreamState::Subnegotiation | StreamState::SubnegotiationIac, _) => StreamState::Subnegotiation,
        }
    }

    /// Answers an option request with a refusal. WONT and DONT need no answer.
    fn refuse(&mut self, verb: u8, option: u8) {
        let (reply, side) = match verb {
            DO => (WONT, 0),
            WILL => (DONT, 1),
            _ => return,
        };
        self.insists_on_echo |= verb == WILL && option == ECHO && self.refused.0[side][usize::from(option)];
        let was_refused = std::mem::replace(&mut self.refused.0[side][usize::from(option)], true);
        let is_timing_mark = option == TIMING_MARK && self.timing_marks < MAX_TIMING_MARKS;
        self.timing_marks += u32::from(is_timing_mark);
        if !was_refused || is_timing_mark {
            self.outgoing.extend_from_slice(&[IAC, reply, option]);
        }
    }
}

impl Machine for TelnetSession {
    fn step(&mut self, buffer: &mut RecvBuffer) -> Result<Step, WireError> {
        loop {
            if !self.outgoing.is_empty() {
                return Ok(Step::Send(std::mem::take(&mut self.outgoing).into()));
            }
            if buffer.bytes().is_empty() {
                return Ok(match (buffer.is_ended(), self.state) {
                    (false, _) => Step::NeedMore,
                    (true, StreamState::AfterCr) => {
                        self.state = StreamState::Text;
                        Step::Emit(Event::Body(Bytes::from_static(b"\r")))
                    }
                    // The rest of the text was lost.
                    (true, _) if buffer.is_lost() => {
                        return Err(WireError::UnexpectedEnd { what: "the session" });
                    }
                    (true, _) => Step::Done,
                });
            }
            let bytes = buffer.take(usize::MAX);
            let text = self.decode(&bytes);
            if !text.is_empty() {
                return Ok(Step::Emit(Event::Body(text.into())));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the text and the bytes sent for input in two parts.
    fn exchange(bytes: &[u8], cut: usize) -> (Vec<u8>, Vec<u8>) {
        let (mut session, mut buffer) = (TelnetSession::new(), RecvBuffer::new());
        let (mut text, mut sent) = (Vec::new(), Vec::new());
        let (first, second) = bytes.split_at(cut);
        for part in [first, second, b""] {
            buffer.push(part);
            if part.is_empty() && cut < bytes.len() {
                buffer.mark_closed();
            }
            loop {
                match session.step(&mut buffer).expect("a step") {
                    Step::Emit(Event::Body(bytes)) => text.extend_from_slice(&bytes),
                    Step::Send(bytes) => sent.extend_from_slice(&bytes),
                    Step::NeedMore | Step::Done => break,
                    other => panic!("{other:?}"),
                }
            }
        }
        (text, sent)
    }

    #[test]
    fn every_option_is_refused_once() {
        let bytes: Vec<u8> = [
            &[IAC, DO, 24, IAC, DO, 24, IAC, WILL, 1, b'a', IAC, WONT, 3, IAC, DONT, 3][..],
            &[IAC, DO, TIMING_MARK, IAC, DO, TIMING_MARK, IAC, SB, 24, 1, IAC, IAC, b'x', IAC, SE],
            &[IAC, 249, b'b', IAC, IAC, b'c'],
        ]
        .concat();
        let refused =
            [[IAC, WONT, 24], [IAC, DONT, 1], [IAC, WONT, TIMING_MARK], [IAC, WONT, TIMING_MARK]].concat();
        for cut in 0..bytes.len() {
            assert_eq!(exchange(&bytes, cut), (b"ab\xffc".to_vec(), refused.clone()), "cut at {cut}");
        }
    }

    #[test]
    fn lost_connection_is_an_error_after_its_text() {
        for (bytes, texts) in [
            (&b""[..], &[][..]),
            (b"one\r\n", &["one\n"]),
            (b"one\r", &["one", "\r"]),
            (&[b'a', IAC, SB, 24], &["a"]),
        ] {
            let (mut session, mut buffer) = (TelnetSession::new(), RecvBuffer::new());
            buffer.push(bytes);
            buffer.mark_lost();
            for text in texts {
                let step = session.step(&mut buffer).expect("text");
                assert_eq!(step, Step::Emit(Event::Body(text.as_bytes().into())));
            }
            let error = session.step(&mut buffer).expect_err("the end");
            assert_eq!(error, WireError::UnexpectedEnd { what: "the session" });
        }
    }

    #[test]
    fn line_ends_are_converted_in_both_directions() {
        let bytes = b"one\r\ntwo\r\0three\r\rfour\r\n\r";
        for cut in 0..bytes.len() {
            assert_eq!(exchange(bytes, cut).0, b"one\ntwo\rthree\r\rfour\n\r", "cut at {cut}");
        }
        let mut session = TelnetSession::new();
        ["a\n\r".as_bytes(), b"\n\xff\r", b"b\r"].iter().for_each(|text| session.queue_text(text));
        session.finish_sending_text();
        let step = session.step(&mut RecvBuffer::new()).expect("a step");
        assert_eq!(step, Step::Send(Bytes::from_static(b"a\r\n\r\n\xff\xff\r\0b\r\0")));
    }
}
