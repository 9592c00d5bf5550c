//! Telnet (RFC 854): a network virtual terminal that agrees to nothing. Text comes and goes, every option that the
//! other side asks for is refused once (RFC 855; RFC 1143 on why once), and nothing of ours is told.

use bytes::Bytes;

use crate::{Event, Inbox, Machine, Step, WireError};

const SE: u8 = 240;
const SB: u8 = 250;
const WILL: u8 = 251;
const WONT: u8 = 252;
const DO: u8 = 253;
const DONT: u8 = 254;
const IAC: u8 = 255;
/// RFC 857: the server repeats what is typed.
const ECHO: u8 = 1;
/// RFC 860: a mark that is to be answered each time, by a refusal too.
const TIMING_MARK: u8 = 6;
/// So often in a session; nobody needs it more than now and then.
const MOST_MARKS: u32 = 256;

/// A session: what the server sends is an [`Event::Body`], piece by piece, with local line ends.
#[derive(Debug)]
pub struct TelnetSession {
    place: Place,
    outgoing: Vec<u8>,
    /// The last that was said is a CR: what follows tells what it means.
    has_said_return: bool,
    refused: Refusals,
    /// How many marks were answered.
    marks: u32,
    /// The server wants to echo, although it was told not to.
    insists_on_echo: bool,
}

/// Where in the server's stream we are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Text,
    /// Behind a CR: what follows tells what it means.
    Return,
    Command,
    /// The option of WILL, WONT, DO or DONT follows.
    Option(u8),
    /// In what is told about an option.
    Told,
    ToldCommand,
}

/// Which options were refused already, to DO and to WILL.
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
    /// Nothing was said yet.
    pub const fn new() -> Self {
        Self {
            place: Place::Text,
            outgoing: Vec::new(),
            has_said_return: false,
            refused: Refusals([[false; 256]; 2]),
            marks: 0,
            insists_on_echo: false,
        }
    }

    /// Whether the server has said once more that it echoes, after that was refused: then it may do so.
    pub const fn insists_on_echo(&self) -> bool {
        self.insists_on_echo
    }

    /// Text for the server: line ends (LF, CR LF) become CR LF, a CR alone CR NUL, and 0xFF is doubled.
    pub fn say(&mut self, text: &[u8]) {
        for &octet in text {
            match (std::mem::take(&mut self.has_said_return), octet) {
                (true, b'\n') => {
                    self.outgoing.push(b'\n');
                    continue;
                }
                (true, _) => self.outgoing.push(0),
                (false, _) => {}
            }
            match octet {
                b'\n' => self.outgoing.extend_from_slice(b"\r\n"),
                b'\r' => {
                    self.outgoing.push(b'\r');
                    self.has_said_return = true;
                }
                IAC => self.outgoing.extend_from_slice(&[IAC, IAC]),
                octet => self.outgoing.push(octet),
            }
        }
    }

    /// Nothing more will be said.
    pub fn say_end(&mut self) {
        if std::mem::take(&mut self.has_said_return) {
            self.outgoing.push(0);
        }
    }

    /// Reads on; the text in it.
    fn hear(&mut self, octets: &[u8]) -> Vec<u8> {
        let mut text = Vec::with_capacity(octets.len());
        for &octet in octets {
            self.place = self.take(octet, &mut text);
        }
        text
    }

    fn take(&mut self, octet: u8, text: &mut Vec<u8>) -> Place {
        match (self.place, octet) {
            (Place::Return, 0) => {
                text.push(b'\r');
                Place::Text
            }
            (Place::Return, b'\n') => {
                text.push(b'\n');
                Place::Text
            }
            (Place::Return, octet) => {
                text.push(b'\r');
                self.place = Place::Text;
                self.take(octet, text)
            }
            (Place::Text, IAC) => Place::Command,
            (Place::Text, b'\r') => Place::Return,
            (Place::Text, octet) => {
                text.push(octet);
                Place::Text
            }
            (Place::Command, IAC) => {
                text.push(IAC);
                Place::Text
            }
            (Place::Command, WILL..=DONT) => Place::Option(octet),
            (Place::Command, SB) => Place::Told,
            (Place::Command, _) => Place::Text,
            (Place::Option(verb), option) => {
                self.refuse(verb, option);
                Place::Text
            }
            (Place::Told, IAC) => Place::ToldCommand,
            (Place::ToldCommand, SE) => Place::Text,
            (Place::Told | Place::ToldCommand, _) => Place::Told,
        }
    }

    /// What is not to be is no news: WONT and DONT have no answer.
    fn refuse(&mut self, verb: u8, option: u8) {
        let (answer, side) = match verb {
            DO => (WONT, 0),
            WILL => (DONT, 1),
            _ => return,
        };
        self.insists_on_echo |= verb == WILL && option == ECHO && self.refused.0[side][usize::from(option)];
        let was_refused = std::mem::replace(&mut self.refused.0[side][usize::from(option)], true);
        let is_mark = option == TIMING_MARK && self.marks < MOST_MARKS;
        self.marks += u32::from(is_mark);
        if !was_refused || is_mark {
            self.outgoing.extend_from_slice(&[IAC, answer, option]);
        }
    }
}

impl Machine for TelnetSession {
    fn step(&mut self, inbox: &mut Inbox) -> Result<Step, WireError> {
        loop {
            if !self.outgoing.is_empty() {
                return Ok(Step::Send(std::mem::take(&mut self.outgoing).into()));
            }
            if inbox.octets().is_empty() {
                return Ok(match (inbox.is_ended(), self.place) {
                    (false, _) => Step::Need,
                    (true, Place::Return) => {
                        self.place = Place::Text;
                        Step::Emit(Event::Body(Bytes::from_static(b"\r")))
                    }
                    (true, _) => Step::Done,
                });
            }
            let octets = inbox.take(usize::MAX);
            let text = self.hear(&octets);
            if !text.is_empty() {
                return Ok(Step::Emit(Event::Body(text.into())));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text and what went out, for octets that come in two parts.
    fn heard(octets: &[u8], cut: usize) -> (Vec<u8>, Vec<u8>) {
        let (mut session, mut inbox) = (TelnetSession::new(), Inbox::new());
        let (mut text, mut sent) = (Vec::new(), Vec::new());
        let (first, second) = octets.split_at(cut);
        for part in [first, second, b""] {
            inbox.push(part);
            if part.is_empty() && cut < octets.len() {
                inbox.end();
            }
            loop {
                match session.step(&mut inbox).expect("a step") {
                    Step::Emit(Event::Body(octets)) => text.extend_from_slice(&octets),
                    Step::Send(octets) => sent.extend_from_slice(&octets),
                    Step::Need | Step::Done => break,
                    other => panic!("{other:?}"),
                }
            }
        }
        (text, sent)
    }

    #[test]
    fn every_option_is_refused_once() {
        let octets: Vec<u8> = [
            &[IAC, DO, 24, IAC, DO, 24, IAC, WILL, 1, b'a', IAC, WONT, 3, IAC, DONT, 3][..],
            &[IAC, DO, TIMING_MARK, IAC, DO, TIMING_MARK, IAC, SB, 24, 1, IAC, IAC, b'x', IAC, SE],
            &[IAC, 249, b'b', IAC, IAC, b'c'],
        ]
        .concat();
        let refused =
            [[IAC, WONT, 24], [IAC, DONT, 1], [IAC, WONT, TIMING_MARK], [IAC, WONT, TIMING_MARK]].concat();
        for cut in 0..octets.len() {
            assert_eq!(heard(&octets, cut), (b"ab\xffc".to_vec(), refused.clone()), "cut at {cut}");
        }
    }

    #[test]
    fn ends_of_lines() {
        let octets = b"one\r\ntwo\r\0three\r\rfour\r\n\r";
        for cut in 0..octets.len() {
            assert_eq!(heard(octets, cut).0, b"one\ntwo\rthree\r\rfour\n\r", "cut at {cut}");
        }
        let mut session = TelnetSession::new();
        ["a\n\r".as_bytes(), b"\n\xff\r", b"b\r"].iter().for_each(|text| session.say(text));
        session.say_end();
        let step = session.step(&mut Inbox::new()).expect("a step");
        assert_eq!(step, Step::Send(Bytes::from_static(b"a\r\n\r\n\xff\xff\r\0b\r\0")));
    }
}
