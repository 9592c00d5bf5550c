//! Every gopher fault, played once to a client that believes everything.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::TcpStream;

use super::*;
use crate::{GOPHER_FAULTS, GOPHER_PLUS_FAULTS};

fn faults() -> impl Iterator<Item = &'static GopherFault> {
    GOPHER_FAULTS.iter().chain(GOPHER_PLUS_FAULTS)
}

fn setting() -> GopherFaultSetting {
    GopherFaultSetting { stall: Duration::from_millis(1), ..GopherFaultSetting::default() }
}

/// What the server sends for the URL's own request, at most 100,000 octets of it.
fn naive(server: &GopherServer, path: &str) -> Vec<u8> {
    let request = path[1..].replace("%09%09", "\t").replace("%09", "\t") + "\r\n";
    let mut stream = TcpStream::connect(server.addr()).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let mut octets = Vec::new();
    if stream.write_all(request.as_bytes()).is_ok() {
        let _ = stream.take(100_000).read_to_end(&mut octets);
    }
    octets
}

#[test]
fn every_fault_has_a_name_of_its_own() {
    let names: HashSet<_> = faults().map(|fault| fault.name).collect();
    assert_eq!(names.len(), faults().count());
    assert!(names.len() >= 200, "{}", names.len());
    for fault in faults() {
        assert!(fault.accepts(fault.expect) && !fault.transports.is_empty(), "{}", fault.name);
        let is_clear = fault.transports.contains(&Transport::Plain);
        assert!(fault.cert == GopherFaultCert::Good || !is_clear, "{}", fault.name);
    }
}

#[test]
fn every_fault_is_played() {
    let (setting, cert) = (setting(), ServerCert::good().unwrap());
    // Nothing is what they are about.
    let silent = |name: &str| ["_0", "at_once", "nothing"].iter().any(|part| name.ends_with(part));
    let is_slow = |fault: &GopherFault| fault.arguments.contains(&"-m");
    let clear = faults().filter(|fault| fault.transports.contains(&Transport::Plain));
    for fault in clear.filter(|fault| !is_slow(fault)) {
        let (server, _) = fault.serve(Transport::Plain, &setting, &cert).unwrap();
        let octets = naive(&server, fault.path);
        let told = format!("{}: {}", fault.name, octets[..octets.len().min(200)].escape_ascii());
        assert!(!octets.is_empty() || silent(fault.name) || fault.path.ends_with('?'), "{told}");
        // What a client stores was sent.
        if let (GopherResult::Is(content), 0, []) = (fault.result, fault.expect, fault.arguments) {
            let content = content(&setting);
            let start = &content[..content.len().min(9)];
            let is_sent = octets.windows(start.len().max(1)).any(|window| window == start);
            let is_changed = fault.name.starts_with("moved") || fault.name.contains("stuffed");
            assert!(is_sent || content.is_empty() || is_changed, "{told}");
        }
    }
}

#[test]
fn certificates_are_as_wrong_as_they_are_called() {
    let (setting, cert) = (setting(), ServerCert::good().unwrap());
    for fault in faults().filter(|fault| fault.cert != GopherFaultCert::Good) {
        let (server, ca) = fault.serve(Transport::Tls, &setting, &cert).unwrap();
        assert_eq!(ca == cert.ca_pem(), fault.cert == GopherFaultCert::SelfSigned, "{}", fault.name);
        assert!(fault.url(&server).starts_with("gophers://") && fault.url(&server).ends_with(fault.path));
    }
}
