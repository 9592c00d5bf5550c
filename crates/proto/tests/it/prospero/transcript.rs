//! Plays the Prospero state machines: complete, byte by byte and cut at every position; and reads the captured
//! datagrams.
//!
//! Expected results are computed here from the wire format, independently of the code under test.

#![allow(dead_code, reason = "not every test file uses every helper")]

use fetch_url_core::{PercentEncoded, Url, charset, parse};
use fetch_url_proto::prospero::{
    AttributesQuery, AttributesResult, ContentsQuery, LinksQuery, ObjectId, ObjectName, Query, ResolvedAccess,
};
use fetch_url_proto::{Event, Machine, RecvBuffer, Step, WireError};

pub(crate) const CAPTURED: &str = include_str!("../../data/prospero-vectors.txt");

/// The sender of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Server,
}

/// Returns every captured datagram, with the name of its exchange.
pub(crate) fn datagrams() -> Vec<(&'static str, Side, Vec<u8>)> {
    let lines = CAPTURED.lines().filter(|line| !line.starts_with('#'));
    let datagrams = lines.map(|line| {
        let words: Vec<_> = line.split(' ').collect();
        let [name, side, hex] = words[..] else { panic!("{line}") };
        (name, if side == "C>" { Side::Client } else { Side::Server }, unhexed(hex))
    });
    datagrams.collect()
}

/// Returns all datagrams of one side of an exchange.
pub(crate) fn captured(name: &str, side: Side) -> Vec<Vec<u8>> {
    let same = datagrams().into_iter().filter(|(at, of, _)| *at == name && *of == side);
    same.map(|(_, _, bytes)| bytes).collect()
}

/// Returns the data of a captured answer of one datagram.
pub(crate) fn text(name: &str) -> Vec<u8> {
    let all = captured(name, Side::Server);
    assert_eq!(all.len(), 1, "{name}");
    data(&all[0]).to_vec()
}

/// Returns the data after the header.
pub(crate) fn data(datagram: &[u8]) -> &[u8] {
    &datagram[usize::from(datagram[0] & 63)..]
}

pub(crate) fn unhexed(hex: &str) -> Vec<u8> {
    let digits = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    hex.as_bytes().chunks(2).map(|pair| digits(pair).expect("hex")).collect()
}

/// The generator SplitMix64 of Steele, Lea and Flood.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, most: usize) -> usize {
        (self.next() % most.max(1) as u64) as usize
    }

    pub(crate) fn bytes(&mut self, most: usize) -> Vec<u8> {
        let count = self.below(most + 1);
        (0..count).map(|_| self.next() as u8).collect()
    }
}

/// Returns the object with this name; bytes that are not valid in a URL are percent-encoded.
pub(crate) fn object(name: &[u8]) -> ObjectId {
    versioned(&format!("prospero://h/{}", PercentEncoded::encode(name, charset::UCHAR)))
}

pub(crate) fn versioned(url: &str) -> ObjectId {
    let Url::Prospero(url) = parse(url).expect("a URL").url else { panic!("{url}") };
    ObjectId::from_url(&url).expect("no forbidden byte")
}

/// Parses a text into lines of tokens (section 5), or returns `None` if a quote is not closed.
pub(crate) fn lines(text: &[u8]) -> Option<Vec<Vec<Vec<u8>>>> {
    let (mut lines, mut line, mut token) = (Vec::new(), Vec::new(), None::<Vec<u8>>);
    let (mut at, mut is_inside) = (0, false);
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b'\'' if is_inside && text.get(at) == Some(&b'\'') => {
                token.get_or_insert_default().push(byte);
                at += 1;
            }
            b'\'' => {
                is_inside = !is_inside;
                token.get_or_insert_default();
            }
            b' ' | b'\t' if !is_inside => line.extend(token.take()),
            b'\n' if !is_inside => {
                line.extend(token.take());
                lines.push(std::mem::take(&mut line));
            }
            _ => token.get_or_insert_default().push(byte),
        }
    }
    line.extend(token);
    lines.extend((!line.is_empty()).then_some(line));
    (!is_inside).then_some(lines)
}

/// Returns the events as words: `head`, `body …` (joined), `entry …`, `note`, `refused …`, and the end: `done`, `cut`,
/// `limit` or `unexpected`. Panics if the sent request is not the expected one.
pub(crate) fn play<M: Machine>(
    mut machine: M,
    text: &[u8],
    cuts: &dyn Fn(usize) -> bool,
) -> (Vec<String>, M) {
    let (mut buffer, mut fed, mut events) = (RecvBuffer::new(), 0, Vec::new());
    let (mut sent_lines, mut sent, mut body) = (Vec::new(), None, Vec::new());
    let end = loop {
        match machine.step(&mut buffer) {
            Ok(Step::Send(request)) => assert!(sent.replace(request).is_none(), "one request"),
            Ok(Step::NeedMore) => {
                assert!(!buffer.is_ended(), "it wants more after the end: {events:?}");
                let to = (fed + 1..text.len()).find(|at| cuts(*at)).unwrap_or(text.len());
                if to > fed {
                    buffer.push(&text[fed..to])
                } else {
                    buffer.mark_closed()
                }
                fed = to;
            }
            Ok(Step::Emit(Event::Sent(line))) => sent_lines.push(line),
            Ok(Step::Emit(Event::Received(_))) => {}
            Ok(Step::Emit(Event::Body(bytes))) => {
                assert!(!bytes.is_empty());
                body.extend_from_slice(&bytes);
            }
            Ok(Step::Emit(event)) => events.push(word(event)),
            Ok(Step::Done) => break "done",
            Ok(step) => panic!("{step:?}"),
            Err(WireError::UnexpectedEnd { .. }) => break "cut",
            Err(WireError::LimitExceeded { .. }) => break "limit",
            Err(_) => break "unexpected",
        }
    };
    if !body.is_empty() {
        assert_eq!(events.first().map(String::as_str), Some("head"), "a body has a head");
        events.insert(1, format!("body {}", body.escape_ascii()));
    }
    events.push(end.to_owned());
    let sent = sent.expect("a request");
    assert_eq!(sent.iter().filter(|&&byte| byte == b'\n').count(), sent_lines.len(), "{sent_lines:?}");
    (events, machine)
}

fn word(event: Event) -> String {
    match event {
        Event::Entry(entry) => {
            let (kind, name) = (entry.kind.as_str(), entry.name.escape_ascii());
            format!("entry {kind} {name} {}", entry.url.as_deref().unwrap_or("-"))
        }
        Event::Head(_) => "head".to_owned(),
        Event::Note(_) => "note".to_owned(),
        Event::Rejected(refused) => format!("refused {}", refused.text.escape_ascii()).trim_end().to_owned(),
        Event::UnterminatedEnd(_) => "unmarked".to_owned(),
        other => panic!("{other:?}"),
    }
}

/// The state machines under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueryKind {
    Contents,
    Attributes,
    Links,
}

/// Returns the events of a state machine for a response as words, and the attributes that a query found.
pub(crate) fn events_of(ask: QueryKind, text: &[u8], cuts: &dyn Fn(usize) -> bool) -> Vec<String> {
    let object = object(b"/srv/pub/hello.txt");
    match ask {
        QueryKind::Contents => play(ContentsQuery::new(&object), text, cuts).0,
        QueryKind::Links => play(LinksQuery::new(&object), text, cuts).0,
        QueryKind::Attributes => {
            let (mut words, machine) = play(AttributesQuery::new(&Query::AccessMethods, &object), text, cuts);
            let end = words.pop().expect("an end");
            if end == "done" {
                words.extend(found(machine.into_result()));
            }
            words.push(end);
            words
        }
    }
}

fn found(found: AttributesResult) -> Vec<String> {
    match found {
        AttributesResult::Moved(name) => {
            let bytes = |bytes: &[u8]| bytes.escape_ascii().to_string();
            let words = [bytes(&name.host_type), bytes(&name.host), bytes(&name.name), bytes(&name.version)];
            vec![format!("elsewhere {}", words.join(" "))]
        }
        AttributesResult::Metadata(metadata) => {
            let mut words = Vec::new();
            words.extend(metadata.is_directory().map(|is| format!("directory {is}")));
            words.extend(metadata.size().map(|size| format!("size {size}")));
            words.extend(metadata.modified().map(|time| format!("modified {time}")));
            words.extend(
                metadata
                    .attribute("description")
                    .map(|at| format!("description {}", at.text().escape_ascii())),
            );
            let own = ObjectName::new("w.test", "/srv/pub/hello.txt", "0");
            words.extend(metadata.methods(&own).iter().map(|method| format_access(&method.resolve())));
            words
        }
        _ => panic!("{found:?}"),
    }
}

pub(crate) fn format_access(access: &ResolvedAccess) -> String {
    match access {
        ResolvedAccess::Contents => "contents".to_owned(),
        ResolvedAccess::Local(name) => format!("local {}", name.escape_ascii()),
        ResolvedAccess::Session(url) => format!("session {url}"),
        ResolvedAccess::Url(url) => url.clone(),
        _ => "unknown".to_owned(),
    }
}

/// Checks that the events are the same wherever the text is cut.
#[track_caller]
pub(crate) fn check(ask: QueryKind, text: &[u8], expected: &str) {
    let complete = events_of(ask, text, &|_| false);
    assert_eq!(complete.join(" | "), expected, "{}", text.escape_ascii());
    assert_eq!(events_of(ask, text, &|_| true), complete, "byte by byte");
    for at in 1..text.len() {
        assert_eq!(events_of(ask, text, &|cut| cut == at), complete, "cut at {at}");
    }
}
