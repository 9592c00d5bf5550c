//! Every WAIS fault, played once to a naive client.

use std::time::Duration;

use super::*;
use crate::fault::case::{check_in_parallel, check_table};
use crate::wais::test_client::{exchange, retrieval, search};

fn fixture() -> FaultFixture {
    FaultFixture { stall: Duration::from_millis(1), ..WaisServer::fixture() }
}

/// Returns the first request for a path.
fn request(path: &str) -> Vec<u8> {
    let path = path.replace("25000/", "").replace("3=a;", "%03%01a");
    let mut rest = path.as_str();
    let mut bytes = Vec::new();
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        bytes.push(u8::from_str_radix(&after[..2], 16).unwrap());
        rest = &after[2..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    let mut parts = bytes.splitn(3, |byte| *byte == b'/');
    let parts = (parts.next().unwrap_or_default(), parts.next(), parts.next());
    if let (database, Some(wtype), Some(id)) = parts {
        return retrieval(database, id, wtype, 0, 10_000);
    }
    let mut parts = bytes.splitn(2, |byte| *byte == b'?');
    search(parts.next().unwrap(), parts.next().unwrap_or_default(), 200)
}

#[test]
fn tables_are_consistent() {
    check_table(WaisFault::all(), 200, 400);
    for fault in WaisFault::all() {
        let is_search = matches!(fault.result, FaultResult::Contains(_));
        assert_eq!(is_search, fault.name.starts_with("search_"), "{}", fault.name);
    }
}

/// Returns `true` for rows whose first response is empty.
fn is_silent(fault: &WaisFault) -> bool {
    let ends = ["close_0", "reset_0", "stall_0", "at_once", "no_database_in_id", "no_such_database"];
    let is_later = fault.name.starts_with("later");
    ends.iter().any(|end| fault.name.ends_with(end)) && fault.exit != 78 && !is_later
}

/// Plays one fault and compares the first response with the row.
fn check_fault(fault: &WaisFault, cert: &ServerCert) -> std::result::Result<(), String> {
    let fixture = fixture();
    let (server, _) = fault.serve(Transport::Plain, &fixture, cert).unwrap();
    let (bytes, _) = exchange(server.addr(), &request(fault.path));
    let contains = |wanted: &[u8]| {
        bytes.windows(wanted.len().max(1)).any(|window| window == wanted) || wanted.is_empty()
    };
    let contains_all = |words: &[&str]| words.iter().all(|word| contains(word.as_bytes()));
    let is_expected = match (fault.result, fault.exit) {
        (FaultResult::Exactly(content), 0) => {
            let content = content(&fixture);
            contains(&content[..content.len().min(9)])
        }
        (FaultResult::Contains(words), 0) => contains_all(words),
        (_, 9 | 78 | 92) => contains_all(fault.message),
        _ => true,
    };
    if bytes.is_empty() == is_silent(fault) && is_expected {
        return Ok(());
    }
    Err(format!("{}: {}", fault.name, bytes[..bytes.len().min(300)].escape_ascii()))
}

#[test]
fn every_fault_is_played() {
    let cert = ServerCert::good().unwrap();
    // These rows need a client with timeouts.
    let is_slow = |fault: &WaisFault| {
        fault.arguments.contains(&"-m") || ["length_", "stall"].iter().any(|part| fault.name.contains(part))
    };
    let faults: Vec<_> = WaisFault::all().filter(|fault| !is_slow(fault)).collect();
    check_in_parallel(&faults, 8, |fault| check_fault(fault, &cert));
}
