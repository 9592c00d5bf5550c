//! The script server against a plain socket.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use super::*;

fn server(text: &str) -> ScriptServer {
    let patience = Duration::from_millis(300);
    ScriptServer::start_with_patience(vec![Script::parse(text).unwrap()], patience).unwrap()
}

/// Says all at once, then reads to the end.
fn talk(server: &ScriptServer, octets: &[u8]) -> Result<Vec<u8>> {
    let mut stream = TcpStream::connect(server.addr())?;
    stream.write_all(octets)?;
    let mut heard = Vec::new();
    stream.read_to_end(&mut heard).map(|_| heard)
}

#[test]
fn plays_a_dialogue_and_tells_what_it_saw() {
    let server = server("S: 220 hi\nC: QUIT\nS: 221 bye\n@raw {pasv} {port}");
    let port = server.addr().port();
    let heard = String::from_utf8(talk(&server, b"QUIT\r\n").unwrap()).unwrap();
    assert_eq!(heard, format!("220 hi\r\n221 bye\r\n127,0,0,1,{},{} {port}", port >> 8, port & 255));
    assert!(server.failures().is_empty());
    assert_eq!(server.seen(), [b"QUIT\r\n"]);
}

#[test]
fn names_what_differs() {
    for (said, expected) in [
        (&b"QUIR\r\n"[..], r#"connection 1, line 2: expected "QUIT\r\n", got "QUIR\r\n""#),
        (b"", r#"connection 1, line 2: nothing moved for 300ms"#),
    ] {
        let server = server("S: 220 hi\nC: QUIT\nS: 221 bye\n");
        assert_eq!(talk(&server, said).unwrap(), b"220 hi\r\n");
        assert_eq!(server.failures(), [expected]);
    }
}

#[test]
fn the_last_script_repeats() {
    let scripts = ["S: one", "S: two"].map(|text| Script::parse(text).unwrap());
    let server = ScriptServer::start(scripts.to_vec()).unwrap();
    let heard: Vec<_> = (0..3).map(|_| talk(&server, b"").unwrap()).collect();
    assert_eq!(heard, [b"one\r\n", b"two\r\n", b"two\r\n"]);
    assert_eq!(server.seen().len(), 3);
}

#[test]
fn resets_with_and_without_a_word_of_the_client() {
    for text in ["C: a\nS: b\n@reset", "S: b\n@reset"] {
        let server = server(text);
        let mut stream = TcpStream::connect(server.addr()).unwrap();
        stream.write_all(b"a\r\n").unwrap();
        let mut heard = [0; 3];
        stream.read_exact(&mut heard).unwrap();
        assert_eq!(&heard, b"b\r\n");
        assert_eq!(stream.read(&mut heard).unwrap_err().kind(), ErrorKind::ConnectionReset);
    }
}

#[test]
fn a_close_loses_nothing_though_the_client_talks_on() {
    let server = server("C: a\n@raw bye\n@close");
    let mut stream = TcpStream::connect(server.addr()).unwrap();
    stream.write_all(b"a\r\nand more").unwrap();
    let mut heard = Vec::new();
    stream.read_to_end(&mut heard).unwrap();
    assert_eq!(heard, b"bye");
}

#[test]
fn splits_and_expects_the_end() {
    let server = server("@split 1\nS: abc\n@eof");
    let mut stream = TcpStream::connect(server.addr()).unwrap();
    let mut heard = [0; 5];
    stream.read_exact(&mut heard).unwrap();
    assert_eq!(&heard, b"abc\r\n");
    drop(stream);
    assert!(server.failures().is_empty());
    let server = self::server("@eof");
    assert_eq!(talk(&server, b"word").unwrap(), b"");
    assert_eq!(server.failures(), [r#"connection 1, line 1: expected the end, got "word""#]);
}

#[test]
fn tls_needs_a_certificate() {
    let server = server("S: 1\n@tls\nS: 2");
    assert_eq!(talk(&server, b"").unwrap(), b"1\r\n");
    assert_eq!(server.failures(), ["connection 1, line 2: @tls needs start_with_cert"]);
}

#[test]
fn tls_begins_where_the_script_says() {
    let cert = ServerCert::good().unwrap();
    let script = Script::parse("S: 220 hi\nC: AUTH TLS\nS: 234 go\n@tls\nC: USER me\nS: 331 ok").unwrap();
    let server = ScriptServer::start_with_cert(vec![script], &cert).unwrap();
    let mut stream = TcpStream::connect(server.addr()).unwrap();
    stream.write_all(b"AUTH TLS\r\n").unwrap();
    let mut heard = [0; 16];
    stream.read_exact(&mut heard).unwrap();
    let mut tls = crate::cert::client(&cert, stream);
    tls.write_all(b"USER me\r\n").unwrap();
    let mut answer = String::new();
    tls.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "331 ok\r\n");
    assert!(server.failures().is_empty());
    assert_eq!(server.seen(), [b"AUTH TLS\r\nUSER me\r\n"]);
}

#[test]
fn dropping_ends_a_stall() {
    let server = server("@stall 60000");
    let mut stream = TcpStream::connect(server.addr()).unwrap();
    std::thread::sleep(Duration::from_millis(20));
    drop(server);
    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
}
