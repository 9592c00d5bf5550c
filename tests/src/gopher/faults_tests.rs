//! Every Gopher fault in plaintext, played once to a naive client.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::*;
use crate::fault::case::{check_in_parallel, check_table};

fn fixture() -> FaultFixture {
    FaultFixture { stall: Duration::from_millis(1), ..GopherServer::fixture() }
}

/// Sends the request of the URL. Returns the first 100,000 bytes of the response.
fn request(server: &GopherServer, path: &str) -> Vec<u8> {
    let request = path[1..].replace("%09%09", "\t").replace("%09", "\t") + "\r\n";
    let mut stream = TcpStream::connect(server.addr()).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let mut bytes = Vec::new();
    if stream.write_all(request.as_bytes()).is_ok() {
        let _ = stream.take(100_000).read_to_end(&mut bytes);
    }
    bytes
}

#[test]
fn tables_are_consistent() {
    check_table(GOPHER_FAULTS, 137, 414);
    check_table(GOPHER_PLUS_FAULTS, 153, 342);
    check_table(GopherFault::all(), 290, 756);
}

/// Plays one fault and compares the response with the row.
fn check_fault(fault: &GopherFault, cert: &ServerCert) -> std::result::Result<(), String> {
    let fixture = fixture();
    let (server, _) = fault.serve(Transport::Plain, &fixture, cert).unwrap();
    let bytes = request(&server, fault.path);
    let error =
        |why: &str| Err(format!("{}: {why}: {}", fault.name, bytes[..bytes.len().min(200)].escape_ascii()));
    // In these rows the response is empty.
    let is_silent = ["_0", "at_once", "nothing"].iter().any(|part| fault.name.ends_with(part));
    if bytes.is_empty() && !is_silent && !fault.path.ends_with('?') {
        return error("no response");
    }
    if let (FaultResult::Exactly(content), 0, []) = (fault.result, fault.exit, fault.arguments) {
        let content = content(&fixture);
        let start = &content[..content.len().min(9)];
        let is_sent = bytes.windows(start.len().max(1)).any(|window| window == start);
        let is_changed = fault.name.starts_with("moved") || fault.name.contains("stuffed");
        if !is_sent && !content.is_empty() && !is_changed {
            return error("the stored content is not in the response");
        }
    }
    Ok(())
}

#[test]
fn every_fault_is_played() {
    let cert = ServerCert::good().unwrap();
    let is_slow = |fault: &GopherFault| fault.arguments.contains(&"-m");
    let plain = GopherFault::all().filter(|fault| fault.transports.contains(&Transport::Plain));
    let faults: Vec<_> = plain.filter(|fault| !is_slow(fault)).collect();
    check_in_parallel(&faults, 16, |fault| check_fault(fault, &cert));
}
