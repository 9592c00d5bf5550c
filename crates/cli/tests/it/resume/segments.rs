//! `--segments`: one file over several connections. If its segments are not of one version, it is fetched again over one.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use crate::support::fault_checks::check_target_and_part;
use crate::support::{
    RunResult, part_metadata_path, part_path, run_fetch_url, run_fetch_url_in, send_signal, spawn_fetch_url,
    strong_etag_headers, temp_dir, wait_for_exit, wait_until,
};
use fetch_url_tests::{
    Ending, FileHeaders, FtpAction, FtpConfig, FtpRule, FtpServer, FtpTrigger, HttpRequest, HttpResponse,
    HttpServer, OldFile, Target, file_handler, pattern_vec,
};

const SIZE: usize = 5 * 1024 * 1024 + 7;
const MODIFIED: &str = "19941201123456";

fn content() -> Vec<u8> {
    pattern_vec(0, SIZE)
}

fn test_site() -> FtpConfig {
    FtpConfig::new().file("/d/o", content()).modified("/d/o", MODIFIED)
}

fn start_server(site: FtpConfig) -> FtpServer {
    FtpServer::start(site).expect("a server")
}

/// Runs `fetch-url --segments 4`.
fn run_in_segments(target: &Target, url: &str, options: &[&str]) -> RunResult {
    let path = target.path();
    let output = path.to_str().expect("a path in UTF-8");
    run_fetch_url([&["--segments", "4", "-o", output], options, &[url]].concat())
}

fn retr_count(server: &FtpServer) -> usize {
    server.received_text().iter().filter(|line| line.starts_with("RETR")).count()
}

fn range_count(server: &HttpServer) -> usize {
    server.requests().iter().filter(|request| request.header_text("range").is_some()).count()
}

#[track_caller]
/// Checks the exit status and the files on disk (docs/spec/faults.md, rules N1 and N4).
fn assert_result(result: &RunResult, exit: i32, target: &Target) {
    result.assert_exit(exit);
    check_target_and_part(target, exit, &content()).expect("a valid target and .part file");
}

#[test]
fn four_segments_over_ftp_use_four_retr() {
    for before in OldFile::ALL {
        let (server, target) = (start_server(test_site()), Target::new(before).expect("a directory"));
        assert_result(&run_in_segments(&target, &server.url("d/o"), &[]), 0, &target);
        assert_eq!(retr_count(&server), 4, "{:?}", server.received_text());
    }
}

#[test]
fn four_segments_over_http_use_four_ranges() {
    let server = HttpServer::start(file_handler(content(), strong_etag_headers())).expect("a server");
    let target = Target::new(OldFile::Present).expect("a directory");
    assert_result(&run_in_segments(&target, &server.url("/o"), &[]), 0, &target);
    assert_eq!(range_count(&server), 4);
}

/// The connections for the segments are opened while the response with the metadata is on its way, not after it.
#[test]
fn connections_for_all_segments_are_open_before_the_metadata_arrives() {
    let (may_answer, may) = mpsc::channel::<()>();
    let may = Mutex::new(may);
    let server = HttpServer::start(move |request| {
        if request.method == "HEAD" {
            let _ = may.lock().expect("no panic").recv_timeout(Duration::from_secs(30));
        }
        file_handler(content(), strong_etag_headers())(request)
    });
    let (server, dir) = (server.expect("a server"), temp_dir());
    let (one, two, url) = (dir.path().join("one"), dir.path().join("two"), server.url("/o"));
    let words = ["--segments".as_ref(), "4".as_ref(), "-o".as_ref(), one.as_os_str(), url.as_ref()];
    let child = spawn_fetch_url([&words[..], &["-o".as_ref(), two.as_os_str(), url.as_ref()]].concat());
    let are_open = wait_until(Duration::from_secs(20), || server.connections() == 4);
    // The second URL is fetched over the same connections.
    drop(may_answer);
    wait_for_exit(child).assert_exit(0);
    assert!(are_open && server.connections() == 4, "{} connections", server.connections());
    for file in [one, two] {
        assert!(fs::read(&file).is_ok_and(|bytes| bytes == content()), "{file:?}");
    }
}

/// Writes a list of small files, one for each server, and returns a shell command that fetches them in segments.
fn small_files_command(dir: &Path, servers: &[&HttpServer], options: &str) -> String {
    let line = |(number, server): (usize, &&HttpServer)| format!("{}\tfile{number}", server.url("/o"));
    let lines: Vec<String> = servers.iter().enumerate().map(line).collect();
    fs::write(dir.join("list"), lines.join("\n")).expect("a file");
    format!("{} --retry 0 --segments 16 {options} --input-file list", env!("CARGO_BIN_EXE_fetch-url"))
}

fn start_small_file_server() -> HttpServer {
    let server = HttpServer::start(|request| {
        if request.method == "HEAD" {
            thread::sleep(Duration::from_millis(100));
        }
        HttpResponse::new(200).header("ETag", "\"x\"").body("small")
    });
    server.expect("a server")
}

#[track_caller]
fn assert_shell_succeeds(dir: &Path, script: &str) {
    let status = Command::new("sh").args(["-c", script]).current_dir(dir).status();
    assert!(status.is_ok_and(|status| status.success()));
}

/// The connections that were opened for the segments of a file are closed if it is too small for segments.
#[test]
fn small_files_of_many_servers_leave_few_connections_open() {
    let (servers, dir) = ((0..20).map(|_| start_small_file_server()).collect::<Vec<_>>(), temp_dir());
    let command = small_files_command(dir.path(), &servers.iter().collect::<Vec<_>>(), "");
    assert_shell_succeeds(dir.path(), &format!("ulimit -n 64; {command}"));
}

#[test]
fn parallel_small_files_open_no_connections_for_segments() {
    let (server, dir) = (start_small_file_server(), temp_dir());
    let command = small_files_command(dir.path(), &[&server; 16], "-Z");
    assert_shell_succeeds(dir.path(), &command);
    // The first transfer may start before the others.
    assert!(server.connections() <= 16 + 15, "{} connections", server.connections());
}

#[test]
fn list_of_small_files_opens_connections_for_segments_once() {
    let (server, dir) = (start_small_file_server(), temp_dir());
    assert_shell_succeeds(dir.path(), &small_files_command(dir.path(), &[&server; 5], ""));
    assert!(server.connections() <= 16, "{} connections", server.connections());
}

/// A server that does not say that it supports ranges is asked for one segment first.
#[test]
fn server_that_ignores_ranges_gets_one_request_for_a_segment() {
    let server = HttpServer::start(|_| HttpResponse::new(200).header("ETag", "\"x\"").body(content()));
    let (server, target) = (server.expect("a server"), Target::new(OldFile::Absent).expect("a directory"));
    assert_result(&run_in_segments(&target, &server.url("/o"), &[]), 0, &target);
    assert_eq!(range_count(&server), 1);
}

/// The other URL needs another connection, because it has a login.
#[test]
fn connections_that_no_segment_uses_do_not_block_the_server() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let addr = listener.local_addr().expect("an address");
    thread::spawn(move || listener.incoming().flatten().for_each(|stream| serve_one(&stream, b"small")));
    let dir = temp_dir();
    let urls = [format!("http://{addr}/o"), format!("http://u:p@{addr}/o")];
    let options = ["--retry", "0", "--segments", "4", "-o", "a", &urls[0], "-o", "b", &urls[1]];
    run_fetch_url_in(dir.path(), options).assert_exit(0);
}

/// Each connection serves one request, and the next connection is not served before.
#[test]
fn server_that_serves_one_connection_at_a_time_sends_all_segments() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/o", listener.local_addr().expect("an address"));
    thread::spawn(move || listener.incoming().flatten().for_each(|stream| serve_one(&stream, &content())));
    let target = Target::new(OldFile::Absent).expect("a directory");
    assert_result(&run_in_segments(&target, &url, &["--retry", "0"]), 0, &target);
}

/// Answers one request with the metadata, or with `content` or a range of it, and closes the connection.
fn serve_one(mut stream: &TcpStream, content: &[u8]) {
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let range = head.iter().find_map(|line| line.strip_prefix("Range: bytes=")?.split_once('-'));
    let number = |text: &str| text.parse::<usize>().expect("a number");
    let (status, bytes) = match range {
        Some((first, last)) => (
            format!("206 Partial\r\nContent-Range: bytes {first}-{last}/{}", content.len()),
            &content[number(first)..=number(last)],
        ),
        None => ("200 OK\r\nAccept-Ranges: bytes".to_owned(), content),
    };
    let length = bytes.len();
    let answer =
        format!("HTTP/1.1 {status}\r\nETag: \"x\"\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    let _ = stream.write_all(answer.as_bytes());
    if head.first().is_some_and(|line| line.starts_with("GET")) {
        let _ = stream.write_all(bytes);
    }
}

/// The server is busy once, for each of the segments in turn.
#[test]
fn busy_server_is_asked_for_a_segment_again() {
    for busy in 1..=4 {
        let ranges = AtomicUsize::new(0);
        let server = HttpServer::start(move |request| match request.header_text("range") {
            Some(_) if ranges.fetch_add(1, Ordering::Relaxed) + 1 == busy => HttpResponse::new(503),
            _ => file_handler(content(), strong_etag_headers())(request),
        });
        let (server, target) =
            (server.expect("a server"), Target::new(OldFile::Absent).expect("a directory"));
        let options = ["--retry", "2", "--retry-delay", "0.05"];
        assert_result(&run_in_segments(&target, &server.url("/o"), &options), 0, &target);
        assert_eq!(range_count(&server), 5, "{busy}");
    }
}

/// The retries begin again whenever another segment is complete: the server may allow fewer requests at a time.
#[test]
fn segment_of_a_busy_server_is_requested_as_often_as_retry_says() {
    let is_last = |range: &str| range.ends_with(&format!("-{}", SIZE - 1));
    let server = HttpServer::start(move |request| match request.header_text("range") {
        Some(range) if is_last(range) => HttpResponse::new(503),
        _ => file_handler(content(), strong_etag_headers())(request),
    });
    let (server, target) = (server.expect("a server"), Target::new(OldFile::Present).expect("a directory"));
    run_in_segments(&target, &server.url("/o"), &["--retry", "2", "--retry-delay", "0.05"]).assert_exit(92);
    let requests = server.requests();
    let ranges = requests.iter().filter_map(|request| request.header_text("range"));
    let count = ranges.filter(|range| is_last(range)).count();
    assert!([6, 9, 12].contains(&count), "{count}");
}

#[test]
fn server_without_ranges_or_validators_sends_one_segment() {
    for site in [test_site().without("REST"), test_site().without("SIZE"), test_site().without("MDTM")] {
        let (server, target) = (start_server(site), Target::new(OldFile::Absent).expect("a directory"));
        assert_result(&run_in_segments(&target, &server.url("d/o"), &[]), 0, &target);
    }
    let untagged = FileHeaders { last_modified: None, etag: None, ..strong_etag_headers() };
    let server = HttpServer::start(file_handler(content(), untagged)).expect("a server");
    let target = Target::new(OldFile::Absent).expect("a directory");
    assert_result(&run_in_segments(&target, &server.url("/o"), &[]), 0, &target);
}

#[test]
fn server_that_refuses_ranges_sends_one_segment() {
    for status in [400, 403, 416, 501] {
        let server = HttpServer::start(move |request| match request.header_text("range") {
            Some(_) => HttpResponse::new(status),
            None => file_handler(content(), strong_etag_headers())(request),
        });
        let (server, target) =
            (server.expect("a server"), Target::new(OldFile::Absent).expect("a directory"));
        assert_result(&run_in_segments(&target, &server.url("/o"), &["--retry", "0"]), 0, &target);
    }
}

#[test]
fn small_file_is_sent_as_one_segment() {
    let server = start_server(FtpConfig::new().file("/o", "small").modified("/o", MODIFIED));
    let target = Target::new(OldFile::Absent).expect("a directory");
    run_in_segments(&target, &server.url("o"), &[]).assert_exit(0);
    assert_eq!((target.content().expect("a file").as_deref(), retr_count(&server)), (Some(&b"small"[..]), 1));
}

/// The interrupted segment is continued with a fifth RETR.
#[test]
fn interrupted_segment_is_resumed() {
    for nth in 1..=4 {
        let cut = FtpRule::on("RETR", FtpAction::CutData(300_000, Ending::Reset)).nth(nth);
        let (server, target) =
            (start_server(test_site().rule(cut)), Target::new(OldFile::Absent).expect("a directory"));
        assert_result(
            &run_in_segments(&target, &server.url("d/o"), &["--retry", "2", "--retry-delay", "0.05"]),
            0,
            &target,
        );
        assert_eq!(retr_count(&server), 5, "{:?}", server.received_text());
    }
}

/// The server accepts REST but sends the file from the start: the segments do not fit together.
#[test]
fn file_of_a_server_that_ignores_rest_is_fetched_over_one_connection() {
    let site = test_site().answer("REST", "350 of course\r\n");
    for before in OldFile::ALL {
        let (server, target) = (start_server(site.clone()), Target::new(before).expect("a directory"));
        let result = run_in_segments(&target, &server.url("d/o"), &[]);
        assert_result(&result, 0, &target);
        result.assert_stderr_contains("over one connection");
    }
}

/// As before, but the overlaps of the segments match, because the file consists of zeros. It cannot be read again.
#[test]
fn ignored_rest_of_a_sparse_file_keeps_no_bytes_for_resume() {
    // The last segment is late: the others are complete when it shows that REST is ignored.
    let late = FtpRule::on("REST 3932", FtpAction::Pause(Duration::from_millis(500)));
    let site = FtpConfig::new().file("/d/o", vec![0; SIZE]).modified("/d/o", MODIFIED);
    let denied = FtpRule::on("RETR", FtpAction::Answer(b"550 Denied.\r\n".into())).nth(5);
    let server = start_server(site.rule(late).rule(denied).answer("REST", "350 of course\r\n"));
    let target = Target::new(OldFile::Absent).expect("a directory");
    run_in_segments(&target, &server.url("d/o"), &[])
        .assert_exit(78)
        .assert_stderr_contains("over one connection");
    assert!(!part_path(&target.path()).exists() && !target.path().exists());
}

/// The server allows one connection at first, and more later: the other segments wait for it.
#[test]
fn segments_of_refused_connections_are_fetched_over_the_others() {
    for reply in ["421 Too many connections.\r\n", "530 Too many users.\r\n"] {
        let refused = |nth| FtpRule::on(FtpTrigger::Greeting, FtpAction::Answer(reply.into())).nth(nth);
        let site = test_site().rule(refused(2)).rule(refused(3)).rule(refused(4));
        let (server, target) = (start_server(site), Target::new(OldFile::Absent).expect("a directory"));
        assert_result(&run_in_segments(&target, &server.url("d/o"), &["--retry", "0"]), 0, &target);
        assert_eq!(retr_count(&server), 4, "{:?}", server.received_text());
    }
    // No connection is accepted after that of the metadata, which the server closes.
    let refused =
        |nth| FtpRule::on("USER", FtpAction::Answer(b"421 Too many connections.\r\n".into())).nth(nth);
    let site = (2..10).fold(test_site(), |site, nth| site.rule(refused(nth)));
    let close = FtpRule::on("RETR", FtpAction::End(Ending::Close));
    let (server, target) =
        (start_server(site.rule(close)), Target::new(OldFile::Absent).expect("a directory"));
    run_in_segments(&target, &server.url("d/o"), &["--retry", "0"]).assert_exit(92);
}

#[test]
fn file_whose_size_or_time_changes_between_segments_is_fetched_over_one_connection() {
    // SIZE is sent once for the file and once for each segment.
    for (verb, reply) in [("SIZE", "213 5242888\r\n"), ("MDTM", "213 20200101000000\r\n")] {
        let other = FtpRule::on(verb, FtpAction::Answer(reply.as_bytes().to_vec())).nth(4);
        let (server, target) =
            (start_server(test_site().rule(other)), Target::new(OldFile::Present).expect("a directory"));
        let result = run_in_segments(&target, &server.url("d/o"), &[]);
        assert_result(&result, 0, &target);
        result
            .assert_stderr_contains("the object changed between two segments")
            .assert_stderr_contains("over one");
    }
}

/// The last segment has another entity tag, and the response with the whole object breaks off.
#[test]
fn file_that_changes_between_segments_is_tried_twice_and_keeps_the_old_file() {
    let server = HttpServer::start(move |request| {
        let is_last = request.header_text("range").is_some_and(|range| range.starts_with("bytes=39"));
        let etag = Some(if is_last { "\"v2\"" } else { "\"v1\"" }.to_owned());
        let reply = file_handler(content(), FileHeaders { etag, ..strong_etag_headers() })(request);
        let is_whole = request.method == "GET" && request.header_text("range").is_none();
        if is_whole { reply.cut_body_at(300_000) } else { reply }
    });
    let (server, target) = (server.expect("a server"), Target::new(OldFile::Present).expect("a directory"));
    let result = run_in_segments(&target, &server.url("/o"), &["--retry", "0"]);
    result.assert_exit(18).assert_stderr_contains("the object changed between two segments");
    assert!(target.is_untouched().expect("a directory"));
    let whole = |request: &HttpRequest| request.method == "GET" && request.header_text("range").is_none();
    assert_eq!(server.requests().iter().filter(|request| whole(request)).count(), 1);
}

/// The server sends other bytes with the same entity tag when the first segment is continued.
#[test]
fn changed_bytes_of_a_continued_segment_are_not_kept() {
    let ranges = AtomicUsize::new(0);
    let server = HttpServer::start(move |request| {
        let count = request.header_text("range").map_or(0, |_| ranges.fetch_add(1, Ordering::Relaxed) + 1);
        let bytes = if count > 4 { vec![b'x'; SIZE] } else { content() };
        let reply = file_handler(bytes, strong_etag_headers())(request);
        if count == 1 { reply.cut_body_at(300_000) } else { reply }
    });
    let (server, target) = (server.expect("a server"), Target::new(OldFile::Present).expect("a directory"));
    let result = run_in_segments(&target, &server.url("/o"), &["--retry", "2", "--retry-delay", "0.05"]);
    result.assert_stderr_contains("the object changed");
    assert_result(&result, 0, &target);
    assert_eq!(range_count(&server), 5);
}

/// A redirector sends each request to another mirror. The mirrors have different bytes with the same entity tag, or the
/// same bytes with different tags.
#[test]
fn segments_behind_a_redirector_are_of_one_mirror() {
    for (tags, is_same) in [(["\"v1\"", "\"v1\""], false), (["\"a\"", "\"b\""], true)] {
        let count = AtomicUsize::new(0);
        let mirrors = [0, 1].map(|number| {
            let mut bytes = content();
            if number == 1 && !is_same {
                // The overlaps of the segments are the same.
                bytes[500_000..600_000].fill(b'x');
                bytes[3_000_000..3_100_000].fill(b'x');
            }
            let etag = Some(tags[number].to_owned());
            file_handler(bytes, FileHeaders { etag, ..strong_etag_headers() })
        });
        let server = HttpServer::start(move |request| match request.path().as_str() {
            "/o" => {
                let number = count.fetch_add(1, Ordering::Relaxed) % 2;
                HttpResponse::new(302).header("Location", format!("/{number}/o"))
            }
            path => mirrors[usize::from(path.starts_with("/1"))](request),
        });
        let (server, target) =
            (server.expect("a server"), Target::new(OldFile::Present).expect("a directory"));
        // The first mirror has sent the metadata.
        assert_result(&run_in_segments(&target, &server.url("/o"), &[]), 0, &target);
        let segments = |path: &str| {
            let requests = server.requests();
            requests.iter().filter(|one| one.header_text("range").is_some() && one.path() == path).count()
        };
        assert_eq!(segments("/0/o"), 4);
    }
}

/// The redirector leads to the mirror for the metadata and the first segment only.
#[test]
fn segment_is_requested_from_the_first_mirror_if_its_redirect_fails() {
    for (case, other) in [
        ("another mirror without the file", HttpResponse::new(302).header("Location", "/missing")),
        ("another mirror that refuses", HttpResponse::new(302).header("Location", "/refused")),
        ("no redirect", HttpResponse::new(403)),
        ("a busy redirector", HttpResponse::new(503)),
    ] {
        let (count, mirror) = (AtomicUsize::new(0), file_handler(content(), strong_etag_headers()));
        let server = HttpServer::start(move |request| match request.path().as_str() {
            "/o" if count.fetch_add(1, Ordering::Relaxed) < 2 => {
                HttpResponse::new(302).header("Location", "/mirror")
            }
            "/o" => other.clone(),
            "/mirror" => mirror(request),
            "/missing" => HttpResponse::new(404),
            _ => HttpResponse::new(403),
        });
        let (server, target) =
            (server.expect("a server"), Target::new(OldFile::Present).expect("a directory"));
        let result = run_in_segments(&target, &server.url("/o"), &[]);
        assert_eq!(result.exit, 0, "{case}: {}", result.stderr);
        assert_result(&result, 0, &target);
    }
}

/// The bytes of the second segment do not belong to the object that the first one belongs to, although the entity tag
/// is the same. They must not be kept for a resume, which would not compare them.
#[test]
fn segments_that_do_not_fit_together_are_not_kept() {
    let server = HttpServer::start(|request| {
        let range = request.header_text("range").unwrap_or_default().to_owned();
        let slow_and_other = !range.is_empty() && !range.starts_with("bytes=0-");
        let bytes = if slow_and_other { vec![b'x'; SIZE] } else { content() };
        let reply = file_handler(bytes, strong_etag_headers())(request);
        if slow_and_other { reply.drip(20_000, Duration::from_millis(300)) } else { reply }
    });
    let (server, target) = (server.expect("a server"), Target::new(OldFile::Present).expect("a directory"));
    let options = ["--retry", "0", "-C", "-", "-m", "10"];
    let result = run_in_segments(&target, &server.url("/o"), &options);
    result.assert_stderr_contains("the object changed");
    assert_result(&result, 0, &target);
    assert!(!part_path(&target.path()).exists() && !part_metadata_path(&target.path()).exists());
    // Both attempts begin with a request for the whole object. The other requests may be recorded in any order.
    let whole = server.requests().iter().filter(|request| request.header("range").is_none()).count();
    assert_eq!(whole, 2, "the object is not resumed");
}

#[test]
fn headers_and_entity_tag_are_saved_as_for_one_connection() {
    let server = HttpServer::start(file_handler(content(), strong_etag_headers())).expect("a server");
    for segments in ["1", "4"] {
        let dir = temp_dir();
        let options = ["--segments", segments, "-D", "headers", "--etag-save", "etag", "-o", "f"];
        run_fetch_url_in(dir.path(), [&options[..], &[&server.url("/o")]].concat()).assert_exit(0);
        let read = |name: &str| fs::read_to_string(dir.path().join(name)).expect("a file");
        assert_eq!(read("etag"), "\"v1\"\n", "{segments}");
        let headers = read("headers");
        assert!(headers.starts_with("HTTP/1.1 200") && headers.contains("ETag: \"v1\""), "{headers}");
    }
    assert!(range_count(&server) >= 4);
}

#[test]
fn fifo_is_written_over_one_connection() {
    let server = HttpServer::start(file_handler(content(), strong_etag_headers())).expect("a server");
    let dir = temp_dir();
    assert_shell_succeeds(dir.path(), "mkfifo fifo");
    // Opened for both directions, so that the program finds a reader.
    let fifo = fs::File::options().read(true).write(true).open(dir.path().join("fifo")).expect("a FIFO");
    let reader = thread::spawn(move || {
        let mut bytes = vec![0; SIZE];
        (&fifo).read_exact(&mut bytes).expect("the content");
        bytes
    });
    run_fetch_url_in(dir.path(), ["--segments", "4", "-o", "fifo", &server.url("/o")]).assert_exit(0);
    assert!(reader.join().expect("the bytes") == content());
    assert_eq!(range_count(&server), 0);
}

/// The time limit is the same as for one connection.
#[test]
fn max_time_limits_all_segments() {
    let slow = FtpRule::on("RETR", FtpAction::Drip(20_000, Duration::from_millis(100)));
    let (server, target) =
        (start_server(test_site().rule(slow)), Target::new(OldFile::Present).expect("a directory"));
    let start = std::time::Instant::now();
    let result = run_in_segments(&target, &server.url("d/o"), &["-m", "1", "--retry", "3"]);
    result.assert_exit(28);
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    assert!(target.is_untouched().expect("a directory"));
}

/// Requests that are not GET are sent once, without segments.
#[test]
fn request_with_body_or_method_is_not_segmented() {
    let server = HttpServer::start(file_handler(content(), strong_etag_headers())).expect("a server");
    for options in [&["-d", "a=b"][..], &["-X", "POST"]] {
        let (before, target) = (server.requests().len(), Target::new(OldFile::Absent).expect("a directory"));
        run_in_segments(&target, &server.url("/o"), options);
        assert_eq!(server.requests().len(), before + 1, "{options:?}");
    }
}

#[test]
fn require_complete_disables_segments() {
    let (server, target) = (start_server(test_site()), Target::new(OldFile::Absent).expect("a directory"));
    assert_result(&run_in_segments(&target, &server.url("d/o"), &["--require-complete"]), 0, &target);
    assert_eq!(retr_count(&server), 1);
}

/// The `.part` file contains the bytes before the first gap, and the next run continues from there.
/// Waits until 50,000 bytes of each of four segments are stored. The server has then received all requests of this run:
/// one that it receives later would be taken for a request of the next run.
fn wait_for_data_of_all_segments(path: &Path) {
    let content = content();
    let have_begun = || {
        let part = fs::read(part_path(path)).unwrap_or_default();
        (0..4).map(|index| SIZE.div_ceil(4) * index).all(|start| {
            let range = start..start + 50_000;
            part.get(range.clone()).is_some_and(|stored| stored == &content[range])
        })
    };
    assert!(wait_until(Duration::from_secs(30), have_begun), "no data within 30 seconds");
}

#[test]
fn signal_keeps_contiguous_part_file_of_http_for_resume() {
    for (name, number) in [("INT", 2), ("TERM", 15)] {
        let is_slow = Arc::new(AtomicBool::new(true));
        let server = HttpServer::start({
            let is_slow = is_slow.clone();
            move |request| {
                let reply = file_handler(content(), strong_etag_headers())(request);
                let is_slow = is_slow.load(Ordering::Relaxed);
                if is_slow { reply.drip(50_000, Duration::from_millis(300)) } else { reply }
            }
        });
        let (server, target) =
            (server.expect("a server"), Target::new(OldFile::Present).expect("a directory"));
        let (path, url) = (target.path(), server.url("/o"));
        let options = ["--segments", "4", "-o"].map(std::ffi::OsStr::new);
        let child = spawn_fetch_url([&options[..], &[path.as_os_str(), url.as_ref()]].concat());
        wait_for_data_of_all_segments(&path);
        send_signal(&child, name);
        let result = wait_for_exit(child);
        assert_eq!(result.signal, Some(number), "{result:?}");
        assert!(target.is_untouched().expect("a directory") && part_metadata_path(&path).exists(), "{name}");
        is_slow.store(false, Ordering::Relaxed);
        assert_result(&run_in_segments(&target, &url, &["-C", "-"]), 0, &target);
        let last = server.requests().last().and_then(|last| Some(last.header_text("range")?.to_owned()));
        let first = last.and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok());
        assert!(first.is_some_and(|first: usize| first > 0 && first < SIZE / 4), "{first:?}");
    }
}

#[test]
fn signal_keeps_contiguous_part_file_for_resume() {
    for (name, number) in [("INT", 2), ("TERM", 15)] {
        let stall = |nth| {
            FtpRule::on("RETR", FtpAction::CutData(600_000, Ending::Stall(Duration::from_secs(60)))).nth(nth)
        };
        let site = (1..=4).fold(test_site(), |site, nth| site.rule(stall(nth)));
        let (server, target) = (start_server(site), Target::new(OldFile::Present).expect("a directory"));
        let (path, url) = (target.path(), server.url("d/o"));
        let options = ["--segments", "4", "-o"].map(std::ffi::OsStr::new);
        let child = spawn_fetch_url([&options[..], &[path.as_os_str(), url.as_ref()]].concat());
        wait_for_data_of_all_segments(&path);
        send_signal(&child, name);
        let result = wait_for_exit(child);
        assert_eq!(result.signal, Some(number), "{result:?}");
        assert!(target.is_untouched().expect("a directory") && part_metadata_path(&path).exists(), "{name}");
        assert_result(&run_in_segments(&target, &url, &["-C", "-"]), 0, &target);
        let rest = server
            .received_text()
            .iter()
            .rev()
            .find_map(|line| line.strip_prefix("REST ")?.parse::<u64>().ok());
        let is_in_first_segment = rest.is_some_and(|rest| rest > 0 && rest < SIZE as u64 / 4);
        assert!(is_in_first_segment, "{rest:?}: {:#?}", server.received_text());
    }
}
