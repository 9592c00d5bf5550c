//! Arbitrary bytes as the replies of a proxy: no panic; the result does not depend on where they are cut; an open tunnel
//! leaves exactly the bytes that follow the reply; the login is not in the trace.
//!
//! The first byte selects the protocol and the login.
#![no_main]

use fetch_url_core::Host;
use fetch_url_proto::proxy::{HttpConnect, ProxyHandshake, ProxyLogin, Socks4, Socks5};
use fetch_url_proto::{Event, Machine, RecvBuffer, Step};
use libfuzzer_sys::fuzz_target;

const SECRET: &str = "bWU6c2VjcmV0X3dvcmQ=";

fuzz_target!(|data: &[u8]| {
    let Some((&choice, replies)) = data.split_first() else { return };
    let whole = play(choice, replies, replies.len().max(1));
    for length in [1, 2, 7] {
        assert_eq!(play(choice, replies, length), whole);
    }
    assert!(replies.ends_with(&whole.left));
    assert!(choice & 4 == 0 || !whole.trace.contains(SECRET));
});

#[derive(Debug, Default, PartialEq)]
struct Outcome {
    sent: Vec<u8>,
    trace: String,
    left: Vec<u8>,
    end: String,
}

fn machine(choice: u8) -> ProxyHandshake {
    let host = Host::Name("h.test".into());
    let has_login = choice & 4 != 0;
    let login = has_login.then(|| ProxyLogin::new("me", "secret_word"));
    let machine = match choice & 3 {
        0 => Socks4::new(&host, 21, login.as_ref()).map(ProxyHandshake::Socks4),
        1 => Socks5::new(&host, 21, login.as_ref()).map(ProxyHandshake::Socks5),
        _ => {
            let value = has_login.then(|| format!("Basic {SECRET}"));
            HttpConnect::new(&host, 21, value).map(ProxyHandshake::Http)
        }
    };
    let Ok(machine) = machine else { panic!("a valid destination") };
    machine
}

fn play(choice: u8, replies: &[u8], length: usize) -> Outcome {
    let (mut machine, mut buffer) = (machine(choice), RecvBuffer::new());
    let (mut outcome, mut pieces) = (Outcome::default(), replies.chunks(length));
    outcome.end = loop {
        match machine.step(&mut buffer) {
            Ok(Step::Send(bytes)) => outcome.sent.extend_from_slice(&bytes),
            Ok(Step::Emit(Event::Sent(line))) => outcome.trace.push_str(&line),
            Ok(Step::Emit(Event::Received(line))) => {
                outcome.trace.push_str(&String::from_utf8_lossy(&line));
                outcome.trace.push('\n');
            }
            Ok(Step::NeedMore) => match pieces.next() {
                Some(piece) => buffer.push(piece),
                None => buffer.mark_closed(),
            },
            Ok(Step::Done) => break format!("{:?}", machine.refusal()),
            Ok(step) => panic!("{step:?}"),
            // The bytes that the error shows depend on what has arrived.
            Err(error) => return Outcome { end: kind(&error), ..Outcome::default() },
        }
    };
    pieces.for_each(|piece| buffer.push(piece));
    outcome.left = buffer.bytes().to_vec();
    outcome
}

fn kind(error: &fetch_url_proto::WireError) -> String {
    let shown = format!("{error:?}");
    shown.split([' ', '{']).next().unwrap_or_default().to_owned()
}
