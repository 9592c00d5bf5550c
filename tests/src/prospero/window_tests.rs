//! The rules of the Prospero server about packets, against a plain socket.

use std::time::Instant;

use super::*;
use crate::prospero::test_client::{TestClient, acknowledgement, request};
use crate::server::rule::CutPoint;
use crate::{ProsperoConfig, ProsperoObject, ProsperoRule, ProsperoServer, ProsperoTrigger, pattern_vec};

const CONTENTS: &[u8] = b"GET-OBJECT-INFO CONTENTS ASCII /f 0\n";
const SHORT: &[u8] = b"VERSION\n";
const VERSION: &[u8] = b"VERSION 5 P53.17May94b\n";

/// A server with a file whose contents take 24 packets.
fn config() -> ProsperoConfig {
    ProsperoConfig::new().object("/f", ProsperoObject::file(pattern_vec(0, 29_500)))
}

fn start(config: ProsperoConfig) -> ProsperoServer {
    ProsperoServer::start(config).unwrap()
}

/// Sends a request and returns the first datagrams.
fn first_to(text: &[u8], action: ProsperoAction) -> Vec<Vec<u8>> {
    let server = start(config().always(action));
    let client = TestClient::new(server.addr());
    client.send(&request(5, text));
    client.receive_all()
}

fn first(action: ProsperoAction) -> Vec<Vec<u8>> {
    first_to(CONTENTS, action)
}

fn numbers(datagrams: &[Vec<u8>]) -> Vec<u16> {
    datagrams.iter().map(|bytes| ProsperoHeader::parse(bytes).unwrap().number).collect()
}

fn correct() -> Vec<u8> {
    TestClient::new(start(config()).addr()).exchange(5, CONTENTS).unwrap()
}

#[test]
fn packet_rules_do_not_change_the_text() {
    let correct = correct();
    let rows = [
        ProsperoAction::Drop(ProsperoPackets::number(1).times(1)),
        ProsperoAction::Drop(ProsperoPackets::number(16).times(2)),
        ProsperoAction::Drop(ProsperoPackets::LAST.times(1)),
        ProsperoAction::Drop(ProsperoPackets::ALL.times(1)),
        ProsperoAction::Duplicate(ProsperoPackets::ALL),
        ProsperoAction::Delay(ProsperoPackets::number(3), Duration::from_millis(30)),
        ProsperoAction::Reverse,
        ProsperoAction::Shuffle(7),
        ProsperoAction::SendFrom(ProsperoPackets::number(2), ProsperoHost::OtherPort),
        ProsperoAction::SendFrom(ProsperoPackets::ALL, ProsperoHost::OtherAddress),
        ProsperoAction::NoFlags,
        ProsperoAction::Window(1),
        ProsperoAction::Window(100),
        ProsperoAction::MinHeaderLength(13),
        ProsperoAction::PacketSize(60_000),
        ProsperoAction::PacketSize(200),
        ProsperoAction::Drip(Duration::from_millis(5)),
        ProsperoAction::PacketBefore(ProsperoPacket::wait(9)),
        ProsperoAction::PacketAfter(ProsperoPacket::data(3, 9, b"x").other_id(1)),
        ProsperoAction::PacketBefore(ProsperoPacket::raw(*b"")),
        ProsperoAction::ReplacePackets(vec![ProsperoPacket::forget()], 2),
    ];
    for action in rows {
        let server = start(config().always(action.clone()));
        let answer = TestClient::new(server.addr()).exchange(5, CONTENTS);
        assert!(answer.as_ref() == Some(&correct), "{action:?}");
        assert_eq!(server.requests(), [CONTENTS]);
    }
}

#[test]
fn rules_change_packets() {
    let lost = first(ProsperoAction::Drop(ProsperoPackets::from(4)));
    assert_eq!(numbers(&lost), [1, 2, 3]);
    assert_eq!(numbers(&first(ProsperoAction::Duplicate(ProsperoPackets::number(2))))[..4], [1, 2, 2, 3]);
    assert_eq!(numbers(&first(ProsperoAction::Reverse)), Vec::from_iter((1..=16).rev()));
    let mut shuffled = numbers(&first(ProsperoAction::Shuffle(1)));
    assert_ne!(shuffled, Vec::from_iter(1..=16));
    shuffled.sort_unstable();
    assert_eq!(shuffled, Vec::from_iter(1..=16));
    assert_eq!(
        numbers(&first(ProsperoAction::Delay(ProsperoPackets::number(1), Duration::from_millis(20))))[15],
        1
    );
    assert_eq!(numbers(&first(ProsperoAction::Window(3))), [1, 2, 3]);
    assert_eq!(numbers(&first(ProsperoAction::MaxDatagrams(2))), [1, 2]);
    assert_eq!(first(ProsperoAction::NoFlags)[15][11], 0);
    assert_eq!(first(ProsperoAction::MinHeaderLength(9))[0][..9], *b"\x09\0\x05\0\x01\0\x18\0\x01");
    assert_eq!(first(ProsperoAction::Patch(ProsperoPackets::number(2), 0, vec![0x81]))[1][0], 0x81);
    assert_eq!(first(ProsperoAction::Truncate(ProsperoPackets::ALL, 2))[0], b"\x07\0");
    assert_eq!(first(ProsperoAction::PacketSize(60_000))[0].len(), 3 + correct().len());
    assert_eq!(first(ProsperoAction::ReplacePackets(Vec::new(), 1)), [[]; 0]);
}

#[test]
fn response_is_sent_from_another_socket() {
    for host in [ProsperoHost::OtherPort, ProsperoHost::OtherAddress] {
        let server = start(config().always(ProsperoAction::SendFrom(ProsperoPackets::ALL, host)));
        let client = TestClient::new(server.addr());
        client.send(&request(5, SHORT));
        let (bytes, from) = client.receive(Duration::from_secs(1)).unwrap();
        assert_eq!(bytes, [b"\x03\0\x05", VERSION].concat());
        assert_ne!(from, server.addr());
        // The other socket is a correct server.
        assert_eq!(TestClient::new(from).exchange(6, SHORT).unwrap(), VERSION);
    }
}

#[test]
fn redirect_names_the_other_server() {
    let redirect = ProsperoPacket::redirect(5, ProsperoHost::OtherPort);
    let server = start(config().replace_packets(vec![redirect]));
    let client = TestClient::new(server.addr());
    client.send(&request(5, SHORT));
    let bytes = client.receive_all().remove(0);
    assert_eq!(bytes[..13], *b"\x13\0\x05\0\0\0\0\0\0\0\0\0\x05");
    let other = server.other_addr().unwrap();
    assert_eq!(bytes[13..], [b"\x7f\0\0\x01".as_slice(), &other.port().to_be_bytes()].concat());
    assert_eq!(TestClient::new(other).exchange(6, SHORT).unwrap(), VERSION);
}

#[test]
fn responses_can_be_endless() {
    let endless = ProsperoAction::Endless(b"head ".to_vec(), b"x".to_vec());
    let server = start(config().always(endless).always(ProsperoAction::Window(40)));
    let client = TestClient::new(server.addr());
    client.send(&request(5, SHORT));
    let mut most = 0;
    for through in [40, 80, 120] {
        let window = client.receive_all();
        most = numbers(&window).into_iter().max().unwrap();
        assert!(window.iter().all(|bytes| ProsperoHeader::parse(bytes).unwrap().total == 0));
        client.send(&acknowledgement(5, through));
    }
    assert_eq!(most, 120);
    let again = ProsperoAction::RepeatPacket(ProsperoPacket::wait(9), Duration::from_millis(1), usize::MAX);
    let server = start(config().always(again).always(ProsperoAction::ReplacePackets(Vec::new(), usize::MAX)));
    let client = TestClient::new(server.addr());
    client.send(&request(5, SHORT));
    for _ in 0..20 {
        assert_eq!(client.receive(Duration::from_secs(1)).unwrap().0, b"\x0b\0\x05\0\0\0\0\0\0\0\x09");
    }
    server.disable_rules();
    client.receive_all();
    client.send(&request(5, SHORT));
    assert_eq!(client.receive_all(), [[b"\x09\0\x05\0\x01\0\x01\0\x01", VERSION].concat()]);
}

#[test]
fn nth_rule_and_pause_apply_to_their_request() {
    // So long that a request without a pause is answered earlier on a busy machine, too.
    const PAUSE: Duration = Duration::from_millis(400);
    let pause = ProsperoRule::on(ProsperoTrigger::Any, ProsperoAction::Pause(PAUSE)).nth(2);
    let cut = ProsperoAction::Cut(CutPoint::After(3));
    let server = start(config().rule(pause).nth(3, cut).on(ProsperoTrigger::List, ProsperoAction::CrLf));
    let client = TestClient::new(server.addr());
    let exchange = |id| {
        let started = Instant::now();
        assert_eq!(client.exchange(id, SHORT).unwrap(), VERSION);
        started.elapsed()
    };
    assert!(exchange(1) < PAUSE);
    assert!(exchange(2) >= PAUSE);
    assert_eq!(client.exchange(3, SHORT).unwrap(), b"VER");
    assert_eq!(
        client.exchange(4, b"DIRECTORY ASCII /x\nLIST '' COMPONENTS\n").unwrap(),
        b"FAILURE NOT-FOUND\r\n"
    );
}

#[test]
fn server_stops_within_100_ms() {
    let started = Instant::now();
    for _ in 0..20 {
        drop(start(config().silent()));
    }
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
}
