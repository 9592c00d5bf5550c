//! The http column of the fault matrix (SECURITY.md, section 3) through the real binary: every fault of
//! [`HTTP_FAULTS`], with an older file under the name and without.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::time::Duration;

use fetch_url_tests::{
    Before, Fault, FaultCase, FaultSetting, HTTP_FAULTS, HttpReply, HttpRequest, HttpServer, ServerCert,
    Target, Transport, file_handler,
};
use support::sound::{disk_is_sound, report_is_one_line};
use support::{ensure, fetch, first_then, in_parallel, journal_of, part_of, tagged};

const THREADS: usize = 12;

fn setting(elsewhere: &HttpServer) -> FaultSetting {
    FaultSetting {
        stall: Duration::from_secs(12),
        elsewhere: elsewhere.addr().to_string(),
        ..FaultSetting::default()
    }
}

fn one_fault(
    fault: &'static Fault,
    before: Before,
    setting: &FaultSetting,
    cert: &ServerCert,
    ca: &str,
) -> Result<(), String> {
    let target = Target::new(before).expect("a directory");
    let server = fault.serve(setting.clone(), cert).expect("a server");
    let url = server.url("/a");
    let path = target.path();
    let output = path.to_str().expect("a path in UTF-8");
    let ran = fetch(["--read-timeout", "1.5", "--cacert", ca, "-o", output, &url]);
    let told =
        |why: String| format!("{} {before:?}: {why} (exit {}, {})", fault.name, ran.exit, ran.stderr.trim());
    ensure(fault.accepts(ran.exit), || told(format!("expected {} or {:?}", fault.expect, fault.also)))?;
    disk_is_sound(&target, ran.exit, &setting.content).map_err(told)?;
    report_is_one_line(&ran, &server.url("/")).map_err(told)?;
    ensure(fault.keeps_part || target.leftovers().is_ok_and(|left| left.is_empty()), || {
        told(format!("leaves {:?}", target.leftovers()))
    })
}

#[test]
fn every_fault_ends_as_the_matrix_says() {
    let elsewhere = HttpServer::start(|_| HttpReply::new(200).body("elsewhere")).expect("a server");
    let setting = setting(&elsewhere);
    let cert = ServerCert::good().expect("a certificate");
    let files = cert.written().expect("its files");
    let ca = files.ca.to_str().expect("a path in UTF-8");
    let rows: Vec<(&'static Fault, Before)> =
        HTTP_FAULTS.iter().flat_map(|fault| Before::ALL.map(|before| (fault, before))).collect();
    in_parallel(&rows, THREADS, |(fault, before)| one_fault(fault, *before, &setting, &cert, ca));
    assert_eq!(elsewhere.connections(), 0, "something followed a redirect to where it must not go");
}

/// The fault with a strong validator, so that what came can be used; then an honest server.
fn one_convergence(fault: &'static Fault, before: Before, setting: &FaultSetting) -> Result<(), String> {
    let target = Target::new(before).expect("a directory");
    let (reply, shared, content) = (fault.reply, setting.clone(), setting.content.clone());
    let faulty = move |request: &HttpRequest| {
        reply(&FaultCase { request, setting: &shared })
            .header("ETag", "\"v1\"")
            .header("Accept-Ranges", "bytes")
    };
    let server = first_then(faulty, file_handler(content.clone(), tagged()));
    let (path, url) = (target.path(), server.url("/a"));
    let output = path.to_str().expect("a path in UTF-8");
    let arguments = ["--read-timeout", "1.5", "-C", "-", "-o", output, &url];
    let first = fetch(arguments);
    let told = |why: String| format!("{} {before:?}: {why}; first {}", fault.name, first.stderr.trim());
    ensure(fault.accepts(first.exit), || told(format!("first run: {}", first.exit)))?;
    let kept = std::fs::read(part_of(&path)).unwrap_or_default();
    ensure(!kept.is_empty() && content.starts_with(&kept), || told(format!(".part: {} octets", kept.len())))?;
    ensure(journal_of(&path).exists(), || told("no journal".to_owned()))?;
    let second = fetch(arguments);
    ensure(second.exit == 0, || told(format!("second run: {} {}", second.exit, second.stderr)))?;
    disk_is_sound(&target, 0, &content).map_err(told)?;
    let requests = server.requests();
    let range = requests.last().and_then(|request| request.header_text("range").map(str::to_owned));
    let expected = format!("bytes={}-", kept.len());
    let is_whole = kept.len() == content.len();
    ensure(is_whole || range.as_deref() == Some(expected.as_str()), || told(format!("asked for {range:?}")))
}

#[test]
fn what_is_kept_is_used_by_the_next_run() {
    let nowhere = HttpServer::start(|_| HttpReply::new(200)).expect("a server");
    let setting = setting(&nowhere);
    let rows: Vec<(&'static Fault, Before)> = HTTP_FAULTS
        .iter()
        .filter(|fault| fault.keeps_part && fault.transport == Transport::Plain)
        .flat_map(|fault| Before::ALL.map(|before| (fault, before)))
        .collect();
    assert!(rows.len() > 20, "{}", rows.len());
    in_parallel(&rows, THREADS, |(fault, before)| one_convergence(fault, *before, &setting));
}
