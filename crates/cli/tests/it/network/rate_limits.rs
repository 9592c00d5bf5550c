//! `--limit-rate`, `--speed-limit` (`-Y`) and `--speed-time` (`-y`).

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use crate::support::{RunResult, run_fetch_url, temp_dir};
use fetch_url_tests::{
    FtpConfig, FtpServer, GopherConfig, GopherItem, GopherServer, HttpResponse, HttpServer, pattern_vec,
};

const SIZE: usize = 300_000;

fn start_http_server() -> HttpServer {
    HttpServer::start(|_| HttpResponse::new(200).body(pattern_vec(0, SIZE))).expect("a server")
}

/// Runs fetch-url and returns its duration and its result.
fn run_timed(arguments: &[&str]) -> (Duration, RunResult) {
    let start = Instant::now();
    let result = run_fetch_url(arguments);
    (start.elapsed(), result)
}

/// Only a minimum duration is checked, since a busy machine may be slower.
#[test]
fn limit_rate_slows_down_every_scheme() {
    let http = start_http_server();
    let ftp = FtpServer::start(FtpConfig::new().anonymous().pattern("f", SIZE as u64)).expect("a server");
    let gopher = GopherConfig::new().item(GopherItem::pattern("/f", SIZE as u64));
    let gopher = GopherServer::start(gopher).expect("a server");
    let directory = temp_dir();
    let source = directory.path().join("f");
    std::fs::write(&source, pattern_vec(0, SIZE)).expect("a file");
    let local = format!("file://{}", source.display());
    for url in [http.url("/f"), ftp.url("f"), gopher.url("9/f"), local] {
        let target = directory.path().join("got");
        let target = target.to_str().expect("UTF-8");
        let (unlimited, result) = run_timed(&["-o", target, &url]);
        result.assert_exit(0);
        // 300,000 bytes at 400 KiB per second, with a burst of a fifth of a second: at least half a second.
        let (limited, result) = run_timed(&["--limit-rate", "400k", "-o", target, &url]);
        result.assert_exit(0);
        assert_eq!(std::fs::read(target).expect("a file"), pattern_vec(0, SIZE), "{url}");
        assert!(limited > Duration::from_millis(500), "{url}: {limited:?}, {unlimited:?} without a limit");
    }
    // --max-time still applies.
    let (_, result) = run_timed(&["--limit-rate", "1k", "-m", "1", &http.url("/f")]);
    result.assert_exit(28);
    run_fetch_url(["--limit-rate", "0", &http.url("/f")]).assert_exit(0);
}

#[test]
fn limit_rate_applies_to_parallel_transfers_together() {
    let http = start_http_server();
    let directory = temp_dir();
    let urls = ["a", "b", "c", "d"].map(|name| http.url(&format!("/{name}")));
    let target = directory.path().to_str().expect("UTF-8");
    let options = ["-Z", "--limit-rate", "800k", "--output-dir", target, "--remote-name-all"];
    // 1,200,000 bytes at 800 KiB per second, with a burst of a fifth of a second: at least 1.2 s. Each of the four alone
    // would take 0.2 s.
    let (limited, result) = run_timed(&[&options[..], &urls.each_ref().map(String::as_str)].concat());
    result.assert_exit(0);
    assert!(limited > Duration::from_millis(1200), "{limited:?}");
}

#[test]
fn speed_limit_aborts_slow_transfers() {
    let gopher =
        GopherConfig::new().item(GopherItem::pattern("/f", 4000)).drip(10, Duration::from_millis(20));
    let gopher = GopherServer::start(gopher).expect("a server");
    let url = gopher.url("9/f");
    // The server sends 500 bytes per second.
    let (time, result) = run_timed(&["-Y", "5000", "-y", "0.5", &url]);
    result.assert_exit(28).assert_stderr_contains("slower than 5000");
    assert!(time < Duration::from_secs(6), "{time:?}");
    assert!(result.stdout.len() < 4000);
    let fast_server =
        GopherServer::start(GopherConfig::new().item(GopherItem::pattern("/f", 4000))).expect("a server");
    run_fetch_url(["-Y", "5000", "-y", "5", &fast_server.url("9/f")]).assert_exit(0);
    run_fetch_url(["-Y", "0", &fast_server.url("9/f")]).assert_exit(0);
    // A huge --speed-time causes no panic.
    run_fetch_url(["-Y", "1", "-y", "1e18", &fast_server.url("9/f")]).assert_exit(0);
    // A transfer that is slow because of --limit-rate is aborted as well.
    let http = start_http_server();
    run_fetch_url(["--limit-rate", "1k", "-Y", "100k", "-y", "0.3", &http.url("/f")])
        .assert_exit(28)
        .assert_stderr_contains("slower");
}

/// The kernel opens the connections; the server accepts none, and reads and sends nothing.
#[test]
fn speed_limit_aborts_transfers_before_the_response() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a listener");
    let address = listener.local_addr().expect("an address");
    let directory = temp_dir();
    let source = directory.path().join("f");
    std::fs::write(&source, vec![0; 8_000_000]).expect("a file");
    let source = source.to_str().expect("UTF-8");
    for (scheme, options) in [
        ("http", &[][..]),
        ("http", &["-T", source]),
        ("ftp", &[]),
        ("gopher", &[]),
        ("nntp", &[]),
        ("wais", &[]),
    ] {
        let path = if scheme == "nntp" { "some.group/1" } else { "x" };
        let url = format!("{scheme}://{address}/{path}");
        let limit = ["-Y", "100000", "-y", "0.5", "--retry", "0", &url];
        let result = run_fetch_url([&limit[..], options].concat());
        result.assert_exit(28).assert_stderr_contains("slower than 100000 bytes per second for 0.5 s");
    }
}

#[test]
fn request_that_is_too_slow_is_retried_unless_it_changes_the_server() {
    for (options, requests) in [(&[][..], 2), (&["-d", "a=b"], 1), (&["-X", "DELETE"], 1)] {
        let server = HttpServer::start(|_| HttpResponse::raw("").then_stall(Duration::from_secs(20)));
        let server = server.expect("a server");
        let url = server.url("/");
        let limit = ["-Y", "1000", "-y", "0.3", "--retry", "1", "--retry-delay", "0.05", &url];
        run_fetch_url([&limit[..], options].concat()).assert_exit(28);
        assert_eq!(server.requests().len(), requests, "{options:?}");
    }
}

#[test]
fn time_of_a_password_prompt_does_not_count_for_the_speed_limit() {
    let server = HttpServer::start(|request| match request.header("authorization") {
        Some(_) => HttpResponse::new(200).body("object"),
        None => HttpResponse::new(401).header("WWW-Authenticate", "Basic realm=\"r\""),
    });
    let (server, directory) = (server.expect("a server"), temp_dir());
    let program = directory.path().join("ask");
    std::fs::write(&program, "#!/bin/sh\nsleep 4\necho secret\n").expect("a program");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).expect("a program");
    let program = program.to_str().expect("UTF-8");
    let result = run_fetch_url(["-Y", "1", "-y", "3", "-u", "u", "--askpass", program, &server.url("/")]);
    assert_eq!(result.assert_exit(0).stdout_text(), "object");
}

/// The waits for the rate limit are no delay of the server, so that the read timeout does not apply to them.
#[test]
fn limit_rate_slows_down_uploads() {
    let server = HttpServer::start(|_| HttpResponse::new(200).body("ok")).expect("a server");
    let directory = temp_dir();
    let source = directory.path().join("f");
    std::fs::write(&source, pattern_vec(0, SIZE)).expect("a file");
    let source = source.to_str().expect("UTF-8");
    let limit = ["--limit-rate", "150k", "--read-timeout", "0.5", "--retry", "0", "-T", source];
    // 300,000 bytes at 150 KiB per second. The last 64 KiB and a burst need not wait: at least 1.2 seconds.
    let (limited, result) = run_timed(&[&limit[..], &[&server.url("/f")]].concat());
    assert!(result.exit == 0 && limited > Duration::from_millis(1200), "{limited:?} {result:?}");
    assert!(server.requests()[0].body == pattern_vec(0, SIZE));
}
