//! Interrupted downloads: signals, SIGKILL, a second process with the same output file, and a closed pipe.

use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::support::{
    OVERLAP, check_in_parallel, ensure, fetch_url_command, http_server, http_server_first_then,
    part_metadata_path, part_path, run_fetch_url, run_shell, send_signal, spawn_fetch_url,
    strong_etag_headers, temp_dir, wait_for_exit, wait_until,
};
use fetch_url_tests::{HttpRequest, HttpResponse, HttpServer, OldFile, Target, file_handler, pattern_vec};

const SIZE: usize = 400_000;

fn content() -> Vec<u8> {
    pattern_vec(0, SIZE)
}

/// Sends the content within five seconds, so that a test can act during the transfer.
fn send_slowly(_: &HttpRequest) -> HttpResponse {
    let reply = HttpResponse::new(200).header("ETag", "\"v1\"").header("Accept-Ranges", "bytes");
    reply.body(content()).drip(4000, Duration::from_millis(50))
}

fn spawn_resuming(target: &Target, url: &str) -> Child {
    spawn_fetch_url(["-C".as_ref(), "-".as_ref(), "-o".as_ref(), target.path().as_os_str(), url.as_ref()])
}

/// Waits until more than 8,000 bytes are in the `.part` file.
#[track_caller]
fn wait_for_part_file(target: &Target) {
    let part = part_path(&target.path());
    let has_bytes = || fs::metadata(&part).is_ok_and(|metadata| metadata.len() > 8000);
    assert!(wait_until(Duration::from_secs(10), has_bytes), "no data within 10 seconds");
}

#[track_caller]
fn resume_and_check(target: &Target, server: &HttpServer) {
    let path = target.path();
    run_fetch_url(["-C", "-", "-o", path.to_str().expect("UTF-8"), &server.url("/o")]).assert_exit(0);
    assert!(target.content().expect("a file").as_deref() == Some(&content()[..]), "the content differs");
    assert!(target.leftovers().expect("a directory").is_empty());
}

#[test]
fn signal_keeps_part_file_for_resume() {
    for (name, number) in [("TERM", 15), ("INT", 2)] {
        for before in OldFile::ALL {
            let target = Target::new(before).expect("a directory");
            let server = http_server_first_then(send_slowly, file_handler(content(), strong_etag_headers()));
            // Without -C -, which compares an existing file first. The partial file is kept, too.
            let (path, url) = (target.path(), server.url("/o"));
            let child = spawn_fetch_url(["-o".as_ref(), path.as_os_str(), url.as_ref()]);
            wait_for_part_file(&target);
            send_signal(&child, name);
            let signalled = Instant::now();
            let result = wait_for_exit(child);
            assert_eq!(result.signal, Some(number), "{result:?}");
            assert!(signalled.elapsed() < Duration::from_secs(1), "{:?}", signalled.elapsed());
            assert!(!result.stderr.contains("panicked"), "{}", result.stderr);
            assert!(target.is_untouched().expect("a file"), "{name} {before:?}");
            let part = fs::read(part_path(&target.path())).expect("a .part");
            assert!(!part.is_empty() && content().starts_with(&part), "{} bytes", part.len());
            assert!(part_metadata_path(&target.path()).exists());
            assert_eq!(target.leftovers().expect("a directory").len(), 2);
            resume_and_check(&target, &server);
            let requests = server.requests();
            let range = requests.last().and_then(|request| request.header_text("range"));
            assert_eq!(range, Some(format!("bytes={}-", part.len() - OVERLAP).as_str()));
        }
    }
}

/// The second URL is not requested.
#[test]
fn signal_ends_run_with_several_urls() {
    let target = Target::new(OldFile::Absent).expect("a directory");
    let server = http_server_first_then(send_slowly, file_handler(content(), strong_etag_headers()));
    let path = target.path();
    let url = server.url("/o");
    let child = spawn_fetch_url(["-o".as_ref(), path.as_os_str(), url.as_ref(), url.as_ref()]);
    wait_for_part_file(&target);
    send_signal(&child, "TERM");
    assert_eq!(wait_for_exit(child).signal, Some(15));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn signal_before_response_leaves_no_files() {
    let target = Target::new(OldFile::Present).expect("a directory");
    let server = http_server_first_then(
        |_| HttpResponse::raw("").then_stall(Duration::from_secs(20)),
        file_handler(content(), strong_etag_headers()),
    );
    let child = spawn_resuming(&target, &server.url("/o"));
    assert!(wait_until(Duration::from_secs(10), || server.requests().len() == 1));
    send_signal(&child, "TERM");
    assert_eq!(wait_for_exit(child).signal, Some(15));
    assert!(target.is_untouched().expect("a file"));
    assert_eq!(target.leftovers().expect("a directory"), Vec::<std::path::PathBuf>::new());
    resume_and_check(&target, &server);
}

fn kill_and_resume(number: u64, before: OldFile) -> Result<(), String> {
    let target = Target::new(before).expect("a directory");
    let serve_file = file_handler(content(), strong_etag_headers());
    let server = http_server(move |request| serve_file(request).drip(20_000, Duration::from_millis(10)));
    let path = target.path();
    // Up to three SIGKILLs in a row, at times spread over start, transfer and rename.
    for round in 0..1 + number % 3 {
        let mut child = spawn_resuming(&target, &server.url("/o"));
        std::thread::sleep(Duration::from_millis((number * 37 + round * 91) % 280));
        let has_ended = child.try_wait().expect("a child").is_some();
        child.kill().expect("a child");
        let result = wait_for_exit(child);
        ensure(has_ended || result.signal == Some(9) || result.exit == 0, || {
            format!("{number}: {result:?}")
        })?;
        let now = target.content().expect("readable");
        let is_old_or_complete = now.as_deref() == before.content() || now.as_deref() == Some(&content()[..]);
        ensure(is_old_or_complete, || {
            format!("{number}: the target has {:?} bytes", now.map(|now| now.len()))
        })?;
        let others = target.leftovers().expect("a directory");
        let is_part_file =
            |path: &std::path::PathBuf| path.to_string_lossy().contains("target.bin.fetch-url.");
        ensure(others.iter().all(is_part_file), || format!("{number}: {others:?}"))?;
    }
    let result = run_fetch_url(["-C", "-", "-o", path.to_str().expect("UTF-8"), &server.url("/o")]);
    ensure(result.exit == 0, || format!("{number}: {result:?}"))?;
    ensure(target.content().expect("readable").as_deref() == Some(&content()[..]), || {
        format!("{number}: the content differs")
    })?;
    let left = target.leftovers().expect("a directory");
    ensure(left.is_empty(), || format!("{number}: leaves {left:?}"))
}

#[test]
fn transfer_completes_after_kills_at_any_time() {
    let rows: Vec<(u64, OldFile)> =
        (0..20).map(|number| (number, OldFile::ALL[number as usize % 2])).collect();
    check_in_parallel(&rows, 5, |(number, before)| kill_and_resume(*number, *before));
}

/// The `.fetch-url.json` file is written every five seconds, so a SIGKILL loses at most the last five seconds.
#[test]
fn kill_after_metadata_was_written_keeps_part_file() {
    let target = Target::new(OldFile::Absent).expect("a directory");
    let server = http_server_first_then(
        |request| send_slowly(request).drip(1500, Duration::from_millis(50)),
        file_handler(content(), strong_etag_headers()),
    );
    let mut child = spawn_resuming(&target, &server.url("/o"));
    let metadata = part_metadata_path(&target.path());
    assert!(wait_until(Duration::from_secs(9), || metadata.exists()), "no .fetch-url.json within 9 seconds");
    child.kill().expect("a child");
    wait_for_exit(child);
    assert!(target.is_untouched().expect("a file"));
    resume_and_check(&target, &server);
    let requests = server.requests();
    let range = requests.last().and_then(|request| request.header_text("range").map(str::to_owned));
    assert!(range.as_deref().is_some_and(|range| range != "bytes=0-"), "started again: {range:?}");
}

#[test]
fn second_process_with_same_output_exits_with_2_at_once() {
    for before in OldFile::ALL {
        let target = Target::new(before).expect("a directory");
        let server = http_server(|request| send_slowly(request).drip(8000, Duration::from_millis(25)));
        let first = spawn_resuming(&target, &server.url("/o"));
        wait_for_part_file(&target);
        let connections = server.connections();
        let path = target.path();
        for resume in [&["-C", "-"][..], &[]] {
            let start = Instant::now();
            let output = ["-o", path.to_str().expect("UTF-8")];
            let result = run_fetch_url([resume, &output, &[server.url("/o").as_str()]].concat());
            result.assert_exit(2);
            assert!(start.elapsed() < Duration::from_secs(1));
        }
        assert_eq!(server.connections(), connections, "the second process connected to the server");
        wait_for_exit(first).assert_exit(0);
        assert!(target.content().expect("a file").as_deref() == Some(&content()[..]));
        assert!(target.leftovers().expect("a directory").is_empty());
    }
}

#[test]
fn closed_pipe_exits_with_23_silently() {
    let server = http_server(file_handler(pattern_vec(0, 4_000_000), strong_etag_headers()));
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), pattern_vec(0, 4_000_000)).expect("a file");
    let directory = temp_dir();
    for number in 0..3000 {
        fs::write(directory.path().join(format!("a-rather-long-name-of-a-file-{number:060}")), "")
            .expect("a file");
    }
    let file = format!("file://{}", file.path().display());
    let listing = format!("file://{}/", directory.path().display());
    for url in [server.url("/o"), file, listing] {
        let result = run_shell("{ \"$F\" \"$1\"; echo \"exit $?\" >&2; } | head -c 10 >/dev/null", [&url]);
        assert_eq!(result.stderr, "exit 23\n", "{url}");
        let result =
            run_shell("{ \"$F\" \"$1\" \"$1\"; echo \"exit $?\" >&2; } | head -c 10 >/dev/null", [&url]);
        assert_eq!(result.stderr, "exit 23\n", "{url} twice");
    }
    let script = "{ sleep 1; \"$F\" explain http://h/; echo \"exit $?\" >&2; } | true";
    assert_eq!(run_shell(script, [""]).stderr, "exit 23\n");
}

/// Waits until the program has sent requests and sends no more.
fn stops_requesting(server: &HttpServer) -> bool {
    let mut count = usize::MAX;
    wait_until(Duration::from_secs(30), || {
        let before = std::mem::replace(&mut count, server.requests().len());
        std::thread::sleep(Duration::from_millis(500));
        count > 0 && before == count
    })
}

/// The main thread is blocked in a write to standard error, because the pipe is full and not read.
#[test]
fn signal_ends_a_run_that_is_blocked_on_standard_error() {
    let server = HttpServer::start(|_| HttpResponse::new(200).body("x")).expect("a server");
    // The wire trace of so many responses fills the pipe.
    let urls: Vec<String> = (0..1500).map(|number| server.url(&format!("/{number}"))).collect();
    let options = ["-v", "-o", "/dev/null"].map(str::to_owned);
    let mut child = spawn_fetch_url(options.iter().chain(&urls));
    assert!(stops_requesting(&server), "the pipe does not fill");
    send_signal(&child, "TERM");
    let is_ended = || child.try_wait().is_ok_and(|status| status.is_some());
    assert!(wait_until(Duration::from_secs(30), is_ended), "the signal is not heard");
    assert_eq!(wait_for_exit(child).signal, Some(15));
}

/// Options whose output fills a pipe that is not read. It is full after 64 KiB.
const PRINTING_OPTIONS: [&[&str]; 4] = [
    &["-w", "%{url}", "-o", "/dev/null"],
    &["-v", "-o", "/dev/null"],
    &["--trace", "-", "-o", "/dev/null"],
    &["--events", "-", "-o", "/dev/null"],
];

/// Returns URLs, each of which needs most of a pipe.
fn long_urls(server: &HttpServer) -> Vec<String> {
    let long = "x".repeat(40_000);
    (0..4).map(|number| server.url(&format!("/{number}{long}"))).collect()
}

#[test]
fn signal_ends_a_run_that_is_blocked_on_output() {
    let cases: Vec<_> =
        PRINTING_OPTIONS.iter().flat_map(|options| [(options, "INT", 2), (options, "TERM", 15)]).collect();
    check_in_parallel(&cases, 2, |&(options, name, number)| {
        let server = http_server(|_| HttpResponse::new(200).body("x"));
        let mut command = fetch_url_command();
        command.args(*options).args(long_urls(&server)).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary can be started");
        assert!(stops_requesting(&server), "{options:?}: it is not blocked");
        send_signal(&child, name);
        let is_ended = || child.try_wait().is_ok_and(|status| status.is_some());
        assert!(wait_until(Duration::from_secs(30), is_ended), "{options:?}: {name} is not heard");
        let signal = wait_for_exit(child).signal;
        ensure(signal == Some(number), || format!("{options:?} {name}: {signal:?}"))
    });
}

#[test]
fn max_time_ends_a_run_that_is_blocked_on_output() {
    let server = HttpServer::start(|_| HttpResponse::new(200).body("x")).expect("a server");
    let urls = long_urls(&server);
    for options in PRINTING_OPTIONS {
        let mut command = fetch_url_command();
        command.args(options).args(["-m", "1"]).args(&urls).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary can be started");
        let mut status = None;
        let is_ended = || {
            status = child.try_wait().expect("a child process");
            status.is_some()
        };
        assert!(wait_until(Duration::from_secs(30), is_ended), "{options:?}: -m has no effect");
        assert_eq!(status.and_then(|status| status.code()), Some(28), "{options:?}");
    }
}
