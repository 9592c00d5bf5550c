//! `-b` and `-c`: cookies are sent only on request and only to the server they belong to, and the cookie jar has
//! curl's format (docs/spec/semantics.md §3, "Cookies"; docs/spec/faults.md, rows 29 and 43).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;

use crate::support::curl::run_curl;
use crate::support::{
    RunResult, entry_names, fetch_url_command, http_server, run_fetch_url_in, temp_dir, wait_for_exit,
};
use fetch_url_tests::{HttpResponse, HttpServer, ServerCert};

/// The Cookie header of each request with sorted pairs; `""` if there is none.
fn cookies_received(server: &HttpServer) -> Vec<String> {
    let cookies = |request: &fetch_url_tests::HttpRequest| {
        let mut pairs: Vec<_> = request.header_text("cookie").unwrap_or("").split("; ").collect();
        pairs.sort_unstable();
        pairs.join("; ")
    };
    server.requests().iter().map(cookies).collect()
}

/// Starts a server that sets `cookies` in its response to `/set`.
fn start_cookie_server(cookies: &'static [&'static str]) -> HttpServer {
    http_server(move |request| {
        let reply = HttpResponse::new(200).body("ok");
        if !request.path().starts_with("/set") {
            return reply;
        }
        cookies.iter().fold(reply, |reply, cookie| reply.header("Set-Cookie", cookie))
    })
}

fn fetch_in_dir(directory: &Path, options: &str, url: &str) -> RunResult {
    run_fetch_url_in(directory, options.split_whitespace().chain([url]))
}

/// The cookies in the file `jar` as fields: domain, include subdomains, path, secure, expiry time, name, value.
fn jar_entries(directory: &Path) -> Vec<Vec<String>> {
    let bytes = fs::read(directory.join("jar")).expect("read cookie jar");
    let text = String::from_utf8_lossy(&bytes);
    let is_entry =
        |line: &&str| !line.is_empty() && (!line.starts_with('#') || line.starts_with("#HttpOnly_"));
    text.lines().filter(is_entry).map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[test]
fn cookie_option_sends_the_same_pairs_as_curl() {
    let server = start_cookie_server(&["a=other"]);
    let dir = temp_dir();
    for options in ["-b a=b", "-b a=b;c=d", "-b a=b -b c=d", "-b a=\"b\"", "-b a="] {
        fetch_in_dir(dir.path(), options, &server.url("/x")).assert_exit(0);
        let Some(curl_result) =
            run_curl(dir.path(), options.split_whitespace().chain([server.url("/x").as_str()]))
        else {
            continue;
        };
        curl_result.assert_exit(0);
        let requests = server.requests();
        // Some versions of curl omit the space between two pairs (RFC 6265 §4.2.1).
        let pairs = |back: usize| {
            requests[requests.len() - back].header_text("cookie").map(|text| text.replace(' ', ""))
        };
        assert_eq!(pairs(2), pairs(1), "{options}: fetch-url, then curl");
    }
}

/// Cookies from `-b name=value` belong to the server of the URL (docs/spec/faults.md, row 29); responses do not change
/// them.
#[test]
fn cookie_option_is_not_sent_to_another_server() {
    let other = start_cookie_server(&[]);
    let other_url = other.url("/x");
    let server = http_server(move |request| match request.path().as_str() {
        "/near" => HttpResponse::new(302).header("Location", "/x").header("Set-Cookie", "set=1"),
        "/away" => HttpResponse::new(302).header("Location", &other_url),
        _ => HttpResponse::new(200),
    });
    let dir = temp_dir();
    fetch_in_dir(dir.path(), "-b mine=1", &server.url("/near")).assert_exit(0);
    fetch_in_dir(dir.path(), "-b mine=1", &server.url("/away")).assert_exit(0);
    assert_eq!(cookies_received(&server), ["mine=1", "mine=1", "mine=1"]);
    assert_eq!(cookies_received(&other), [""]);
}

/// The cookie engine is enabled by `-b FILE` or `-c FILE`; only `-c` writes a file.
#[test]
fn cookies_are_kept_only_with_a_jar_option() {
    for (options, expected) in
        [("", ""), ("-b no-such-file", "s=1"), ("-c jar", "s=1"), ("-b mine=2 -c jar", "mine=2; s=1")]
    {
        let server = http_server(|request| match request.path().as_str() {
            "/set" => HttpResponse::new(302).header("Location", "/x").header("Set-Cookie", "s=1"),
            _ => HttpResponse::new(200),
        });
        let dir = temp_dir();
        fetch_in_dir(dir.path(), options, &server.url("/set")).assert_exit(0);
        assert_eq!(cookies_received(&server)[1], expected, "{options}");
        assert_eq!(dir.path().join("jar").exists(), options.contains("-c"), "{options}");
    }
}

const JAR_COOKIES: [&str; 6] = [
    "plain=1",
    "quoted=\"a b\"; Path=/",
    "dir=2; Path=/sub",
    "long=3; Max-Age=1000",
    "until=4; Expires=Wed, 09 Jun 2038 10:18:14 GMT; HttpOnly",
    "empty=",
];

#[test]
fn jar_written_by_fetch_url_is_read_by_curl() {
    let server = start_cookie_server(&JAR_COOKIES);
    let dir = temp_dir();
    fetch_in_dir(dir.path(), "-c jar", &server.url("/set")).assert_exit(0);
    let mode = fs::metadata(dir.path().join("jar")).expect("read cookie jar").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "the cookie jar is readable by others");
    let text = fs::read_to_string(dir.path().join("jar")).expect("read cookie jar");
    assert!(text.starts_with("# Netscape HTTP Cookie File\n"), "{text}");
    let lines = jar_entries(dir.path());
    assert!(lines.len() == JAR_COOKIES.len() && lines.iter().all(|line| line.len() == 7), "{text}");
    let of = |name: &str| lines.iter().find(|line| line[5] == name).expect("a jar entry").clone();
    assert_eq!(of("plain"), ["127.0.0.1", "FALSE", "/", "FALSE", "0", "plain", "1"]);
    assert_eq!(of("dir")[2], "/sub");
    assert_eq!(of("until"), ["#HttpOnly_127.0.0.1", "FALSE", "/", "FALSE", "2159691494", "until", "4"]);
    for path in ["/x", "/sub/x"] {
        fetch_in_dir(dir.path(), "-b jar", &server.url(path)).assert_exit(0);
        let Some(curl_result) = run_curl(dir.path(), ["-b", "jar", &server.url(path)]) else { return };
        curl_result.assert_exit(0);
        let sent = cookies_received(&server);
        assert_eq!(sent[sent.len() - 2], sent[sent.len() - 1], "{path}: fetch-url, then curl");
        assert_eq!(sent[sent.len() - 1].contains("dir=2"), path == "/sub/x");
        assert!(sent[sent.len() - 1].contains("until=4"), "{sent:?}");
    }
}

#[test]
fn jar_written_by_curl_is_read_by_fetch_url() {
    let server = start_cookie_server(&JAR_COOKIES);
    let dir = temp_dir();
    let Some(curl_result) = run_curl(dir.path(), ["-c", "jar", &server.url("/set")]) else { return };
    curl_result.assert_exit(0);
    run_curl(dir.path(), ["-b", "jar", &server.url("/sub/x")]).expect("curl").assert_exit(0);
    fetch_in_dir(dir.path(), "-b jar", &server.url("/sub/x")).assert_exit(0);
    let sent = cookies_received(&server);
    assert_eq!(sent[1], sent[2], "curl, then fetch-url");
}

#[test]
fn jar_carries_cookies_from_run_to_run() {
    let server = http_server(|request| {
        let number = request.header_text("cookie").and_then(|text| text.strip_prefix("n=")?.parse().ok());
        HttpResponse::new(200).header("Set-Cookie", format!("n={}", number.unwrap_or(0) + 1))
    });
    let dir = temp_dir();
    for _ in 0..3 {
        fetch_in_dir(dir.path(), "-b jar -c jar", &server.url("/")).assert_exit(0);
    }
    assert_eq!(cookies_received(&server), ["", "n=1", "n=2"]);
    assert_eq!(jar_entries(dir.path())[0][6], "3");
    // `-c` without `-b` starts with an empty jar, like curl.
    fetch_in_dir(dir.path(), "-c jar", &server.url("/")).assert_exit(0);
    assert_eq!((cookies_received(&server)[3].as_str(), jar_entries(dir.path())[0][6].as_str()), ("", "1"));
}

/// An unwritable jar is reported, and a malformed jar does not crash the program.
#[test]
fn unwritable_or_malformed_jar_is_reported() {
    let server = start_cookie_server(&["a=1"]);
    let dir = temp_dir();
    let result = fetch_in_dir(dir.path(), "-c no/such/dir/jar", &server.url("/set"));
    assert!(!result.stderr.is_empty(), "no message: {result:?}");
    fs::write(dir.path().join("jar"), "not a jar at all\n\u{1}\t\t\n").expect("write file");
    let result = fetch_in_dir(dir.path(), "-b jar", &server.url("/x"));
    assert!([0, 2].contains(&result.exit), "{result:?}");
}

#[test]
fn jar_with_more_cookies_than_the_limits_is_written_with_all_of_them() {
    let server = start_cookie_server(&["new=1; Path=/"]);
    let dir = temp_dir();
    let host =
        |index: usize| if index < 250 { "127.0.0.1".to_owned() } else { format!("h{}.test", index / 100) };
    let line = |index| format!("{}\tFALSE\t/deep\tFALSE\t0\tn{index}\tv\n", host(index));
    fs::write(dir.path().join("jar"), (0..5000).map(line).collect::<String>()).expect("a file");
    fetch_in_dir(dir.path(), "-b jar -c jar", &server.url("/set")).assert_exit(0);
    let entries = jar_entries(dir.path());
    assert_eq!(entries.len(), 5001);
    assert_eq!((entries[0][5].as_str(), entries[4999][5].as_str()), ("n0", "n4999"));
    assert_eq!(entries[5000][5], "new");
}

#[test]
fn cookie_files_larger_than_32_mib_are_refused_without_reading_them() {
    let server = start_cookie_server(&[]);
    let dir = temp_dir();
    let file = fs::File::create(dir.path().join("large")).expect("a file");
    file.set_len(31 << 20).expect("a sparse file");
    fs::hard_link(dir.path().join("large"), dir.path().join("second")).expect("a link");
    fetch_in_dir(dir.path(), "-b large -b second", &server.url("/")).assert_exit(63);
    file.set_len(1 << 40).expect("a sparse file");
    let result = fetch_in_dir(dir.path(), "-b large", &server.url("/"));
    result.assert_exit(63).assert_stderr_contains("32 MiB");
    assert_eq!(server.requests(), []);
}

/// Fetches `path` from `server` under the host name `host`.
fn fetch_as_host(directory: &Path, options: &str, host: &str, server: &HttpServer, path: &str) {
    let port = server.addr().port();
    let scheme = server.url("/").split(':').next().expect("URL scheme").to_owned();
    let pin = format!("{host}:{port}:127.0.0.1");
    let url = format!("{scheme}://{host}:{port}{path}");
    run_fetch_url_in(directory, options.split_whitespace().chain(["--resolve", &pin, &url])).assert_exit(0);
}

#[test]
fn cookie_domain_rules_are_enforced() {
    // `from` sets the cookie; `is_sent` is `true` if `to` must receive it.
    for (from, cookie, to, is_sent) in [
        ("a.test", "c=1", "a.test", true),
        ("a.test", "c=1", "b.test", false),
        ("a.test", "c=1", "sub.a.test", false),
        ("sub.a.test", "c=1", "a.test", false),
        ("a.test", "c=1; Domain=b.test", "b.test", false),
        ("a.test", "c=1; Domain=b.test", "a.test", false),
        ("a.test", "c=1; Domain=sub.a.test", "sub.a.test", false),
        // Cookies for a public suffix are refused.
        ("a.com", "c=1; Domain=com", "b.com", false),
        ("a.co.uk", "c=1; Domain=co.uk", "b.co.uk", false),
        ("a.co.uk", "c=1; Domain=.co.uk", "b.co.uk", false),
        ("a.com", "c=1; Domain=.", "b.com", false),
        ("a.com", "c=1; Domain=com.", "b.com", false),
        ("a.github.io", "c=1; Domain=github.io", "b.github.io", false),
        ("127.0.0.1", "c=1; Domain=0.0.1", "a.test", false),
        ("a.test", "c=1; Domain=127.0.0.1", "127.0.0.1", false),
        // A host name with the cookie domain as suffix, but not as a domain suffix.
        ("a.test", "c=1; Domain=a.test", "xa.test", false),
        ("A.TEST", "c=1", "a.test", true),
        ("a.test", "__Host-c=1", "a.test", false),
        ("a.test", "__Secure-c=1", "a.test", false),
    ] {
        let server = http_server(move |_| HttpResponse::new(200).header("Set-Cookie", cookie));
        let dir = temp_dir();
        fetch_as_host(dir.path(), "-c jar", from, &server, "/set");
        fetch_as_host(dir.path(), "-b jar", to, &server, "/x");
        assert_eq!(cookies_received(&server)[1].contains("c=1"), is_sent, "{from} sets {cookie}: {to}");
    }
}

/// The cookie file of a browser: `TRUE` in the second field means that subdomains receive the cookie.
#[test]
fn cookies_of_a_file_reach_subdomains_if_the_file_says_so() {
    for (entry, host, is_sent) in [
        (".a.test\tTRUE", "a.test", true),
        (".a.test\tTRUE", "www.a.test", true),
        (".a.test\tTRUE", "x.www.a.test", true),
        (".a.test\tTRUE", "xa.test", false),
        ("a.test\tTRUE", "www.a.test", true),
        ("a.test\tFALSE", "www.a.test", false),
        (".a.test\tFALSE", "www.a.test", false),
        (".a.test\tFALSE", "a.test", true),
        // A public suffix has many owners.
        (".co.uk\tTRUE", "a.co.uk", false),
        (".github.io\tTRUE", "a.github.io", false),
        (".test\tTRUE", "a.test", false),
        ("0.0.1\tTRUE", "127.0.0.1", false),
    ] {
        let server = start_cookie_server(&[]);
        let dir = temp_dir();
        let file = format!("# Netscape HTTP Cookie File\n{entry}\t/\tFALSE\t0\tc\t1\n");
        fs::write(dir.path().join("file"), file).expect("write file");
        fetch_as_host(dir.path(), "-b file -c jar", host, &server, "/x");
        assert_eq!(cookies_received(&server)[0] == "c=1", is_sent, "{entry} {host}");
        if entry == ".a.test\tTRUE" {
            assert_eq!(jar_entries(dir.path())[0][..2], [".a.test", "TRUE"]);
        }
    }
}

/// A file of HTTP header lines, as `curl -D` writes it, with domains; the same cookies are sent as by curl.
#[test]
fn header_lines_in_a_cookie_file_are_read_like_curl() {
    let file = "HTTP/1.1 200 OK\r\nServer: x\r\nSet-Cookie: nowhere=1\r\n\
        Set-Cookie: a=2; domain=a.test\r\nset-cookie: b=3; Domain=.a.test; path=/p\r\n\
        Set-Cookie: c=4; domain=a.test; expires=Thu, 01 Dec 1994 12:34:56 GMT\r\n\
        Set-Cookie: d=5; domain=a.test; secure\r\n\r\n\
        .a.test\tTRUE\t/\tFALSE\t0\te\t6\n";
    let (server, dir) = (start_cookie_server(&[]), temp_dir());
    fs::write(dir.path().join("file"), file).expect("write file");
    for (host, path, expected) in [
        ("a.test", "/p/x", "a=2; b=3; e=6"),
        ("www.a.test", "/p", "a=2; b=3; e=6"),
        ("www.a.test", "/", "a=2; e=6"),
        ("b.test", "/p/x", ""),
    ] {
        fetch_as_host(dir.path(), "-b file", host, &server, path);
        assert_eq!(cookies_received(&server).last().map(String::as_str), Some(expected), "{host}{path}");
        let port = server.addr().port();
        let pin = format!("{host}:{port}:127.0.0.1");
        let url = format!("http://{host}:{port}{path}");
        let Some(curl) = run_curl(dir.path(), ["-b", "file", "--resolve", &pin, &url]) else { continue };
        curl.assert_exit(0);
        assert_eq!(
            cookies_received(&server).last().map(String::as_str),
            Some(expected),
            "curl, {host}{path}"
        );
    }
    // The jar that is written is in Netscape format.
    fetch_as_host(dir.path(), "-b file -c jar", "a.test", &server, "/p");
    assert!(jar_entries(dir.path()).iter().any(|line| line[0] == ".a.test" && line[5] == "b"));
}

/// A session that starts at one host of a domain continues at another, as in curl.
#[test]
fn domain_attribute_reaches_the_other_hosts_of_the_domain() {
    let server = http_server(|request| match request.path().as_str() {
        "/set" => HttpResponse::new(200).header("Set-Cookie", "c=new; Path=/; Domain=a.test"),
        _ => HttpResponse::new(200),
    });
    let dir = temp_dir();
    let file = "# Netscape HTTP Cookie File\n.a.test\tTRUE\t/\tFALSE\t0\tc\told\n";
    fs::write(dir.path().join("jar"), file).expect("write file");
    fetch_as_host(dir.path(), "-b jar -c jar", "www.a.test", &server, "/set");
    for host in ["www.a.test", "a.test", "other.a.test", "b.test"] {
        fetch_as_host(dir.path(), "-b jar", host, &server, "/x");
    }
    assert_eq!(cookies_received(&server), ["c=old", "c=new", "c=new", "c=new", ""]);
}

#[test]
fn cookie_path_and_expiry_rules_are_enforced() {
    for (cookie, path, is_sent) in [
        ("c=1; Path=/a", "/a", true),
        ("c=1; Path=/a", "/a/x", true),
        ("c=1; Path=/a", "/ab", false),
        ("c=1; Path=/a", "/", false),
        ("c=1; Path=/A", "/a", false),
        ("c=1; Path=/a/", "/a/x", true),
        ("c=1; Path=a", "/x", false),
        // Without a Path attribute, the directory of the requested path (RFC 6265 §5.1.4).
        ("c=1", "/set/other", true),
        ("c=1", "/x", false),
        ("c=1; Path=/", "/x", true),
        ("c=1; Path=/; Max-Age=0", "/x", false),
        ("c=1; Path=/; Max-Age=-1", "/x", false),
        ("c=1; Path=/; Max-Age=1000; Expires=Thu, 01 Dec 1994 12:34:56 GMT", "/x", true),
        ("c=1; Path=/; Expires=Thu, 01 Dec 1994 12:34:56 GMT", "/x", false),
        ("c=1; Path=/; Expires=Thu, 01-Dec-2094 12:34:56 GMT", "/x", true),
        ("c=1; Path=/; Max-Age=99999999999999999999", "/x", true),
        ("c=1; Path=/; Expires=never", "/x", true),
        // A Secure cookie from a plain HTTP response is refused (RFC 6265bis §5.7).
        ("c=1; Path=/; Secure", "/x", false),
    ] {
        let server = http_server(move |request| match request.path().as_str() {
            "/set/here" => HttpResponse::new(200).header("Set-Cookie", cookie),
            _ => HttpResponse::new(200),
        });
        let dir = temp_dir();
        fetch_as_host(dir.path(), "-c jar", "a.test", &server, "/set/here");
        fetch_as_host(dir.path(), "-b jar", "a.test", &server, path);
        assert_eq!(cookies_received(&server)[1].contains("c=1"), is_sent, "{cookie} at {path}");
    }
}

#[test]
fn deleted_and_expired_cookies_are_not_sent() {
    let server = http_server(|request| match request.path().as_str() {
        "/set" => {
            HttpResponse::new(200).header("Set-Cookie", "c=1; Max-Age=1000").header("Set-Cookie", "d=2")
        }
        "/away" => HttpResponse::new(200).header("Set-Cookie", "c=; Max-Age=0"),
        _ => HttpResponse::new(200),
    });
    let dir = temp_dir();
    for path in ["/set", "/away", "/x"] {
        fetch_in_dir(dir.path(), "-b jar -c jar", &server.url(path)).assert_exit(0);
    }
    assert_eq!(cookies_received(&server), ["", "c=1; d=2", "d=2"]);
    let expired_entry =
        "127.0.0.1\tFALSE\t/\tFALSE\t786285296\told\t1\n127.0.0.1\tFALSE\t/\tFALSE\t0\tnow\t1\n";
    fs::write(dir.path().join("file"), format!("# Netscape HTTP Cookie File\n{expired_entry}"))
        .expect("write file");
    fetch_in_dir(dir.path(), "-b file", &server.url("/x")).assert_exit(0);
    assert_eq!(cookies_received(&server)[3], "now=1");
}

/// A Secure cookie is sent only over TLS; the port makes no difference (RFC 6265 §8.5).
#[test]
fn secure_cookie_is_sent_and_replaced_only_over_tls() {
    let cert = ServerCert::good().expect("create certificate");
    let files = cert.write_files().expect("write certificate files");
    let handler = |_: &fetch_url_tests::HttpRequest| {
        HttpResponse::new(200)
            .header("Set-Cookie", "s=1; Secure")
            .header("Set-Cookie", "__Host-h=1; Secure; Path=/")
            .header("Set-Cookie", "p=1")
    };
    let tls_server = HttpServer::start_tls(handler, &cert).expect("start server");
    let plain_server = http_server(|_| HttpResponse::new(200).header("Set-Cookie", "s=evil"));
    let dir = temp_dir();
    let options = format!("--cacert {} -b jar -c jar", files.ca.display());
    fetch_in_dir(dir.path(), &options, &tls_server.url("/")).assert_exit(0);
    assert!(jar_entries(dir.path()).iter().any(|line| line[5] == "s" && line[3] == "TRUE"));
    fetch_in_dir(dir.path(), &options, &plain_server.url("/")).assert_exit(0);
    fetch_in_dir(dir.path(), &options, &tls_server.url("/")).assert_exit(0);
    assert_eq!(cookies_received(&plain_server), ["p=1"]);
    // RFC 6265bis §5.7: a cookie from plain HTTP does not replace a Secure cookie.
    assert_eq!(cookies_received(&tls_server)[1], "__Host-h=1; p=1; s=1");
}

/// A cookie must not add lines or fields to the jar (curl CVE-2016-8615 and similar).
#[test]
fn hostile_cookies_cannot_inject_jar_entries() {
    for cookie in [
        b"a=b\tTRUE\t/\tFALSE\t0\tevil\t1".to_vec(),
        b"a\tb=c".to_vec(),
        b"a=b; Path=/x\tFALSE\t0\tevil\t1".to_vec(),
        b"a=b; Domain=127.0.0.1\tTRUE".to_vec(),
        b"#a=b".to_vec(),
        b"=b".to_vec(),
        b"".to_vec(),
        b";;;;".to_vec(),
        b"a=\xff\xfe; Path=/\xff".to_vec(),
        b"a=\x1b[2J".to_vec(),
        [b"a=", vec![b'x'; 100_000].as_slice()].concat(),
        [b"a=b; Path=/", vec![b'x'; 100_000].as_slice()].concat(),
    ] {
        let shown_cookie = cookie[..cookie.len().min(60)].escape_ascii().to_string();
        let server = http_server(move |_| {
            HttpResponse::new(200).header("Set-Cookie", &cookie).header("Set-Cookie", "good=1")
        });
        let dir = temp_dir();
        let result = fetch_in_dir(dir.path(), "-b jar -c jar", &server.url("/"));
        // A response with such a header may be refused completely, but not be used in part.
        assert!([0, 8, 63].contains(&result.exit), "{shown_cookie}: {result:?}");
        if result.exit == 0 {
            let lines = jar_entries(dir.path());
            assert!(
                lines.iter().all(|line| line.len() == 7 && line[5] != "evil"),
                "{shown_cookie}: {lines:?}"
            );
            fetch_in_dir(dir.path(), "-b jar -c jar", &server.url("/")).assert_exit(0);
            assert!(
                cookies_received(&server)[1].contains("good=1")
                    && !cookies_received(&server)[1].contains("evil"),
                "{shown_cookie}: {:?}",
                cookies_received(&server)
            );
        }
    }
}

/// 300 cookies of 150 bytes: the request header stays below 16 KiB, and the run succeeds.
#[test]
fn many_cookies_keep_the_request_header_bounded() {
    let server = http_server(|_| {
        (0..300).fold(HttpResponse::new(200), |reply, number| {
            reply.header("Set-Cookie", format!("c{number}={}", "x".repeat(150)))
        })
    });
    let dir = temp_dir();
    fetch_in_dir(dir.path(), "-b jar -c jar", &server.url("/")).assert_exit(0);
    fetch_in_dir(dir.path(), "-b jar -c jar", &server.url("/")).assert_exit(0);
    let length = server.requests()[1].header("cookie").map_or(0, <[u8]>::len);
    assert!(length <= 16 * 1024, "a Cookie header of {length} bytes");
}

#[test]
fn runs_with_one_cookie_jar_at_the_same_time_all_succeed() {
    // Each run has another cookie, of another length.
    let cookie = |path: &str| format!("id={}", path.repeat(1000 * path.len()));
    let server =
        http_server(move |request| HttpResponse::new(200).header("Set-Cookie", cookie(&request.path()[1..])));
    let dir = temp_dir();
    for name in ["jar.new", "jar.part"] {
        fs::write(dir.path().join(name), "mine").expect("a file");
    }
    std::thread::scope(|scope| {
        for path in ["/a", "/bb", "/c", "/dd", "/e", "/ff"] {
            let (dir, server) = (&dir, &server);
            scope.spawn(move || {
                for _ in 0..5 {
                    fetch_in_dir(dir.path(), "-c jar", &server.url(path)).assert_exit(0);
                }
            });
        }
    });
    let jar = fs::read_to_string(dir.path().join("jar")).expect("a jar");
    let lines: Vec<&str> = jar.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")).collect();
    assert!(!lines.is_empty(), "{jar}");
    for line in lines {
        let fields: Vec<&str> = line.split('\t').collect();
        let [.., "id", value] = fields[..] else { panic!("{line}") };
        let is_one_letter = value.bytes().all(|byte| byte == value.as_bytes()[0]);
        assert!(is_one_letter && matches!(value.len(), 1000 | 4000), "{} bytes", value.len());
    }
    assert_eq!(entry_names(dir.path()), ["jar", "jar.new", "jar.part"]);
    assert_eq!(fs::read_to_string(dir.path().join("jar.new")).expect("a file"), "mine");
}

#[test]
fn cookie_file_of_standard_input_is_read() {
    let server = http_server(|_| HttpResponse::new(200));
    let dir = temp_dir();
    fs::write(dir.path().join("jar"), "127.0.0.1\tFALSE\t/\tFALSE\t0\tname\tvalue\n").expect("a file");
    let mut command = fetch_url_command();
    command.args(["-b", "-", &server.url("/")]).current_dir(dir.path());
    command.stdin(fs::File::open(dir.path().join("jar")).expect("a file"));
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    wait_for_exit(child).assert_exit(0);
    assert_eq!(server.requests()[0].header_text("cookie"), Some("name=value"));
}
