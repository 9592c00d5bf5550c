//! What a review of Prospero's datagrams found, through the real binary: servers of a few lines on loopback.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::net::{Ipv4Addr, UdpSocket};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use fetch_url_tests::{
    HttpReply, HttpServer, ProsperoAct, ProsperoHost, ProsperoObject, ProsperoOn, ProsperoPacket,
    ProsperoServer, ProsperoSite,
};
use support::fetch;

const PATIENCE: Duration = Duration::from_secs(10);

/// A socket on this address of loopback, at this port.
fn socket(last: u8, port: u16) -> UdpSocket {
    let socket = UdpSocket::bind((Ipv4Addr::new(127, 0, 0, last), port)).expect("a socket");
    socket.set_read_timeout(Some(PATIENCE)).expect("a socket");
    socket
}

/// Answers the first datagram with these, each behind a header of three octets with its id; what comes is told.
fn answering(socket: UdpSocket, answer: &'static [u8]) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut octets = [0; 2048];
        while let Ok((length, from)) = socket.recv_from(&mut octets) {
            let is_request = octets[3..5] != [0, 0];
            if is_request {
                let _ = socket.send_to(&[&[3, octets[1], octets[2]], answer].concat(), from);
            }
            if sender.send(octets[..length].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}

fn port_of(socket: &UdpSocket) -> u16 {
    socket.local_addr().expect("an address").port()
}

#[test]
fn the_second_address_is_asked_when_the_first_is_silent() {
    let silent = socket(1, 0);
    let port = port_of(&silent);
    let heard = answering(socket(2, port), b"FAILURE NOT-FOUND\n");
    let pin = format!("two.example:{port}:127.0.0.1,127.0.0.2");
    let url = format!("prospero://two.example:{port}/x");
    fetch(["--read-timeout", "3", "--resolve", &pin, &url]).exits(78).says("NOT-FOUND");
    assert!(heard.recv().is_ok());
}

#[test]
fn whoever_is_not_there_is_noticed_at_once() {
    let port = port_of(&socket(1, 0));
    let begun = Instant::now();
    fetch([format!("prospero://127.0.0.1:{port}/x")]).exits(7);
    // The first repetition would come after four seconds.
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    // The next address has the first one's time.
    let second = socket(2, 0);
    let port = port_of(&second);
    let _heard = answering(second, b"FAILURE NOT-FOUND\n");
    let pin = format!("two.example:{port}:127.0.0.1,127.0.0.2");
    let begun = Instant::now();
    fetch(["--resolve", &pin, &format!("prospero://two.example:{port}/x")]).exits(78);
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
}

/// A complete answer is not cancelled.
#[test]
fn what_is_answered_is_not_given_up() {
    let socket = socket(1, 0);
    let url = format!("prospero://127.0.0.1:{}/x", port_of(&socket));
    let heard = answering(socket, b"FAILURE NOT-FOUND\n");
    fetch([url]).exits(78);
    assert!(heard.recv_timeout(PATIENCE).is_ok());
    assert!(heard.recv_timeout(Duration::from_millis(200)).is_err());
}

#[test]
fn words_of_a_server_in_the_dialogue_are_harmless() {
    let method: &[&str] = &["F\x1b]0;pwn\x07\n* forged", "", "", "", ""];
    let object = ProsperoObject::file(b"octets".to_vec())
        .own_access(&[method, &["PROSPERO-CONTENTS", "", "", "", ""]]);
    let server = ProsperoServer::start(ProsperoSite::new().object("/x", object)).expect("a server");
    let ran = fetch(["-v", &server.url("/x")]);
    assert_eq!(ran.exits(0).text(), "octets");
    assert!(ran.stderr.contains("PROSPERO-CONTENTS"), "{}", ran.stderr);
    assert!(!ran.stderr.contains(['\x1b', '\x07']), "{:?}", ran.stderr);
    let is_line = |line: &str| ["> ", "< ", "* "].iter().any(|start| line.starts_with(start));
    assert!(ran.stderr.lines().all(is_line), "{}", ran.stderr);
    assert!(!ran.stderr.lines().any(|line| line.starts_with("* FORGED")), "{}", ran.stderr);
}

/// A way that the policy forbids is none, whatever forbids it.
#[test]
fn the_first_way_that_is_allowed() {
    let contents: &[&str] = &["PROSPERO-CONTENTS", "", "", "", ""];
    for (method, arguments) in [
        (["GOPHER", "INTERNET-D", "127.0.0.1(25)", "ASCII", "0/x"], &[][..]),
        (["GOPHER", "INTERNET-D", "127.0.0.1(7070)", "ASCII", "0/x"], &["--proto-redir", "=ftp"]),
        (["GOPHER", "INTERNET-D", "127.0.0.1(7070)", "ASCII", "0/x"], &["--proto", "=prospero"]),
        (["URL", "INTERNET-D", "h", "ASCII", "file:///etc/passwd"], &[]),
        (["URL", "INTERNET-D", "h", "ASCII", "nntp://h/group/1"], &[]),
    ] {
        let object = ProsperoObject::file(b"octets".to_vec()).own_access(&[&method, contents]);
        let server = ProsperoServer::start(ProsperoSite::new().object("/x", object)).expect("a server");
        let url = server.url("/x");
        let ran = fetch(arguments.iter().copied().chain([url.as_str()]));
        assert_eq!(ran.exits(0).text(), "octets", "{method:?}");
    }
}

/// What the caller sends is for nobody whom a name service names.
#[test]
fn a_body_does_not_follow() {
    let http = HttpServer::start(|_| HttpReply::new(200).body("object")).expect("a server");
    let target = http.url("/f");
    let method: &[&str] = &["URL", "INTERNET-D", "h", "ASCII", &target];
    let object = ProsperoObject::elsewhere().access(method);
    let server = ProsperoServer::start(ProsperoSite::new().object("/x", object)).expect("a server");
    let url = server.url("/x");
    let arguments = ["-d", "canary", "-u", "me:secret", "-H", "X-Own: secret", "-b", "c=secret", &url];
    assert_eq!(fetch(arguments).exits(0).text(), "object");
    for request in http.requests() {
        assert_eq!(request.method, "GET");
        assert!(!format!("{request:?}").contains("secret") && request.body.is_empty(), "{request:?}");
    }
}

#[test]
fn fewer_names_than_usual() {
    let chain = |next: &str| ProsperoObject::forwarded(ProsperoHost::Here, next);
    let site = ProsperoSite::new()
        .object("/1", chain("/2"))
        .object("/2", chain("/3"))
        .object("/3", chain("/4"))
        .object("/4", ProsperoObject::file(b"octets".to_vec()));
    let server = ProsperoServer::start(site).expect("a server");
    assert_eq!(fetch([server.url("/1")]).exits(0).text(), "octets");
    fetch(["--max-redirs", "1", &server.url("/1")]).exits(47);
}

/// A question that the server need not answer fails nothing.
#[test]
fn what_only_describes_may_be_refused_in_any_words() {
    for words in [&b"ERROR what\n"[..], b"FAILURE UNIMPLEMENTED\n", b"VERSION 5 x\n", b"SUCCESS\n"] {
        let site = ProsperoSite::new().object("/x", ProsperoObject::file(b"octets".to_vec()));
        let describes = |text: &[u8]| text.windows(5).any(|word| word == b"SIZE+");
        let packet = ProsperoPacket::data(1, 1, words);
        let site = site.on(ProsperoOn::Which(describes), ProsperoAct::Instead(vec![packet], 9));
        let server = ProsperoServer::start(site).expect("a server");
        assert_eq!(fetch([server.url("/x")]).exits(0).text(), "octets");
    }
}

/// A session that a stranger names is told, not handed to the desktop.
#[test]
fn a_session_of_a_stranger_is_not_opened() {
    let object = ProsperoObject::elsewhere().access(&["TELNET", "INTERNET-D", "h.example", "ASCII", ""]);
    let server = ProsperoServer::start(ProsperoSite::new().object("/x", object)).expect("a server");
    let ran = fetch(["--open", &server.url("/x")]);
    assert!(ran.exits(0).text().contains("telnet h.example 23"), "{ran:?}");
    fetch(["--open", "mailto:a@b.example?Attach=/etc/passwd"]).exits(90).says("Attach");
}
