//! Passwords in URLs: they never appear in messages, the wire trace, JSON output, `explain` output or files, and are
//! sent only to the origin they were given for (docs/spec/faults.md, rows 29 and 34 to 37).

use std::fs;
use std::time::Duration;

use crate::support::{
    RunResult, check_in_parallel, entry_names, http_server, part_metadata_path, run_fetch_url,
    run_fetch_url_in, strong_etag_headers, temp_dir,
};
use fetch_url_tests::{HttpRequest, HttpResponse, HttpServer, OldFile, Target, file_handler, pattern_vec};

/// The password that must not appear anywhere. It has only letters, so that no encoding changes it.
const CANARY: &str = "KanarienVogel";
/// `u:` followed by [`CANARY`], in base64.
const CANARY_IN_BASE64: &str = "dTpLYW5hcmllblZvZ2Vs";

/// Options for verbosity and output format.
const OUTPUT_OPTIONS: [&[&str]; 7] =
    [&[], &["-v"], &["-vv"], &["-vvv"], &["--format", "json"], &["-vvv", "--format", "json"], &["-s", "-S"]];

fn contains_canary(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    lower.contains(&CANARY.to_ascii_lowercase()) || text.contains(CANARY_IN_BASE64) || lower.contains("kanar")
}

/// Returns `Err` with the first output line that contains the canary.
fn check_no_leak(result: &RunResult, case: &str) -> Result<(), String> {
    let all_output = format!("{}\n{}", result.stderr, result.stdout_text());
    match all_output.lines().find(|line| contains_canary(line)) {
        Some(line) => Err(format!("{case} (exit {}): {line}", result.exit)),
        None => Ok(()),
    }
}

fn url_with_login(url: &str) -> String {
    url.replacen("://", &format!("://u:{CANARY}@"), 1)
}

fn assert_no_leaks(results: impl IntoIterator<Item = Result<(), String>>) {
    let failures: Vec<String> = results.into_iter().filter_map(Result::err).collect();
    assert!(failures.is_empty(), "{} leaks:\n{}", failures.len(), failures.join("\n"));
}

/// Valid URLs; some of them are refused.
const VALID_URLS: [&str; 22] = [
    "ftp://u:CANARY@127.0.0.1:1/a",
    "ftp://u:CANARY@127.0.0.1:1/a%0d%0aDELE%20x",
    "ftps://u:CANARY@127.0.0.1:1/",
    "http://u:CANARY@127.0.0.1:1/",
    "https://u:CANARY@127.0.0.1:1/",
    "http://u:CANARY@no-such-host.invalid/",
    "http://:CANARY@127.0.0.1:1/",
    "http://u%3A:CANARY@127.0.0.1:1/",
    "http://u:CANARY@127.0.0.1:25/",
    "telnet://u:CANARY@127.0.0.1:1/",
    "x-foo://u:CANARY@127.0.0.1:1/",
    "foo://u:CANARY@127.0.0.1/",
    "nfs://u:CANARY@127.0.0.1/",
    "tn3270://u:CANARY@127.0.0.1/",
    "FTP://u:CANARY@127.0.0.1:1/",
    "<URL:ftp://u:CANARY@127.0.0.1:1/>",
    "URL:ftp://u:CANARY@127.0.0.1:1/",
    "ftp://u:CANARY@127.0.0.1:1/a;type=z",
    "ftp://u:CANARY;x@127.0.0.1:1/",
    "ftp://u:CANARY%40x@127.0.0.1:1/",
    "ftp://u:x%40CANARY@127.0.0.1:1/",
    "http://u:CANARY@127.0.0.1:1/#f",
];

/// Invalid URLs that contain a password.
const INVALID_URLS: [&str; 46] = [
    "http://u:CANARY@127.0.0.1:99999/",
    "http://u:CANARY@h:x/",
    "http://u:CANARY@[::1/",
    "http://u:CANARY@/",
    "http://u:CANARY@h /",
    "http://u:CANARY@h/a b",
    "http://u:CANARY@0x7f.1/",
    "http://u:CANARY@h\\x/",
    "ftp://u:CANARY@@h/",
    "ftp://u:CANARY@b@h/",
    "ftp://u@b:CANARY@h/",
    "ftp://u:x@CANARY@h/",
    "ftp://u:CANARY/x@h/",
    "ftp://u:CANARY%@h/",
    "ftp://u:CANARY%zz@h/",
    "ftp://u:%zzCANARY@h/",
    "ftp://u:x:CANARY@h/",
    "ftp://u:CANARY\u{e9}@h/",
    "ftp://u:\u{e9}CANARY@h/",
    "ftp://u: CANARY@h/",
    "ftp://u:CANARY #@h/",
    "ftp://u:a#CANARY@h/",
    "ftp://u:a?CANARY@h/",
    "http:/u:CANARY@h/",
    "http:u:CANARY@h/",
    "//u:CANARY@h/",
    "u:CANARY@h/",
    "gopher://u:CANARY@h/",
    "wais://u:CANARY@h/db",
    "news://u:CANARY@h/g",
    "nntp://u:CANARY@h/g/1",
    "prospero://u:CANARY@h/x",
    "file://u:CANARY@h/x",
    "ht tp://u:CANARY@h/",
    "ftp://u:CANARY@h/\n",
    "ftp://u:CANARY@h/\u{1}",
    "\u{e9}://u:CANARY@h/",
    "ftp:://u:CANARY@h/",
    "ftp:///u:CANARY@h/",
    "<URL:ftp://u:CANARY@h /",
    "ftp://u:CANARY@-h/",
    "ftp://u:CANARY@h..i/",
    "ftp://u:CANARY@h:0/",
    "ftp://u:CANARY@\u{2460}/",
    "  ftp://u:CANARY@h/x",
    "ftp://u:CANARY@xn--a/",
];

fn urls_with_canary() -> Vec<String> {
    VALID_URLS.iter().chain(&INVALID_URLS).map(|text| text.replace("CANARY", CANARY)).collect()
}

#[test]
fn password_in_any_url_is_never_printed() {
    let urls = urls_with_canary();
    check_in_parallel(&urls, 8, |url| {
        let directory = temp_dir();
        for output_options in [&[][..], &["-vvv"], &["--format", "json"]] {
            let result =
                run_fetch_url(output_options.iter().chain(&["--connect-timeout", "2", url.as_str()]));
            check_no_leak(&result, url)?;
            assert_ne!(result.exit, 0, "{url}");
        }
        for subcommand in [
            &["explain"][..],
            &["explain", "--json"],
            &["explain", "--dialect", "rfc1738"],
            &["explain", "--dialect", "cern1993"],
        ] {
            check_no_leak(
                &run_fetch_url(subcommand.iter().chain(&[url.as_str()])),
                &format!("{subcommand:?} {url}"),
            )?;
        }
        let output = directory.path().to_str().expect("valid UTF-8");
        check_no_leak(&run_fetch_url(["-O", "--output-dir", output, url]), &format!("-O {url}"))?;
        match entry_names(directory.path()).into_iter().find(|name| contains_canary(name)) {
            Some(name) => Err(format!("{url}: a file {name}")),
            None => Ok(()),
        }
    });
}

/// Tests successful responses, error statuses, garbage, truncation and a stall.
#[test]
fn password_is_never_printed_whatever_the_server_sends() {
    let echo = |request: &HttpRequest| HttpResponse::new(404).header("X-Seen", request.target.as_slice());
    let servers: [(&str, HttpServer); 8] = [
        (
            "200",
            http_server(file_handler(
                pattern_vec(0, 100).iter().map(|byte| byte % 26 + 97).collect(),
                strong_etag_headers(),
            )),
        ),
        ("401", http_server(|_| HttpResponse::new(401).header("WWW-Authenticate", "Basic realm=\"x\""))),
        ("403", http_server(|_| HttpResponse::new(403))),
        ("404", http_server(echo)),
        ("503", http_server(|_| HttpResponse::new(503))),
        ("garbage", http_server(|_| HttpResponse::raw("SSH-2.0-x\r\n"))),
        (
            "cut",
            http_server(|_| HttpResponse::new(200).header("ETag", "\"v\"").body("abcdef").cut_body_at(3)),
        ),
        ("stall", http_server(|_| HttpResponse::raw("").then_stall(Duration::from_secs(5)))),
    ];
    let mut failures = Vec::new();
    for (name, server) in &servers {
        for output_options in OUTPUT_OPTIONS {
            for include_options in [&[][..], &["-i"], &["-I"], &["--no-fail"]] {
                let url = url_with_login(&server.url("/x"));
                let result = run_fetch_url(
                    [output_options, include_options, &["--read-timeout", "0.2", &url]].concat(),
                );
                failures
                    .push(check_no_leak(&result, &format!("{name} {output_options:?} {include_options:?}")));
            }
        }
        let requests = server.requests();
        let login = format!("Basic {CANARY_IN_BASE64}");
        let origin_got_login =
            requests.iter().all(|request| request.header_text("authorization") == Some(&login));
        assert!(origin_got_login && !requests.is_empty(), "{name}: the origin did not get the login");
        assert!(
            requests.iter().all(|request| !contains_canary(&request.path())),
            "{name}: in the request line"
        );
        let hosts =
            requests.iter().all(|request| request.header_text("host") == Some(&server.addr().to_string()));
        assert!(hosts, "{name}: the login in Host");
    }
    assert_no_leaks(failures);
}

/// Sends back the login in header fields, in the reason phrase and, for `/from`, in a redirect.
fn login_echo_server() -> HttpServer {
    http_server(|request| {
        let authorization = request.header_text("authorization").unwrap_or("nothing").to_owned();
        let response = match request.path().as_str() {
            "/from" => HttpResponse::new(302).header("Location", format!("/to?{CANARY}")),
            "/challenge" if authorization == "nothing" => {
                let challenge = format!("Basic realm=\"{CANARY}\"");
                HttpResponse::new(401).header("WWW-Authenticate", challenge)
            }
            "/denied" => HttpResponse::raw(format!(
                "HTTP/1.1 403 no {CANARY}\r\nX-Seen: {authorization}\r\nContent-Length: 0\r\n\r\n"
            )),
            _ => HttpResponse::new(200).body("ok"),
        };
        response.header("X-Seen", authorization).header("X-Plain", format!("is {CANARY}, {CANARY}"))
    })
}

#[test]
fn secret_that_the_server_repeats_is_masked_in_the_trace() {
    let server = login_echo_server();
    let login = format!("u:{CANARY}");
    let mut failures = Vec::new();
    let dir = temp_dir();
    let trace = dir.path().join("trace");
    for (options, path) in [
        (&["-u", &login][..], "/to"),
        (&["-u", &login], "/denied"),
        (&["-u", &login, "--no-location"], "/from"),
        (&["--anyauth", "-u", &login], "/challenge"),
        (&["--oauth2-bearer", CANARY], "/to"),
        (&["-H", &format!("Authorization: Own {CANARY}")], "/denied"),
        (&["-b", &format!("a=b; c={CANARY}")], "/denied"),
        (&["-b", &format!("a=b; c=\"{CANARY}\"")], "/denied"),
        (&["-H", &format!("Cookie: c={CANARY}")], "/to"),
        (&["-H", &format!("X-Api-Key: {CANARY}")], "/denied"),
    ] {
        let url = server.url(path);
        let common = ["-v", "--trace", trace.to_str().expect("UTF-8"), &url];
        let result = run_fetch_url(options.iter().chain(&common));
        let case = format!("{options:?} {path}").replace(CANARY, "***");
        failures.push(check_no_leak(&result, &case));
        let text = fs::read_to_string(&trace).expect("a trace");
        assert!(!contains_canary(&text), "{case}: {text}");
        if path == "/denied" {
            assert!(result.stderr.contains("403 no ***"), "{case}: {}", result.stderr);
        } else {
            assert!(result.stderr.contains("X-Plain: is ***, ***"), "{case}: {}", result.stderr);
        }
    }
    assert_no_leaks(failures);
    // The caller still receives the fields as they were sent.
    let included = run_fetch_url(["-i", "-u", &login, &server.url("/to")]).assert_exit(0).stdout_text();
    assert!(included.contains(&format!("X-Plain: is {CANARY}")), "{included}");
}

#[test]
fn secret_fields_of_a_response_are_masked_in_the_trace() {
    let names = ["Set-Cookie", "X-Auth-Token", "X-Session-Id", "Authentication-Info"];
    let server = http_server(move |_| {
        let response = HttpResponse::new(200).body("ok");
        names.iter().fold(response, |response, name| response.header(name, format!("a={CANARY}")))
    });
    let result = run_fetch_url(["-v", &server.url("/")]);
    assert_no_leaks(vec![check_no_leak(&result, "-v")]);
    for name in names {
        assert!(result.stderr.contains(&format!("{name}: ***")), "{}", result.stderr);
    }
}

/// A server can repeat the secrets of a request in the URL of a duplicate, or in a Metalink document.
#[test]
fn secrets_in_a_url_that_the_server_names_are_masked() {
    let document = |url: &str| {
        format!(
            "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\"><file name=\"f\"><url>{url}</url></file></metalink>"
        )
    };
    let server = http_server(move |request| match request.path().as_str() {
        "/x" => HttpResponse::new(503).header("Link", format!("</d/{CANARY}>; rel=duplicate")),
        "/document" => HttpResponse::new(200).body(document(&format!("http://127.0.0.1:1/{CANARY}"))),
        "/unknown" => HttpResponse::new(200).body(document(&format!("gopher://h/0{CANARY}"))),
        _ => HttpResponse::new(200).body("ok"),
    });
    let (key, login, cookie) = (format!("X-Api-Key: {CANARY}"), format!("u:{CANARY}"), format!("a={CANARY}"));
    for secret in [["--oauth2-bearer", CANARY], ["-b", &cookie], ["-H", &key], ["-u", &login]] {
        for output in OUTPUT_OPTIONS {
            let dir = temp_dir();
            for (path, options, exit) in [
                ("/x", &["--metalink-over-http", "-o", "f"][..], 0),
                ("/document", &["--allow-port", "1", "--metalink"], 7),
                ("/document", &["--checksum-from", "auto", "--allow-port", "1", "--metalink"], 7),
                ("/document", &["--dry-run", "--allow-port", "1", "--metalink"], 0),
                ("/unknown", &["--metalink"], 90),
            ] {
                let url = server.url(path);
                let fixed = ["--retry", "0", "--events", "events", "-w", "%{url} %{errormsg}"];
                let arguments = [output, &secret, &fixed, options, &[&url]].concat();
                let result = run_fetch_url_in(dir.path(), arguments);
                assert_eq!(result.exit, exit, "{path} {options:?}: {}", result.stderr);
                let events = fs::read_to_string(dir.path().join("events")).expect("a file");
                let leak = events.lines().find(|line| contains_canary(line));
                assert_eq!(leak, None, "--events {path} {options:?}");
                assert_no_leaks(vec![check_no_leak(&result, &format!("{secret:?} {output:?} {path}"))]);
            }
        }
    }
}

#[test]
fn password_is_not_in_part_metadata_or_file_names() {
    let server = http_server(|_| {
        let reply = HttpResponse::new(200).header("ETag", "\"v\"").header("Accept-Ranges", "bytes");
        reply.body(vec![b'x'; 5000]).cut_body_at(3000)
    });
    let target = Target::new(OldFile::Absent).expect("create target directory");
    let url = url_with_login(&server.url("/x"));
    run_fetch_url(["-vvv", "-o", target.path().to_str().expect("valid UTF-8"), &url]).assert_exit(18);
    let metadata = fs::read_to_string(part_metadata_path(&target.path())).expect("a .fetch-url.json file");
    assert!(metadata.contains("\"url\"") && !contains_canary(&metadata), "{metadata}");
    assert_eq!(entry_names(target.dir()), ["target.bin.fetch-url.json", "target.bin.fetch-url.part"]);
}

/// A `.part` file belongs to one login; a second run with the same login resumes it.
#[test]
fn download_with_the_same_login_is_resumed() {
    let complete_handler = file_handler(vec![b'x'; 5000], strong_etag_headers());
    let server = http_server(move |request| complete_handler(request).cut_body_at(3000));
    let target = Target::new(OldFile::Absent).expect("create target directory");
    let url = url_with_login(&server.url("/x"));
    let path = target.path();
    let arguments = ["-C", "-", "-o", path.to_str().expect("valid UTF-8"), url.as_str()];
    run_fetch_url(arguments).assert_exit(18);
    run_fetch_url(arguments).assert_exit(0);
    assert_eq!(server.requests()[1].header_text("range"), Some("bytes=2936-"));
    assert!(server.requests()[1].header("authorization").is_some());
}

fn has_authorization(server: &HttpServer) -> Vec<bool> {
    server.requests().iter().map(|request| request.header("authorization").is_some()).collect()
}

#[test]
fn login_is_sent_only_to_its_origin() {
    let other_server = http_server(|_| HttpResponse::new(200).body("other"));
    let other_url = other_server.url("/x");
    let server = http_server(move |request| match request.path().as_str() {
        "/away" => HttpResponse::new(302).header("Location", &other_url),
        "/near" => HttpResponse::new(302).header("Location", "/here"),
        _ => HttpResponse::new(200).body("here"),
    });
    for output_options in OUTPUT_OPTIONS {
        let result = run_fetch_url([output_options, &[&url_with_login(&server.url("/near"))]].concat());
        assert_no_leaks([check_no_leak(result.assert_exit(0), "near")]);
        let result = run_fetch_url([output_options, &[&url_with_login(&server.url("/away"))]].concat());
        assert_no_leaks([check_no_leak(result.assert_exit(0), "away")]);
    }
    assert!(has_authorization(&server).iter().all(|sent| *sent));
    assert_eq!(
        has_authorization(&other_server),
        vec![false; OUTPUT_OPTIONS.len()],
        "the login went to another port"
    );
    let all = [server.requests(), other_server.requests()].concat();
    assert!(
        all.iter().all(|request| request.header("referer").is_none()),
        "an unrequested Referer field was sent"
    );
}

/// A redirect from A to B and back to A: the login is not sent again (docs/spec/faults.md, row 29).
#[test]
fn login_is_not_sent_again_after_redirect_back_to_the_origin() {
    let home_url = std::sync::Arc::new(std::sync::OnceLock::<String>::new());
    let redirect_url = std::sync::Arc::clone(&home_url);
    let other_server = http_server(move |_| {
        HttpResponse::new(302).header("Location", redirect_url.get().expect("local address"))
    });
    let other_url = other_server.url("/x");
    let server = http_server(move |request| match request.path().as_str() {
        "/away" => HttpResponse::new(302).header("Location", &other_url),
        _ => HttpResponse::new(200).body("home"),
    });
    home_url.set(server.url("/home")).expect("value is set once");
    run_fetch_url([url_with_login(&server.url("/away"))]).assert_exit(0);
    assert_eq!(has_authorization(&server), [true, false]);
    assert_eq!(has_authorization(&other_server), [false]);
}

/// A login in a Location header is not printed either.
#[test]
fn password_in_location_is_never_printed() {
    let other_server = http_server(|_| HttpResponse::new(404));
    let other_url = url_with_login(&other_server.url("/x"));
    let locations = [
        other_url,
        format!("http://u:{CANARY}@h:99999/"),
        format!("ftp://u:{CANARY}@127.0.0.1:1/"),
        format!("http://u:{CANARY}@[::1/"),
    ];
    for location in locations {
        let location_text = location.clone();
        let server = http_server(move |_| HttpResponse::new(302).header("Location", &location));
        let failures = OUTPUT_OPTIONS.map(|output_options| {
            let result = run_fetch_url([output_options, &[&server.url("/a")]].concat());
            assert_ne!(result.exit, 0);
            check_no_leak(&result, &format!("{output_options:?} to {location_text}"))
        });
        assert_no_leaks(failures);
    }
}

#[test]
fn login_of_one_url_is_not_used_for_the_next() {
    let server = http_server(|_| HttpResponse::new(200).body("x"));
    run_fetch_url([url_with_login(&server.url("/a")), server.url("/b")]).assert_exit(0);
    assert_eq!(has_authorization(&server), [true, false]);
}

#[test]
fn password_in_an_invalid_option_value_is_never_printed() {
    for options in [["-m", "http://u:KanarienVogel@h/"], ["-E", "no-such-file.pem:KanarienVogel"]] {
        let result = run_fetch_url(options.iter().chain(&["https://h.test/"]));
        result.assert_exit(2);
        assert!(!result.stderr.contains("KanarienVogel"), "{}", result.stderr);
    }
}

/// The names of content codings are compared in lower case.
#[test]
fn secret_that_the_server_repeats_as_a_content_coding_is_masked() {
    for secret in [CANARY, "KanarienVogel%2F"] {
        let server =
            http_server(move |_| HttpResponse::new(200).header("Content-Encoding", secret).body("x"));
        let result =
            run_fetch_url(["--compressed", "-vvv", "-H", "Authorization: KanarienVogel", &server.url("/")]);
        result.assert_stderr_contains("unsupported content coding");
        assert_no_leaks([check_no_leak(&result, secret)]);
    }
}

/// The secrets of a request, the options that send them, and how the server may repeat them in a URL.
const REPEATED_SECRETS: [(&[&str], &str); 7] = [
    (&["-u", "u:KanarienVogel"], CANARY_IN_BASE64),
    (&["-u", "u:KanarienVogel"], CANARY),
    (&["--oauth2-bearer", "Kanarien/Vogel="], "Kanarien%2FVogel%3D"),
    (&["--oauth2-bearer", "Kanarien/Vogel="], "Kanarien/Vogel%3d"),
    (&["-b", "sess=KanarienVogel"], CANARY),
    (&["-b", "sess=Kanarien/Vogel="], "Kanarien%2fVogel="),
    (&["-H", "Authorization: KanarienVogel"], CANARY),
];

/// The targets are refused, are redirected on, answer with an error, or break off.
#[test]
fn secret_that_the_server_repeats_in_location_is_masked_in_all_messages() {
    let other_server = http_server(|request| match request.path().split_once('?') {
        Some(("/on", query)) => HttpResponse::new(302).header("Location", format!("/missing?{query}")),
        Some(("/cut", _)) => HttpResponse::new(200).body("body").cut_body_at(2),
        Some(("/ok", _)) => HttpResponse::new(200).body("body"),
        _ => HttpResponse::new(404),
    });
    let other = |path| other_server.url(path);
    let refused = ["http://127.0.0.1:1/", "gopher://h.test/", "file:///x", "x-foo:y"].map(str::to_owned);
    let targets = refused.into_iter().chain([other("/on"), other("/missing"), other("/cut"), other("/ok")]);
    let targets: Vec<String> = targets.collect();
    for (options, secret) in REPEATED_SECRETS {
        for target in &targets {
            let location = format!("{target}?leak={secret}");
            let server = http_server(move |_| HttpResponse::new(302).header("Location", &location));
            let failures = OUTPUT_OPTIONS.map(|output_options| {
                let dir = temp_dir();
                let [trace, events] =
                    ["trace", "events"].map(|name| dir.path().join(name).display().to_string());
                let files = ["--trace", &trace, "--events", &events];
                let retries = ["--retry", "1", "--retry-delay", "0.01", "--location-trusted", "-e", ";auto"];
                let url = server.url("/a");
                let mut result = run_fetch_url([output_options, options, &files, &retries, &[&url]].concat());
                assert_eq!(result.exit == 0, target.ends_with("/ok"), "{}", result.stderr);
                for file in [trace, events] {
                    result.stderr += &fs::read_to_string(file).expect("a file");
                }
                check_no_leak(&result, &format!("{output_options:?} {options:?} to {target}"))
            });
            assert_no_leaks(failures);
        }
    }
}
