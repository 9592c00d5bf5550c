//! Any bytes as what a news server says: no panic and no end of steps; where lines are cut changes nothing; each
//! errand has at most one Head and one end, and none is done that was not begun; no password is told.
//!
//! The first byte chooses what was asked for, and what holds for the connection.
#![no_main]

use fetch_url_proto::nntp::{
    ArticleAt, Ask, GroupName, ListForm, Login, MessageId, Part, Session, StartTls, Terms,
};
use fetch_url_proto::{Event, RecvBuffer, Machine, Step};
use libfuzzer_sys::fuzz_target;

const SECRET: &[u8] = b"canary";
/// What needs no byte.
const MOST_STEPS: usize = 1000;
/// No byte is worth more steps.
const STEPS_OF_BYTE: usize = 50;

fuzz_target!(|data: &[u8]| {
    let Some((&choice, bytes)) = data.split_first() else { return };
    // Lines that are there before they are asked for are noticed; so each comes on its own, and once all at once.
    let whole = Play::new(choice).run(lines(bytes, usize::MAX));
    for length in [1, 2, 7] {
        assert_eq!(Play::new(choice).run(lines(bytes, length)), whole, "{length}");
    }
    Play::new(choice).run(std::iter::once(bytes));
    // What a server without an overview tells is written out: a number and seven fields.
    assert!(whole.body.len() <= 4 * bytes.len());
});

/// Lines, in pieces of this length.
fn lines(bytes: &[u8], length: usize) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').flat_map(move |line| line.chunks(length))
}

fn asks(choice: u8) -> Vec<Ask> {
    let Ok(group) = GroupName::new(b"g") else { panic!("a group") };
    let Ok(other) = GroupName::new(b"h") else { panic!("a group") };
    let Ok(id) = MessageId::new(b"a@b") else { panic!("an id") };
    let by_id = |part| Ask::Article(ArticleAt::Id(id.clone()), part);
    let numbered =
        |group: &GroupName, number| Ask::Article(ArticleAt::Number(group.clone(), number), Part::Article);
    let overview = |group: &GroupName, form| Ask::Overview(group.clone(), None, form);
    match choice & 7 {
        0 => vec![by_id(Part::Article)],
        1 => (1..200).map(|number| numbered(&group, number)).collect(),
        2 => vec![by_id(Part::Article), numbered(&group, 1), by_id(Part::Head), numbered(&other, 1)],
        3 => vec![overview(&group, ListForm::Entries), numbered(&group, 1)],
        4 => vec![by_id(Part::Body), overview(&group, ListForm::Bytes), overview(&other, ListForm::Entries)],
        5 => vec![Ask::Groups(None, ListForm::Entries), by_id(Part::Article)],
        6 => vec![Ask::Groups(Some(group), ListForm::Bytes), Ask::Groups(None, ListForm::Bytes)],
        _ => vec![Ask::Group(group.clone()), numbered(&group, 2), overview(&group, ListForm::Entries)],
    }
}

fn terms(choice: u8) -> Terms {
    let mut terms = Terms::default();
    let Ok(login) = Login::new(b"me", SECRET) else { panic!("a login") };
    terms.login = (choice & 0x18 != 0).then_some(login);
    terms.is_secure = choice & 0x18 == 0x08;
    terms.clear_login = choice & 0x18 == 0x10;
    terms.start_tls = if choice & 0x20 == 0 { StartTls::Never } else { StartTls::Try };
    terms
}

/// What came of it.
#[derive(Debug, Default, PartialEq)]
struct Told {
    body: Vec<u8>,
    sent: Vec<u8>,
    others: Vec<String>,
}

struct Play {
    session: Session,
    told: Told,
    has_head: bool,
    has_login: bool,
    is_lost: bool,
    open: usize,
}

impl Play {
    fn new(choice: u8) -> Self {
        let (terms, asks) = (terms(choice), asks(choice));
        let (has_login, open) = (terms.login.is_some(), asks.len());
        let mut session = Session::new(terms).telling(choice & 0x40 != 0);
        asks.into_iter().for_each(|ask| session.ask(ask));
        let is_lost = choice & 0x80 != 0;
        Self { session, told: Told::default(), has_head: false, has_login, is_lost, open }
    }

    fn run<'o>(mut self, mut pieces: impl Iterator<Item = &'o [u8]>) -> Told {
        let (mut buffer, mut left) = (RecvBuffer::new(), MOST_STEPS);
        while left > 0 {
            left -= 1;
            match self.session.step(&mut buffer) {
                Ok(Step::NeedMore) => {
                    assert!(!buffer.is_ended(), "there is no more");
                    match pieces.next() {
                        Some(piece) => {
                            buffer.push(piece);
                            left += STEPS_OF_BYTE * piece.len();
                        }
                        None if self.is_lost => buffer.mark_lost(),
                        None => buffer.mark_closed(),
                    }
                }
                Ok(step) => {
                    if self.take(step) {
                        return self.told;
                    }
                }
                Err(error) => {
                    let text = error.to_string();
                    assert!(!self.has_login || !text.contains("canary"), "{text}");
                    self.told.others.push(text);
                    return self.told;
                }
            }
        }
        panic!("it goes round");
    }

    /// Whether it is over.
    fn take(&mut self, step: Step) -> bool {
        match step {
            Step::Emit(Event::Body(bytes)) => {
                assert!(self.has_head);
                self.told.body.extend_from_slice(&bytes);
            }
            Step::Emit(Event::Head(_)) => assert!(!std::mem::replace(&mut self.has_head, true)),
            Step::Send(bytes) => {
                assert!(bytes.ends_with(b"\r\n"));
                self.told.sent.extend_from_slice(&bytes);
            }
            Step::Done => {
                assert!(std::mem::take(&mut self.has_head), "done, and not begun");
                return self.ends();
            }
            Step::Emit(event) => {
                let is_end = matches!(event, Event::Rejected(_));
                let text = format!("{event:?}");
                let is_line = matches!(event, Event::Received(_) | Event::Rejected(_) | Event::Sent(_));
                assert!(!is_line || !self.has_login || !text.contains("canary"), "{text}");
                self.told.others.push(text);
                if is_end {
                    self.has_head = false;
                    return self.ends();
                }
            }
            // What comes behind these is what the server says in TLS, or compressed.
            step => self.told.others.push(format!("{step:?}")),
        }
        false
    }

    fn ends(&mut self) -> bool {
        self.open -= 1;
        assert_eq!(self.session.asks().len(), self.open);
        self.open == 0
    }
}
