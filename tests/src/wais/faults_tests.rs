//! Every WAIS fault, played once to a client that believes everything.

use std::collections::HashSet;

use super::*;
use crate::wais::asking::{answer, retrieval, search};

fn setting() -> WaisFaultSetting {
    WaisFaultSetting { stall: Duration::from_millis(1), ..WaisFaultSetting::default() }
}

/// The first request for a path.
fn request(path: &str) -> Vec<u8> {
    let path = path.replace("25000/", "").replace("3=a;", "%03%01a");
    let mut rest = path.as_str();
    let mut octets = Vec::new();
    while let Some((before, after)) = rest.split_once('%') {
        octets.extend_from_slice(before.as_bytes());
        octets.push(u8::from_str_radix(&after[..2], 16).unwrap());
        rest = &after[2..];
    }
    octets.extend_from_slice(rest.as_bytes());
    let mut parts = octets.splitn(3, |octet| *octet == b'/');
    let parts = (parts.next().unwrap_or_default(), parts.next(), parts.next());
    if let (database, Some(wtype), Some(id)) = parts {
        return retrieval(database, id, wtype, 0, 10_000);
    }
    let mut parts = octets.splitn(2, |octet| *octet == b'?');
    search(parts.next().unwrap(), parts.next().unwrap_or_default(), 200)
}

#[test]
fn every_fault_has_a_name_of_its_own() {
    let names: HashSet<_> = WaisFault::all().map(|fault| fault.name).collect();
    assert_eq!(names.len(), WaisFault::all().count());
    assert!(names.len() >= 190, "{}", names.len());
    for fault in WaisFault::all() {
        assert!(fault.accepts(fault.expect) && !fault.also.contains(&fault.expect), "{}", fault.name);
        assert_eq!(
            matches!(fault.result, WaisResult::Shows(_)),
            fault.name.starts_with("search_"),
            "{}",
            fault.name
        );
    }
}

#[test]
fn every_fault_is_played() {
    let setting = setting();
    // Nothing is what they are about.
    let silent = ["close_0", "reset_0", "stall_0", "at_once", "no_database_in_id", "no_such_database"];
    let is_silent = |fault: &WaisFault| {
        silent.iter().any(|part| fault.name.ends_with(part))
            && fault.expect != 78
            && !fault.name.starts_with("later")
    };
    let is_slow = |fault: &WaisFault| fault.arguments.contains(&"-m");
    for fault in WaisFault::all().filter(|fault| !is_slow(fault)) {
        let server = fault.serve(&setting).unwrap();
        assert!(
            fault.url(&server).ends_with(fault.path) && fault.url(&server).starts_with("wais://127.0.0.1:")
        );
        let waits = ["length_", "stall"].iter().any(|part| fault.name.contains(part));
        if waits {
            continue;
        }
        let (octets, _) = answer(server.addr(), &request(fault.path));
        let told = format!("{}: {}", fault.name, octets[..octets.len().min(300)].escape_ascii());
        assert_eq!(octets.is_empty(), is_silent(fault), "{told}");
        // What a client stores or shows was sent.
        let has = |wanted: &[u8]| {
            octets.windows(wanted.len().max(1)).any(|window| window == wanted) || wanted.is_empty()
        };
        match (fault.result, fault.expect) {
            (WaisResult::Is(content), 0) => {
                let content = content(&setting);
                assert!(has(&content[..content.len().min(9)]), "{told}");
            }
            (WaisResult::Shows(words), 0) => assert!(words.iter().all(|word| has(word.as_bytes())), "{told}"),
            _ => {}
        }
        if fault.expect == 78 || fault.expect == 92 || fault.expect == 9 {
            assert!(fault.says.iter().all(|word| has(word.as_bytes())), "{told}");
        }
    }
}
