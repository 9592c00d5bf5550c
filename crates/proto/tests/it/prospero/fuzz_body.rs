//! Arbitrary bytes as the answer of a Prospero server: no panic; the result does not depend on where they are cut;
//! every URL can be sent and has the host that it shows. Arbitrary datagrams: no text is delivered out of order.
//!
//! Used by the random test and the fuzz target. The first byte selects the query; 3 selects datagrams, each preceded by
//! its length in two bytes.

use std::num::NonZeroU16;
use std::time::Duration;

use fetch_url_core::{Url, parse};
use fetch_url_proto::ardp::{Action, Exchange};
use fetch_url_proto::prospero::{
    AttributesQuery, AttributesResult, ContentsQuery, LinksQuery, ObjectId, ObjectName, Query, ResolvedAccess,
};
use fetch_url_proto::{Event, Machine, RecvBuffer, Step, WireError, check_sendable};

const PATIENCE: Duration = Duration::from_secs(60);
const ID: u16 = 0x011a;

pub(crate) fn check(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    if choice & 3 == 3 {
        if let Some(text) = receive_all(bytes) {
            (0..3).for_each(|choice| check_text(choice, &text));
        }
    } else {
        check_text(choice & 3, bytes);
    }
}

fn check_text(choice: u8, text: &[u8]) {
    let expected = play(choice, text, text.len().max(1));
    for length in [1, 2, 7] {
        assert_eq!(play(choice, text, length), expected);
    }
    let Events { body, words, end } = expected;
    let count = |word: &str| words.iter().filter(|events| events.starts_with(word)).count();
    assert!(count("Head") <= 1 && (body.is_empty() || count("Head") == 1), "{words:?}");
    assert!(body.len() <= text.len());
    if end.is_ok() && choice == 2 {
        assert!(count("Head") + count("Rejected") > 0, "{words:?}");
    }
}

#[derive(Debug, PartialEq)]
struct Events {
    body: Vec<u8>,
    words: Vec<String>,
    end: Result<(), WireError>,
}

fn object() -> ObjectId {
    let Ok(parsed) = parse("prospero://h//srv/pub") else { panic!() };
    let Url::Prospero(url) = parsed.url else { panic!() };
    let Ok(object) = ObjectId::from_url(&url) else { panic!() };
    object
}

fn play(choice: u8, text: &[u8], length: usize) -> Events {
    let object = object();
    match choice {
        0 => {
            let mut query = AttributesQuery::new(&Query::AccessMethods, &object);
            let mut events = run(&mut query, text, length);
            if events.end.is_ok() {
                events.words.push(found(query.into_result()));
            }
            events
        }
        1 => run(&mut LinksQuery::new(&object), text, length),
        _ => run(&mut ContentsQuery::new(&object), text, length),
    }
}

fn run(machine: &mut dyn Machine, text: &[u8], length: usize) -> Events {
    let (mut buffer, mut pieces) = (RecvBuffer::new(), text.chunks(length));
    let (mut body, mut words) = (Vec::new(), Vec::new());
    let end = loop {
        match machine.step(&mut buffer) {
            Ok(Step::Emit(Event::Body(bytes))) => {
                assert!(!bytes.is_empty());
                body.extend_from_slice(&bytes);
            }
            Ok(Step::Emit(event)) => {
                if let Event::Entry(entry) = &event {
                    entry.url.iter().for_each(|url| check_url(url));
                }
                words.push(format!("{event:?}"));
            }
            Ok(Step::Send(_)) => {}
            Ok(Step::NeedMore) => match pieces.next() {
                Some(piece) => buffer.push(piece),
                None => buffer.mark_closed(),
            },
            Ok(Step::Done) => break Ok(()),
            Ok(step) => panic!("{step:?}"),
            Err(error) => break Err(error),
        }
    };
    Events { body, words, end }
}

fn found(found: AttributesResult) -> String {
    let own = ObjectName::new("own.test", "/own", "0");
    match &found {
        AttributesResult::Metadata(metadata) => {
            let _ = (metadata.size(), metadata.modified(), metadata.is_directory());
            for method in metadata.methods(&own) {
                if let ResolvedAccess::Url(url) | ResolvedAccess::Session(url) = method.resolve() {
                    check_url(&url);
                }
            }
        }
        AttributesResult::Moved(name) => name.url().iter().for_each(|url| check_url(url)),
        _ => {}
    }
    format!("{found:?}")
}

/// Checks that the URL is printed as it was parsed, is not a `file:` URL, and contains no password.
fn check_url(text: &str) {
    let Ok(parsed) = parse(text) else { panic!("{text}") };
    assert!(parsed.url.to_string() == text && parsed.url.redacted().to_string() == text, "{text}");
    assert!(!text.starts_with("file:"), "{text}");
    // URLs that a server sent as a whole are checked when they are followed.
    let _ = check_sendable(&parsed.url);
}

/// Returns the text of an exchange that receives these datagrams, once it is complete.
fn receive_all(mut bytes: &[u8]) -> Option<Vec<u8>> {
    let mut exchange = Exchange::new(NonZeroU16::new(ID)?, b"x\n", PATIENCE, Duration::ZERO);
    let (mut text, mut data, mut now, mut out, mut ins) = (Vec::new(), 0, Duration::ZERO, 0, 0);
    while let Some((length, rest)) = bytes.split_first_chunk() {
        let (datagram, rest) = rest.split_at(rest.len().min(usize::from(u16::from_be_bytes(*length))));
        bytes = rest;
        now += Duration::from_millis(100);
        ins += 1;
        data += datagram.len();
        exchange.receive(datagram, now).ok()?;
        loop {
            match exchange.next(now) {
                Action::Send(_) => out += 1,
                Action::Piece(bytes) => text.extend_from_slice(&bytes),
                Action::Done => return Some(text),
                Action::Wait(until) => {
                    assert!(until > now);
                    break;
                }
                _ => return None,
            }
            // Each try and each received datagram may cause one datagram; two if it reports a lost request and also
            // asks for an acknowledgement.
            assert!(out <= 2 * ins + 5, "{out} for {ins}");
        }
        assert!(text.len() <= data);
    }
    None
}
