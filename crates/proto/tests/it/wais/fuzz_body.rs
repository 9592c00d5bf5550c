//! Arbitrary bytes as the answers of a WAIS server: no panic; the result does not depend on where they are cut; only
//! received and requested bytes are delivered; no step is returned before its last input byte has arrived.
//!
//! Used by the random test and the fuzz target. The first byte selects the request.

use std::ops::Range;

use fetch_url_core::{Url, WaisResource, parse};
use fetch_url_proto::wais::{DocumentId, Retrieval, Search, WaisName};
use fetch_url_proto::{Details, Entry, Event, Machine, RecvBuffer, Step, WireError};

const WANTED: [Range<u64>; 6] = [0..10, 0..u64::MAX, 70..80, 0..78, 5..10_306, 7..7];

/// The result of an exchange.
#[derive(Debug, PartialEq)]
struct Said {
    body: Vec<u8>,
    entries: Vec<Entry>,
    others: Vec<String>,
    end: Result<(), WireError>,
    /// The number of bytes that were read.
    count: usize,
}

pub(crate) fn check(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let wanted = WANTED.get(usize::from(choice & 7));
    let is_lost = choice & 0x80 != 0;
    let whole = play(wanted, is_lost, bytes, bytes.len().max(1));
    for length in [1, 2, 7] {
        assert_eq!(play(wanted, is_lost, bytes, length), whole);
    }
    if whole.end.is_ok() {
        let short = bytes.get(..whole.count.saturating_sub(1)).unwrap_or_default();
        let earlier = play(wanted, is_lost, short, short.len().max(1));
        assert!(matches!(earlier.end, Err(WireError::UnexpectedEnd { .. })), "{whole:?} {earlier:?}");
        assert!(whole.body.starts_with(&earlier.body) && whole.others.starts_with(&earlier.others));
        let says = |word| whole.others.iter().filter(|other| other.starts_with(word)).count();
        assert_eq!(says("Head") + says("Rejected"), 1, "{whole:?}");
        assert!(says("Head") == 1 || whole.body.is_empty() && whole.entries.is_empty());
    }
    whole.entries.iter().for_each(check_entry);
}

fn check_entry(entry: &Entry) {
    let Details::Document(facts) = &entry.details else { panic!("{entry:?}") };
    assert!(entry.name == facts.headline && entry.size == facts.length && entry.url.is_none());
    assert!(facts.length.is_none_or(|length| length <= u64::from(u32::MAX)));
}

/// Creates a retrieval of `wanted`, or a search if it is `None`.
fn machine(wanted: Option<Range<u64>>) -> Box<dyn Machine> {
    let Ok(parsed) = parse("wais://h/t/TEXT/2=t;3=x;") else { panic!() };
    let Url::Wais(url) = parsed.url else { panic!() };
    let WaisResource::Document { wtype, wpath } = url.resource() else { panic!() };
    let names = (WaisName::database(&url), WaisName::wtype(wtype), DocumentId::of(wpath));
    let (Ok(database), Ok(wtype), Ok(id)) = names else { panic!() };
    match (wanted, Search::new(&database, None)) {
        (Some(wanted), _) => Box::new(Retrieval::new(database, wtype, id, wanted)),
        (None, Ok(search)) => Box::new(search),
        (None, Err(error)) => panic!("{error}"),
    }
}

fn play(wanted: Option<&Range<u64>>, is_lost: bool, bytes: &[u8], length: usize) -> Said {
    let (mut machine, mut buffer, mut pieces) =
        (machine(wanted.cloned()), RecvBuffer::new(), bytes.chunks(length));
    let (mut body, mut entries, mut others, mut fed) = (Vec::new(), Vec::new(), Vec::new(), 0);
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
            Ok(Step::Send(request)) => assert_eq!(request, asked(wanted, body.len() as u64)),
            Ok(Step::Done) => break Ok(()),
            Ok(step) => panic!("{step:?}"),
            Err(error) => break Err(error),
        }
    };
    assert!(wanted.is_none_or(|wanted| body.len() as u64 <= wanted.end - wanted.start));
    Said { body, entries, others, end, count: fed - buffer.bytes().len() }
}

/// Returns the request that must follow after `told` bytes were delivered.
fn asked(wanted: Option<&Range<u64>>, told: u64) -> Vec<u8> {
    let rest = wanted.map(|wanted| wanted.start + told..wanted.end);
    assert!(told == 0 || rest.as_ref().is_some_and(|rest| !rest.is_empty()));
    match machine(rest).step(&mut RecvBuffer::new()) {
        Ok(Step::Send(bytes)) => bytes.to_vec(),
        other => panic!("{other:?}"),
    }
}
