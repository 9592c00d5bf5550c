//! Every HTTP fault, played once to a naive client.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::*;
use crate::HTTP_FAULTS;
use crate::fault::case::{check_in_parallel, check_table};

const GET: &str = "GET /redirect/10 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

fn fixture() -> FaultFixture {
    FaultFixture { stall: Duration::from_millis(1), ..HttpServer::fixture() }
}

/// Returns the first 100,000 bytes of the response.
fn fetch(fault: &HttpFault, fixture: &FaultFixture, cert: &ServerCert) -> Vec<u8> {
    let transport = fault.transports[0];
    let (server, _) = fault.serve(transport, fixture, cert).unwrap();
    let mut stream = TcpStream::connect(server.addr()).unwrap();
    let mut received = Vec::new();
    let _ = match transport {
        Transport::Plain => {
            stream.write_all(GET.as_bytes()).and_then(|()| stream.take(100_000).read_to_end(&mut received))
        }
        _ => {
            let mut tls = crate::cert::client(cert, stream);
            tls.write_all(GET.as_bytes()).and_then(|()| tls.read_to_end(&mut received))
        }
    };
    received
}

/// Returns the body after the last header, unless it is chunked.
fn body(received: &[u8]) -> Option<&[u8]> {
    let position = |word: &[u8]| received.windows(word.len()).position(|window| window == word);
    let last = position(b"HTTP/1.1 200")?;
    let end = received[last..].windows(4).position(|window| window == b"\r\n\r\n")?;
    position(b"chunked").is_none().then(|| &received[last + end + 4..])
}

#[test]
fn table_is_consistent() {
    check_table(HTTP_FAULTS, 109, 218);
}

#[test]
fn every_fault_has_a_response_unless_the_server_is_silent() {
    let (fixture, cert) = (fixture(), ServerCert::good().unwrap());
    let plain: Vec<_> = HTTP_FAULTS.iter().filter(|it| it.transports.contains(&Transport::Plain)).collect();
    check_in_parallel(&plain, 8, |fault| {
        let received = fetch(fault, &fixture, &cert);
        let is_silent = ["empty_reply", "reset_before_head", "stall_before_head"].contains(&fault.name);
        if received.is_empty() == is_silent { Ok(()) } else { Err(fault.name.to_owned()) }
    });
}

#[test]
fn kept_part_is_a_prefix_and_success_is_complete() {
    let (fixture, cert) = (fixture(), ServerCert::good().unwrap());
    let content = fixture.content.as_slice();
    let mut checked = 0;
    for fault in HTTP_FAULTS.iter().filter(|fault| fault.keeps_part || fault.exit == 0) {
        let received = fetch(fault, &fixture, &cert);
        let Some(body) = body(&received) else { continue };
        let is_prefix = !body.is_empty() && content.starts_with(body);
        let is_expected = if fault.exit == 0 { body.starts_with(content) } else { is_prefix };
        assert!(is_expected, "{}: {} bytes", fault.name, body.len());
        checked += 1;
    }
    assert!(checked > 25, "{checked}");
}
