//! Arbitrary bytes as the replies of a news server: no panic, no endless steps, the same result wherever lines are
//! split, at most one head and one end for each request, and no password in any event.
//!
//! The first byte selects the requests and the session options.
#![no_main]

use fetch_url_proto::nntp::{
    ArticleAddress, ArticlePart, GroupName, ListForm, Login, MessageId, NewsRequest, Session, SessionOptions,
    StartTls,
};
use fetch_url_proto::{Event, Machine, RecvBuffer, Step};
use libfuzzer_sys::fuzz_target;

/// It does not begin with a hexadecimal digit: the escape `\x8c` followed by `anary` would look like `canary`.
const SECRET: &[u8] = b"sesame";
/// Maximum number of steps without input.
const MAX_STEPS_WITHOUT_INPUT: usize = 1000;
/// Maximum number of steps for each byte of input.
const MAX_STEPS_PER_BYTE: usize = 50;

fuzz_target!(|data: &[u8]| {
    let Some((&choice, bytes)) = data.split_first() else { return };
    // Unexpected lines are an error, so lines are passed one at a time, and once all together.
    let whole = Play::new(choice).run(lines(bytes, usize::MAX));
    for length in [1, 2, 7] {
        assert_eq!(Play::new(choice).run(lines(bytes, length)), whole, "{length}");
    }
    Play::new(choice).run(std::iter::once(bytes));
    // Overviews made from headers have a number and seven fields.
    assert!(whole.body.len() <= 4 * bytes.len());
});

/// Returns the lines in pieces of at most `length` bytes.
fn lines(bytes: &[u8], length: usize) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').flat_map(move |line| line.chunks(length))
}

fn requests(choice: u8) -> Vec<NewsRequest> {
    let Ok(group) = GroupName::new(b"g") else { panic!("a group") };
    let Ok(other) = GroupName::new(b"h") else { panic!("a group") };
    let Ok(id) = MessageId::new(b"a@b") else { panic!("an id") };
    let by_id = |part| NewsRequest::Article(ArticleAddress::Id(id.clone()), part);
    let numbered = |group: &GroupName, number| {
        NewsRequest::Article(ArticleAddress::Number(group.clone(), number), ArticlePart::Article)
    };
    let overview = |group: &GroupName, form| NewsRequest::Overview(group.clone(), None, form);
    match choice & 7 {
        0 => vec![by_id(ArticlePart::Article)],
        1 => (1..200).map(|number| numbered(&group, number)).collect(),
        2 => vec![
            by_id(ArticlePart::Article),
            numbered(&group, 1),
            by_id(ArticlePart::Head),
            numbered(&other, 1),
        ],
        3 => vec![overview(&group, ListForm::Entries), numbered(&group, 1)],
        4 => vec![
            by_id(ArticlePart::Body),
            overview(&group, ListForm::Raw),
            overview(&other, ListForm::Entries),
        ],
        5 => vec![NewsRequest::Groups(None, ListForm::Entries), by_id(ArticlePart::Article)],
        6 => vec![NewsRequest::Groups(Some(group), ListForm::Raw), NewsRequest::Groups(None, ListForm::Raw)],
        _ => {
            vec![NewsRequest::Group(group.clone()), numbered(&group, 2), overview(&group, ListForm::Entries)]
        }
    }
}

fn options(choice: u8) -> SessionOptions {
    let mut options = SessionOptions::default();
    let Ok(login) = Login::new(b"me", SECRET) else { panic!("a login") };
    options.login = (choice & 0x18 != 0).then_some(login);
    options.is_secure = choice & 0x18 == 0x08;
    options.allow_plaintext_login = choice & 0x18 == 0x10;
    options.start_tls = if choice & 0x20 == 0 { StartTls::Never } else { StartTls::Try };
    options
}

/// The events of a session.
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
        let (options, asks) = (options(choice), requests(choice));
        let (has_login, open) = (options.login.is_some(), asks.len());
        let mut session = Session::new(options).with_wire_trace(choice & 0x40 != 0);
        asks.into_iter().for_each(|ask| session.add_request(ask));
        let is_lost = choice & 0x80 != 0;
        Self { session, told: Told::default(), has_head: false, has_login, is_lost, open }
    }

    fn run<'o>(mut self, mut pieces: impl Iterator<Item = &'o [u8]>) -> Told {
        let (mut buffer, mut left) = (RecvBuffer::new(), MAX_STEPS_WITHOUT_INPUT);
        while left > 0 {
            left -= 1;
            match self.session.step(&mut buffer) {
                Ok(Step::NeedMore) => {
                    assert!(!buffer.is_ended(), "there is no more");
                    match pieces.next() {
                        Some(piece) => {
                            buffer.push(piece);
                            left += MAX_STEPS_PER_BYTE * piece.len();
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
                    assert!(!self.has_login || !text.contains("sesame"), "{text}");
                    self.told.others.push(text);
                    return self.told;
                }
            }
        }
        panic!("it goes round");
    }

    /// Returns `true` if the session is over.
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
                assert!(!is_line || !self.has_login || !text.contains("sesame"), "{text}");
                self.told.others.push(text);
                if is_end {
                    self.has_head = false;
                    return self.ends();
                }
            }
            // Bytes after these steps would be TLS records or compressed.
            step => self.told.others.push(format!("{step:?}")),
        }
        false
    }

    fn ends(&mut self) -> bool {
        self.open -= 1;
        assert_eq!(self.session.pending_requests().len(), self.open);
        self.open == 0
    }
}
