//! The [`Machine`] contract and the text tools, with a machine of an invented protocol.

use bytes::Bytes;
use fetch_url_proto::text::{DotBlockReader, LineReader, ReadLine, Reply, ReplyReader};
use fetch_url_proto::{Event, Machine, RecvBuffer, Step, WireError};

/// A machine of an invented protocol that requests one block: greeting, command, reply, dot-terminated block.
struct ToyMachine {
    replies: ReplyReader,
    state: State,
}

enum State {
    Greeting,
    Reply,
    Block(DotBlockReader),
}

impl ToyMachine {
    fn new() -> Self {
        Self { replies: ReplyReader::new(), state: State::Greeting }
    }
}

impl Machine for ToyMachine {
    fn step(&mut self, buffer: &mut RecvBuffer) -> Result<Step, WireError> {
        if let State::Block(block) = &mut self.state {
            return block.step(buffer);
        }
        let Some(reply) = self.replies.read_reply(buffer)? else { return Ok(Step::NeedMore) };
        match (&self.state, reply.code) {
            (State::Greeting, 200) => {
                self.state = State::Reply;
                Ok(Step::Send(Bytes::from_static(b"GIVE\r\n")))
            }
            (State::Reply, 220) => {
                self.state = State::Block(DotBlockReader::new("the block"));
                self.step(buffer)
            }
            _ => Err(WireError::Unexpected { what: "the reply", got: reply.lines.concat().into() }),
        }
    }
}

/// The result of an exchange: the bytes sent, the body, and how it ended.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    sent: Vec<u8>,
    body: Vec<u8>,
    end: Result<(), WireError>,
}

/// Gives `pieces` to a new machine, one after another, then closes the connection.
fn play(pieces: &[&[u8]]) -> Outcome {
    let (mut machine, mut buffer) = (ToyMachine::new(), RecvBuffer::new());
    let mut outcome = Outcome { sent: Vec::new(), body: Vec::new(), end: Ok(()) };
    let mut pieces = pieces.iter();
    loop {
        match machine.step(&mut buffer) {
            Ok(Step::Done) => return outcome,
            Ok(Step::Send(bytes)) => outcome.sent.extend_from_slice(&bytes),
            Ok(Step::Emit(Event::Body(bytes))) => outcome.body.extend_from_slice(&bytes),
            Ok(Step::NeedMore) => match pieces.next() {
                Some(piece) => buffer.push(piece),
                None => buffer.mark_closed(),
            },
            Ok(step) => panic!("unexpected step {step:?}"),
            Err(error) => {
                outcome.end = Err(error);
                return outcome;
            }
        }
    }
}

const TRANSCRIPT: &[u8] = b"200-hello\r\n 200 nor this\r\n201 nor that\r\n200 go\r\n220 follows\r\n\
    a\r\n..b\r\n.\rc\n.\n\r\n\r\n....\r\n.\r\nmore";

#[test]
fn result_does_not_depend_on_how_the_input_is_split() {
    let expected = play(&[TRANSCRIPT]);
    assert_eq!(expected.end, Ok(()));
    assert_eq!(expected.sent, b"GIVE\r\n");
    assert_eq!(expected.body, b"a\r\n.b\r\n.\rc\n.\n\r\n\r\n...\r\n");
    let bytes: Vec<&[u8]> = TRANSCRIPT.chunks(1).collect();
    assert_eq!(play(&bytes), expected);
    for at in 0..TRANSCRIPT.len() {
        let (first, second) = TRANSCRIPT.split_at(at);
        assert_eq!(play(&[first, second]), expected, "cut at {at}");
    }
}

#[test]
fn early_end_is_an_error_at_every_position() {
    let transcript = b"200 hello\r\n220 follows\r\na\r\n..b\r\n.\r\n";
    for length in 0..transcript.len() {
        let outcome = play(&[&transcript[..length]]);
        assert!(matches!(outcome.end, Err(WireError::UnexpectedEnd { .. })), "{length}: {outcome:?}");
    }
}

#[test]
fn reply_without_a_valid_code_is_an_error() {
    for reply in ["hello\r\n", "20 x\r\n", "2000 x\r\n", "099 x\r\n", "700 x\r\n", "\r\n"] {
        assert!(matches!(play(&[reply.as_bytes()]).end, Err(WireError::Unexpected { .. })), "{reply:?}");
    }
}

fn read_reply(bytes: &[u8]) -> Result<Option<Reply>, WireError> {
    let mut buffer = RecvBuffer::new();
    buffer.push(bytes);
    ReplyReader::new().read_reply(&mut buffer)
}

#[test]
fn oversized_replies_exceed_a_named_limit() {
    let limits = [
        ("bytes in a reply line", b"x".repeat(5000)),
        ("bytes in a reply line", [b"220 ", &b"x".repeat(5000)[..], b"\r\n"].concat()),
        ("lines in a reply", b"220-x\r\n".repeat(1100)),
        ("bytes in a reply", [b"220-", &b"x".repeat(4000)[..], b"\r\n"].concat().repeat(20)),
    ];
    for (name, bytes) in limits {
        let error = read_reply(&bytes).expect_err("too long");
        assert!(
            matches!(error, WireError::LimitExceeded { quantity, .. } if quantity == name),
            "{name}: {error:?}"
        );
    }
}

#[test]
fn code_without_text_is_a_reply() {
    let reply = read_reply(b"220\r\n").expect("a reply").expect("a complete reply");
    assert_eq!((reply.code, &reply.lines[0][..]), (220, &b""[..]));
}

#[test]
fn lines_end_with_lf_or_cr_lf() {
    let mut buffer = RecvBuffer::new();
    buffer.push(b"a\r\nb\n\r\nc");
    let mut lines = LineReader::new("a line", "bytes in a line", 1);
    for expected in ["a", "b", ""] {
        assert_eq!(lines.read_line(&mut buffer), Ok(ReadLine::Line(Bytes::from(expected))));
    }
    assert_eq!(lines.read_line(&mut buffer), Ok(ReadLine::NeedMore));
    buffer.mark_closed();
    assert_eq!(lines.read_line(&mut buffer), Err(WireError::UnexpectedEnd { what: "a line" }));
    buffer.clear();
    let mut lines = LineReader::new("a line", "bytes in a line", 1);
    assert_eq!(lines.read_line(&mut buffer), Ok(ReadLine::End));
}
