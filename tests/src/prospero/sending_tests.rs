//! What the rules of a Prospero server do, seen from a plain socket.

use std::time::Instant;

use super::*;
use crate::prospero::asking::{Asking, acknowledgement, request};
use crate::{
    ProsperoCut, ProsperoObject, ProsperoOn, ProsperoRule, ProsperoServer, ProsperoSite, pattern_vec,
};

const CONTENTS: &[u8] = b"GET-OBJECT-INFO CONTENTS ASCII /f 0\n";
const SHORT: &[u8] = b"VERSION\n";
const VERSION: &[u8] = b"VERSION 5 P53.17May94b\n";

/// A file whose contents take 24 packets.
fn site() -> ProsperoSite {
    ProsperoSite::new().object("/f", ProsperoObject::file(pattern_vec(0, 29_500)))
}

fn start(site: ProsperoSite) -> ProsperoServer {
    ProsperoServer::start(site).unwrap()
}

/// What comes at first to this request.
fn first_to(text: &[u8], act: ProsperoAct) -> Vec<Vec<u8>> {
    let server = start(site().always(act));
    let client = Asking::new(server.addr());
    client.send(&request(5, text));
    client.all()
}

fn first(act: ProsperoAct) -> Vec<Vec<u8>> {
    first_to(CONTENTS, act)
}

fn numbers(datagrams: &[Vec<u8>]) -> Vec<u16> {
    datagrams.iter().map(|octets| ProsperoHeader::read(octets).unwrap().number).collect()
}

fn honest() -> Vec<u8> {
    Asking::new(start(site()).addr()).answer(5, CONTENTS).unwrap()
}

#[test]
fn what_is_lost_is_asked_for() {
    let honest = honest();
    let rows = [
        ProsperoAct::Lose(ProsperoPackets::number(1).times(1)),
        ProsperoAct::Lose(ProsperoPackets::number(16).times(2)),
        ProsperoAct::Lose(ProsperoPackets::LAST.times(1)),
        ProsperoAct::Lose(ProsperoPackets::ALL.times(1)),
        ProsperoAct::Twice(ProsperoPackets::ALL),
        ProsperoAct::Delay(ProsperoPackets::number(3), Duration::from_millis(30)),
        ProsperoAct::Reversed,
        ProsperoAct::Shuffled(7),
        ProsperoAct::From(ProsperoPackets::number(2), ProsperoHost::OtherPort),
        ProsperoAct::From(ProsperoPackets::ALL, ProsperoHost::OtherAddress),
        ProsperoAct::NoFlags,
        ProsperoAct::Window(1),
        ProsperoAct::Window(100),
        ProsperoAct::Headers(13),
        ProsperoAct::Pieces(60_000),
        ProsperoAct::Pieces(200),
        ProsperoAct::Drip(Duration::from_millis(5)),
        ProsperoAct::First(ProsperoPacket::wait(9)),
        ProsperoAct::Last(ProsperoPacket::data(3, 9, b"x").other_id(1)),
        ProsperoAct::First(ProsperoPacket::raw(*b"")),
        ProsperoAct::Instead(vec![ProsperoPacket::forget()], 2),
    ];
    for act in rows {
        let server = start(site().always(act.clone()));
        let answer = Asking::new(server.addr()).answer(5, CONTENTS);
        assert!(answer.as_ref() == Some(&honest), "{act:?}");
        assert_eq!(server.requests(), [CONTENTS]);
    }
}

#[test]
fn packets_change() {
    let lost = first(ProsperoAct::Lose(ProsperoPackets::from(4)));
    assert_eq!(numbers(&lost), [1, 2, 3]);
    assert_eq!(numbers(&first(ProsperoAct::Twice(ProsperoPackets::number(2))))[..4], [1, 2, 2, 3]);
    assert_eq!(numbers(&first(ProsperoAct::Reversed)), Vec::from_iter((1..=16).rev()));
    let mut shuffled = numbers(&first(ProsperoAct::Shuffled(1)));
    assert_ne!(shuffled, Vec::from_iter(1..=16));
    shuffled.sort_unstable();
    assert_eq!(shuffled, Vec::from_iter(1..=16));
    assert_eq!(
        numbers(&first(ProsperoAct::Delay(ProsperoPackets::number(1), Duration::from_millis(20))))[15],
        1
    );
    assert_eq!(numbers(&first(ProsperoAct::Window(3))), [1, 2, 3]);
    assert_eq!(numbers(&first(ProsperoAct::SilenceAfter(2))), [1, 2]);
    assert_eq!(first(ProsperoAct::NoFlags)[15][11], 0);
    assert_eq!(first(ProsperoAct::Headers(9))[0][..9], *b"\x09\0\x05\0\x01\0\x18\0\x01");
    assert_eq!(first(ProsperoAct::Patch(ProsperoPackets::number(2), 0, vec![0x81]))[1][0], 0x81);
    assert_eq!(first(ProsperoAct::Shorten(ProsperoPackets::ALL, 2))[0], b"\x07\0");
    assert_eq!(first(ProsperoAct::Pieces(60_000))[0].len(), 3 + honest().len());
    assert_eq!(first(ProsperoAct::Instead(Vec::new(), 1)), [[]; 0]);
}

#[test]
fn an_answer_comes_from_elsewhere() {
    for place in [ProsperoHost::OtherPort, ProsperoHost::OtherAddress] {
        let server = start(site().always(ProsperoAct::From(ProsperoPackets::ALL, place)));
        let client = Asking::new(server.addr());
        client.send(&request(5, SHORT));
        let (octets, from) = client.next(Duration::from_secs(1)).unwrap();
        assert_eq!(octets, [b"\x03\0\x05", VERSION].concat());
        assert_ne!(from, server.addr());
        // Who asks there hears the truth.
        assert_eq!(Asking::new(from).answer(6, SHORT).unwrap(), VERSION);
    }
}

#[test]
fn what_a_redirect_names_is_there() {
    let redirect = ProsperoPacket::redirect(5, ProsperoHost::OtherPort);
    let server = start(site().instead(vec![redirect]));
    let client = Asking::new(server.addr());
    client.send(&request(5, SHORT));
    let octets = client.all().remove(0);
    assert_eq!(octets[..13], *b"\x13\0\x05\0\0\0\0\0\0\0\0\0\x05");
    let other = server.other_addr().unwrap();
    assert_eq!(octets[13..], [b"\x7f\0\0\x01".as_slice(), &other.port().to_be_bytes()].concat());
    assert_eq!(Asking::new(other).answer(6, SHORT).unwrap(), VERSION);
}

#[test]
fn some_answers_never_end() {
    let endless = ProsperoAct::Endless(b"head ".to_vec(), b"x".to_vec());
    let server = start(site().always(endless).always(ProsperoAct::Window(40)));
    let client = Asking::new(server.addr());
    client.send(&request(5, SHORT));
    let mut most = 0;
    for through in [40, 80, 120] {
        let window = client.all();
        most = numbers(&window).into_iter().max().unwrap();
        assert!(window.iter().all(|octets| ProsperoHeader::read(octets).unwrap().total == 0));
        client.send(&acknowledgement(5, through));
    }
    assert_eq!(most, 120);
    let again = ProsperoAct::Again(ProsperoPacket::wait(9), Duration::from_millis(1), usize::MAX);
    let server = start(site().always(again).always(ProsperoAct::Instead(Vec::new(), usize::MAX)));
    let client = Asking::new(server.addr());
    client.send(&request(5, SHORT));
    for _ in 0..20 {
        assert_eq!(client.next(Duration::from_secs(1)).unwrap().0, b"\x0b\0\x05\0\0\0\0\0\0\0\x09");
    }
    server.mend();
    client.all();
    client.send(&request(5, SHORT));
    assert_eq!(client.all(), [[b"\x09\0\x05\0\x01\0\x01\0\x01", VERSION].concat()]);
}

#[test]
fn pauses_and_moments() {
    let started = Instant::now();
    let pause = ProsperoRule::on(ProsperoOn::Any, ProsperoAct::Pause(Duration::from_millis(40))).nth(2);
    let cut = ProsperoAct::Cut(ProsperoCut::After(3));
    let server = start(site().rule(pause).nth(3, cut).on(ProsperoOn::List, ProsperoAct::CrLf));
    let client = Asking::new(server.addr());
    assert_eq!(client.answer(1, SHORT).unwrap(), VERSION);
    assert!(started.elapsed() < Duration::from_millis(40));
    assert_eq!(client.answer(2, SHORT).unwrap(), VERSION);
    assert!(started.elapsed() >= Duration::from_millis(40));
    assert_eq!(client.answer(3, SHORT).unwrap(), b"VER");
    assert_eq!(
        client.answer(4, b"DIRECTORY ASCII /x\nLIST '' COMPONENTS\n").unwrap(),
        b"FAILURE NOT-FOUND\r\n"
    );
}

#[test]
fn a_server_stops_at_once() {
    let started = Instant::now();
    for _ in 0..20 {
        drop(start(site().silent()));
    }
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
}
