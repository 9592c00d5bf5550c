//! The HTTP column of the fault matrix (docs/spec/faults.md, section 3): every fault of [`HTTP_FAULTS`] is played
//! against the real binary, once with an older file under the target name and once without.

use crate::support::fault_checks::{check_error_report, check_target_and_part};
use crate::support::fault_runner::{FaultRunner, THREADS};
use crate::support::{
    OVERLAP, check_in_parallel, ensure, http_server_first_then, part_metadata_path, part_path, run_fetch_url,
    strong_etag_headers,
};
use fetch_url_tests::{
    FaultCase, HTTP_FAULTS, HttpFaultRequest, HttpRequest, HttpResponse, HttpServer, OldFile, Target,
    Transport, file_handler,
};

#[test]
fn every_fault_exits_with_the_code_of_the_matrix() {
    let other_server = HttpServer::start(|_| HttpResponse::new(200).body("elsewhere")).expect("start server");
    let mut runner = FaultRunner::new::<HttpServer>();
    runner.fixture.elsewhere = other_server.addr().to_string();
    // The message names a URL on this server, even after redirects.
    runner.check_table(HTTP_FAULTS, |case, result| check_error_report(result, &case.server.url("/")));
    assert_eq!(other_server.connections(), 0, "a redirect to a forbidden target was followed");
}

/// Runs once against the fault with a strong ETag and once against a correct server. Checks the range of the second
/// run.
fn check_next_run_resumes(case: &FaultCase<HttpServer>, runner: &FaultRunner) -> Result<(), String> {
    let target = Target::new(case.old_file).expect("create target directory");
    let (play, fixture, content) = (case.fault.play, runner.fixture.clone(), &runner.fixture.content);
    let faulty = move |request: &HttpRequest| {
        play(&HttpFaultRequest { request, fixture: &fixture })
            .header("ETag", "\"v1\"")
            .header("Accept-Ranges", "bytes")
    };
    let server = http_server_first_then(faulty, file_handler(content.clone(), strong_etag_headers()));
    let (path, url) = (target.path(), server.url("/a"));
    let output = path.to_str().expect("valid UTF-8");
    let arguments = ["--read-timeout", "1.5", "-C", "-", "-o", output, &url];
    let first = run_fetch_url(arguments);
    let fail = |why: String| format!("{case}: {why}; first run: {} {}", first.exit, first.stderr.trim());
    ensure(case.fault.accepts(first.exit), || fail("exit status".to_owned()))?;
    let part = std::fs::read(part_path(&path)).unwrap_or_default();
    ensure(!part.is_empty() && content.starts_with(&part), || fail(format!(".part: {} bytes", part.len())))?;
    ensure(part_metadata_path(&path).exists(), || fail("no .part.json file".to_owned()))?;
    let second = run_fetch_url(arguments);
    ensure(second.exit == 0, || fail(format!("second run: {} {}", second.exit, second.stderr)))?;
    check_target_and_part(&target, 0, content).map_err(fail)?;
    let requests = server.requests();
    let range = requests.last().and_then(|request| request.header_text("range").map(str::to_owned));
    let expected = format!("bytes={}-", part.len() - OVERLAP.min(part.len() - 1));
    let is_complete = part.len() == content.len();
    ensure(is_complete || range.as_deref() == Some(expected.as_str()), || {
        fail(format!("the Range header is {range:?}"))
    })
}

#[test]
fn kept_part_is_resumed_by_the_next_run() {
    let runner = FaultRunner::new::<HttpServer>();
    // With an existing file, `-C -` first compares its end: resume/existing_files.rs.
    let is_kept = |case: &FaultCase<HttpServer>| {
        case.fault.keeps_part && case.transport == Transport::Plain && case.old_file == OldFile::Absent
    };
    let mut cases = FaultCase::all(HTTP_FAULTS);
    cases.retain(is_kept);
    assert!(cases.len() > 15, "{}", cases.len());
    check_in_parallel(&cases, THREADS, |case| check_next_run_resumes(case, &runner));
}
