//! Every machine plays its transcript whole, octet by octet, and cut at every position.

use bytes::Bytes;
use fetch_url_proto::text::{DotBlock, Line, LineReader, Reply, ReplyReader};
use fetch_url_proto::{Event, Inbox, Machine, Step, WireError};

/// Asks for one block: a greeting, a command, a numbered reply, a dot-block. A machine of no real
/// protocol, to hold the contract and the text kit to their word.
struct Toy {
    replies: ReplyReader,
    state: State,
}

enum State {
    Greeting,
    Reply,
    Block(DotBlock),
}

impl Toy {
    fn new() -> Self {
        Self { replies: ReplyReader::new(), state: State::Greeting }
    }
}

impl Machine for Toy {
    fn step(&mut self, inbox: &mut Inbox) -> Result<Step, WireError> {
        if let State::Block(block) = &mut self.state {
            return block.step(inbox);
        }
        let Some(reply) = self.replies.read(inbox)? else { return Ok(Step::Need) };
        match (&self.state, reply.code) {
            (State::Greeting, 200) => {
                self.state = State::Reply;
                Ok(Step::Send(Bytes::from_static(b"GIVE\r\n")))
            }
            (State::Reply, 220) => {
                self.state = State::Block(DotBlock::new("the block"));
                self.step(inbox)
            }
            _ => Err(WireError::Unexpected { what: "the reply", got: reply.lines.concat().into() }),
        }
    }
}

/// What came out of a conversation: octets sent, octets of the body, and how it ended.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    sent: Vec<u8>,
    body: Vec<u8>,
    end: Result<(), WireError>,
}

/// Plays `pieces` to a new toy, one after the other, then says that nothing more will come.
fn play(pieces: &[&[u8]]) -> Outcome {
    let (mut toy, mut inbox) = (Toy::new(), Inbox::new());
    let mut outcome = Outcome { sent: Vec::new(), body: Vec::new(), end: Ok(()) };
    let mut pieces = pieces.iter();
    loop {
        match toy.step(&mut inbox) {
            Ok(Step::Done) => return outcome,
            Ok(Step::Send(octets)) => outcome.sent.extend_from_slice(&octets),
            Ok(Step::Emit(Event::Body(octets))) => outcome.body.extend_from_slice(&octets),
            Ok(Step::Need) => match pieces.next() {
                Some(piece) => inbox.push(piece),
                None => inbox.end(),
            },
            Ok(step) => panic!("a toy has no {step:?}"),
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
fn a_transcript_is_the_same_however_it_is_cut() {
    let whole = play(&[TRANSCRIPT]);
    assert_eq!(whole.end, Ok(()));
    assert_eq!(whole.sent, b"GIVE\r\n");
    assert_eq!(whole.body, b"a\r\n.b\r\n.\rc\n.\n\r\n\r\n...\r\n");
    let octets: Vec<&[u8]> = TRANSCRIPT.chunks(1).collect();
    assert_eq!(play(&octets), whole);
    for at in 0..TRANSCRIPT.len() {
        let (first, second) = TRANSCRIPT.split_at(at);
        assert_eq!(play(&[first, second]), whole, "cut at {at}");
    }
}

#[test]
fn a_transcript_that_ends_early_is_cut_wherever_it_ends() {
    let transcript = b"200 hello\r\n220 follows\r\na\r\n..b\r\n.\r\n";
    for length in 0..transcript.len() {
        let outcome = play(&[&transcript[..length]]);
        assert!(matches!(outcome.end, Err(WireError::Cut { .. })), "{length}: {outcome:?}");
    }
}

#[test]
fn a_reply_without_a_number_is_refused() {
    for reply in ["hello\r\n", "20 x\r\n", "2000 x\r\n", "099 x\r\n", "700 x\r\n", "\r\n"] {
        assert!(matches!(play(&[reply.as_bytes()]).end, Err(WireError::Unexpected { .. })), "{reply:?}");
    }
}

fn read_reply(octets: &[u8]) -> Result<Option<Reply>, WireError> {
    let mut inbox = Inbox::new();
    inbox.push(octets);
    ReplyReader::new().read(&mut inbox)
}

#[test]
fn endless_replies_meet_a_limit_with_a_name() {
    let limits = [
        ("the length of a reply line", b"x".repeat(5000)),
        ("the length of a reply line", [b"220 ", &b"x".repeat(5000)[..], b"\r\n"].concat()),
        ("the lines of a reply", b"220-x\r\n".repeat(1100)),
        ("the length of a reply", [b"220-", &b"x".repeat(4000)[..], b"\r\n"].concat().repeat(20)),
    ];
    for (name, octets) in limits {
        let error = read_reply(&octets).expect_err("it is too long");
        assert!(matches!(error, WireError::Limit { limit, .. } if limit == name), "{name}: {error:?}");
    }
}

#[test]
fn a_code_alone_is_a_reply() {
    let reply = read_reply(b"220\r\n").expect("well formed").expect("whole");
    assert_eq!((reply.code, &reply.lines[0][..]), (220, &b""[..]));
}

#[test]
fn lines_end_in_lf_with_or_without_cr() {
    let mut inbox = Inbox::new();
    inbox.push(b"a\r\nb\n\r\nc");
    let mut lines = LineReader::new("a line", "the length of a line", 1);
    for expected in ["a", "b", ""] {
        assert_eq!(lines.read(&mut inbox), Ok(Line::Whole(Bytes::from(expected))));
    }
    assert_eq!(lines.read(&mut inbox), Ok(Line::Need));
    inbox.end();
    assert_eq!(lines.read(&mut inbox), Err(WireError::Cut { what: "a line" }));
    inbox.clear();
    let mut lines = LineReader::new("a line", "the length of a line", 1);
    assert_eq!(lines.read(&mut inbox), Ok(Line::End));
}
