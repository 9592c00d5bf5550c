//! The wais column of the fault matrix (SECURITY.md, section 3) through the real binary: every fault of
//! [`WaisFault::all`], with an older file under the name and without.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::time::Duration;

use fetch_url_tests::{
    Before, Target, WaisAct, WaisDatabase, WaisDocument, WaisFault, WaisFaultSetting, WaisResult, WaisServer,
    WaisSite,
};
use support::outcome::{disk_is_clean, is_exactly, shows, talk_is_clean};
use support::sound::measured;
use support::{ensure, fetch, in_parallel};

const THREADS: usize = 8;
/// In KiB; SECURITY.md, N8.
const MEMORY: u64 = 64 * 1024;

fn setting() -> WaisFaultSetting {
    WaisFaultSetting { stall: Duration::from_secs(20), ..WaisFaultSetting::default() }
}

fn one_fault(fault: &WaisFault, before: Before, setting: &WaisFaultSetting) -> Result<(), String> {
    let server = fault.serve(setting).expect("a server");
    let target = Target::new(before).expect("a directory");
    let (path, url) = (target.path(), fault.url(&server));
    let mut words = vec!["--connect-timeout", "10", "--read-timeout", "2"];
    words.extend(["-o", path.to_str().expect("UTF-8")]);
    words.extend(fault.arguments);
    words.push(&url);
    let ran = fetch(words);
    let told =
        |why: String| format!("{} {before:?}: {why} (exit {}, {})", fault.name, ran.exit, ran.stderr.trim());
    ensure(fault.accepts(ran.exit), || told(format!("expected {} or {:?}", fault.expect, fault.also)))?;
    let checked = disk_is_clean(&target, ran.exit, |octets| match fault.result {
        WaisResult::Is(content) => is_exactly(octets, &content(setting)),
        WaisResult::Shows(words) => shows(octets, words),
    });
    checked.map_err(told)?;
    talk_is_clean(&ran, "wais", fault.says).map_err(told)
}

#[test]
fn every_fault_ends_as_the_matrix_says() {
    let setting = setting();
    let rows: Vec<_> = WaisFault::all().flat_map(|fault| Before::ALL.map(|before| (fault, before))).collect();
    assert!(rows.len() > 100, "{}", rows.len());
    in_parallel(&rows, THREADS, |(fault, before)| one_fault(fault, *before, &setting));
}

/// A document without an end streams, and stops where the caller says.
#[test]
fn a_document_without_an_end() {
    let document = WaisDocument::new("x", "x", "TEXT", "x").id(b"\x03\x01a".as_slice());
    let site = WaisSite::new().database(WaisDatabase::new("t").document(document));
    let server = WaisServer::start(site.always(WaisAct::Endless(b'x'))).expect("a server");
    let url = server.url("t/TEXT/%03%01a");
    let (memory, ran) = measured(&["-o", "/dev/null", "--max-filesize", "20M", &url]);
    ran.exits(63);
    assert!(memory > 0 && memory < MEMORY, "{memory} KiB");
}
