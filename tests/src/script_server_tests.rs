//! The script server against a plain socket.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use super::*;

fn server(text: &str) -> ScriptServer {
    let timeout = Duration::from_millis(300);
    ScriptServer::start_with_timeout(vec![Script::parse(text).unwrap()], timeout).unwrap()
}

/// Sends these bytes and returns what the server sends.
fn exchange(server: &ScriptServer, bytes: &[u8]) -> Result<Vec<u8>> {
    let mut stream = TcpStream::connect(server.addr())?;
    stream.write_all(bytes)?;
    let mut received = Vec::new();
    stream.read_to_end(&mut received).map(|_| received)
}

#[test]
fn script_is_played_and_received_bytes_are_logged() {
    let server = server("S: 220 hi\nC: QUIT\nS: 221 bye\n@raw {pasv} {port}");
    let port = server.addr().port();
    let received = String::from_utf8(exchange(&server, b"QUIT\r\n").unwrap()).unwrap();
    assert_eq!(received, format!("220 hi\r\n221 bye\r\n127,0,0,1,{},{} {port}", port >> 8, port & 255));
    assert!(server.failures().is_empty());
    assert_eq!(server.received(), [b"QUIT\r\n"]);
}

#[test]
fn failure_names_line_and_difference() {
    for (sent, expected) in [
        (&b"QUIR\r\n"[..], r#"connection 1, line 2: expected "QUIT\r\n", got "QUIR\r\n""#),
        (b"", r#"connection 1, line 2: no progress within 300ms"#),
    ] {
        let server = server("S: 220 hi\nC: QUIT\nS: 221 bye\n");
        assert_eq!(exchange(&server, sent).unwrap(), b"220 hi\r\n");
        assert_eq!(server.failures(), [expected]);
    }
}

#[test]
fn last_script_is_repeated() {
    let scripts = ["S: one", "S: two"].map(|text| Script::parse(text).unwrap());
    let server = ScriptServer::start(scripts.to_vec()).unwrap();
    let received: Vec<_> = (0..3).map(|_| exchange(&server, b"").unwrap()).collect();
    assert_eq!(received, [b"one\r\n", b"two\r\n", b"two\r\n"]);
    assert_eq!(server.received().len(), 3);
}

#[test]
fn reset_follows_the_last_bytes_of_the_server() {
    for text in ["C: a\nS: b\n@reset", "S: b\n@reset"] {
        let server = server(text);
        let mut stream = TcpStream::connect(server.addr()).unwrap();
        stream.write_all(b"a\r\n").unwrap();
        let mut received = [0; 3];
        stream.read_exact(&mut received).unwrap();
        assert_eq!(&received, b"b\r\n");
        assert_eq!(stream.read(&mut received).unwrap_err().kind(), ErrorKind::ConnectionReset);
    }
}

#[test]
fn close_loses_no_bytes_while_the_client_sends() {
    let server = server("C: a\n@raw bye\n@close");
    let mut stream = TcpStream::connect(server.addr()).unwrap();
    stream.write_all(b"a\r\nand more").unwrap();
    let mut received = Vec::new();
    stream.read_to_end(&mut received).unwrap();
    assert_eq!(received, b"bye");
}

#[test]
fn pieces_arrive_and_eof_is_expected() {
    let server = server("@split 1\nS: abc\n@eof");
    let mut stream = TcpStream::connect(server.addr()).unwrap();
    let mut received = [0; 5];
    stream.read_exact(&mut received).unwrap();
    assert_eq!(&received, b"abc\r\n");
    drop(stream);
    assert!(server.failures().is_empty());
    let server = self::server("@eof");
    assert_eq!(exchange(&server, b"word").unwrap(), b"");
    assert_eq!(server.failures(), [r#"connection 1, line 1: expected the end, got "word""#]);
}

#[test]
fn tls_without_certificate_fails() {
    let server = server("S: 1\n@tls\nS: 2");
    assert_eq!(exchange(&server, b"").unwrap(), b"1\r\n");
    assert_eq!(server.failures(), ["connection 1, line 2: @tls needs start_with_cert"]);
}

#[test]
fn tls_starts_at_its_step() {
    let cert = ServerCert::good().unwrap();
    let script = Script::parse("S: 220 hi\nC: AUTH TLS\nS: 234 go\n@tls\nC: USER me\nS: 331 ok").unwrap();
    let server = ScriptServer::start_with_cert(vec![script], &cert).unwrap();
    let mut stream = TcpStream::connect(server.addr()).unwrap();
    stream.write_all(b"AUTH TLS\r\n").unwrap();
    let mut received = [0; 16];
    stream.read_exact(&mut received).unwrap();
    let mut tls = crate::cert::client(&cert, stream);
    tls.write_all(b"USER me\r\n").unwrap();
    let mut answer = String::new();
    tls.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "331 ok\r\n");
    assert!(server.failures().is_empty());
    assert_eq!(server.received(), [b"AUTH TLS\r\nUSER me\r\n"]);
}

#[test]
fn drop_ends_a_stall() {
    let server = server("@stall 60000");
    let mut stream = TcpStream::connect(server.addr()).unwrap();
    std::thread::sleep(Duration::from_millis(20));
    drop(server);
    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
}
