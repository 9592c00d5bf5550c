//! Reports for programs: `--write-out` (`-w`), `--events` and `--trace`.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::support::curl::run_curl;
use crate::support::{
    BINARY, RunResult, http_server, http_server_first_then, isolate_environment, run_command, run_fetch_url,
    run_fetch_url_in, run_shell, temp_dir,
};
use fetch_url_tests::{HttpResponse, HttpServer, ReservedPort, ServerCert};

/// The variables whose values must equal those of curl.
const SAME_AS_CURL: [&str; 17] = [
    "content_type",
    "filename_effective",
    "http_code",
    "http_version",
    "method",
    "num_connects",
    "num_headers",
    "num_redirects",
    "redirect_url",
    "remote_ip",
    "remote_port",
    "response_code",
    "scheme",
    "size_download",
    "url",
    "url_effective",
    "urlnum",
];

fn format_with(names: &[&str]) -> String {
    let lines: Vec<String> = names.iter().map(|name| format!("{name}=[%{{{name}}}]")).collect();
    format!("\\n{}\\n", lines.join("\\n"))
}

fn start_site() -> HttpServer {
    http_server(|request| match request.path().as_str() {
        "/from" => HttpResponse::new(302).header("Location", "/to?x").body("elsewhere"),
        "/none" => HttpResponse::new(204),
        "/gone" => HttpResponse::new(404).header("Content-Type", "text/html").body("gone"),
        _ => HttpResponse::new(200)
            .header("Content-Type", "text/plain; charset=utf-8")
            .header("X-A", "1")
            .body("object"),
    })
}

#[test]
fn write_out_values_equal_those_of_curl() {
    let (server, dir) = (start_site(), temp_dir());
    let format = format_with(&SAME_AS_CURL);
    let mut differences = Vec::new();
    for (options, path) in [
        ("", "/to"),
        ("", "/from"),
        ("", "/none"),
        ("-o out", "/to"),
        ("-O", "/named"),
        ("-I", "/to"),
        ("-I", "/from"),
        ("-d a=b", "/to"),
        ("-X DELETE", "/to"),
        ("-A me", "/to"),
        ("--no-fail", "/gone"),
        ("--no-location", "/from"),
    ] {
        // -L and -f are the default of fetch-url, but not of curl.
        let curl: Vec<&str> = match options {
            "--no-fail" => vec!["-L"],
            "--no-location" => vec!["-f"],
            options => options.split_whitespace().chain(["-L", "-f"]).collect(),
        };
        let url = server.url(path);
        let write_out = ["-w", format.as_str(), url.as_str()];
        let Some(curl) = run_curl(dir.path(), curl.iter().chain(&write_out)) else { return };
        let options: Vec<&str> = options.split_whitespace().collect();
        let fetch_url = run_fetch_url_in(dir.path(), options.iter().chain(&write_out));
        assert_eq!(fetch_url.exit, curl.exit, "{options:?} {path}: {}", fetch_url.stderr);
        let lines = |result: &RunResult| {
            result
                .stdout_text()
                .lines()
                .map(|line| line.trim_end_matches('\r').to_owned())
                .collect::<Vec<_>>()
        };
        let (fetch_url, curl) = (lines(&fetch_url), lines(&curl));
        let pairs = fetch_url.iter().rev().zip(curl.iter().rev()).take(SAME_AS_CURL.len());
        // Later versions of curl print the scheme in lower case, as RFC 3986 §3.1 recommends.
        let unequal =
            pairs.filter(|(fetch_url, curl)| fetch_url != curl && !curl.eq_ignore_ascii_case(fetch_url));
        differences.extend(
            unequal.map(|(fetch_url, curl)| format!("{options:?} {path}: {fetch_url}, curl's {curl}")),
        );
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// The addresses are also known for a reused connection.
#[test]
fn write_out_values_of_several_urls_equal_those_of_curl() {
    let (server, dir) = (start_site(), temp_dir());
    let format = format_with(&["remote_ip", "remote_port", "local_ip", "urlnum", "num_redirects"]);
    let urls = [server.url("/to"), server.url("/from"), server.url("/gone")];
    let options = ["-o", "a", "-o", "b", "-o", "c", "-w", &format];
    let arguments: Vec<&str> = options.into_iter().chain(urls.iter().map(String::as_str)).collect();
    let fetch_url = run_fetch_url_in(dir.path(), [["--no-fail"].as_slice(), &arguments].concat());
    let Some(curl) = run_curl(dir.path(), [["-L"].as_slice(), &arguments].concat()) else { return };
    assert_eq!(fetch_url.assert_exit(0).stdout_text(), curl.assert_exit(0).stdout_text());
}

/// The request failed before its final response.
#[test]
fn write_out_has_the_connection_of_a_failed_request() {
    let server = http_server(|request| match request.path().as_str() {
        "/from" => HttpResponse::new(302).header("Location", "/to"),
        "/other" => HttpResponse::new(302).header("Location", "gopher://localhost/"),
        _ => HttpResponse::raw(""),
    });
    let dir = temp_dir();
    let format = "%{num_connects} %{remote_ip} %{remote_port} %{local_ip}";
    for (path, options, exit) in
        [("/from", "--max-redirs 0", 47), ("/other", "--proto-redir http", 1), ("/empty", "", 52)]
    {
        let url = server.url(path);
        let arguments = options.split_whitespace().chain(["-s", "-w", format, url.as_str()]);
        let result = run_fetch_url_in(dir.path(), arguments.clone().chain(["--retry", "0"]));
        let text = result.stdout_text();
        assert!(result.exit != 0 && text.starts_with("1 127.0.0.1 "), "{path}: {text}");
        let times = options.split_whitespace().chain(["-s", "--retry", "0", "-w", "%{time_connect}", &url]);
        let times = run_fetch_url_in(dir.path(), times);
        assert!(times.stdout_text().parse::<f64>().expect("seconds") > 0.0, "{path}");
        let Some(curl) = run_curl(dir.path(), ["-L"].into_iter().chain(arguments)) else { continue };
        assert_eq!((curl.exit, curl.stdout_text()), (exit, text), "{path}");
    }
}

/// All variables of curl 7.88 except size_request, http_connect, proxy_ssl_verify_result, ftp_entry_path, certs and
/// num_certs.
#[test]
fn write_out_accepts_the_variables_of_curl() {
    const NAMES: &str = "content_type errormsg exitcode filename_effective http_code http_version local_ip local_port \
        method num_connects num_headers num_redirects redirect_url remote_ip remote_port response_code scheme \
        size_download size_header size_upload speed_download speed_upload ssl_verify_result \
        time_appconnect time_connect time_namelookup time_pretransfer time_redirect time_starttransfer time_total \
        url url_effective urlnum referer";
    let server = start_site();
    let write_out = |name: &str| run_fetch_url(["-w", &format!("%{{{name}}}"), &server.url("/to")]);
    let unknown: Vec<&str> = NAMES.split_whitespace().filter(|name| write_out(name).exit != 0).collect();
    assert!(unknown.is_empty(), "unknown: {unknown:?}");
}

#[test]
fn write_out_times_are_in_order() {
    let cert = ServerCert::good().expect("a certificate");
    let files = cert.write_files().expect("files");
    let server =
        HttpServer::start_tls(|_| HttpResponse::new(200).body("x").drip(1, Duration::from_millis(1)), &cert);
    let url = server.as_ref().expect("a server on loopback").url("/");
    let names = ["namelookup", "connect", "appconnect", "pretransfer", "starttransfer", "total"];
    let format = names.map(|name| format!("%{{time_{name}}}")).join(" ");
    let result = run_fetch_url([
        "--cacert",
        files.ca.to_str().expect("UTF-8"),
        "-o",
        "/dev/null",
        "-w",
        &format,
        &url,
    ]);
    let text = result.assert_exit(0).stdout_text();
    let times: Vec<f64> = text.split(' ').map(|time| time.parse().expect("seconds")).collect();
    assert!(times.len() == names.len() && times.is_sorted() && times[2] > 0.0 && times[5] < 10.0, "{text}");
    assert!(
        text.split(' ').all(|time| time.split('.').next_back().is_some_and(|digits| digits.len() == 6)),
        "{text}"
    );
}

#[test]
fn write_out_formats_are_expanded() {
    let (server, dir) = (start_site(), temp_dir());
    // The line ends of the file are not printed, as in curl.
    fs::write(dir.path().join("format"), "%{http_code}\r\n\\n\n").expect("a file");
    let url = server.url("/to");
    for (format, text) in [
        ("%{http_code}", "200"),
        ("a%%b\\tc\\r\\n", "a%b\tc\r\n"),
        ("%header{x-a}|%header{X-A}|%header{none}", "1|1|"),
        ("%{onerror}never", ""),
        ("one%{onerror}never", "one"),
        ("%{stderr}\u{1b}[1mthe\\tre%{stdout}here", "here"),
        ("@format", "200\n"),
        ("", ""),
        ("%", "%"),
        ("caf\u{e9} %{urlnum}", "caf\u{e9} 0"),
    ] {
        let result = run_fetch_url_in(dir.path(), ["-o", "out", "-w", format, &url]);
        assert_eq!(result.assert_exit(0).stdout_text(), text, "{format}");
        assert_eq!(
            result.stderr,
            if format.contains("stderr") { "\u{1b}[1mthe\tre" } else { "" },
            "{format}"
        );
    }
    for bad in ["%{nothing}", "%{", "%{http_code", "@no-such-file", "%header{x", "%{http_code}%{HTTP_CODE}"] {
        run_fetch_url_in(dir.path(), ["-w", bad, &url]).assert_exit(2);
    }
    assert_eq!(server.requests().len(), 10, "a request with an invalid format");
    let from_pipe = run_shell("echo '%{method}' | \"$F\" -o /dev/null -w @- \"$1\"", [&url]);
    assert_eq!(from_pipe.assert_exit(0).stdout_text(), "GET");
}

#[test]
fn write_out_prints_all_header_fields_of_a_name() {
    let server =
        http_server(|_| HttpResponse::new(200).header("X-A", "1").header("X-B", "b").header("x-a", "2"));
    let url = server.url("/");
    for (format, text) in [
        ("%header{x-a}", "1"),
        ("%header{X-A:all}", "12"),
        ("%header{x-a:all:}", "12"),
        ("%header{x-a:all:, }.", "1, 2."),
        ("%header{x-a:all:\\n\\t\\}}.", "1\n\t}2."),
        ("%header{x-a:all:a:b}", "1a:b2"),
        ("%header{x-b:all:, }", "b"),
        ("%header{none:all:, }", ""),
    ] {
        let result = run_fetch_url(["-o", "/dev/null", "-w", format, &url]);
        assert_eq!(result.assert_exit(0).stdout_text(), text, "{format}");
    }
    for bad in ["%header{x-a:first}", "%header{x-a:allof}", "%header{x-a:}", "%header{x-a:all:\\}"] {
        run_fetch_url(["-w", bad, &url]).assert_exit(2);
    }
}

#[test]
fn write_out_switches_to_a_file() {
    let (server, dir) = (start_site(), temp_dir());
    let url = server.url("/to");
    let run = |format: &str, urls: &[&str]| {
        let options = ["-s", "--remote-name-all", "--output-dir", "out", "--create-dirs", "-w", format];
        run_fetch_url_in(dir.path(), options.iter().chain(urls))
    };
    let read = |name: &str| fs::read_to_string(dir.path().join(name)).expect("a file");
    let result = run("a%output{one}%{http_code}%{stdout}b%output{>>two}%{urlnum},", &[&url]);
    assert_eq!(
        (result.assert_exit(0).stdout_text().as_str(), read("one").as_str(), read("two").as_str()),
        ("ab", "200", "0,")
    );
    // Without >>, the file of each transfer replaces the one before, as in curl.
    let other = server.url("/other");
    run("%output{one}%{urlnum}%output{>>two}%{urlnum},", &[&url, &other]);
    assert_eq!((read("one").as_str(), read("two").as_str()), ("1", "0,0,1,"));
    // A file that cannot be written is reported, and the rest of the format is written.
    let result = run("%output{no/such/dir/x}lost%{stdout}kept", &[&url]);
    assert_eq!(result.assert_exit(23).stdout_text(), "kept");
    assert!(result.stderr.starts_with("fetch-url: -w: no/such/dir/x: "), "{}", result.stderr);
    for bad in ["%output{}", "%output{>>}", "%output{one"] {
        run_fetch_url_in(dir.path(), ["-w", bad, &url]).assert_exit(2).assert_stderr_contains("-w: ");
    }
}

fn parse_json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn write_out_json_has_all_variables() {
    let server = start_site();
    let options = ["-o", "/dev/null", "-o", "/dev/null", "-w", "%{json}\\n", "--no-fail"];
    let result = run_fetch_url(options.iter().chain(&[server.url("/from").as_str(), &server.url("/gone")]));
    let values: Vec<Value> = result.assert_exit(0).stdout_text().lines().map(parse_json).collect();
    assert_eq!(values.len(), 2, "{result:?}");
    assert_eq!(
        (&values[0]["http_code"], &values[0]["num_redirects"], &values[0]["urlnum"]),
        (&200.into(), &1.into(), &0.into())
    );
    assert_eq!((&values[1]["response_code"], &values[1]["urlnum"]), (&404.into(), &1.into()));
    assert_eq!(values[0]["url_effective"], server.url("/to?x").as_str());
    let fields = parse_json(
        &run_fetch_url(["-o", "/dev/null", "-w", "%{header_json}", &server.url("/to")])
            .assert_exit(0)
            .stdout_text(),
    );
    assert_eq!(fields["x-a"], parse_json("[\"1\"]"));
}

/// Returns a URL with an address on which nothing listens.
/// --write-out is printed after failures, too.
#[test]
fn write_out_is_printed_after_failures() {
    let (server, closed) = (start_site(), ReservedPort::tcp().expect("a port"));
    let closed_url = format!("http://{}/", closed.addr());
    let format = "%{exitcode} %{http_code}%{onerror} bad";
    for (url, exit, text) in [
        (server.url("/gone"), 78, "78 404 bad"),
        (closed_url.clone(), 7, "7 000 bad"),
        ("http://no-such-host.invalid/".to_owned(), 6, "6 000 bad"),
        ("file:///no/such/file".to_owned(), 78, "78 000 bad"),
        ("nonsense://x/".to_owned(), 1, "1 000 bad"),
        ("http://h:99999/".to_owned(), 3, "3 000 bad"),
    ] {
        let result = run_fetch_url(["-w", format, &url]);
        assert_eq!((result.exit, result.stdout_text().as_str()), (exit, text), "{url}");
    }
    let message = run_fetch_url(["-w", "%{errormsg}", &server.url("/gone")]);
    assert!(message.stdout_text().contains("not found"), "{message:?}");
    let several = run_fetch_url([
        "-w",
        "%{urlnum}:%{exitcode} ",
        &server.url("/gone"),
        &server.url("/none"),
        &closed_url,
    ]);
    assert_eq!(several.assert_exit(78).stdout_text(), "0:78 1:0 2:7 ");
    let cut = http_server(|_| HttpResponse::new(200).body("abcdef").cut_body_at(3));
    let result =
        run_fetch_url(["-o", "/dev/null", "-w", "%{exitcode} %{http_code} %{size_download}", &cut.url("/")]);
    assert_eq!(result.assert_exit(18).stdout_text(), "18 200 3");
}

fn read_events(path: &Path) -> Vec<Value> {
    fs::read_to_string(path).expect("the events").lines().map(parse_json).collect()
}

/// Returns the names of the events of one transfer.
fn event_names(events: &[Value], number: usize) -> Vec<String> {
    let own = events.iter().filter(|event| event["number"] == number);
    own.map(|event| event["event"].as_str().expect("a name").to_owned()).collect()
}

/// Starts an HTTP server that answers the first request with 503.
fn start_busy_server() -> HttpServer {
    http_server_first_then(
        |_| HttpResponse::new(503),
        |request| match request.path().as_str() {
            "/from" => HttpResponse::new(302).header("Location", "/slow"),
            "/slow" => HttpResponse::new(200).stream(90).drip(15, Duration::from_millis(110)),
            _ => HttpResponse::new(404),
        },
    )
}

#[test]
fn events_show_retry_redirect_progress_and_end() {
    let dir = temp_dir();
    let path = dir.path().join("events");
    let server = start_busy_server();
    let url = server.url("/from").replacen("://", "://u:Geheim@", 1);
    let options = ["--retry", "1", "--retry-delay", "0", "--events", "events", "-o", "out", &url];
    run_fetch_url_in(dir.path(), options.iter().chain(&["-o", "out2", &server.url("/gone")])).assert_exit(78);
    let differences = read_events(&path);
    let (one, two) = (event_names(&differences, 0), event_names(&differences, 1));
    assert_eq!((one[0].as_str(), one.last().map(String::as_str)), ("start", Some("done")));
    let rest: Vec<&String> = one[1..one.len() - 1].iter().collect();
    assert_eq!((rest[0], rest[1]), (&"retry".to_owned(), &"hop".to_owned()), "{one:?}");
    assert!(rest[2..].iter().all(|name| *name == "progress") && rest.len() > 2, "{one:?}");
    assert_eq!(two, ["start", "error"]);
    let text = fs::read_to_string(&path).expect("the events");
    assert!(!text.contains("Geheim"), "{text}");
    let event = |name: &str| {
        differences.iter().find(|event| event["event"] == name).expect("an event with this name").clone()
    };
    assert_eq!(
        (&event("done")["octets"], &event("done")["status"], &event("done")["hops"]),
        (&90.into(), &200.into(), &1.into())
    );
    assert_eq!((&event("error")["code"], &event("error")["exit"]), (&"not_found".into(), &78.into()));
    assert_eq!(event("retry")["code"], "busy");
    assert!(event("hop")["to"].as_str().is_some_and(|to| to.ends_with("/slow")));
    let done: Vec<u64> = differences.iter().filter_map(|event| event["done"].as_u64()).collect();
    assert!(done.is_sorted() && done.iter().all(|&bytes| bytes <= 90), "{done:?}");
}

#[test]
fn events_of_parallel_transfers_have_start_and_end() {
    let dir = temp_dir();
    let server = http_server(|request| match request.path().as_str() {
        "/gone" => HttpResponse::new(404),
        _ => HttpResponse::new(200).stream(3).drip(40, Duration::from_millis(20)),
    });
    let paths: Vec<String> =
        (0..8).map(|number| server.url(if number == 3 { "/gone" } else { "/x" })).collect();
    let options = ["-Z", "--events", "-", "--output-dir", dir.path().to_str().expect("UTF-8")];
    let names: Vec<String> = (0..8).flat_map(|number| ["-o".to_owned(), format!("f{number}")]).collect();
    let arguments: Vec<&str> = options
        .into_iter()
        .chain(names.iter().map(String::as_str))
        .chain(paths.iter().map(String::as_str))
        .collect();
    let result = run_fetch_url(&arguments);
    let differences: Vec<Value> = result.assert_exit(78).stdout_text().lines().map(parse_json).collect();
    for number in 0..8 {
        let end = if number == 3 { "error" } else { "done" };
        assert_eq!(event_names(&differences, number), ["start", end], "{number}");
    }
}

#[test]
fn trace_contains_the_exchange_without_passwords() {
    let dir = temp_dir();
    let server = start_busy_server();
    let url = server.url("/from").replacen("://", "://u:Geheim@", 1);
    let options = [
        "--retry",
        "1",
        "--retry-delay",
        "0",
        "--trace",
        "trace",
        "-b",
        "c=Geheim",
        "-H",
        "X-Api-Key: Geheim",
    ];
    let result = run_fetch_url_in(
        dir.path(),
        options.iter().chain(&["-H", "Proxy-Authorization: Geheim", "-o", "out", &url]),
    );
    assert_eq!(result.assert_exit(0).stdout, b"");
    let text = fs::read_to_string(dir.path().join("trace")).expect("the trace");
    for expected in ["GET /from", "GET /slow", "503", "302", "200"] {
        assert!(text.contains(expected), "no {expected:?} in {text}");
    }
    let lower = text.to_ascii_lowercase();
    assert!(
        !lower.contains("geheim") && !lower.contains("r2vozwlt") && !lower.contains("dtphzwhlaw0"),
        "{text}"
    );
    let has_time = |line: &str| {
        line.trim_start().split(['s', ' ']).next().is_some_and(|time| time.parse::<f64>().is_ok())
    };
    assert!(text.lines().all(has_time), "a line without a time: {text}");
    let to_stderr = run_fetch_url(["--trace", "-", "-o", "/dev/null", &start_site().url("/to")]);
    assert!(to_stderr.assert_exit(0).assert_stderr_contains("GET /to").stdout.is_empty());
    run_fetch_url(["--trace", "/no/such/dir/trace", &start_site().url("/to")]).assert_exit(2);
    run_fetch_url(["--events", "/no/such/dir/events", &start_site().url("/to")]).assert_exit(2);
}

/// Without an error and without a terminal nothing is printed to standard error.
#[test]
fn success_prints_nothing_on_standard_error() {
    let (server, dir) = (start_site(), temp_dir());
    for options in ["", "-o out", "-O", "-i", "-I", "-R -o out", "--compressed", "-w %{http_code}", "-Z"] {
        let result =
            run_fetch_url_in(dir.path(), options.split_whitespace().chain([server.url("/to").as_str()]));
        assert_eq!((result.exit, result.stderr.as_str()), (0, ""), "{options}");
    }
    for options in ["-s", "-s -o out", "-s -Z"] {
        let result =
            run_fetch_url_in(dir.path(), options.split_whitespace().chain([server.url("/gone").as_str()]));
        assert_eq!((result.exit, result.stderr.as_str()), (78, ""), "{options}");
    }
    run_fetch_url(["-s", "-S", &server.url("/gone")]).assert_exit(78).assert_stderr_contains("not found");
}

/// The reader of the pipe exits; fetch-url ends at once and prints no message.
#[test]
fn broken_pipe_ends_run_silently() {
    let endless = http_server(|_| {
        HttpResponse::new(200)
            .header("Content-Length", "1000000000000")
            .then_repeat(vec![b'x'; 65536], 1 << 20)
    });
    let start = std::time::Instant::now();
    for options in ["", "-i", "--events -", "-w %{json}", "-Z"] {
        let script = format!("\"$F\" {options} \"$1\" 2>err | head -c1 >/dev/null; cat err");
        let dir = temp_dir();
        let mut command = std::process::Command::new("sh");
        isolate_environment(&mut command);
        command.env("F", BINARY).current_dir(dir.path()).args(["-c", &script, "sh", &endless.url("/")]);
        let result = run_command(command);
        assert_eq!(result.assert_exit(0).stdout_text(), "", "{options}");
    }
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    let status = run_shell("{ \"$F\" \"$1\"; echo $? >&2; } | head -c1 >/dev/null", [endless.url("/")]);
    assert!(["23\n", "141\n"].contains(&status.stderr.as_str()), "{status:?}");
}

#[test]
fn uploaded_size_is_zero_if_the_connection_is_refused() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    drop(listener);
    let result = run_fetch_url(["--retry", "0", "-d", "12345", "-w", "%{size_upload} %{speed_upload}", &url]);
    assert_eq!((result.exit, result.stdout_text()), (7, "0 0".to_owned()), "{}", result.stderr);
}

/// The time is measured up to the last request of a chain of redirects.
#[test]
fn time_of_redirects_ends_when_the_last_request_begins() {
    let server = http_server(|request| match request.path().as_str() {
        "/a" => {
            thread::sleep(Duration::from_millis(50));
            HttpResponse::new(302).header("Location", "/b")
        }
        _ => HttpResponse::new(200),
    });
    let result = run_fetch_url(["-L", "-w", "%{time_redirect}", &server.url("/a")]);
    let seconds: f64 = result.assert_exit(0).stdout_text().parse().expect("seconds");
    assert!(seconds >= 0.05, "{seconds}");
}
