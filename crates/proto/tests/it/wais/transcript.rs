//! Plays exchanges with the WAIS state machines: in one piece, byte by byte, cut at every position, and truncated at
//! every position.
//!
//! The responses of servers are encoded here, from the description of the protocol and without the tested code.

#![allow(dead_code, reason = "not every test file uses every helper")]

use std::ops::Range;

use fetch_url_core::{Url, WaisResource, parse};
use fetch_url_proto::wais::{DocumentId, Retrieval, Search, WaisName};
use fetch_url_proto::{Details, Event, Machine, RecvBuffer, Step, WireError};

pub(crate) const ID: &[u8] = b"\x02\x01t\x03\x01x";
const HEADER_BYTES: usize = 25;
/// Longer answers are cut and ended at some of their bytes only.
const MAX_CUTS: usize = 2000;

/// A compressed integer.
fn compressed(value: usize) -> Vec<u8> {
    let mut bytes = vec![(value & 127) as u8];
    let mut rest = value >> 7;
    while rest > 0 {
        bytes.insert(0, (rest & 127) as u8 | 128);
        rest >>= 7;
    }
    bytes
}

pub(crate) fn field(tag: usize, value: &[u8]) -> Vec<u8> {
    [&compressed(tag)[..], &compressed(value.len()), value].concat()
}

pub(crate) fn group(tag: usize, fields: &[Vec<u8>]) -> Vec<u8> {
    field(tag, &fields.concat())
}

pub(crate) fn framed(apdu: &[u8]) -> Vec<u8> {
    [format!("{:010}z2wais        0", apdu.len()).as_bytes(), apdu].concat()
}

/// Returns a SEARCH RESPONSE with these bytes as its information part.
pub(crate) fn response(information: &[u8]) -> Vec<u8> {
    response_to(None, information)
}

/// Like [`response`], with the reference id of a request.
pub(crate) fn response_to(reference: Option<&str>, information: &[u8]) -> Vec<u8> {
    let part = b"\x17\0\0\0\0\0\0\x01\0\0\0\x1b\x01\0";
    let reference = reference.map(|reference| field(2, reference.as_bytes())).unwrap_or_default();
    let part = [&part[..], &reference].concat();
    framed(&[&[0, part.len() as u8], &part[..], information].concat())
}

pub(crate) fn answer(records: &[Vec<u8>]) -> Vec<u8> {
    response(&group(99, records))
}

pub(crate) fn text(bytes: &[u8]) -> Vec<u8> {
    group(153, &[field(116, ID), field(117, b"\0"), field(127, bytes)])
}

pub(crate) fn diagnostic(line: &str) -> Vec<u8> {
    let length = (line.len() + 1) as u16;
    [&[28][..], &length.to_be_bytes(), line.as_bytes(), b"\x01\x1d"].concat()
}

pub(crate) fn sf() -> Vec<u8> {
    diagnostic("SFRequest out of range")
}

pub(crate) fn full(byte: u8) -> Vec<u8> {
    text(&[byte; 10_000])
}

type Maker<'m> = &'m dyn Fn() -> Box<dyn Machine>;

pub(crate) fn search() -> Box<dyn Machine> {
    let Url::Wais(url) = parse("wais://h/t?x").expect("a URL").url else { panic!() };
    let WaisResource::Search(words) = url.resource() else { panic!("{url:?}") };
    Box::new(Search::new(&database("t"), Some(words)).expect("words"))
}

/// A search without words, which returns the description of the database.
pub(crate) fn description() -> Box<dyn Machine> {
    Box::new(Search::new(&database("t"), None).expect("no words"))
}

pub(crate) fn retrieval(wanted: Range<u64>) -> impl Fn() -> Box<dyn Machine> {
    move || {
        let Url::Wais(url) = parse("wais://h/t/TEXT/2=t;3=x;").expect("a URL").url else { panic!() };
        let WaisResource::Document { wtype, wpath } = url.resource() else { panic!("{url:?}") };
        let (wtype, id) =
            (WaisName::wtype(wtype).expect("a type"), DocumentId::from_wpath(wpath).expect("an id"));
        assert_eq!(id.as_bytes(), ID);
        Box::new(Retrieval::new(database("t"), wtype, id, wanted.clone()))
    }
}

pub(crate) fn database(name: &str) -> WaisName {
    let url = format!("wais://h/{name}");
    let Url::Wais(url) = parse(&url).expect("a URL").url else { panic!("{url}") };
    WaisName::database(&url).expect("a database")
}

/// Returns the steps as words: `ask 0-10`, `body …`, `entry …`, `head`, `note`, `received …`, `refused …`, and the end:
/// `done`, `cut`, `limit`, `unexpected` or `waits`. The server sends the next of `answers` after each request.
pub(crate) fn play(
    maker: Maker<'_>,
    answers: &[Vec<u8>],
    cuts: &dyn Fn(usize) -> bool,
    end: Option<usize>,
) -> Vec<String> {
    let (mut machine, mut buffer, bytes) = (maker(), RecvBuffer::new(), answers.concat());
    let (mut fed, mut open, mut request_count, mut events) = (0, 0, 0_usize, Vec::new());
    loop {
        let word = match machine.step(&mut buffer) {
            Ok(Step::Send(request)) => {
                let current =
                    request_count.checked_sub(1).and_then(|current| answers.get(current)).map_or(0, Vec::len);
                let is_being_answered = fed >= open - current + HEADER_BYTES;
                assert!(
                    (buffer.bytes().is_empty() && fed == open) || is_being_answered,
                    "asked before the server sent the answer: {events:?}"
                );
                open += answers.get(request_count).map_or(0, Vec::len);
                request_count += 1;
                asked_for(&request)
            }
            Ok(Step::Emit(event)) => word(event),
            Ok(Step::NeedMore) => {
                assert!(!buffer.is_ended(), "it wants more after the end: {events:?}");
                let to = open.min(end.unwrap_or(usize::MAX));
                let to = (fed + 1..to).find(|at| cuts(*at)).unwrap_or(to);
                match end {
                    _ if to > fed => buffer.push(&bytes[fed..to]),
                    Some(_) if fed.is_multiple_of(2) => buffer.mark_lost(),
                    Some(_) => buffer.mark_closed(),
                    None => break events.push("waits".to_owned()),
                }
                fed = to;
                continue;
            }
            Ok(Step::Done) => break events.push("done".to_owned()),
            Ok(step) => panic!("{step:?}"),
            Err(WireError::UnexpectedEnd { .. }) => break events.push("cut".to_owned()),
            Err(WireError::LimitExceeded { .. }) => break events.push("limit".to_owned()),
            Err(_) => break events.push("unexpected".to_owned()),
        };
        events.push(word);
    }
    events
}

/// Returns a request as text: `search` or `ask START-END`.
pub(crate) fn asked_for(request: &[u8]) -> String {
    let terms = request.windows(20).enumerate().filter(|(_, bytes)| bytes.starts_with(b"\x2c\x11wb r"));
    let numbers = terms.map(|(at, bytes)| {
        assert!(bytes.ends_with(b"ig ig ig ig\x2d"), "{request:?}");
        let number = &request[at + 21..][..usize::from(request[at + 20])];
        std::str::from_utf8(number).expect("a number").to_owned()
    });
    let numbers: Vec<_> = numbers.collect();
    if numbers.is_empty() { "search".to_owned() } else { format!("ask {}", numbers.join("-")) }
}

fn word(event: Event) -> String {
    match event {
        Event::Body(bytes) if bytes.len() > 99 => {
            assert_eq!(bytes, vec![bytes[0]; bytes.len()]);
            format!("body {}*{}", bytes.len(), char::from(bytes[0]))
        }
        Event::Body(bytes) => {
            assert!(!bytes.is_empty());
            format!("body {}", bytes.escape_ascii())
        }
        Event::Entry(entry) => {
            let Details::Document(details) = &entry.details else { panic!("{entry:?}") };
            let types: Vec<_> = details.types.iter().map(|name| name.escape_ascii().to_string()).collect();
            let name = entry.name.escape_ascii();
            format!(
                "entry {} {name} {:?} {}",
                details.id.as_bytes().escape_ascii(),
                details.length,
                types.join(",")
            )
        }
        Event::Head(_) => "head".to_owned(),
        Event::Received(line) => format!("received {}", line.escape_ascii()),
        Event::Note(_) => "note".to_owned(),
        Event::Rejected(refused) => format!("refused {}", refused.text.escape_ascii()).trim_end().to_owned(),
        Event::UnterminatedEnd(_) => "unmarked".to_owned(),
        other => panic!("{other:?}"),
    }
}

/// Checks that the steps are the same wherever the answers are cut. If the answers are truncated, the steps must be a
/// prefix of the expected ones, followed by `cut`.
#[track_caller]
pub(crate) fn check(maker: Maker<'_>, answers: &[Vec<u8>], expected: &str) {
    let expected: Vec<_> = expected.split(" | ").collect();
    let total = answers.iter().map(Vec::len).sum::<usize>();
    let (last, _) = expected.split_last().expect("an end");
    assert_eq!(play(maker, answers, &|_| false, None), expected, "whole");
    assert_eq!(play(maker, answers, &|_| true, None), expected, "octet by octet");
    for at in places(answers, total) {
        assert_eq!(play(maker, answers, &|cut| cut == at, None), expected, "cut at {at}");
        let ended = play(maker, answers, &|_| false, Some(at));
        let (end, before) = ended.split_last().expect("an end");
        let is_early = end == "cut" && before.len() < expected.len() && expected.starts_with(&strs(before));
        let is_fault = matches!(*last, "limit" | "unexpected") && ended == expected;
        assert!(is_early || is_fault, "ended at {at}: {ended:?}");
    }
    if *last != "waits" {
        assert_eq!(play(maker, answers, &|_| false, Some(total)), expected, "closed");
    }
}

/// Returns the positions at which to cut and to truncate: all of them, or in a long exchange those near the borders of
/// messages and some others.
fn places(answers: &[Vec<u8>], total: usize) -> Vec<usize> {
    if total <= MAX_CUTS {
        return (0..total).collect();
    }
    let mut places: Vec<_> = (0..total).step_by(total / 100).collect();
    let mut seam = 0;
    for answer in answers {
        places.extend(seam..(seam + 75).min(total));
        seam += answer.len();
        places.extend(seam.saturating_sub(30)..seam);
    }
    places
}

fn strs(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

/// Checks the steps of the retrieval of a whole document.
#[track_caller]
pub(crate) fn check_retrieval(answers: &[Vec<u8>], expected: &str) {
    check(&retrieval(0..u64::MAX), answers, expected);
}

/// Checks the steps of a search whose response has these bytes as its information part.
#[track_caller]
pub(crate) fn check_search(information: &[u8], expected: &str) {
    check(&search, &[response(information)], &format!("search | {expected}"));
}
