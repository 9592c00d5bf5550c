//! HTTP request options: for the same options, fetch-url sends the same method, header fields and body as curl
//! (docs/spec/semantics.md §3, "Requests"; docs/spec/cli.md). Also the options for response headers and error bodies.

use std::fs;
use std::path::Path;

use crate::support::curl::run_curl;
use crate::support::{
    RunResult, entry_names, http_server, run_fetch_url, run_fetch_url_in, run_measuring_memory, run_shell,
    strong_etag_headers, temp_dir,
};
use fetch_url_tests::{HttpRequest, HttpResponse, HttpServer, ServerCert, file_handler};

/// Files that the options below read with `@name`.
const FILES: [(&str, &[u8]); 4] = [
    ("lines", b"one\r\ntwo\n\nthree four\n"),
    ("binary", &[0, 1, 13, 10, 127, 128, 255, b'&', b'=']),
    ("fields", b"X-One: 1\nX-Two:   two  \r\nAccept: text/plain\n"),
    ("empty", b""),
];

fn dir_with_files() -> tempfile::TempDir {
    let directory = temp_dir();
    for (name, bytes) in FILES {
        fs::write(directory.path().join(name), bytes).expect("write file");
    }
    directory
}

/// The parts of a request that must equal curl's request: everything but the User-Agent field.
fn comparable_request(request: &HttpRequest) -> String {
    let field = |(name, value): &(String, Vec<u8>)| {
        let name = name.to_ascii_lowercase();
        (name != "user-agent").then(|| format!("{name}: {}", value.escape_ascii()))
    };
    let mut fields: Vec<String> = request.headers.iter().filter_map(field).collect();
    // The order of fields with different names has no meaning (RFC 9110 §5.3), so they are sorted by name.
    fields.sort_by_key(|field| field.split(':').next().map(str::to_owned));
    format!("{} {}\n{}\n{}", request.method, request.path(), fields.join("\n"), request.body.escape_ascii())
}

/// Runs curl and fetch-url; returns `Err` if their requests differ. `row` holds options separated by spaces, in which
/// `_` stands for a space.
fn compare_with_curl(server: &HttpServer, directory: &Path, row: &str, path: &str) -> Result<(), String> {
    let options = row.split_whitespace().map(|word| word.replace('_', " "));
    let mut arguments: Vec<String> =
        options.map(|word| if word == "''" { String::new() } else { word }).collect();
    arguments.push(server.url(path));
    let before = server.requests().len();
    let Some(curl_result) = run_curl(directory, [["-L".to_owned()].as_slice(), &arguments].concat()) else {
        return Ok(());
    };
    let between = server.requests().len();
    let own_result = run_fetch_url_in(directory, &arguments);
    let requests = server.requests();
    let joined = |requests: &[HttpRequest]| {
        requests.iter().map(comparable_request).collect::<Vec<_>>().join("\n-- then\n")
    };
    let (curl_requests, own_requests) = (joined(&requests[before..between]), joined(&requests[between..]));
    if curl_requests == own_requests && own_result.exit == curl_result.exit {
        return Ok(());
    }
    Err(format!(
        "== {row}\n-- curl ({})\n{curl_requests}\n-- fetch-url ({}) {}\n{own_requests}",
        curl_result.exit, own_result.exit, own_result.stderr
    ))
}

#[track_caller]
fn assert_same_requests_as_curl(server: &HttpServer, rows: &[&str], path: &str) {
    let directory = dir_with_files();
    let failures: Vec<String> =
        rows.iter().filter_map(|row| compare_with_curl(server, directory.path(), row, path).err()).collect();
    assert!(
        failures.is_empty(),
        "{} of {} differ from curl:\n{}",
        failures.len(),
        rows.len(),
        failures.join("\n")
    );
}

fn start_server() -> HttpServer {
    http_server(|_| HttpResponse::new(200).body("ok"))
}

#[test]
fn request_method_equals_curl() {
    let rows = [
        "-X PUT",
        "-X DELETE",
        "-X get",
        "-X PUT -d x",
        "-X POST",
        "-X M-SEARCH",
        "-I",
        "-I -X PUT",
        "-X OPTIONS",
    ];
    assert_same_requests_as_curl(&start_server(), &rows, "/a?b");
}

/// The last value counts, so that an option can override one from a shell alias.
#[test]
fn repeated_option_uses_the_last_value() {
    let rows = [
        "-X PUT -X DELETE",
        "-A a -A b -H User-Agent:",
        "-e http://a.test/ -e http://b.test/",
        "--max-time 9 --max-time 8",
        "--retry 0 --retry 0",
        "-s -s -f -f",
    ];
    assert_same_requests_as_curl(&start_server(), &rows, "/");
}

#[test]
fn header_fields_equal_curl() {
    let rows = [
        "-H X-One:1",
        "-0",
        "--tr-encoding",
        "-0 -d x",
        "-H X-One:_1",
        "-H x-oNe:__1__",
        "-H X-One:_1 -H X-One:_2",
        "-H X-One:_b -H X-Two:_c -H X-One:_a",
        "-H Accept:_text/html",
        "-H Accept:",
        "-H accept:",
        "-H Accept;",
        "-H X-Empty;",
        "-H X-Empty:",
        "-H User-Agent:",
        "-H Host:_other.test",
        "-H host:_other.test:81",
        "-H @fields",
        "-H @fields -H X-Three:_3",
        "-H Cookie:_a=b",
        "-H X-Colon:_a:b:c",
        "-H Range:_bytes=0-",
        "-H Referer:_http://u@h/",
        "-H Content-Type:_text/plain",
        "-H Connection:_close",
        "-H TE:_trailers",
        "-H Accept-Encoding:_gzip",
        "-H X-Utf8:_caf\u{e9}",
    ];
    assert_same_requests_as_curl(&start_server(), &rows, "/");
}

#[test]
fn part_for_a_range_field_of_the_user_is_printed_as_it_is() {
    let server = http_server(file_handler(b"0123456789".to_vec(), strong_etag_headers()));
    let result = run_fetch_url(["-H", "Range: bytes=2-5", &server.url("/")]);
    assert_eq!(result.assert_exit(0).stdout_text(), "2345");
}

#[test]
fn user_agent_and_referer_options_set_the_fields() {
    let rows = ["-A ''", "-e http://from.test/x", "-e ''", "-e http://a.test/ -H Referer:_http://b.test/"];
    assert_same_requests_as_curl(&start_server(), &rows, "/");
    let server = start_server();
    run_fetch_url(["-A", "me/1", &server.url("/")]).assert_exit(0);
    run_fetch_url(["-H", "User-Agent: you/2", &server.url("/")]).assert_exit(0);
    run_fetch_url(["-A", "", &server.url("/")]).assert_exit(0);
    run_fetch_url([server.url("/")]).assert_exit(0);
    let user_agent = |number: usize| server.requests()[number].header_text("user-agent").map(str::to_owned);
    assert_eq!(
        (user_agent(0).as_deref(), user_agent(1).as_deref(), user_agent(2)),
        (Some("me/1"), Some("you/2"), None)
    );
    assert!(user_agent(3).is_some_and(|name| name.starts_with("fetch-url/")), "{:?}", user_agent(3));
}

#[test]
fn request_body_equals_curl() {
    let rows = [
        "-d a=b",
        "-d a=b -d c=d",
        "-d ''",
        "-d a_b&c%20d+e",
        "-d @lines",
        "-d @empty",
        "-d @lines -d x",
        "--data-ascii @lines",
        "--data-raw @lines",
        "--data-raw a=b -d c=d",
        "--data-binary @lines",
        "--data-binary @binary",
        "--data-binary a=b --data-binary @binary",
        "-d caf\u{e9}",
        "-d a=b -H Content-Type:_text/plain",
        "-d a=b -H Content-Type:",
        "-d a=b -H content-type;",
        "-X PUT -d a=b",
        "--json {\"a\":1}",
        "--json {\"a\": --json 1}",
        "--json @binary",
        "--json {} -H Content-Type:_application/ld+json",
        "--json {} -H Accept:_application/ld+json",
    ];
    assert_same_requests_as_curl(&start_server(), &rows, "/form?q");
}

#[test]
fn data_from_standard_input_is_sent() {
    let server = start_server();
    for (options, error_result) in [
        ("-d @-", "ab"),
        ("--data-binary @-", "a\nb\n"),
        ("--json @-", "a\nb\n"),
        ("--data-urlencode n@-", "n=a%0Ab%0A"),
    ] {
        let script = format!("printf 'a\\nb\\n' | \"$F\" {options} \"$1\"");
        run_shell(&script, [server.url("/")]).assert_exit(0);
        assert_eq!(
            server.requests().last().expect("at least one request").body,
            error_result.as_bytes(),
            "{options}"
        );
    }
}

#[test]
fn header_fields_are_read_from_standard_input() {
    let server = start_server();
    let run = |input: &str, options: &str| {
        run_shell(&format!("printf '{input}' | \"$F\" {options} \"$1\""), [server.url("/")])
    };
    run("X-One: 1\\nX-Two: 2\\n", "-H @-").assert_exit(0);
    let request = server.requests().remove(0);
    assert_eq!((request.header_text("x-one"), request.header_text("x-two")), (Some("1"), Some("2")));
    run("X-One: 1\\n", "-H @- -d @-").assert_exit(2).assert_stderr_contains("standard input is read by");
    run("X-One: 1\\nx", "-H @-").assert_exit(2).assert_stderr_contains("-H: standard input:2: expected");
    run("X-One: \\351\\n", "-H @-").assert_exit(2).assert_stderr_contains("standard input is not UTF-8");
    assert_eq!(server.requests().len(), 1);
}

/// Bytes that are not UTF-8 would be sent as others.
#[test]
fn file_with_header_fields_that_is_not_utf8_exits_2_and_is_not_sent() {
    let dir = temp_dir();
    fs::write(dir.path().join("latin1"), b"X-One: caf\xe9\n").expect("write file");
    let server = start_server();
    for options in [&["-H", "@latin1"][..], &["-F", "a=b;headers=@latin1"]] {
        let result = run_fetch_url_in(dir.path(), [options, &[&server.url("/")]].concat());
        result.assert_exit(2).assert_stderr_contains("latin1: the file is not UTF-8");
    }
    assert!(server.requests().is_empty());
}

/// A body of 3 MiB, larger than every buffer.
#[test]
fn large_request_body_is_sent_completely() {
    let dir = temp_dir();
    let bytes = fetch_url_tests::pattern_vec(0, 3 << 20);
    fs::write(dir.path().join("large"), &bytes).expect("write file");
    let server = start_server();
    run_fetch_url_in(dir.path(), ["--data-binary", "@large", &server.url("/")]).assert_exit(0);
    assert!(server.requests()[0].body == bytes);
}

/// A file is read while it is sent, and again after a redirect or for a retry.
#[test]
fn file_to_send_is_streamed_and_sent_again_after_redirect_and_retry() {
    const SIZE: u64 = 64 << 20;
    let dir = temp_dir();
    let path = dir.path().join("large");
    fs::File::create(&path).and_then(|file| file.set_len(SIZE)).expect("create a sparse file");
    let server = http_server(|request| match request.path().as_str() {
        "/redirect" => HttpResponse::new(307).header("Location", "/end"),
        _ => HttpResponse::new(200),
    });
    let data = format!("@{}", path.display());
    let (memory, result) = run_measuring_memory(&["--data-binary", &data, &server.url("/redirect")]);
    result.assert_exit(0);
    assert!(memory < 48 << 10, "{memory} KiB");
    assert_eq!(server.requests().len(), 2);
    assert!(server.requests().iter().all(|request| request.body.len() as u64 == SIZE));
}

#[test]
fn urlencoded_and_mixed_data_equals_curl() {
    let rows = [
        "--data-urlencode a_b",
        "--data-urlencode =a&b=c",
        "--data-urlencode n=a=b&c",
        "--data-urlencode n=caf\u{e9}~-._!*'()",
        "--data-urlencode @lines",
        "--data-urlencode n@binary",
        "--data-urlencode =a@b",
        "--data-urlencode a@binary=x",
        // Data of different options is joined in command line order.
        "--data-urlencode a=1_2 -d b=3",
        "-d b=3 --data-urlencode a=1_2 --data-raw c=@ -d d",
        "--data-binary x --data-raw y -d z",
    ];
    assert_same_requests_as_curl(&start_server(), &rows, "/form");
}

#[test]
fn get_option_appends_data_to_the_query() {
    let rows = [
        "-G -d a=b",
        "-G -d a=b -d c",
        "-G -d ''",
        "-G --data-urlencode q=x",
        "-G --data-urlencode q=a&b",
        "-G -d a=b -X DELETE",
        "-G -I -d a=b",
        "-G",
    ];
    assert_same_requests_as_curl(&start_server(), &rows, "/");
    assert_same_requests_as_curl(&start_server(), &["-G -d a=b"], "/p?q=r");
    assert_same_requests_as_curl(&start_server(), &["-G -d a=b"], "/p?");
    assert_same_requests_as_curl(&start_server(), &["-G -d a=b"], "/p?q=r&");
    assert_same_requests_as_curl(&start_server(), &["-G -d a=b"], "/p?q=r?");
    assert_same_requests_as_curl(&start_server(), &["-G -d a=b"], "/p?url=http://h/?");
    assert_same_requests_as_curl(&start_server(), &["-G --json 1"], "/p");
    assert_same_requests_as_curl(&start_server(), &["-G -d a=b"], "/p#fragment");
}

/// RFC 9110 §15.4: 307 and 308 keep method and body; 301, 302 and 303 change POST to GET.
#[test]
fn redirected_request_equals_curl() {
    for status in [301, 302, 303, 307, 308] {
        let server = http_server(move |request| match request.path().as_str() {
            "/a" => HttpResponse::new(status).header("Location", "/b"),
            _ => HttpResponse::new(200).body("ok"),
        });
        assert_same_requests_as_curl(&server, &["-d a=b", "-I", "-G -d a=b", "-H X-Mine:_1"], "/a");
        // After a change to GET, curl keeps the Content-Type of `--json`; RFC 9110 §15.4 removes it.
        if status >= 307 {
            assert_same_requests_as_curl(
                &server,
                &["--json {}", "--data-raw x -H Content-Type:_text/plain"],
                "/a",
            );
        }
    }
}

/// docs/spec/faults.md, row 11: an option value with a line end is refused before any request is sent.
#[test]
fn line_end_in_header_option_is_refused_without_a_request() {
    let server = start_server();
    for arguments in [
        &["-H", "X: a\r\nEvil: 1"][..],
        &["-H", "X: a\nEvil: 1"],
        &["-H", "X: a\rEvil"],
        &["-H", "X\r\nEvil: 1"],
        &["-H", "X Y: 1"],
        &["-H", ": 1"],
        &["-A", "a\r\nEvil: 1"],
        &["-e", "http://a/\nEvil: 1"],
        &["-b", "a=b\r\nEvil: 1"],
        &["-X", "GET /x HTTP/1.1\r\nEvil: 1\r\n"],
        &["-X", "GET x"],
        &["-X", ""],
        &["--oauth2-bearer", "a\r\nEvil: 1"],
    ] {
        let result = run_fetch_url(arguments.iter().chain(&[server.url("/").as_str()]));
        assert!([2, 93].contains(&result.exit), "{arguments:?}: {result:?}");
        assert!(
            !result.stderr.contains('\r') && !result.stderr.contains("\nEvil"),
            "{arguments:?}: {}",
            result.stderr
        );
    }
    assert_eq!(server.requests(), [], "a request was sent");
    let result = run_fetch_url([server.url("/a%0d%0aEvil:%201")]);
    assert_eq!((result.exit, server.requests()[0].path().as_str()), (0, "/a%0d%0aEvil:%201"));
    assert!(server.requests()[0].header("evil").is_none());
}

#[test]
fn contradictory_or_unreadable_options_exit_2() {
    let server = start_server();
    let url = server.url("/");
    for arguments in [
        &["-d", "@/no/such/file"][..],
        &["--data-binary", "@/no/such/file"],
        &["--data-urlencode", "a@/no/such/file"],
        &["-H", "@/no/such/file"],
        &["-I", "-d", "a=b"],
        &["-d", "a", "--json", "{}", "-I"],
    ] {
        let result = run_fetch_url(arguments.iter().chain(&[url.as_str()]));
        assert_eq!(result.exit, 2, "{arguments:?}: {result:?}");
    }
    assert_eq!(server.requests(), [], "a request was sent");
}

/// For status 400 and above, `--fail` is the default; `--fail-with-body` and `--no-fail` deliver the body.
#[test]
fn error_status_sets_the_exit_code_and_body_delivery() {
    for (status, exit) in
        [(404, 78), (410, 78), (401, 67), (403, 9), (429, 92), (503, 92), (400, 22), (500, 22), (599, 22)]
    {
        let server = http_server(move |_| HttpResponse::new(status).header("ETag", "\"e\"").body("why not"));
        let url = server.url("/x");
        for (arguments, delivers_body, is_error) in [
            (&[][..], false, true),
            (&["-f"][..], false, true),
            (&["--fail-with-body"], true, true),
            (&["--no-fail"], true, false),
        ] {
            let exit = if is_error { exit } else { 0 };
            let result = run_fetch_url(arguments.iter().chain(&[url.as_str()]));
            assert_eq!(
                (result.exit, result.stdout_text().as_str()),
                (exit, if delivers_body { "why not" } else { "" }),
                "{arguments:?}"
            );
            let directory = temp_dir();
            fs::write(directory.path().join("here"), "old").expect("write file");
            let result =
                run_fetch_url_in(directory.path(), arguments.iter().chain(&["-o", "here", url.as_str()]));
            let content = fs::read_to_string(directory.path().join("here")).expect("read file");
            assert_eq!(
                (result.exit, content.as_str()),
                (exit, if delivers_body { "why not" } else { "old" }),
                "{arguments:?}"
            );
            assert_eq!(entry_names(directory.path()), ["here"], "{status} {arguments:?}");
        }
    }
}

fn lowercase_lines(result: &RunResult) -> Vec<String> {
    result.stdout_text().lines().map(|line| line.trim_end().to_ascii_lowercase()).collect()
}

#[test]
fn head_and_include_options_print_the_response_header() {
    let server = http_server(|request| match request.path().as_str() {
        "/from" => HttpResponse::new(302).header("Location", "/to").body("elsewhere"),
        "/gone" => HttpResponse::new(404).header("X-Why", "gone").body("gone"),
        _ => HttpResponse::new(200)
            .header("Content-Type", "text/plain")
            .header("X-A", "1")
            .header("X-A", "2")
            .body("the body"),
    });
    let head_result = run_fetch_url(["-I", &server.url("/to")]);
    assert_eq!(server.requests()[0].method, "HEAD");
    let expected = ["http/1.1 200 ok", "content-type: text/plain", "x-a: 1", "x-a: 2", "content-length: 8"];
    assert_eq!(lowercase_lines(head_result.assert_exit(0))[..5], expected);
    assert!(!head_result.stdout_text().contains("the body"), "{}", head_result.stdout_text());
    let include_result = run_fetch_url(["-i", &server.url("/to")]);
    assert!(
        include_result.assert_exit(0).stdout_text().ends_with("\n\nthe body")
            || include_result.stdout_text().ends_with("\r\n\r\nthe body"),
        "{include_result:?}"
    );
    assert_eq!(lowercase_lines(&include_result)[..5], expected);
    let json_result = run_fetch_url(["-I", "--format", "json", &server.url("/to")]);
    let value: serde_json::Value =
        serde_json::from_slice(&json_result.assert_exit(0).stdout).expect("valid JSON");
    assert_eq!((&value["size"], &value["media_type"]), (&8.into(), &"text/plain".into()));
    // `-I` follows redirects, and an error status sets the exit code.
    run_fetch_url(["-I", &server.url("/from")]).assert_exit(0);
    run_fetch_url(["-I", &server.url("/gone")]).assert_exit(78);
    let header_result = run_fetch_url(["-I", "--no-fail", &server.url("/gone")]);
    assert!(
        lowercase_lines(header_result.assert_exit(0)).contains(&"x-why: gone".to_owned()),
        "{header_result:?}"
    );
    let error_result = run_fetch_url(["-i", "--fail-with-body", &server.url("/gone")]);
    assert!(
        lowercase_lines(error_result.assert_exit(78)).contains(&"x-why: gone".to_owned())
            && error_result.stdout_text().ends_with("gone"),
        "{error_result:?}"
    );
    let methods: Vec<String> =
        server.requests().iter().skip(3).map(|request| request.method.clone()).collect();
    assert_eq!(methods, ["HEAD", "HEAD", "HEAD", "HEAD", "GET"]);
}

/// With `-o`, the response header is written to the same file as the body, like curl.
#[test]
fn include_option_writes_header_and_body_to_the_output_file() {
    let directory = temp_dir();
    let server = http_server(|_| HttpResponse::new(200).header("X-A", "1").body("the body"));
    let result = run_fetch_url_in(directory.path(), ["-i", "-o", "here", &server.url("/")]);
    assert_eq!(result.assert_exit(0).stdout_text(), "");
    let content = fs::read_to_string(directory.path().join("here")).expect("read file");
    assert!(
        content.starts_with("HTTP/1.1 200 ")
            && content.ends_with("\n\nthe body") | content.ends_with("\r\n\r\nthe body")
    );
    run_fetch_url_in(directory.path(), ["-I", "-o", "head", &server.url("/")]).assert_exit(0);
    let head = fs::read_to_string(directory.path().join("head")).expect("read file");
    assert!(head.to_ascii_lowercase().contains("x-a: 1") && !head.contains("the body"), "{head}");
}

/// Without ALPN the protocol is HTTP/1.1, with every option for the HTTP version. The live tests cover HTTP/2, because
/// their servers support it.
#[test]
fn http_version_is_1_1_without_alpn() {
    let cert = ServerCert::good().expect("create certificate");
    let files = cert.write_files().expect("write certificate files");
    let server = HttpServer::start_tls(|_| HttpResponse::new(200).body("ok"), &cert).expect("start server");
    let plain_server = start_server();
    let ca = files.ca.to_str().expect("valid UTF-8");
    for version_options in [&[][..], &["--http1.1"], &["--http2"], &["--http1.1", "--http2"]] {
        for url in [server.url("/"), plain_server.url("/")] {
            let common_options = ["--cacert", ca, "-w", " %{http_version}", &url];
            assert_eq!(
                run_fetch_url(version_options.iter().chain(&common_options)).assert_exit(0).stdout_text(),
                "ok 1.1",
                "{version_options:?} {url}"
            );
        }
    }
}

/// The response header that `-i` prints does not count against `--max-filesize`.
#[test]
fn max_filesize_does_not_count_the_included_header() {
    let server = http_server(|_| HttpResponse::new(200).body("ok"));
    let result = run_fetch_url(["-i", "--max-filesize", "2", &server.url("/")]);
    assert!(result.exit == 0 && result.stdout_text().ends_with("\n\nok"), "{result:?}");
    run_fetch_url(["-i", "--max-filesize", "1", &server.url("/")]).assert_exit(63);
}

/// The header of `-i` is not part of the object: it counts neither in `size_download` nor in the events.
#[test]
fn size_download_does_not_count_the_included_header() {
    let server = http_server(|request| match request.path().as_str() {
        "/empty" => HttpResponse::new(204),
        _ => HttpResponse::new(200).header("X-A", "a".repeat(500)).body("the body"),
    });
    let dir = temp_dir();
    for (path, size) in [("/", 8), ("/empty", 0)] {
        for output in [&[][..], &["-o", "out"]] {
            let options = ["-i", "--events", "events", "-w", "\n%{size_download}", &server.url(path)];
            let result = run_fetch_url_in(dir.path(), output.iter().chain(&options));
            let printed = result.assert_exit(0).stdout_text();
            assert!(printed.ends_with(&format!("\n{size}")), "{output:?} {path}: {printed}");
            let events = fs::read_to_string(dir.path().join("events")).expect("events");
            assert!(events.contains(&format!("\"octets\":{size},")), "{output:?} {path}: {events}");
        }
    }
}

#[test]
fn tab_in_a_header_field_is_printed_as_a_tab() {
    let server = http_server(|_| HttpResponse::new(200).header("X-A", "a\tb").body("ok"));
    for options in [&["-i"][..], &["-I"], &["-s", "-o", "/dev/null", "-w", "X-A: %header{x-a}"]] {
        let result = run_fetch_url(options.iter().chain(&[server.url("/").as_str()]));
        let printed = result.assert_exit(0).stdout_text();
        assert!(printed.contains("X-A: a\tb"), "{options:?}: {printed:?}");
    }
}

/// `-e` with user, password and fragment (RFC 9110 §10.1.3): the server and the output see none of them.
#[test]
fn referer_is_sent_and_shown_without_user_password_and_fragment() {
    let server = HttpServer::start(|_| HttpResponse::new(200).body("ok")).expect("start server");
    let url = server.url("/");
    let secret = "http://u:PW@ref/a?b#top";
    let result = run_fetch_url(["-e", secret, "-vv", "-w", "%{referer}", &url]);
    assert_eq!((result.exit, result.stdout_text().as_str()), (0, "okhttp://ref/a?b"), "{}", result.stderr);
    assert!(!result.stderr.contains("PW"), "{}", result.stderr);
    assert_eq!(server.requests()[0].header_text("referer"), Some("http://ref/a?b"));
    let explained = run_fetch_url(["explain", "-e", secret, &url]);
    assert!(!explained.stdout_text().contains("PW"), "{}", explained.stdout_text());
    let failed = run_fetch_url(["-e", secret, "-w", "%{referer}", "http://127.0.0.1:1/"]);
    assert!(!failed.stdout_text().contains("PW"), "{failed:?}");
}

/// The URL is shorter than the limit, but its path is longer when it is percent-encoded.
#[test]
fn url_that_is_too_long_to_be_sent_is_rejected() {
    let server = HttpServer::start(|_| HttpResponse::new(200).body("ok")).expect("start server");
    let result = run_fetch_url([server.url(&"é".repeat(25_000))]);
    assert_eq!(result.exit, 3, "{}", result.stderr.chars().take(300).collect::<String>());
}
