//! Redirect targets: how a Location header is resolved and which targets are refused (docs/spec/semantics.md §3,
//! "Redirects"; docs/spec/faults.md, rows 26 to 29 and 44).

use crate::support::{entry_names, http_server, run_fetch_url, run_fetch_url_in, temp_dir};
use fetch_url_tests::{HttpRequest, HttpResponse, HttpServer, OldFile, ServerCert, Target};

fn redirect_to(location: impl AsRef<[u8]>) -> HttpResponse {
    HttpResponse::new(302).header("Location", location).body("moved: this is not the object\n")
}

/// Starts a server that redirects paths with the prefix `/a/from` to `location`. Other requests return their target.
fn redirect_server(location: impl Into<Vec<u8>>) -> HttpServer {
    let location = location.into();
    http_server(move |request| {
        if request.path().starts_with("/a/from") { redirect_to(&location) } else { echo_target(request) }
    })
}

fn echo_target(request: &HttpRequest) -> HttpResponse {
    HttpResponse::new(200).body(request.target.as_slice())
}

#[test]
fn relative_location_is_resolved_by_rfc_3986() {
    for (location, target) in [
        ("/abs", "/abs"),
        ("near", "/a/near"),
        ("./near", "/a/near"),
        ("../up", "/up"),
        ("../../../up", "/up"),
        ("?search", "/a/from?search"),
        ("/x?y=z", "/x?y=z"),
        ("/x#fragment", "/x"),
        ("/x?y#fragment?z", "/x?y"),
        ("/it's", "/it's"),
        ("/%2e%2e/x", "/%2e%2e/x"),
        ("/a%20b", "/a%20b"),
        ("/a%2Fb", "/a%2Fb"),
        (";x", "/a/;x"),
        ("b:c/../d", ""),
        ("./b:c", "/a/b:c"),
        ("", "/a/from"),
    ] {
        let server = redirect_server(location);
        let result = run_fetch_url(["--max-redirs", "2", &server.url("/a/from?old")]);
        let last = server.requests().last().map(HttpRequest::path).unwrap_or_default();
        match target {
            // `b:c/../d` is an absolute URL with the scheme `b`.
            "" => assert!([1, 90, 8].contains(&result.exit), "{location}: {result:?}"),
            // An empty reference names the same document: a loop, or an invalid Location.
            "/a/from" => assert!([8, 47].contains(&result.exit), "{location}: {result:?}"),
            _ if target.starts_with("/a/from") => assert_eq!(last, target),
            _ => assert_eq!(
                (result.exit, last.as_str(), result.stdout_text().as_str()),
                (0, target, target),
                "{location}: {}",
                result.stderr
            ),
        }
    }
}

#[test]
fn redirect_to_another_server_is_followed() {
    let other = http_server(echo_target);
    for location in [
        other.url("/x"),
        other.url("/x").replacen("http:", "", 1),
        other.url("/x").to_uppercase().replace("/X", "/x"),
    ] {
        let server = redirect_server(location.as_str());
        let result = run_fetch_url([server.url("/a/from")]);
        assert_eq!((result.exit, result.stdout_text().as_str()), (0, "/x"), "{location}: {}", result.stderr);
    }
    let hosts = other.requests();
    assert!(hosts.iter().all(|request| request.header_text("host") == Some(&other.addr().to_string())));
}

#[test]
fn only_301_302_303_307_308_are_followed() {
    for status in [301, 302, 303, 307, 308] {
        let server = http_server(move |request| match request.path().as_str() {
            "/a" => HttpResponse::new(status).header("Location", "/b").body("not this"),
            _ => echo_target(request),
        });
        let result = run_fetch_url([server.url("/a")]);
        assert_eq!((result.exit, result.stdout_text().as_str()), (0, "/b"), "{status}: {}", result.stderr);
    }
    // 304 is valid only for conditional requests, 300 offers a choice, 305 and 306 are obsolete.
    for status in [300, 304, 305, 306] {
        let server = http_server(move |request| match request.path().as_str() {
            "/a" => HttpResponse::new(status).header("Location", "/b"),
            _ => HttpResponse::new(200).body("followed"),
        });
        let result = run_fetch_url([server.url("/a")]);
        assert!(status == 300 || server.requests().len() == 1, "{status} was followed: {result:?}");
    }
}

/// Characters that are not allowed in a URL but appear in Location headers.
#[test]
fn invalid_characters_in_location_are_encoded_or_refused() {
    for (location, target) in [
        (&b"/a b"[..], "/a%20b"),
        ("/caf\u{e9}".as_bytes(), "/caf%C3%A9"),
        (b"/caf\xe9", "/caf%E9"),
        (b"/a\"b<c>d", "/a%22b%3Cc%3Ed"),
        (b"/a|b", "/a%7Cb"),
    ] {
        let server = redirect_server(location);
        let result = run_fetch_url([server.url("/a/from")]);
        let last = server.requests().last().map(HttpRequest::path).unwrap_or_default();
        let is_followed = result.exit == 0 && last == target;
        // A refusal is safe; a request to any other target is not.
        let is_refused =
            [3, 8].contains(&result.exit) && server.requests().len() == 1 && result.stdout.is_empty();
        assert!(is_followed || is_refused, "{location:?}: {last} {result:?}");
    }
}

#[test]
fn invalid_location_is_refused() {
    for location in [
        "http://",
        "http:///x",
        "http://[::1/x",
        "http://h:99999/",
        "http://0x7f.1/",
        "http:// /",
        "http://%31/",
        "\u{1}",
        "http://2130706433/",
    ] {
        let server = redirect_server(location);
        let result = run_fetch_url([server.url("/a/from")]);
        assert!([3, 8].contains(&result.exit) && result.stdout.is_empty(), "{location}: {result:?}");
        assert_eq!(server.requests().len(), 1, "{location}");
    }
    let two_locations = http_server(|request| match request.path().as_str() {
        "/a" => redirect_to("/b").header("Location", "/c"),
        _ => echo_target(request),
    });
    let result = run_fetch_url([two_locations.url("/a")]);
    assert!(result.exit == 8 || result.stdout_text() == "/b", "two different Locations: {result:?}");
}

/// Starts a server that redirects `/0` to `/1` and so on up to `/length`, which is the object.
fn redirect_chain(length: u32) -> HttpServer {
    http_server(move |request| {
        let number: u32 = request.path()[1..].parse().unwrap_or(0);
        if number < length { redirect_to(format!("/{}", number + 1)) } else { echo_target(request) }
    })
}

#[test]
fn redirect_limit_exits_47() {
    for (length, flags, exit) in [
        (10, &[][..], 0),
        (11, &[], 47),
        (3, &["--max-redirs", "3"], 0),
        (4, &["--max-redirs", "3"], 47),
        (0, &["--max-redirs", "0"], 0),
        (1, &["--max-redirs", "0"], 47),
        (20, &["--max-redirs", "50"], 0),
    ] {
        let server = redirect_chain(length);
        let target = Target::new(OldFile::Present).unwrap();
        let path = target.path();
        let result = run_fetch_url([flags, &["-o", path.to_str().unwrap(), &server.url("/0")]].concat());
        result.assert_exit(exit);
        assert_eq!(target.is_untouched().unwrap(), exit != 0);
        assert!(target.leftovers().unwrap().is_empty());
        assert!(server.requests().len() <= length as usize + 1);
    }
}

#[test]
fn redirect_loops_exit_47_early() {
    let server = http_server(|request| match request.path().as_str() {
        "/self" => redirect_to("/self"),
        "/a" => redirect_to("/b"),
        "/b" => redirect_to("/c"),
        "/fragment" => redirect_to("/fragment#again"),
        _ => redirect_to("/a"),
    });
    for path in ["/self", "/a", "/fragment"] {
        let result = run_fetch_url(["--max-redirs", "1000", &server.url(path)]);
        result.assert_exit(47);
    }
    assert!(server.requests().len() < 12, "{} requests for three loops", server.requests().len());
}

/// RFC 9110 §15.4: the body of the response is displayed to the user.
#[test]
fn redirect_without_location_delivers_its_body() {
    let server = HttpServer::start(|_| HttpResponse::new(301).body("moved, but where?\n")).expect("a server");
    for options in [&[][..], &["--no-location"]] {
        let result = run_fetch_url([options, &[&server.url("/")]].concat());
        assert_eq!(result.assert_exit(0).stdout_text(), "moved, but where?\n", "{options:?}");
    }
}

/// RFC 9112 §5.2: a folded field is one line.
#[test]
fn folded_field_is_read_as_one_line() {
    let head = "HTTP/1.1 200 OK\r\nX-Long: one\r\n  two\r\nContent-Length: 2\r\n\r\nok";
    let server = HttpServer::start(move |_| HttpResponse::raw(head)).expect("a server");
    let result = run_fetch_url(["-i", &server.url("/")]);
    let text = result.assert_exit(0).stdout_text().to_lowercase();
    let line = text.lines().find(|line| line.starts_with("x-long")).expect("the field");
    assert_eq!(line.split_whitespace().collect::<Vec<_>>(), ["x-long:", "one", "two"]);
}

#[test]
fn no_location_prints_the_redirect_response() {
    let server = redirect_server("/b");
    let result = run_fetch_url(["--no-location", &server.url("/a/from")]);
    assert_eq!(
        (result.exit, result.stdout_text().as_str()),
        (0, "moved: this is not the object\n"),
        "{}",
        result.stderr
    );
    let result = run_fetch_url(["--no-location", "-I", &server.url("/a/from")]);
    assert!(result.exit == 0 && result.stdout_text().to_lowercase().contains("location: /b"), "{result:?}");
    // A redirect to a forbidden target can still be printed.
    let evil = redirect_server("file:///etc/passwd");
    let result = run_fetch_url(["--no-location", "-i", &evil.url("/a/from")]);
    assert!(
        result.exit == 0 && result.stdout_text().to_lowercase().contains("location: file:///etc/passwd"),
        "{result:?}"
    );
    run_fetch_url(["-L", &server.url("/a/from")]).assert_exit(0);
}

#[test]
fn redirect_from_https_to_http_exits_90() {
    let cert = ServerCert::good().unwrap();
    let files = cert.write_files().unwrap();
    let plain = http_server(echo_target);
    let location = plain.url("/x");
    let secure = HttpServer::start_tls(move |_| redirect_to(&location), &cert).unwrap();
    let result = run_fetch_url(["--cacert", files.ca.to_str().unwrap(), &secure.url("/a")]);
    result.assert_exit(90).assert_stderr_contains("fetch-url: ").assert_stderr_contains("http");
    assert!(result.stdout.is_empty());
    assert_eq!(plain.connections(), 0);
    // A redirect from http to https is followed.
    let tls_server = HttpServer::start_tls(echo_target, &cert).unwrap();
    let upgrade_server = redirect_server(tls_server.url("/x"));
    let result = run_fetch_url(["--cacert", files.ca.to_str().unwrap(), &upgrade_server.url("/a/from")]);
    assert_eq!((result.exit, result.stdout_text().as_str()), (0, "/x"), "{}", result.stderr);
}

#[test]
fn redirect_to_another_scheme_exits_90_without_a_connection() {
    let other_server = http_server(echo_target);
    let other_address = other_server.addr();
    let secret = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(secret.path(), "content of the local file").unwrap();
    for location in [
        format!("file://{}", secret.path().display()),
        format!("file://localhost{}", secret.path().display()),
        format!("FILE:{}", secret.path().display()),
        format!("ftp://{other_address}/x"),
        format!("ftps://{other_address}/x"),
        format!("gopher://{other_address}/1x"),
        format!("nntp://{other_address}/g/1"),
        format!("wais://{other_address}/db"),
        format!("prospero://{other_address}/x"),
        format!("telnet://{other_address}/"),
        "news:a.group".to_owned(),
        "mailto:a@b.example".to_owned(),
        "data:text/plain,hello".to_owned(),
        "javascript:alert(1)".to_owned(),
        "x-mine://h/".to_owned(),
        format!("nfs://{other_address}/x"),
        format!("local-file://{}", secret.path().display()),
    ] {
        let server = redirect_server(location.as_str());
        let target = Target::new(OldFile::Present).unwrap();
        let result = run_fetch_url(["-o", target.path().to_str().unwrap(), &server.url("/a/from")]);
        // An unknown scheme may also be reported as unsupported (exit 1).
        let unknown_schemes = ["data:", "javascript:", "x-mine:", "nfs:", "local-file:"];
        let is_unknown = unknown_schemes.iter().any(|scheme| location.starts_with(scheme));
        let exits = if is_unknown { &[90, 1][..] } else { &[90] };
        assert!(exits.contains(&result.exit), "{location}: {result:?}");
        assert!(
            result.stderr.starts_with("fetch-url: ") && result.stderr.len() > 40,
            "{location}: {}",
            result.stderr
        );
        assert!(target.is_untouched().unwrap() && target.leftovers().unwrap().is_empty(), "{location}");
        assert_eq!(server.requests().len(), 1);
    }
    assert_eq!(other_server.connections(), 0);
}

/// RFC 1738 §6: a URL with such a port could make the client send commands to a mail server.
#[test]
fn redirect_to_a_port_of_another_protocol_exits_90() {
    for port in [1, 19, 22, 25, 110, 143, 6000, 6667] {
        let server = redirect_server(format!("http://127.0.0.1:{port}/x"));
        run_fetch_url([server.url("/a/from")]).assert_exit(90);
        run_fetch_url([format!("http://127.0.0.1:{port}/x")]).assert_exit(90);
    }
}

#[test]
fn control_characters_in_location_are_sanitised() {
    for location in ["http://h/\u{1b}[2J", "file:///\u{1b}]0;x\u{7}", "x\u{9b}y:z", "ftp://h/\u{202e}gpj"] {
        let server = redirect_server(location);
        for flags in [&[][..], &["-vvv"], &["--format", "json"]] {
            let result = run_fetch_url([flags, &[&server.url("/a/from")]].concat());
            let is_hostile = |character: char| {
                character.is_control() && character != '\n' || ('\u{202a}'..='\u{202e}').contains(&character)
            };
            assert!(!result.stderr.contains(is_hostile), "{flags:?}: {:?}", result.stderr);
        }
    }
}

#[test]
fn redirect_keeps_head_method_and_range() {
    let server = redirect_server("/b");
    run_fetch_url(["-I", &server.url("/a/from")]).assert_exit(0);
    let methods: Vec<String> = server.requests().into_iter().map(|request| request.method).collect();
    assert_eq!(methods, ["HEAD", "HEAD"]);
    let server = redirect_server("/b");
    run_fetch_url(["-r", "0-1", &server.url("/a/from")]);
    assert_eq!(server.requests()[1].header_text("range"), Some("bytes=0-1"));
}

/// The file name of `-O` comes from the requested URL.
#[test]
fn remote_name_is_not_taken_from_the_redirect_target() {
    let directory = temp_dir();
    let server = redirect_server("/evil.sh");
    run_fetch_url_in(directory.path(), ["-O", &server.url("/a/from.txt")]).assert_exit(0);
    assert_eq!(entry_names(directory.path()), ["from.txt"]);
}

#[test]
fn proto_redir_applies_to_redirects_on_the_same_server() {
    let server = http_server(|request| match request.path().as_str() {
        "/" => HttpResponse::new(302).header("Location", "/there"),
        _ => HttpResponse::new(200).body("there"),
    });
    run_fetch_url(["--proto-redir", "=https", &server.url("/")]).assert_exit(90);
    assert_eq!(run_fetch_url([server.url("/")]).assert_exit(0).stdout_text(), "there");
}

#[test]
fn redirect_url_variable_is_the_url_that_a_redirect_leads_to() {
    for (location, target) in
        [("../x y?q r", "/x%20y?q%20r".to_owned()), ("/caf\u{e9}#top", "/caf%C3%A9#top".to_owned())]
    {
        let server = redirect_server(location);
        let url = server.url("/a/from");
        let printed =
            run_fetch_url(["--no-location", "-s", "-o", "/dev/null", "-w", "%{redirect_url}", &url]);
        assert_eq!(printed.assert_exit(0).stdout_text(), server.url(&target), "{location}");
        run_fetch_url([&url]).assert_exit(0);
        let followed = server.requests().last().map(HttpRequest::path).unwrap_or_default();
        assert_eq!(Some(followed.as_str()), target.split('#').next(), "{location}");
    }
    // The bytes of a Location that are not UTF-8 are percent-encoded when the redirect is followed.
    let server = redirect_server(*b"/caf\xe9");
    let result =
        run_fetch_url(["--no-location", "-o", "/dev/null", "-w", "%{redirect_url}", &server.url("/a/from")]);
    assert_eq!(result.assert_exit(0).stdout_text(), server.url("/caf%E9"));
}

#[test]
fn redirect_url_variable_is_the_target_of_a_redirect_beyond_the_limit() {
    let server = redirect_server("/next");
    for (options, status, expected) in
        [(&["--max-redirs", "0"][..], 47, "302 /next"), (&["--proto-redir", "=https"], 90, "302 /next")]
    {
        let options = [options, &["-o", "/dev/null", "-w", "%{http_code} %{redirect_url}"]].concat();
        let result = run_fetch_url(options.into_iter().map(str::to_owned).chain([server.url("/a/from")]));
        let expected = expected.replace("/next", &server.url("/next"));
        assert_eq!(result.assert_exit(status).stdout_text(), expected);
    }
}
