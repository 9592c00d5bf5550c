//! Every Prospero fault, played once to a naive client.

use super::*;
use crate::fault::case::{check_in_parallel, check_table};
use crate::prospero::test_client::TestClient;
use crate::prospero::token::quote;

#[test]
fn tables_are_consistent() {
    check_table(ProsperoFault::all(), 351, 702);
}

/// Returns the bytes of a percent-encoded path.
fn hsoname(path: &str) -> Vec<u8> {
    let mut rest = path.split(';').next().unwrap_or_default();
    let mut bytes = Vec::new();
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        bytes.push(u8::from_str_radix(&after[..2], 16).unwrap());
        rest = &after[2..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

/// Returns the responses to the requests of every client: for attributes, contents and links of the object.
fn responses(server: &ProsperoServer, fault: &ProsperoFault) -> [Option<Vec<u8>>; 3] {
    let version = if fault.path.ends_with("=3") { "3" } else { "0" };
    let (name, version) = (quote(&hsoname(fault.path)), version.as_bytes());
    let info =
        [b"GET-OBJECT-INFO ACCESS-METHOD+UNIX-MODES ASCII ", name.as_slice(), b" ", version, b"\n"].concat();
    let contents = [b"GET-OBJECT-INFO CONTENTS ASCII ", name.as_slice(), b" ", version, b"\n"].concat();
    let list = [b"DIRECTORY ASCII ", name.as_slice(), b"\nLIST '' COMPONENTS\n"].concat();
    let client = TestClient::new(server.addr());
    let mut is_silent = false;
    [(5, info), (6, contents), (7, list)].map(|(id, text)| {
        let response = if is_silent { None } else { client.exchange(id, &text) };
        is_silent = response.is_none();
        response
    })
}

/// Plays one fault and compares the responses with the row.
fn check_fault(
    fault: &ProsperoFault,
    fixture: &FaultFixture,
    cert: &ServerCert,
) -> std::result::Result<(), String> {
    let (server, _) = fault.serve(Transport::Plain, fixture, cert).unwrap();
    let responses = responses(&server, fault);
    let without_quotes = |bytes: &[u8]| bytes.iter().copied().filter(|byte| *byte != b'\'').collect();
    let all: Vec<u8> = without_quotes(&responses.iter().flatten().flatten().copied().collect::<Vec<_>>());
    let contains = |wanted: &[u8]| {
        let wanted: Vec<u8> = without_quotes(wanted);
        wanted.is_empty() || all.windows(wanted.len()).any(|window| window == wanted)
    };
    let contains_all = |words: &[&str]| words.iter().all(|word| contains(word.as_bytes()));
    // The content of these rows is on another server, or under another name.
    let is_elsewhere = ["forwarded", "redirect"].iter().any(|part| fault.name.starts_with(part));
    let is_result_sent = match (fault.result, fault.exit) {
        (FaultResult::Exactly(content), 0) if !is_elsewhere => {
            let content = content(fixture);
            contains(&content[..content.len().min(900)])
        }
        (FaultResult::Contains(words), 0) => contains_all(words),
        _ => true,
    };
    let code = match fault.exit {
        9 => "NOT-AUTHORIZED",
        67 => "AUTHENTICATION-",
        8 if fault.name.contains("server_failed") => "FAILURE SERVER-FAILED",
        _ => "",
    };
    let is_uncertain = fault.other_exits.contains(&8) || fault.other_exits.contains(&1);
    let is_code_sent = contains(code.as_bytes()) || is_uncertain;
    let is_silent = fault.exit != 28 || responses.iter().any(Option::is_none);
    if is_result_sent && contains_all(fault.message) && is_code_sent && is_silent {
        return Ok(());
    }
    let start = |text: &Option<Vec<u8>>| {
        text.as_ref().map(|text| text[..text.len().min(200)].escape_ascii().to_string())
    };
    Err(format!("{}: {:?}", fault.name, responses.each_ref().map(start)))
}

#[test]
fn every_fault_is_played() {
    let (fixture, cert) = (ProsperoServer::fixture(), ServerCert::good().unwrap());
    // These rows take long, or need a client with timeouts.
    let is_slow = |fault: &ProsperoFault| {
        ["endless", "million", "mib", "drip", "limit", "name_long", "are_late", "then_late"]
            .iter()
            .any(|part| fault.name.contains(part))
    };
    let faults: Vec<_> = ProsperoFault::all().filter(|fault| !is_slow(fault)).collect();
    check_in_parallel(&faults, 8, |fault| check_fault(fault, &fixture, &cert));
}
