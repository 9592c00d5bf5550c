//! Arbitrary bytes as the response to a Gopher request: no panic; the result does not depend on where it is cut;
//! delivered bytes are received bytes; the URL of an item is valid and has the host of its line.
//!
//! The first byte selects the request.
#![no_main]

use fetch_url_core::{Url, parse};
use fetch_url_proto::gopher::{DotStuffing, Exchange, GopherRequest};
use fetch_url_proto::{Details, Entry, Event, Machine, RecvBuffer, Step};
use libfuzzer_sys::fuzz_target;

const ASKED: [&str; 7] = [
    "gopher://h/0/a",
    "gopher://h/1/a",
    "gopher://h/9/a",
    "gopher://h/0/a%09%09+",
    "gopher://h/1/a%09%09+",
    "gopher://h/9/a%09%09+",
    "gopher://h/1/a%09%09$",
];

fuzz_target!(|data: &[u8]| {
    let Some((&choice, answer)) = data.split_first() else { return };
    let asked = ASKED[usize::from(choice & 7) % ASKED.len()];
    let dots = [DotStuffing::Detect, DotStuffing::Raw, DotStuffing::Rfc1436][usize::from(choice >> 3) % 3];
    let is_lost = choice & 0x80 != 0;
    let whole = play(asked, dots, is_lost, answer, answer.len().max(1));
    for length in [1, 2, 7] {
        assert_eq!(play(asked, dots, is_lost, answer, length), whole, "{asked}");
    }
    assert!(whole.body.len() <= answer.len());
    whole.entries.iter().for_each(check_entry);
});

#[derive(Debug, Default, PartialEq)]
struct Said {
    body: Vec<u8>,
    entries: Vec<Entry>,
    others: Vec<String>,
}

fn play(asked: &str, dots: DotStuffing, is_lost: bool, answer: &[u8], length: usize) -> Said {
    let Ok(parsed) = parse(asked) else { panic!("{asked}") };
    let Url::Gopher(url) = parsed.url else { panic!("{asked}") };
    let Ok(request) = GopherRequest::from_url(&url) else { panic!("{asked}") };
    let mut machine = Exchange::new(&request, url.gtype(), dots, false, None);
    let (mut buffer, mut said, mut pieces) = (RecvBuffer::new(), Said::default(), answer.chunks(length));
    loop {
        match machine.step(&mut buffer) {
            Ok(Step::Emit(Event::Body(bytes))) => said.body.extend_from_slice(&bytes),
            Ok(Step::Emit(Event::Entry(entry))) => said.entries.push(entry),
            Ok(Step::Emit(event)) => said.others.push(format!("{event:?}")),
            Ok(Step::NeedMore) => match pieces.next() {
                Some(piece) => buffer.push(piece),
                None if is_lost => buffer.mark_lost(),
                None => buffer.mark_closed(),
            },
            Ok(Step::Send(bytes)) => assert_eq!(bytes, request.bytes()),
            Ok(_) => return said,
            Err(error) => {
                said.others.push(error.to_string());
                return said;
            }
        }
    }
}

fn check_entry(entry: &Entry) {
    let Details::MenuItem(item, _) = &entry.details else { panic!("{entry:?}") };
    assert!(!item.name.contains(&b'\n'));
    let Some(text) = &entry.url else { return };
    let Ok(parsed) = parse(text) else { panic!("{text}") };
    if let Url::Gopher(url) = parsed.url {
        let is_own = url.selector().decode()[..] == item.selector[..];
        assert!(is_own || item.gtype == b'h', "{text} {item:?}");
    }
}
