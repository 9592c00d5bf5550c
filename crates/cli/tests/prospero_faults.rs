//! The prospero column of the fault matrix (SECURITY.md, section 3) through the real binary: every fault of
//! [`ProsperoFault::all`], with an older file under the name and without.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::net::UdpSocket;

use fetch_url_tests::{
    Before, ProsperoAct, ProsperoFault, ProsperoFaultSetting, ProsperoObject, ProsperoOn, ProsperoResult,
    ProsperoServer, ProsperoSite, Target,
};
use support::outcome::{disk_is_clean, is_exactly, shows, talk_is_clean};
use support::sound::measured;
use support::{Ran, ensure, fetch, in_parallel};

const THREADS: usize = 8;
/// In KiB; SECURITY.md, N8.
const MEMORY: u64 = 64 * 1024;
/// A request and its repeats go to one server; an honest client has no more to say than this.
const MOST_DATAGRAMS: usize = 30_000;

/// Where a chain of access methods may end.
const SCHEMES: [&str; 5] = ["prospero", "ftp", "gopher", "wais", "telnet"];

/// The scheme of the URL that the talk names; without one, that of all URLs here.
fn named(ran: &Ran) -> &'static str {
    let is_named = |scheme: &&str| ran.stderr.contains(&format!("fetch-url: {scheme}://"));
    SCHEMES.into_iter().find(|scheme| is_named(scheme)).unwrap_or("prospero")
}

fn one_fault(fault: &ProsperoFault, before: Before, setting: &ProsperoFaultSetting) -> Result<(), String> {
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
        ProsperoResult::Is(content) => is_exactly(octets, &content(setting)),
        ProsperoResult::Shows(words) => shows(octets, words),
    });
    checked.map_err(told)?;
    let came = server.datagrams().len();
    ensure(came < MOST_DATAGRAMS, || told(format!("{came} datagrams")))?;
    talk_is_clean(&ran, named(&ran), fault.says).map_err(told)
}

#[test]
fn every_fault_ends_as_the_matrix_says() {
    let setting = ProsperoFaultSetting::default();
    let rows: Vec<_> =
        ProsperoFault::all().flat_map(|fault| Before::ALL.map(|before| (fault, before))).collect();
    assert!(rows.len() > 200, "{}", rows.len());
    in_parallel(&rows, THREADS, |(fault, before)| one_fault(fault, *before, &setting));
}

/// Nobody listens: the system says so, if the client lets it.
#[test]
fn nobody_is_there() {
    let port =
        UdpSocket::bind(("127.0.0.1", 0)).and_then(|socket| socket.local_addr()).expect("a port").port();
    let ran = fetch(["--read-timeout", "2", &format!("prospero://127.0.0.1:{port}//srv/x")]);
    assert!([7, 28].contains(&ran.exit), "{ran:?}");
    talk_is_clean(&ran, "prospero", &[]).expect("clean talk");
}

/// Contents without an end stream, and stop where the caller says.
#[test]
fn contents_without_an_end() {
    let head = b"ATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE DATA x".to_vec();
    let object = ProsperoObject::elsewhere().access(&["PROSPERO-CONTENTS", "", "", "", ""]);
    let site = ProsperoSite::new().object("/srv/x", object);
    let endless = ProsperoAct::Endless(head, b"x".to_vec());
    let server = ProsperoServer::start(site.on(ProsperoOn::Contents, endless)).expect("a server");
    let (memory, ran) = measured(&["-o", "/dev/null", "--max-filesize", "20M", &server.url("/srv/x")]);
    ran.exits(63);
    assert!(memory > 0 && memory < MEMORY, "{memory} KiB");
}
