//! The state of a request after a redirect: credentials, method, body and allowed schemes are kept or removed
//! (docs/spec/semantics.md §3, "Redirects"; docs/spec/faults.md, rows 26 to 31 and 44). The allowed targets are tested
//! in `redirect_targets.rs`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use crate::support::{
    RunResult, check_in_parallel, ensure, http_server, http_server_first_then, run_fetch_url,
    run_fetch_url_in, strong_etag_headers, temp_dir,
};
use fetch_url_tests::{CertFiles, HttpRequest, HttpResponse, HttpServer, ServerCert, file_handler};

fn redirect_to(status: u16, location: &str) -> HttpResponse {
    HttpResponse::new(status).header("Location", location)
}

fn host_header(request: &HttpRequest) -> String {
    request.header_text("host").unwrap_or_default().to_owned()
}

/// Redirects a path that starts with `/to/` to the rest of the path, with `!` instead of `://`; `/to/to/` is two
/// redirects. Any other path is the object.
fn redirect_by_path(request: &HttpRequest) -> HttpResponse {
    let path = request.path();
    match path.strip_prefix("/to/") {
        Some("") => redirect_to(302, "/object"),
        Some(target) if target.starts_with("mailto:") || target.starts_with("news:") => {
            redirect_to(302, target)
        }
        Some(target) if target.contains('!') => redirect_to(302, &target.replacen('!', "://", 1)),
        Some(target) => redirect_to(302, &format!("/{target}")),
        None => HttpResponse::new(200).body("object"),
    }
}

/// Three servers on loopback: two plain ones and one with TLS.
struct Servers {
    origin: HttpServer,
    other: HttpServer,
    tls: HttpServer,
    files: CertFiles,
}

impl Servers {
    fn new() -> Self {
        let cert = ServerCert::good().expect("create certificate");
        let files = cert.write_files().expect("write certificate files");
        let tls = HttpServer::start_tls(redirect_by_path, &cert).expect("start server");
        Self { origin: http_server(redirect_by_path), other: http_server(redirect_by_path), tls, files }
    }

    /// Replaces `ORIGIN`, `OTHER` and `SECURE` by the authorities of the servers. `ALIAS` is the origin as `localhost`.
    fn fill(&self, text: &str) -> String {
        let alias = format!("localhost:{}", self.origin.addr().port());
        text.replace("OTHER", &self.other.addr().to_string())
            .replace("ALIAS", &alias)
            .replace("ORIGIN", &self.origin.addr().to_string())
            .replace("SECURE", &self.tls.addr().to_string())
    }

    fn ca(&self) -> &str {
        self.files.ca.to_str().expect("valid UTF-8")
    }

    /// All requests, grouped by server.
    fn requests(&self) -> Vec<HttpRequest> {
        [self.origin.requests(), self.other.requests(), self.tls.requests()].concat()
    }

    /// The only request for `path` on any of the servers.
    fn single_request(&self, path: &str) -> HttpRequest {
        let mut all = self.requests();
        all.retain(|request| request.path() == path);
        assert_eq!(all.len(), 1, "{path}: {all:?}");
        all.remove(0)
    }
}

/// The sources of a credential: options (`_` is a space), login in the URL; then the header field and its value.
const CREDENTIALS: [(&str, &str, &str, &str); 9] = [
    ("-u u:pw", "", "authorization", "Basic dTpwdw=="),
    ("", "u:pw@", "authorization", "Basic dTpwdw=="),
    ("--oauth2-bearer token", "", "authorization", "Bearer token"),
    ("-H Authorization:_Mine_1", "", "authorization", "Mine 1"),
    ("-H authorization:_Mine_1", "", "authorization", "Mine 1"),
    ("-H X-Api-Key:_key", "", "x-api-key", "key"),
    ("-H X-Anything-Else:_key", "", "x-anything-else", "key"),
    ("-b crumb=1", "", "cookie", "crumb=1"),
    ("-H Cookie:_crumb=1", "", "cookie", "crumb=1"),
];

/// Start server, redirects, and whether the last request must still carry the credential.
const REDIRECT_PATHS: [(&str, &str, bool); 12] = [
    ("http://ORIGIN", "", true),
    // The same server: relative, absolute, in other letter case, and several times.
    ("http://ORIGIN", "/to/", true),
    ("http://ORIGIN", "/to/http!ORIGIN/object", true),
    ("http://ORIGIN", "/to/HTTP!ORIGIN/object", true),
    ("http://ORIGIN", "/to/to/to/", true),
    ("https://SECURE", "/to/https!SECURE/object", true),
    // Another port, another host name of the same address, another scheme.
    ("http://ORIGIN", "/to/http!OTHER/object", false),
    ("http://ORIGIN", "/to/http!ALIAS/object", false),
    ("http://ALIAS", "/to/http!ORIGIN/object", false),
    ("http://ORIGIN", "/to/https!SECURE/object", false),
    // Back to the origin: removed credentials are not added again.
    ("http://ORIGIN", "/to/http!OTHER/to/http!ORIGIN/object", false),
    ("http://ORIGIN", "/to/http!ALIAS/to/http!ORIGIN/to/", false),
];

#[test]
fn credentials_are_sent_only_to_the_origin() {
    let cases: Vec<_> = CREDENTIALS
        .iter()
        .flat_map(|credential| REDIRECT_PATHS.iter().map(move |redirect_path| (credential, redirect_path)))
        .collect();
    check_in_parallel(&cases, 4, |((options, login, field, value), (from, redirect_path, is_kept))| {
        let servers = Servers::new();
        let redirect_path = if redirect_path.is_empty() { "/object" } else { redirect_path };
        let url = servers.fill(&format!("{from}{redirect_path}")).replacen("://", &format!("://{login}"), 1);
        let options = options.split_whitespace().map(|word| word.replace('_', " "));
        let result = run_fetch_url(options.chain([
            "--max-redirs".into(),
            "5".into(),
            "--cacert".into(),
            servers.ca().into(),
            url.clone(),
        ]));
        ensure(result.exit == 0 && result.stdout_text() == "object", || format!("{url}: {}", result.stderr))?;
        let last_request = servers.single_request("/object");
        let sent = last_request.header_text(field) == Some(value);
        ensure(sent == *is_kept, || {
            format!("{options:?} {url}: sent at the end: {sent}", options = (field, value))
        })?;
        // No other server on the path may have received the credential.
        let other_requests = servers.other.requests().into_iter().chain(servers.tls.requests());
        let other_requests = other_requests.filter(|_| from.starts_with("http:"));
        let leaked = other_requests.filter(|request| request.header(field).is_some()).count();
        ensure(leaked == 0, || format!("{value} was sent to another server: {url}"))
    });
}

/// An origin is scheme, host name in any letter case, and port, explicit or default (docs/spec/faults.md, row 29).
#[test]
fn origin_comparison_ignores_case_and_default_port() {
    for (location, is_kept) in [
        ("http://a.test:80/object", true),
        ("http://A.Test/object", true),
        ("//a.test/object", true),
        ("HTTP://a.test:080/object", true),
        ("http://a.test:81/object", false),
        ("http://b.a.test/object", false),
        ("http://xa.test/object", false),
        ("http://a.test.evil.test/object", false),
        ("http://a.test@evil.test/object", false),
        ("http://test/object", false),
    ] {
        let server = http_server(move |request| match request.path().as_str() {
            "/from" => redirect_to(302, location),
            _ => HttpResponse::new(200).body("object"),
        });
        // `--connect-to` directs every connection to this server.
        let connect_to = format!("::127.0.0.1:{}", server.addr().port());
        let options = ["-u", "u:pw", "-b", "s=1", "-H", "X-Api-Key: key", "--connect-to", &connect_to];
        let result = run_fetch_url(options.into_iter().chain(["http://a.test/from"]));
        let requests = server.requests();
        // A port with a leading zero may be rejected.
        if location.contains("080") && result.exit != 0 {
            continue;
        }
        result.assert_exit(0);
        let sent = |name: &str| requests[1].header_text(name).map(str::to_owned);
        let secrets = [sent("x-api-key"), sent("cookie")].map(|value| value.is_some());
        assert_eq!(secrets, [is_kept; 2], "{location}");
        assert_eq!(sent("authorization").as_deref() == Some("Basic dTpwdw=="), is_kept, "{location}");
    }
}

#[test]
fn user_agent_is_sent_to_the_redirect_target() {
    let servers = Servers::new();
    let url = servers.fill("http://ORIGIN/to/http!OTHER/object");
    run_fetch_url(["-A", "me/1", "-H", "Accept: text/html", &url]).assert_exit(0);
    let last_request = servers.single_request("/object");
    assert_eq!(last_request.header_text("user-agent"), Some("me/1"), "User-Agent was removed");
    assert_eq!(last_request.header_text("host"), Some(servers.other.addr().to_string().as_str()));
}

/// A `Host` field from `-H` belongs to the server of the original URL.
#[test]
fn custom_host_field_is_not_sent_to_another_server() {
    let servers = Servers::new();
    run_fetch_url(["-H", "Host: mine.test", &servers.fill("http://ORIGIN/to/http!OTHER/object")])
        .assert_exit(0);
    assert_eq!(host_header(&servers.origin.requests()[0]), "mine.test");
    assert_eq!(host_header(&servers.single_request("/object")), servers.other.addr().to_string());
}

/// A login in the Location URL may be used for the target; the login of the original URL may not.
#[test]
fn login_of_the_origin_is_not_sent_with_a_login_in_location() {
    let servers = Servers::new();
    let location_url = servers.fill("http://v:other@OTHER/object");
    let redirect_server = http_server(move |_| redirect_to(302, &location_url));
    let result = run_fetch_url(["-u", "u:pw", &redirect_server.url("/x")]);
    let sent = servers
        .requests()
        .first()
        .and_then(|request| request.header_text("authorization").map(str::to_owned));
    assert!(result.exit != 0 || sent.is_none() || sent.as_deref() == Some("Basic djpvdGhlcg=="), "{sent:?}");
}

fn write_netrc(text: &str) -> (tempfile::TempDir, PathBuf) {
    let directory = temp_dir();
    let path = directory.path().join("netrc");
    fs::write(&path, text).expect("write file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("set file mode");
    (directory, path)
}

const FIRST_LOGIN: &str = "Basic b25lOnAx";
const SECOND_LOGIN: &str = "Basic dHdvOnAy";

/// docs/spec/faults.md, row 31: each host gets only the login of its own netrc entry.
#[test]
fn netrc_login_is_looked_up_for_each_redirect() {
    let both = "machine 127.0.0.1 login one password p1\nmachine localhost login two password p2\n";
    let first = "machine 127.0.0.1 login one password p1\ndefault login d password pd\n";
    let second = "machine localhost login two password p2\n";
    let nameless = "machine 127.0.0.1 login one password p1\nmachine localhost\n";
    let no_password = "machine 127.0.0.1 login one password p1\nmachine localhost login one\n";
    for (text, options, login, sent) in [
        (both, "", "", [Some(FIRST_LOGIN), Some(SECOND_LOGIN)]),
        (first, "", "", [Some(FIRST_LOGIN), None]),
        (second, "", "", [None, Some(SECOND_LOGIN)]),
        (nameless, "", "", [Some(FIRST_LOGIN), None]),
        // Credentials from options and from the URL are for the first host; the second host has its netrc entry.
        (second, "-u one:p1", "", [Some(FIRST_LOGIN), Some(SECOND_LOGIN)]),
        (second, "", "one:p1@", [Some(FIRST_LOGIN), Some(SECOND_LOGIN)]),
        (second, "-H Authorization:Mine", "", [Some("Mine"), Some(SECOND_LOGIN)]),
    ] {
        let (_directory, path) = write_netrc(text);
        let servers = Servers::new();
        let url = servers.fill(&format!("http://{login}ORIGIN/to/http!ALIAS/object"));
        let result = run_fetch_url(options.split_whitespace().chain([
            "--netrc-file",
            path.to_str().expect("valid UTF-8"),
            &url,
        ]));
        result.assert_exit(0);
        let received: Vec<_> = servers.origin.requests();
        let received = [received[0].header_text("authorization"), received[1].header_text("authorization")];
        assert_eq!(received, sent, "{text} {options} {url}");
    }
    // An entry without a password (CVE-2024-11053): the password of the first host must not be sent.
    let (_directory, path) = write_netrc(no_password);
    let servers = Servers::new();
    let url = servers.fill("http://ORIGIN/to/http!ALIAS/object");
    run_fetch_url(["--netrc-file", path.to_str().expect("valid UTF-8"), &url]);
    let sent = servers.origin.requests()[1].header_text("authorization").map(str::to_owned);
    assert_ne!(sent.as_deref(), Some(FIRST_LOGIN));
}

/// RFC 9110 §15.4: the status decides whether the redirected request keeps method and body.
#[test]
fn redirect_status_decides_method_and_body() {
    for (options, status, method, body) in [
        ("-d a=b", 301, "GET", ""),
        ("-d a=b", 302, "GET", ""),
        ("-d a=b", 303, "GET", ""),
        ("-d a=b", 307, "POST", "a=b"),
        ("-d a=b", 308, "POST", "a=b"),
        // 301 and 302 change only POST to GET.
        ("-X PUT -d a=b", 301, "PUT", "a=b"),
        ("-X PUT -d a=b", 302, "PUT", "a=b"),
        ("-X PUT -d a=b", 307, "PUT", "a=b"),
        ("-X DELETE", 302, "DELETE", ""),
        ("-X DELETE", 307, "DELETE", ""),
        ("-I", 303, "HEAD", ""),
        ("-I", 302, "HEAD", ""),
    ] {
        let server = http_server(move |request| match request.path().as_str() {
            "/from" => redirect_to(status, "/to"),
            _ => HttpResponse::new(200).body("object"),
        });
        run_fetch_url(options.split_whitespace().chain([server.url("/from").as_str()])).assert_exit(0);
        let last_request = &server.requests()[1];
        assert_eq!(
            (last_request.method.as_str(), last_request.body.as_slice()),
            (method, body.as_bytes()),
            "{options} {status}"
        );
        let has_body_fields =
            last_request.header("content-type").is_some() || last_request.header("content-length").is_some();
        assert!(
            has_body_fields != body.is_empty() || method != "GET",
            "{options} {status}: Content-Type or Content-Length without a body"
        );
    }
    // A 307 to another server keeps the body, but not the login.
    let servers = Servers::new();
    let location_url = servers.other.url("/object");
    let redirect_server = http_server(move |_| redirect_to(307, &location_url));
    run_fetch_url(["-u", "u:pw", "-d", "a=b", &redirect_server.url("/x")]).assert_exit(0);
    let last_request = servers.single_request("/object");
    assert_eq!((last_request.method.as_str(), last_request.body.as_slice()), ("POST", &b"a=b"[..]));
    assert!(last_request.header("authorization").is_none());
}

/// A redirect to the same URL with another method is not a loop (RFC 9110 §15.4.4).
#[test]
fn redirect_of_a_form_to_itself_is_not_a_loop() {
    for (options, status) in
        [("-d a=b", 303), ("-d a=b", 302), ("-d a=b", 301), ("-X PUT -d a=b", 303), ("-X DELETE", 303)]
    {
        let server = http_server(move |request| match request.method.as_str() {
            "GET" => HttpResponse::new(200).body("object"),
            _ => redirect_to(status, "/x"),
        });
        let result = run_fetch_url(options.split_whitespace().chain([server.url("/x").as_str()]));
        // curl keeps the method of `-X`, which is a loop (exit 47); RFC 9110 changes it to GET. Both are accepted.
        let is_loop = options.starts_with("-X") && result.exit == 47;
        assert!(
            result.exit == 0 && result.stdout_text() == "object" || is_loop,
            "{options} {status}: {result:?}"
        );
    }
}

/// Fetches a URL on `from` that redirects to `to`.
fn fetch_redirect(servers: &Servers, options: &str, from: &str, to: &str) -> RunResult {
    let url = servers.fill(&format!("{from}/to/{}", to.replacen("://", "!", 1)));
    run_fetch_url(options.split_whitespace().chain(["--read-timeout", "1", "--cacert", servers.ca(), &url]))
}

#[test]
fn proto_option_restricts_the_requested_url() {
    for (options, url, exits) in [
        ("--proto =https", "http://ORIGIN/object", &[90, 1][..]),
        ("--proto -http", "http://ORIGIN/object", &[90, 1]),
        ("--proto =http", "http://ORIGIN/object", &[0]),
        ("--proto =https", "https://SECURE/object", &[0]),
        ("--proto =https,http", "http://ORIGIN/object", &[0]),
        ("--proto -all,https", "http://ORIGIN/object", &[90, 1]),
        ("--proto -all,https", "https://SECURE/object", &[0]),
        ("--proto +ftp", "http://ORIGIN/object", &[0]),
        ("--proto -file", "file:///etc/hostname", &[90, 1]),
        ("--proto -file", "http://ORIGIN/object", &[0]),
        ("--proto =file", "file:///etc/hostname", &[0]),
        ("--proto =nonsense", "http://ORIGIN/object", &[2, 90, 1]),
        // `--proto-redir` applies to redirects only, not to the requested URL.
        ("--proto-redir =https", "http://ORIGIN/object", &[0]),
        ("--proto-redir -all", "http://ORIGIN/object", &[0]),
    ] {
        let servers = Servers::new();
        let result =
            run_fetch_url(options.split_whitespace().chain(["--cacert", servers.ca(), &servers.fill(url)]));
        assert!(exits.contains(&result.exit), "{options} {url}: {result:?}");
        assert!(
            result.exit == 0 || servers.requests().is_empty() && result.stdout.is_empty(),
            "{options} {url}: a request was sent"
        );
    }
}

#[test]
fn proto_redir_option_restricts_redirects() {
    for (options, from, to, exit) in [
        ("", "http://ORIGIN", "https://SECURE/object", 0),
        ("", "https://SECURE", "http://ORIGIN/object", 90),
        ("", "http://ORIGIN", "https://SECURE/to/http!ORIGIN/object", 90),
        // A smaller set of schemes.
        ("--proto-redir =https", "http://ORIGIN", "http://OTHER/object", 90),
        ("--proto-redir =https", "http://ORIGIN", "https://SECURE/object", 0),
        ("--proto-redir =https", "http://ORIGIN", "object", 90),
        ("--proto-redir =http", "http://ORIGIN", "https://SECURE/object", 90),
        ("--proto-redir -all", "http://ORIGIN", "object", 90),
        // A scheme that `--proto` excludes is excluded for redirects as well.
        ("--proto =http", "http://ORIGIN", "https://SECURE/object", 90),
        ("--proto =http --proto-redir =http,https", "http://ORIGIN", "https://SECURE/object", 90),
        // A redirect from https to http only if `--proto-redir` names http.
        ("--proto-redir =http,https", "https://SECURE", "http://ORIGIN/object", 0),
        ("--proto-redir =https", "https://SECURE", "http://ORIGIN/object", 90),
        ("--proto-redir =https", "https://SECURE", "https://SECURE/object", 0),
        ("", "http://ORIGIN", "ftp://OTHER/x", 90),
    ] {
        let servers = Servers::new();
        let result = fetch_redirect(&servers, options, from, to);
        assert_eq!(result.exit, exit, "{options} {from} to {to}: {}", result.stderr);
        let is_object = result.stdout_text() == "object";
        assert!(
            is_object == (exit == 0) && (exit == 0 || result.stdout.is_empty()),
            "{options} {from} to {to}: {result:?}"
        );
        let object_requests = servers.requests().iter().filter(|request| request.path() == "/object").count();
        assert_eq!(object_requests, usize::from(exit == 0), "{options} {from} to {to}");
    }
    let servers = Servers::new();
    let result = fetch_redirect(&servers, "--proto-redir +ftp", "http://ORIGIN", "ftp://OTHER/x");
    assert_ne!(result.exit, 90, "an allowed scheme was refused: {}", result.stderr);
    assert_ne!(result.exit, 0);
}

/// No option allows a redirect to `file:`, `telnet:` or `mailto:` (docs/spec/faults.md, row 26).
#[test]
fn redirect_to_local_schemes_is_always_refused() {
    let local_file = tempfile::NamedTempFile::new().expect("create temporary file");
    fs::write(local_file.path(), "content of the local file").expect("write file");
    let servers = Servers::new();
    let file = local_file.path().display();
    for options in
        ["", "--proto-redir =all", "--proto-redir +all", "--proto-redir +file,telnet,mailto --proto =all"]
    {
        for to in [
            format!("file://{file}"),
            format!("file://localhost{file}"),
            format!("FILE://{file}"),
            format!("http://ORIGIN/to/file!{file}"),
            "telnet://OTHER/".to_owned(),
            "mailto:a@b.example".to_owned(),
            "mailto://a@b.example".to_owned(),
        ] {
            let result = fetch_redirect(&servers, options, "http://ORIGIN", &to);
            assert!([90, 1].contains(&result.exit), "{options} to {to}: {result:?}");
            assert!(result.stdout.is_empty(), "{options} to {to}: {:?}", result.stdout_text());
        }
        // Other schemes are refused by default; if allowed, the fetch fails here because the server speaks HTTP.
        for scheme in ["ftp", "gopher", "nntp", "wais", "prospero"] {
            let result = fetch_redirect(&servers, options, "http://ORIGIN", &format!("{scheme}://OTHER/x"));
            assert!(result.exit != 0 && result.stdout.is_empty(), "{options} to {scheme}: {result:?}");
            assert!(!options.is_empty() || result.exit == 90, "{options} to {scheme}: {result:?}");
        }
        let result = fetch_redirect(&servers, options, "http://ORIGIN", "news:a.group");
        assert!(result.exit != 0 && result.stdout.is_empty(), "{result:?}");
    }
    assert!(servers.other.requests().is_empty());
}

#[test]
fn max_redirs_minus_one_is_unlimited() {
    let server = http_server(|request| {
        let number: u32 = request.path()[1..].parse().unwrap_or(0);
        if number < 60 {
            redirect_to(302, &format!("/{}", number + 1))
        } else {
            HttpResponse::new(200).body("object")
        }
    });
    assert_eq!(
        run_fetch_url(["--max-redirs", "-1", &server.url("/0")]).assert_exit(0).stdout_text(),
        "object"
    );
    run_fetch_url(["--max-redirs", "0", &server.url("/59")]).assert_exit(47);
    run_fetch_url(["--max-redirs", "1", &server.url("/59")]).assert_exit(0);
    for invalid in ["-2", "x", "1.5"] {
        run_fetch_url(["--max-redirs", invalid, &server.url("/60")]).assert_exit(2);
    }
    // A loop is detected even without a redirect limit.
    let loop_server = http_server(|_| redirect_to(302, "/again"));
    run_fetch_url(["--max-redirs", "-1", &loop_server.url("/x")]).assert_exit(47);
    assert!(loop_server.requests().len() < 5, "{}", loop_server.requests().len());
}

/// The server redirects until the client sends the cookie: a loop only for a client without a cookie jar.
#[test]
fn redirect_that_sets_a_cookie_is_not_a_loop() {
    for redirect_target in ["/x", "/y"] {
        let server = http_server(move |request| match (request.header("cookie"), request.path().as_str()) {
            (Some(_), "/x") => HttpResponse::new(200).body("object"),
            (_, "/x") => redirect_to(302, redirect_target).header("Set-Cookie", "seen=1; Path=/"),
            _ => redirect_to(302, "/x"),
        });
        let dir = temp_dir();
        let result = run_fetch_url_in(dir.path(), ["-c", "jar", &server.url("/x")]);
        assert_eq!(
            (result.exit, result.stdout_text().as_str()),
            (0, "object"),
            "{redirect_target}: {}",
            result.stderr
        );
        let request_count = server.requests().len();
        run_fetch_url([server.url("/x")]).assert_exit(47);
        assert!(server.requests().len() - request_count < 5, "{redirect_target}");
    }
    // With a cookie that does not change the response, it is a loop.
    let server = http_server(|_| redirect_to(302, "/x").header("Set-Cookie", "seen=1"));
    let dir = temp_dir();
    run_fetch_url_in(dir.path(), ["-c", "jar", &server.url("/x")]).assert_exit(47);
    assert!(server.requests().len() < 13, "{}", server.requests().len());
}

/// Retries of the redirected request and of the whole chain follow the same rules as the first attempt.
#[test]
fn retries_do_not_send_credentials_to_another_server() {
    let failures: [fn() -> HttpResponse; 3] = [
        || HttpResponse::new(503),
        || HttpResponse::raw("").then_reset(),
        || {
            HttpResponse::new(200)
                .header("ETag", "\"v1\"")
                .header("Accept-Ranges", "bytes")
                .body("object")
                .cut_body_at(2)
        },
    ];
    for (number, first) in failures.into_iter().enumerate() {
        let file_server = file_handler(b"object".to_vec(), strong_etag_headers());
        let other = http_server_first_then(move |_| first(), file_server);
        let location_url = other.url("/x");
        let origin = http_server(move |_| redirect_to(302, &location_url));
        let options = ["--retry-delay", "0.05", "-u", "u:pw", "-b", "s=1", "-H", "X-Api-Key: key"];
        let result = run_fetch_url(options.into_iter().chain([origin.url("/x").as_str()]));
        assert_eq!(
            (result.exit, result.stdout_text().as_str()),
            (0, "object"),
            "fault {number}: {}",
            result.stderr
        );
        assert_eq!(other.requests().len(), 2, "fault {number}");
        for request in other.requests() {
            let leaks = ["authorization", "cookie", "x-api-key"].map(|name| request.header(name).is_some());
            assert_eq!(leaks, [false; 3], "fault {number}");
        }
        let origin_has_login =
            origin.requests().iter().all(|request| request.header("authorization").is_some());
        assert!(origin_has_login, "fault {number}: the origin did not receive the credentials each time");
    }
}

/// Passwords are removed from the event.
#[test]
fn redirect_event_names_the_target_without_password() {
    let servers = Servers::new();
    let url = servers.fill("http://u:KanarienVogel@ORIGIN/to/http!OTHER/object");
    let result =
        run_fetch_url(["--events", "-", "-o", "/dev/null", "-w", "%{num_redirects} %{url_effective}", &url]);
    let text = result.assert_exit(0).stdout_text();
    let event = text.lines().find(|line| line.contains("\"hop\"")).expect("an event");
    let event: serde_json::Value = serde_json::from_str(event).expect("valid JSON");
    assert_eq!(event["to"], servers.other.url("/object"), "{event}");
    assert!(text.ends_with(&format!("1 {}", servers.other.url("/object"))), "{text}");
    assert!(!text.contains("KanarienVogel"), "{text}");
}

/// A POST with a 303 to the same URL, then a GET: the usual behaviour of web forms.
#[test]
fn post_with_303_to_the_same_url_succeeds() {
    let server = http_server(|request| match request.method.as_str() {
        "POST" => HttpResponse::new(303).header("Location", "/form"),
        _ => HttpResponse::new(200).body("thanks"),
    });
    let result = run_fetch_url(["-d", "a=b", &server.url("/form")]);
    assert_eq!((result.exit, result.stdout_text().as_str()), (0, "thanks"), "{}", result.stderr);
    let endless = http_server(|_| HttpResponse::new(303).header("Location", "/form"));
    run_fetch_url(["-d", "a=b", &endless.url("/form")]).assert_exit(47);
}

/// `-e ';auto'`: each redirect sends the previous URL, without login and fragment, as curl does.
#[test]
fn automatic_referer_is_the_previous_url() {
    for (options, first, is_auto) in [
        ("-e ;auto", None, true),
        ("-e http://from.test/x;auto", Some("http://from.test/x"), true),
        ("-e http://from.test/x", Some("http://from.test/x"), false),
        ("-e ;auto -H Referer:_mine", Some("mine"), false),
    ] {
        let servers = Servers::new();
        let start = servers.fill("http://ORIGIN/to/to/object");
        let url = format!("{}#part", start.replacen("://", "://u:pw@", 1));
        let options = options.split_whitespace().map(|word| word.replace('_', " "));
        let common = ["-w".to_owned(), " %{referer}".to_owned(), url];
        let result = run_fetch_url(options.chain(common));
        let middle = servers.fill("http://ORIGIN/to/object");
        let then = if is_auto { [Some(&*start), Some(&*middle)] } else { [first, first] };
        for (path, expected) in [("/to/to/object", first), ("/to/object", then[0]), ("/object", then[1])] {
            assert_eq!(servers.single_request(path).header_text("referer"), expected, "{path}");
        }
        let printed = result.assert_exit(0).stdout_text();
        assert_eq!(printed, format!("object {}", then[1].unwrap_or_default()));
    }
}

#[test]
fn automatic_referer_is_sent_to_another_server_but_not_from_https_to_http() {
    let auto = ["-e", "http://from.test/x;auto"];
    let servers = Servers::new();
    let start = servers.fill("http://ORIGIN/to/http!OTHER/object");
    run_fetch_url(auto.iter().chain(&[start.as_str()])).assert_exit(0);
    assert_eq!(servers.single_request("/object").header_text("referer"), Some(&*start));
    for (to, is_sent) in [("https!SECURE", true), ("http!OTHER", false)] {
        let servers = Servers::new();
        let start = servers.fill(&format!("https://SECURE/to/{to}/object"));
        let common = ["--proto-redir", "=http,https", "--cacert", servers.ca(), &start];
        run_fetch_url(auto.iter().chain(&common)).assert_exit(0);
        let sent = servers.single_request("/object").header_text("referer").map(str::to_owned);
        assert_eq!(sent, is_sent.then_some(start), "{to}");
    }
}
