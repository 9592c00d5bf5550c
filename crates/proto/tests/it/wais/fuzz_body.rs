//! Any bytes as the responses of a WAIS server: no panic; the events do not depend on how the bytes are split; every
//! delivered byte was received and requested; before a response is complete, no request but the next one is sent.
//!
//! For the random test and the fuzz target. The first byte chooses the request.

use std::ops::Range;

use fetch_url_core::{Url, WaisResource, parse};
use fetch_url_proto::wais::{DocumentId, Retrieval, Search, WaisName};
use fetch_url_proto::{Details, Entry, Event, Machine, RecvBuffer, Step, WireError};

const WANTED: [Range<u64>; 6] = [0..10, 0..u64::MAX, 70..80, 0..78, 5..10_306, 7..7];

/// The events of a run.
#[derive(Debug, PartialEq)]
struct RunEvents {
    body: Vec<u8>,
    entries: Vec<Entry>,
    others: Vec<String>,
    end: Result<(), WireError>,
    /// The number of bytes read.
    count: usize,
}

pub(crate) fn check(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let wanted = WANTED.get(usize::from(choice & 7));
    let is_lost = choice & 0x80 != 0;
    let expected = play(wanted, is_lost, bytes, bytes.len().max(1));
    for length in [1, 2, 7] {
        assert_eq!(play(wanted, is_lost, bytes, length), expected);
    }
    if expected.end.is_ok() {
        let short = bytes.get(..expected.count.saturating_sub(1)).unwrap_or_default();
        let earlier = play(wanted, is_lost, short, short.len().max(1));
        assert!(matches!(earlier.end, Err(WireError::UnexpectedEnd { .. })), "{expected:?} {earlier:?}");
        assert!(expected.body.starts_with(&earlier.body) && expected.others.starts_with(&earlier.others));
        let says = |word| expected.others.iter().filter(|other| other.starts_with(word)).count();
        assert_eq!(says("Head") + says("Rejected"), 1, "{expected:?}");
        assert!(says("Head") == 1 || expected.body.is_empty() && expected.entries.is_empty());
    }
    expected.entries.iter().for_each(check_entry);
}

fn check_entry(entry: &Entry) {
    let Details::Document(details) = &entry.details else { panic!("{entry:?}") };
    assert!(entry.name == details.headline && entry.size == details.length && entry.url.is_none());
    assert!(details.length.is_none_or(|length| length <= u64::from(u32::MAX)));
}

/// Returns the state machine: a search if `wanted` is `None`, otherwise a retrieval.
fn machine(wanted: Option<Range<u64>>) -> Box<dyn Machine> {
    let Ok(parsed) = parse("wais://h/t/TEXT/2=t;3=x;") else { panic!() };
    let Url::Wais(url) = parsed.url else { panic!() };
    let WaisResource::Document { wtype, wpath } = url.resource() else { panic!() };
    let names = (WaisName::database(&url), WaisName::wtype(wtype), DocumentId::from_wpath(wpath));
    let (Ok(database), Ok(wtype), Ok(id)) = names else { panic!() };
    match (wanted, Search::new(&database, None)) {
        (Some(wanted), _) => Box::new(Retrieval::new(database, wtype, id, wanted)),
        (None, Ok(search)) => Box::new(search),
        (None, Err(error)) => panic!("{error}"),
    }
}

fn play(wanted: Option<&Range<u64>>, is_lost: bool, bytes: &[u8], length: usize) -> RunEvents {
    let (mut machine, mut buffer, mut pieces) =
        (machine(wanted.cloned()), RecvBuffer::new(), bytes.chunks(length));
    let (mut body, mut entries, mut others, mut fed) = (Vec::new(), Vec::new(), Vec::new(), 0);
    let mut requests = 0;
    let end = loop {
        match machine.step(&mut buffer) {
            Ok(Step::Emit(Event::Body(bytes))) => {
                assert!(!bytes.is_empty());
                body.extend_from_slice(&bytes);
            }
            Ok(Step::Emit(Event::Entry(entry))) => entries.push(entry),
            Ok(Step::Emit(event)) => others.push(format!("{event:?}")),
            Ok(Step::NeedMore) => match pieces.next() {
                Some(piece) => {
                    fed += piece.len();
                    buffer.push(piece);
                }
                None if is_lost => buffer.mark_lost(),
                None => buffer.mark_closed(),
            },
            Ok(Step::Send(request)) => {
                let start = requests * Retrieval::BYTES_PER_REQUEST;
                requests += 1;
                assert!(
                    start <= body.len() as u64 + Retrieval::BYTES_PER_REQUEST,
                    "more than two requests are pending"
                );
                assert_eq!(query(&request), query(&request_at(wanted, start)));
            }
            Ok(Step::Done) => break Ok(()),
            Ok(step) => panic!("{step:?}"),
            Err(error) => break Err(error),
        }
    };
    assert!(wanted.is_none_or(|wanted| body.len() as u64 <= wanted.end - wanted.start));
    RunEvents { body, entries, others, end, count: fed - buffer.bytes().len() }
}

/// Returns the request for the piece at this offset of the wanted range.
fn request_at(wanted: Option<&Range<u64>>, offset: u64) -> Vec<u8> {
    let rest = wanted.map(|wanted| wanted.start + offset..wanted.end);
    assert!(offset == 0 || rest.as_ref().is_some_and(|rest| !rest.is_empty()));
    match machine(rest).step(&mut RecvBuffer::new()) {
        Ok(Step::Send(bytes)) => bytes.to_vec(),
        other => panic!("{other:?}"),
    }
}

/// Returns a request without its length and its reference id, which precede the query.
fn query(request: &[u8]) -> &[u8] {
    let start = request.windows(5).position(|bytes| bytes == b"un re").unwrap_or(25);
    &request[start..]
}
