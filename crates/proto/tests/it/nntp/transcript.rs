//! Plays exchanges with news servers: complete, byte by byte, cut at every position, and truncated at every position.
//!
//! A transcript has one line for each event, in order:
//!
//! ```text
//! A: g 5             a request; added after all events before it (see `parse_request`)
//! C: GROUP g         a command
//! S: 211 1 5 5 g     a line of the server, sent after all commands before it; `\r`, `\n`, `\xHH`
//! s: 211             the same without a line end
//! L: me canary       a login, after a refusal; `none`: no login could help
//! X:                 the server closes the connection
//! = done             a step or an event: head, body (`|` is CR LF), entry, refused, secure, deflate, done; or how
//!                    the peer broke the protocol: cut, limit, unexpected
//! ```

use fetch_url_proto::nntp::{
    ArticleAddress, ArticlePart, GroupName, ListForm, Login, MessageId, NewsRequest, Session, SessionOptions,
    StartTls,
};
use fetch_url_proto::{Details, Entry, Event, Machine, RecvBuffer, Step, WireError};

/// The password, which no event may contain.
const SECRET: &str = "canary";
/// Exchanges with more bytes than this are cut into single bytes, but not at each position separately.
const MAX_CUTS: usize = 2500;
/// Maximum number of steps for one byte of input; no exchange needs more.
const MAX_STEPS_PER_BYTE: usize = 10_000;

/// Checks that events and commands are the same wherever the server's bytes are cut, and that a truncated exchange
/// gives no event whose data was not received. `session_options` are the session options, as in `parse_options`.
#[track_caller]
pub(crate) fn check(session_options: &str, dialogue: &str) {
    let session_options = &parse_options(session_options);
    let script = Script::of(dialogue);
    let bytes = script.bytes.len();
    let by = |cuts: &dyn Fn(usize) -> bool, options: PlayOptions| {
        Play::new(session_options, &script, options).run(cuts)
    };
    let all = PlayOptions { has_wire_trace: true, end: None };
    assert_eq!(by(&|_| false, all), script.expected, "in one piece: {dialogue}");
    assert_eq!(
        by(&|_| false, PlayOptions { has_wire_trace: false, ..all }),
        script.expected,
        "without a wire trace: {dialogue}"
    );
    assert_eq!(by(&|_| true, all), script.expected, "byte by byte: {dialogue}");
    if bytes > MAX_CUTS {
        return;
    }
    for at in 0..bytes {
        assert_eq!(by(&|cut| cut == at, all), script.expected, "cut at {at}: {dialogue}");
        let ended = by(&|_| false, PlayOptions { end: Some(at), ..all });
        assert!(script.is_valid_prefix(&ended), "ended at {at}: {dialogue}\n{ended:#?}");
    }
}

fn parse_options(words: &str) -> SessionOptions {
    let mut session_options = SessionOptions::default();
    for word in words.split_whitespace() {
        match word {
            "clear" => session_options.allow_plaintext_login = true,
            "login" => session_options.login = Some(login("me", SECRET)),
            "must" => session_options.start_tls = StartTls::Must,
            "plain" => session_options.uncompressed_lists = true,
            "tls" => session_options.is_secure = true,
            "try" => session_options.start_tls = StartTls::Try,
            _ => panic!("not a session option: {word}"),
        }
    }
    session_options
}

fn login(user: &str, password: &str) -> Login {
    Login::new(user.as_bytes(), password.as_bytes()).expect("nothing is forbidden")
}

/// A parsed transcript.
struct Script {
    /// All bytes of the server.
    bytes: Vec<u8>,
    /// From this byte on, this number of commands, handshakes and compressions must have happened.
    gates: Vec<(usize, usize)>,
    /// After this number of events, the action is performed.
    actions: Vec<(usize, Action)>,
    expected: Vec<String>,
    closes: bool,
}

#[derive(Clone)]
enum Action {
    Ask(NewsRequest),
    LogIn(Login),
    /// Asserts that no login is possible.
    NoLogin,
}

impl Script {
    fn of(dialogue: &str) -> Self {
        let (bytes, gates, actions, expected) = Default::default();
        let mut script = Self { bytes, gates, actions, expected, closes: false };
        let mut gate = 0;
        for line in dialogue.lines().map(str::trim_start).filter(|line| !line.is_empty()) {
            let (kind, text) = line.split_at_checked(2).expect("a kind of line");
            let text = text.strip_prefix(' ').unwrap_or(text);
            match kind {
                "A:" => script.actions.push((script.expected.len(), Action::Ask(parse_request(text)))),
                "L:" if text == "none" => script.actions.push((script.expected.len(), Action::NoLogin)),
                "L:" => {
                    let (user, password) = text.split_once(' ').expect("a user and a password");
                    script.actions.push((script.expected.len(), Action::LogIn(login(user, password))));
                }
                "S:" | "s:" => {
                    script.bytes.extend(unescape(text));
                    script.bytes.extend_from_slice(if kind == "S:" { b"\r\n" } else { b"" });
                }
                "X:" => script.closes = true,
                _ => {
                    script.expected.push(line.trim_end().to_owned());
                    if is_gate(line.trim_end()) {
                        gate += 1;
                        script.gates.push((script.bytes.len(), gate));
                    }
                }
            }
        }
        script
    }

    /// Returns the number of bytes that the server may send after `passed` gates.
    fn sendable_length(&self, passed: usize) -> usize {
        let closed = self.gates.iter().find(|(_, gate)| *gate > passed);
        closed.map_or(self.bytes.len(), |(at, _)| *at)
    }

    /// Returns `true` if the events are a prefix of the expected ones.
    fn is_valid_prefix(&self, events: &[String]) -> bool {
        if self.expected.starts_with(events) {
            return true;
        }
        let Some((end, before)) = events.split_last() else { return true };
        let Some((last, before)) = before.split_last() else { return end == "= cut" };
        let whole = self.expected.get(before.len()).map_or("", String::as_str);
        let is_part = last == whole || last.starts_with("= body ") && whole.starts_with(last.as_str());
        end == "= cut" && self.expected.starts_with(before) && is_part
    }
}

fn is_gate(line: &str) -> bool {
    line.starts_with("C: ") || matches!(line, "= secure" | "= deflate")
}

fn unescape(text: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((&byte, behind)) = rest.split_first() {
        let (byte, length) = match (byte, behind.first()) {
            (b'\\', Some(b'r')) => (b'\r', 1),
            (b'\\', Some(b'n')) => (b'\n', 1),
            (b'\\', Some(b't')) => (b'\t', 1),
            (b'\\', Some(b'x')) => {
                let digits = std::str::from_utf8(&behind[1..3]).expect("two digits");
                (u8::from_str_radix(digits, 16).expect("two digits"), 3)
            }
            _ => (byte, 0),
        };
        bytes.push(byte);
        rest = &behind[length..];
    }
    bytes
}

/// `[body|head] GROUP NUMBER`, `[body|head] <ID>`, `group GROUP`, `[raw] groups [PATTERN]`, `[raw] over GROUP [A-B]`.
fn parse_request(text: &str) -> NewsRequest {
    let name = |word: &str| GroupName::new(word.as_bytes()).expect("a group");
    let words: Vec<&str> = text.split(' ').collect();
    let (part, form, words) = match words.as_slice() {
        ["body", rest @ ..] => (ArticlePart::Body, ListForm::Entries, rest),
        ["head", rest @ ..] => (ArticlePart::Head, ListForm::Entries, rest),
        ["raw", rest @ ..] => (ArticlePart::Article, ListForm::Raw, rest),
        rest => (ArticlePart::Article, ListForm::Entries, rest),
    };
    match words {
        ["group", group] => NewsRequest::Group(name(group)),
        ["groups", pattern @ ..] => NewsRequest::Groups(pattern.first().map(|pattern| name(pattern)), form),
        ["over", group] => NewsRequest::Overview(name(group), None, form),
        ["over", group, numbers] => {
            let (first, last) = numbers.split_once('-').expect("two numbers");
            let numbers = (first.parse().expect("a number"), last.parse().expect("a number"));
            NewsRequest::Overview(name(group), Some(numbers), form)
        }
        [group, number] => {
            NewsRequest::Article(ArticleAddress::Number(name(group), number.parse().expect("a number")), part)
        }
        [id] => {
            let id = id.trim_start_matches('<').trim_end_matches('>');
            NewsRequest::Article(ArticleAddress::Id(MessageId::new(id.as_bytes()).expect("an id")), part)
        }
        _ => panic!("not a request: {text}"),
    }
}

/// How an exchange is played.
#[derive(Clone, Copy)]
struct PlayOptions {
    has_wire_trace: bool,
    /// The connection ends at this byte.
    end: Option<usize>,
}

struct Play<'s> {
    script: &'s Script,
    session: Session,
    buffer: RecvBuffer,
    options: PlayOptions,
    fed: usize,
    events: Vec<String>,
    body: Vec<u8>,
    /// The commands, as the wire trace shows them before they are sent.
    sent: Vec<String>,
    has_head: bool,
    /// The number of unanswered requests, which must equal that of the session.
    open: usize,
}

impl<'s> Play<'s> {
    fn new(session_options: &SessionOptions, script: &'s Script, options: PlayOptions) -> Self {
        let session = Session::new(session_options.clone()).with_wire_trace(options.has_wire_trace);
        let (buffer, events, body, sent) = Default::default();
        Self { script, session, buffer, options, fed: 0, events, body, sent, has_head: false, open: 0 }
    }

    fn run(mut self, cuts: &dyn Fn(usize) -> bool) -> Vec<String> {
        self.perform_actions();
        let mut idle = 0;
        loop {
            idle += 1;
            assert!(idle < MAX_STEPS_PER_BYTE, "the machine makes no progress: {:#?}", self.events);
            match self.session.step(&mut self.buffer) {
                Ok(Step::NeedMore) => {
                    idle = 0;
                    if !self.feed(cuts) {
                        break;
                    }
                }
                Ok(step) => {
                    if !self.take(step) {
                        break;
                    }
                }
                Err(error) => {
                    assert!(!format!("{error} {error:?}").contains(SECRET), "{error}");
                    self.record(match error {
                        WireError::UnexpectedEnd { .. } => "= cut".to_owned(),
                        WireError::LimitExceeded { .. } => "= limit".to_owned(),
                        _ => "= unexpected".to_owned(),
                    });
                    break;
                }
            }
        }
        self.flush();
        self.events
    }

    /// Passes the server's next bytes to the session, up to the next cut, or closes the connection. Returns `false` if
    /// the server waits for the client.
    fn feed(&mut self, cuts: &dyn Fn(usize) -> bool) -> bool {
        assert!(!self.buffer.is_ended(), "the machine needs more bytes after the end: {:#?}", self.events);
        let to = self.script.sendable_length(self.passed()).min(self.options.end.unwrap_or(usize::MAX));
        let piece = (self.fed + 1..to).find(|at| cuts(*at)).unwrap_or(to);
        if piece > self.fed {
            self.buffer.push(&self.script.bytes[self.fed..piece]);
            self.fed = piece;
            return true;
        }
        let is_end = self.options.end == Some(self.fed);
        if is_end || self.script.closes && self.fed == self.script.bytes.len() {
            if is_end && self.fed.is_multiple_of(2) {
                self.buffer.mark_lost()
            } else {
                self.buffer.mark_closed()
            }
            return true;
        }
        false
    }

    fn passed(&self) -> usize {
        self.events.iter().filter(|line| is_gate(line)).count()
    }

    /// Processes a step. Returns `true` if the session continues.
    fn take(&mut self, step: Step) -> bool {
        match step {
            Step::Send(bytes) => self.send(&bytes),
            Step::StartTls => {
                // The rest of the data from before the handshake is discarded.
                self.buffer.clear();
                self.fed = self.script.sendable_length(self.passed());
                self.record("= secure".to_owned());
            }
            Step::StartDeflate => self.record("= deflate".to_owned()),
            Step::Done if self.open == 0 => return false,
            Step::Done => {
                assert!(std::mem::take(&mut self.has_head), "done without a head: {:#?}", self.events);
                return self.answered("= done".to_owned());
            }
            Step::Emit(event) => return self.take_event(event),
            Step::NeedMore => {}
        }
        true
    }

    fn send(&mut self, bytes: &[u8]) {
        let text = std::str::from_utf8(bytes).expect("commands are text");
        let commands: Vec<&str> = text.strip_suffix("\r\n").expect("a line end").split("\r\n").collect();
        if self.options.has_wire_trace {
            assert_eq!(self.sent.join("\n"), commands.join("\n").replace(SECRET, "***"));
            self.sent.clear();
        }
        let is_early = self.options.end.is_none() && self.fed < self.script.sendable_length(self.passed());
        assert!(!is_early, "{text} before its time: {:#?}", self.events);
        commands.iter().for_each(|command| self.record(format!("C: {command}")));
    }

    fn take_event(&mut self, event: Event) -> bool {
        assert!(!format!("{event:?}").contains(SECRET), "{event:?}");
        match event {
            Event::Body(bytes) => {
                assert!(self.has_head && !bytes.is_empty(), "{:#?}", self.events);
                self.body.extend_from_slice(&bytes);
            }
            Event::Entry(entry) => self.record(entry_word(&entry).trim_end().to_owned()),
            Event::Head(_) => {
                assert!(!std::mem::replace(&mut self.has_head, true), "a second head: {:#?}", self.events);
                self.record("= head".to_owned());
            }
            Event::Received(line) => {
                let shown = String::from_utf8_lossy(&self.script.bytes).replace(SECRET, "***");
                assert!(shown.contains(&*String::from_utf8_lossy(&line)), "{line:?}");
            }
            Event::Rejected(refused) => {
                let shown = String::from_utf8_lossy(&self.script.bytes).replace(SECRET, "***");
                let words = String::from_utf8_lossy(&refused.text).into_owned();
                assert!(shown.contains(&words) && refused.code.is_some(), "{refused:?}");
                self.has_head = false;
                let asked = refused.command.unwrap_or_default();
                let line = format!("= refused {} {asked}", refused.code.unwrap_or_default());
                return self.answered(line.trim_end().to_owned());
            }
            Event::Sent(line) => self.sent.push(line),
            other => panic!("{other:?}"),
        }
        true
    }

    /// Records an answered request. Returns `true` if another one is pending.
    fn answered(&mut self, line: String) -> bool {
        // A greeting may be a refusal before the first request.
        self.open = self.open.saturating_sub(1);
        assert_eq!(self.session.pending_requests().len(), self.open, "{line}: {:#?}", self.events);
        self.record(line);
        self.open > 0
    }

    fn record(&mut self, line: String) {
        self.flush();
        self.events.push(line);
        self.perform_actions();
    }

    fn flush(&mut self) {
        if !self.body.is_empty() {
            let text = std::mem::take(&mut self.body).escape_ascii().to_string();
            self.events.push(format!("= body {}", text.replace("\\r\\n", "|")));
        }
    }

    fn perform_actions(&mut self) {
        for (_, action) in self.script.actions.iter().filter(|(at, _)| *at == self.events.len()) {
            self.open += usize::from(!matches!(action, Action::NoLogin));
            match action.clone() {
                Action::Ask(ask) => self.session.add_request(ask),
                Action::NoLogin => assert!(!self.session.can_log_in(), "{:#?}", self.events),
                Action::LogIn(login) => {
                    assert!(self.session.can_log_in());
                    let Some((_, Action::Ask(ask))) = self.script.actions.first() else {
                        panic!("no pending request")
                    };
                    self.session.log_in(login, ask.clone());
                }
            }
        }
    }
}

fn entry_word(entry: &Entry) -> String {
    let name = entry.name.escape_ascii();
    match &entry.details {
        Details::Newsgroup(details) => {
            format!("= group {name} {}-{} {}", details.low, details.high, details.posting.escape_ascii())
        }
        Details::Article(details) => {
            assert_eq!(entry.name, details.number.to_string().into_bytes());
            format!(
                "= article {name} {} {}",
                details.message_id.escape_ascii(),
                details.subject.escape_ascii()
            )
        }
        _ => format!("= other {name}"),
    }
}
