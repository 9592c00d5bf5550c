//! Every Prospero fault, played once to a client that believes everything.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::prospero::asking::Asking;
use crate::prospero::token::quoted;

#[test]
fn every_fault_has_a_name_of_its_own() {
    let names: HashSet<_> = ProsperoFault::all().map(|fault| fault.name).collect();
    assert_eq!(names.len(), ProsperoFault::all().count());
    assert!(names.len() >= 300, "{}", names.len());
    for fault in ProsperoFault::all() {
        assert!(fault.accepts(fault.expect) && !fault.also.contains(&fault.expect), "{}", fault.name);
    }
}

/// The octets that a path means.
fn hsoname(path: &str) -> Vec<u8> {
    let mut rest = path.split(';').next().unwrap_or_default();
    let mut octets = Vec::new();
    while let Some((before, after)) = rest.split_once('%') {
        octets.extend_from_slice(before.as_bytes());
        octets.push(u8::from_str_radix(&after[..2], 16).unwrap());
        rest = &after[2..];
    }
    octets.extend_from_slice(rest.as_bytes());
    octets
}

/// What is answered to the questions that every client has: about the object, its octets, and its links.
fn answers(server: &ProsperoServer, fault: &ProsperoFault) -> [Option<Vec<u8>>; 3] {
    let version = if fault.path.ends_with("=3") { "3" } else { "0" };
    let (name, version) = (quoted(&hsoname(fault.path)), version.as_bytes());
    let info =
        [b"GET-OBJECT-INFO ACCESS-METHOD+UNIX-MODES ASCII ", name.as_slice(), b" ", version, b"\n"].concat();
    let contents = [b"GET-OBJECT-INFO CONTENTS ASCII ", name.as_slice(), b" ", version, b"\n"].concat();
    let list = [b"DIRECTORY ASCII ", name.as_slice(), b"\nLIST '' COMPONENTS\n"].concat();
    let client = Asking::new(server.addr());
    let mut is_silent = false;
    [(5, info), (6, contents), (7, list)].map(|(id, text)| {
        let answer = if is_silent { None } else { client.answer(id, &text) };
        is_silent = answer.is_none();
        answer
    })
}

fn one_fault(fault: &ProsperoFault, setting: &ProsperoFaultSetting) {
    let server = fault.serve(setting).unwrap();
    let url = fault.url(&server);
    assert!(url.ends_with(&format!("/{}", fault.path)) && url.starts_with("prospero://127.0.0.1:"), "{url}");
    let answers = answers(&server, fault);
    let all = answers.iter().flatten().flatten().copied();
    let all: Vec<u8> = all.filter(|octet| *octet != b'\'').collect();
    let has = |wanted: &[u8]| {
        let wanted: Vec<u8> = wanted.iter().copied().filter(|octet| *octet != b'\'').collect();
        wanted.is_empty() || all.windows(wanted.len()).any(|window| window == wanted)
    };
    let told = || {
        let clip = |text: &Option<Vec<u8>>| {
            text.as_ref().map(|text| text[..text.len().min(200)].escape_ascii().to_string())
        };
        format!("{}: {:?}", fault.name, answers.each_ref().map(clip))
    };
    // What a client stores or shows was sent, unless it is somewhere else.
    let is_elsewhere = ["forwarded", "redirect"].iter().any(|part| fault.name.starts_with(part));
    match (fault.result, fault.expect) {
        (ProsperoResult::Is(content), 0) if !is_elsewhere => {
            let content = content(setting);
            assert!(has(&content[..content.len().min(900)]), "{}", told());
        }
        (ProsperoResult::Shows(words), 0) => {
            assert!(words.iter().all(|word| has(word.as_bytes())), "{}", told())
        }
        _ => {}
    }
    assert!(fault.says.iter().all(|word| has(word.as_bytes())), "{}", told());
    let code = match fault.expect {
        9 => Some("NOT-AUTHORIZED"),
        67 => Some("AUTHENTICATION-"),
        92 => Some("FAILURE SERVER-FAILED"),
        _ => None,
    };
    assert!(
        code.is_none_or(|code| has(code.as_bytes()) || fault.also.contains(&8) || fault.also.contains(&1)),
        "{}",
        told()
    );
    if fault.expect == 28 {
        assert!(answers.iter().any(Option::is_none), "{}", told());
    }
}

#[test]
fn every_fault_is_played() {
    let setting = ProsperoFaultSetting::default();
    // They take long, or are for clients that know more.
    let is_slow = |fault: &ProsperoFault| {
        ["endless", "million", "mib", "drip", "limit", "name_long", "are_late", "then_late"]
            .iter()
            .any(|part| fault.name.contains(part))
    };
    let faults: Vec<_> = ProsperoFault::all().filter(|fault| !is_slow(fault)).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some(fault) = faults.get(next.fetch_add(1, Ordering::Relaxed)) {
                    one_fault(fault, &setting);
                }
            });
        }
    });
}
