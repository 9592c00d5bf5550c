//! The Prospero server against captured sessions of dirsrv and its clients, and against plain sockets.

use std::time::Duration;

use super::*;
use crate::ProsperoHeader;
use crate::prospero::test_client::{TestClient, acknowledgement, request};
use crate::{ProsperoAttribute, ProsperoLink, ProsperoObject};

/// `NAME C> HEX` and `NAME S> HEX`, as captured.
const VECTORS: &str = include_str!("../../../crates/proto/tests/data/prospero-vectors.txt");
const LIST: &[u8] = b"DIRECTORY ASCII '/srv/pub/many'\nLIST '' COMPONENTS\n";

fn start(config: ProsperoConfig) -> ProsperoServer {
    ProsperoServer::start(config).unwrap()
}

/// Returns the captured datagrams: name, `true` if the client sent it, bytes.
fn captured() -> Vec<(&'static str, bool, Vec<u8>)> {
    let lines = VECTORS.lines().filter(|line| !line.starts_with('#'));
    let bytes = |hex: &str| {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    };
    let parts = lines.map(|line| line.split(' ').collect::<Vec<_>>());
    parts.map(|parts| (parts[0], parts[1] == "C>", bytes(parts[2]))).collect()
}

/// Returns the data of all responses of one exchange.
fn text(name: &str) -> Vec<u8> {
    let of_it = captured().into_iter().filter(|(found, is_client, _)| *found == name && !is_client);
    of_it.flat_map(|(_, _, bytes)| bytes[usize::from(bytes[0] & 63)..].to_vec()).collect()
}

/// Returns the names in `/srv/pub/many`, in the order of the directory.
fn many() -> Vec<String> {
    let text = String::from_utf8(text("window4")).unwrap();
    text.lines().map(|line| line.split(' ').nth(4).unwrap().to_owned()).collect()
}

/// The configuration of the captured server.
fn captured_config() -> ProsperoConfig {
    let file =
        |name: &str, bytes: &[u8]| (ProsperoLink::file(name, format!("/srv/pub/{name}")), bytes.to_vec());
    let files = [
        file("nul.dat", b"a\0b'c d\n\r\n\xff/+,end"),
        file("hello.txt", b"Hello from the prospero..\n"),
        file("bin.dat", b"\xff"),
        file("link.txt", b"Hello from the prospero..\n"),
        file("it's a file.txt", b""),
    ];
    let directory = |name: &str| ProsperoLink::directory(name, format!("/srv/pub/{name}"));
    let mut links = vec![
        directory("dir"),
        ProsperoLink::external("gopher.link", "g.test(70)", "0/about.txt")
            .access_method(&["GOPHER", "", "", "", "", "0"]),
        directory("many"),
    ];
    links.extend(files.iter().map(|(link, _)| link.clone()));
    links.extend([
        ProsperoLink::external("ftp.link", "ftp.test", "/pub/it's + x.txt").access_method(&[
            "AFTP",
            "INTERNET-D",
            "ftp.test",
            "ASCII",
            "/pub/it's + x.txt",
            "TEXT",
        ]),
        ProsperoLink::directory("far", "/far/dir").on_host(ProsperoHost::named("other.test(2525)")),
        ProsperoLink::external("wais.link", "w.test", "WAIS/OBJECT/1=w.test:210;2=t;3=0 78 /srv/d/a.txt;")
            .access_method(&["WAIS", "", "", "", ""]),
        ProsperoLink::symbolic("symb", "#/EDU/X", "/a/b"),
    ]);
    let mut config = ProsperoConfig::new().name("W.TEST").root("/srv/").status(text("status"));
    for (link, bytes) in &files {
        let mut object = ProsperoObject::file(bytes.clone());
        if link.name == b"hello.txt" {
            object = object
                .access_method(&["AFTP", "INTERNET-D", "ftp.test", "ASCII", "/pub/hello.txt", "BINARY"])
                .access_method(&["GOPHER", "INTERNET-D", "g.test(70)", "ASCII", "0/hello", "0"])
                .description("a tiny file");
        }
        config = config.object(link.hsoname.clone(), object);
    }
    let of_many =
        many().into_iter().map(|name| ProsperoLink::file(name.clone(), format!("/srv/pub/many/{name}")));
    config
        .object("/srv/pub", ProsperoObject::directory(links))
        .object("/srv/pub/many", ProsperoObject::directory(of_many))
        .object(
            "/srv/pub/dir",
            ProsperoObject::directory([ProsperoLink::file("x.txt", "/srv/pub/dir/x.txt")]),
        )
        .object("/srv/pub/dir/x.txt", ProsperoObject::file("in dir\n"))
}

/// A directory whose listing takes `count` packets.
fn with_listing(count: usize) -> ProsperoConfig {
    let link = |number: usize| ProsperoLink::file(format!("{number:0>100}"), "x");
    // A line has 137 bytes, so that nine lines nearly fill a packet.
    let links = (0..count * 9).map(link);
    ProsperoConfig::new().name("x").object("/srv/pub/many", ProsperoObject::directory(links))
}

fn numbers(datagrams: &[Vec<u8>]) -> Vec<u16> {
    datagrams.iter().map(|bytes| ProsperoHeader::parse(bytes).unwrap().number).collect()
}

#[test]
fn captured_requests_get_the_captured_responses() {
    let server = start(captured_config());
    let (mut client, mut sent) = (TestClient::new(server.addr()), 0);
    let mut last = "";
    for (name, is_client, bytes) in captured() {
        if name.starts_with("built-") {
            continue;
        }
        if name != last {
            assert_eq!(client.receive_all(), [[]; 0], "after {last}");
            client = TestClient::new(server.addr());
            last = name;
        }
        if is_client {
            client.send(&bytes);
            continue;
        }
        let (answer, _) =
            client.receive(Duration::from_secs(2)).unwrap_or_else(|| panic!("{name}: no response"));
        assert_eq!(answer.escape_ascii().to_string(), bytes.escape_ascii().to_string(), "{name}");
        sent += 1;
    }
    let expected =
        captured().iter().filter(|(name, is_client, _)| !is_client && !name.starts_with("built-")).count();
    assert_eq!((sent, server.requests().len()), (expected, 37));
}

/// Returns length, number, total, received-through and flags.
fn header_of(bytes: &[u8]) -> (u8, u16, u16, u16, u8) {
    let header = ProsperoHeader::parse(bytes).unwrap();
    (header.length, header.number, header.total, header.through, header.flags)
}

#[test]
fn long_response_is_sent_in_windows() {
    let server = start(with_listing(40));
    let client = TestClient::new(server.addr());
    client.send(&request(7, LIST));
    let first = client.receive_all();
    assert_eq!(numbers(&first), Vec::from_iter(1..=16));
    assert_eq!((header_of(&first[14]), header_of(&first[15])), ((7, 15, 0, 0, 0), (12, 16, 0, 1, 0x80)));
    // A repeated request, an acknowledgement after a loss, and one without a loss.
    client.send(&request(7, LIST));
    assert_eq!(header_of(&client.receive_all()[0]), (9, 1, 40, 1, 0));
    client.send(&acknowledgement(7, 3));
    let second = client.receive_all();
    assert_eq!(numbers(&second), Vec::from_iter(4..=19));
    assert_eq!((header_of(&second[0]), header_of(&second[15])), ((9, 4, 40, 1, 0), (12, 19, 40, 1, 0x80)));
    client.send(&acknowledgement(7, 39));
    assert_eq!(
        client.receive_all().iter().map(|bytes| header_of(bytes)).collect::<Vec<_>>(),
        [(9, 40, 40, 1, 0)]
    );
    client.send(&acknowledgement(7, 40));
    assert_eq!(client.receive_all(), [[]; 0]);
    assert_eq!(server.requests(), [LIST]);
    assert_eq!(server.received_text(), ["DIRECTORY ASCII '/srv/pub/many'", "LIST '' COMPONENTS"]);
    let came = server.datagrams();
    assert_eq!(came.iter().filter(|datagram| datagram.is_request()).count(), 2);
    assert_eq!(came.iter().filter(|datagram| datagram.is_acknowledgement()).count(), 3);
    assert_eq!((came[0].data(), server.datagrams_sent()), (LIST, 49));
}

#[test]
fn response_of_one_window_has_no_flag() {
    for (count, expected) in [(1, (3, 1, 1, 0, 0)), (2, (7, 2, 2, 0, 0)), (16, (7, 16, 16, 0, 0))] {
        let server = start(with_listing(count));
        let client = TestClient::new(server.addr());
        client.send(&request(7, LIST));
        let all = client.receive_all();
        assert_eq!((all.len(), header_of(&all[count - 1])), (count, expected), "{count}");
    }
    let server = start(with_listing(40));
    let answer = TestClient::new(server.addr()).exchange(7, LIST).unwrap();
    assert_eq!(answer.len().div_ceil(1250), 40);
    assert!(answer.ends_with(b"x 0\n") && answer.starts_with(b"LINK  L FILE 000"));
}

#[test]
fn request_packets_may_be_reordered_and_repeated() {
    let server = start(captured_config());
    let client = TestClient::new(server.addr());
    client.send(b"\x09\0\x01\0\x02\0\x02\0\0SION\n");
    assert_eq!(client.receive_all(), [[]; 0]);
    client.send(b"\x0c\0\x01\0\x03\0\x03\0\0\0\0\x80");
    assert_eq!(header_of(&client.receive_all()[0]), (9, 0, 0, 0, 0));
    for _ in 0..2 {
        client.send(b"\x09\0\x02\0\x02\0\x02\0\0SION\n");
    }
    client.send(b"\x09\0\x02\0\x01\0\x02\0\0VER");
    assert_eq!(client.receive_all(), [b"\x03\0\x02VERSION 5 P53.17May94b\n"]);
    client.send(b"\x09\0\x02\0\x01\0\x02\0\0VER");
    assert_eq!(client.receive_all(), [b"\x09\0\x02\0\x01\0\x01\0\x02VERSION 5 P53.17May94b\n"]);
    assert_eq!(server.requests(), [b"VERSION\n"]);
    // Invalid headers, an unknown total and a cancelled request get no response.
    for invalid in [b"".as_slice(), b"\0x", b"\x81x", b"\x1fx", b"VERSION\n", b"\x05\0\x03\0\x01VERSION\n"] {
        client.send(invalid);
    }
    client.send(b"\x0d\0\x02\0\0\0\0\0\0\0\0\0\x01");
    client.send(&acknowledgement(2, 0));
    assert_eq!(client.receive_all(), [[]; 0]);
    assert_eq!(server.datagrams().len(), 14);
    assert!(server.datagrams().iter().any(ProsperoDatagram::is_cancel));
}

#[test]
fn only_twenty_answered_requests_are_kept() {
    let server = start(captured_config().ignores_repeats_for(Duration::from_secs(9)));
    let client = TestClient::new(server.addr());
    for id in 1..=21 {
        client.send(&request(id, b"VERSION\n"));
    }
    assert_eq!(client.receive_all().len(), 21);
    client.send(&request(2, b"VERSION\n"));
    assert_eq!(client.receive_all(), [[]; 0], "the repetition is ignored");
    client.send(&request(1, b"VERSION\n"));
    assert_eq!((client.receive_all().len(), server.requests().len()), (1, 22));
}

/// Sends a request in one packet and returns the response.
fn respond(server: &ProsperoServer, text: &[u8]) -> String {
    let answer = TestClient::new(server.addr()).exchange(9, text).unwrap();
    String::from_utf8_lossy(&answer).replace("ATTRIBUTE OBJECT INTRINSIC ", "")
}

#[test]
fn attribute_queries_are_answered_as_by_dirsrv() {
    let bare =
        ProsperoObject::file("x").size("7 bytes").modes("-r--------").owned_by("a", "b").modified("1994Z");
    let other = ProsperoAttribute::new("X", &[b"it's", b""]).precedence("CACHED");
    let config = ProsperoConfig::new()
        .root("/srv")
        .object("/srv/bare", bare)
        .version("/srv/bare", 3, ProsperoObject::file("new").attribute(other))
        .object("/srv/none", ProsperoObject::attributes_only())
        .object("/srv/d", ProsperoObject::directory([]))
        .object("/srv/own", ProsperoObject::file("x").intrinsic_access_methods(&[&["LOCAL", "", "", "", ""]]))
        .object("/srv/moved", ProsperoObject::forwarded(ProsperoHost::named("a(1)"), "/x y"));
    let server = start(config);
    let rows = [
        ("ACCESS-METHOD", "/srv/bare 0", "FAILURE NOT-FOUND\n"),
        ("CONTENTS", "/srv/bare 0", "CONTENTS SEQUENCE DATA x\n"),
        ("NATIVE-OWNER+NATIVE-GROUP", "/srv/bare 0", "NATIVE-OWNER SEQUENCE a\nNATIVE-GROUP SEQUENCE b\n"),
        ("UNIX-MODES+SIZE", "/srv/bare 0", "SIZE SEQUENCE 7' bytes'\nUNIX-MODES SEQUENCE -r--------\n"),
        ("LAST-MODIFIED", "/srv/bare 0", "LAST-MODIFIED SEQUENCE 1994Z\n"),
        ("BOGUS", "/srv/bare 0", "NONE-FOUND\n"),
        ("BOGUS", "/srv/bare 3", "ATTRIBUTE CACHED APPLICATION X SEQUENCE it'''s' ''\n"),
        ("ACCESS-METHOD+UNIX-MODES", "/srv/d 0", "UNIX-MODES SEQUENCE drwxr-xr-x\n"),
        ("ACCESS-METHOD", "/srv/d 0", "NONE-FOUND\n"),
        ("CONTENTS", "/srv/d 0", "NONE-FOUND\n"),
        ("ACCESS-METHOD+BOGUS", "/srv/own 0", "ACCESS-METHOD SEQUENCE LOCAL '' '' '' ''\n"),
        ("#ALL", "/srv/none 0", "NONE-FOUND\n"),
        ("#ALL", "/srv/bare 2", "FAILURE NOT-FOUND\n"),
        ("#ALL", "/srv/../etc/passwd 0", "FAILURE NOT-FOUND\n"),
        ("#ALL", "/etc/passwd 0", "FAILURE NOT-AUTHORIZED\n"),
        ("#ALL", "/srv/moved 0", "FORWARDED INTERNET-D a(1) ASCII '/x y' 0\n"),
    ];
    for (names, hsoname, expected) in rows {
        let text = format!("VERSION 5\nGET-OBJECT-INFO {names} ASCII {hsoname}\n");
        assert_eq!(respond(&server, text.as_bytes()), expected, "{text}");
    }
    assert_eq!(server.object_url(b"/srv/it's"), format!("prospero://{}//srv/it%27s", server.addr()));
}

#[test]
fn invalid_lines_are_refused() {
    let server = start(captured_config());
    let open = "ERROR Malformed input line: Read' Prospero message with an unterminated quote'\n";
    let rows = [
        ("", "ERROR ERROR Received empty request\n"),
        ("VERSION\r\n", "ERROR Malformed input line: Read' an empty line'\n"),
        ("version 5 x\nversion", "VERSION 5 P53.17May94b\n"),
        ("VERSION 5 6\nVERSION 6\nVERSION\n", "VERSION-NOT-SUPPORTED TRY 1-5"),
        ("AUTHENTICATE '' KERBEROS x\nAUTHENTICATE MANDATORY KERBEROS x\n", "FAILURE AUTHENTICATION-DATA\n"),
        ("PARAMETER GET MOTD\nLIST\nVERSION\n", "PARAMETER NOTSET MOTD\nERROR Malformed input line: LIST\n"),
        ("GET-OBJECT-INFO X ASCII x 0 y\n", "ERROR Malformed input line: GET-OBJECT-INFO X ASCII x 0 y\n"),
        ("GET-OBJECT-INFO X ASCII x y\n", "ERROR Malformed input line: GET-OBJECT-INFO X ASCII x y\n"),
        ("GET-OBJECT-INFO X ASCII it's 0\n", open),
        ("LIST '' COMPONENTS\n", "ERROR Malformed input line: LIST '' COMPONENTS\n"),
        ("CREATE-LINK '' L FILE\n", "FAILURE NOT-AUTHORIZED\n"),
    ];
    for (text, expected) in rows {
        assert_eq!(respond(&server, text.as_bytes()), expected, "{text}");
    }
}

#[test]
fn path_leads_through_directories() {
    let server = start(captured_config());
    let list = |directory: &str, parts: &str| {
        respond(&server, format!("DIRECTORY ASCII {directory}\nLIST '' COMPONENTS {parts}\n").as_bytes())
    };
    let inside = "LINK  L FILE x.txt INTERNET-D W.TEST ASCII '/srv/pub/dir/x.txt' 0\n";
    let rows = [
        ("/srv/pub", "dir x.txt"),
        ("/srv/pub", "dir/x.txt"),
        ("/srv/pub/dir", "'x.*'"),
        ("/srv/pub/dir", "?.t?t"),
    ];
    for (directory, parts) in rows {
        assert_eq!(list(directory, parts), inside, "{directory} {parts}");
    }
    assert!(list("/srv/pub", "symb c").ends_with("\nUNRESOLVED c\n"));
    assert_eq!(list("/srv/pub/hello.txt", ""), "FAILURE NOT-A-DIRECTORY\n");
    assert_eq!(list("/srv/pub/none", ""), "FAILURE NOT-FOUND\n");
    assert_eq!(list("/etc", ""), "FAILURE NOT-AUTHORIZED\n");
}
