//! `-b` and `-c`: cookies only where asked for, only for whom they are, and in a file that curl can read
//! (SECURITY.md, rows 29 and 43).

#![allow(clippy::expect_used, reason = "a helper of tests")]

#[path = "support/curl.rs"]
mod second_opinion;
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use fetch_url_tests::{HttpReply, HttpServer, ServerCert};
use second_opinion::curl_in;
use support::{Ran, fetch_in, serving};

/// The cookies of each request, sorted; "" is none.
fn sent(server: &HttpServer) -> Vec<String> {
    let cookies = |request: &fetch_url_tests::HttpRequest| {
        let mut pairs: Vec<_> = request.header_text("cookie").unwrap_or("").split("; ").collect();
        pairs.sort_unstable();
        pairs.join("; ")
    };
    server.requests().iter().map(cookies).collect()
}

/// Sets these at `/set`, and answers everything else with nothing special.
fn setting(cookies: &'static [&'static str]) -> HttpServer {
    serving(move |request| {
        let reply = HttpReply::new(200).body("ok");
        if !request.path().starts_with("/set") {
            return reply;
        }
        cookies.iter().fold(reply, |reply, cookie| reply.header("Set-Cookie", cookie))
    })
}

fn place() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

fn run(directory: &Path, words: &str, url: &str) -> Ran {
    fetch_in(directory, words.split_whitespace().chain([url]))
}

/// The lines of a jar that hold a cookie: domain, subdomains too, path, secure, expires, name, value.
fn lines(directory: &Path) -> Vec<Vec<String>> {
    let octets = fs::read(directory.join("jar")).expect("a jar");
    let text = String::from_utf8_lossy(&octets);
    let marked = |line: &&str| !line.is_empty() && (!line.starts_with('#') || line.starts_with("#HttpOnly_"));
    text.lines().filter(marked).map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[test]
fn pairs_of_the_caller() {
    let server = setting(&["a=other"]);
    let here = place();
    for words in ["-b a=b", "-b a=b;c=d", "-b a=b -b c=d", "-b a=\"b\"", "-b a="] {
        run(here.path(), words, &server.url("/x")).exits(0);
        let Some(theirs) = curl_in(here.path(), words.split_whitespace().chain([server.url("/x").as_str()]))
        else {
            continue;
        };
        theirs.exits(0);
        let requests = server.requests();
        // Some versions of curl leave the blank out that RFC 6265 §4.2.1 has between two pairs.
        let pairs = |back: usize| {
            requests[requests.len() - back].header_text("cookie").map(|text| text.replace(' ', ""))
        };
        assert_eq!(pairs(2), pairs(1), "{words}: ours, then curl's");
    }
}

/// A caller's pairs are for the server of the URL (SECURITY.md, row 29), and no answer changes them.
#[test]
fn pairs_stay_at_home() {
    let other = setting(&[]);
    let there = other.url("/x");
    let server = serving(move |request| match request.path().as_str() {
        "/near" => HttpReply::new(302).header("Location", "/x").header("Set-Cookie", "set=1"),
        "/away" => HttpReply::new(302).header("Location", &there),
        _ => HttpReply::new(200),
    });
    let here = place();
    run(here.path(), "-b mine=1", &server.url("/near")).exits(0);
    run(here.path(), "-b mine=1", &server.url("/away")).exits(0);
    assert_eq!(sent(&server), ["mine=1", "mine=1", "mine=1"]);
    assert_eq!(sent(&other), [""]);
}

/// No jar unless one is asked for.
#[test]
fn a_jar_only_when_asked() {
    for (words, second) in
        [("", ""), ("-b no-such-file", "s=1"), ("-c jar", "s=1"), ("-b mine=2 -c jar", "mine=2; s=1")]
    {
        let server = serving(|request| match request.path().as_str() {
            "/set" => HttpReply::new(302).header("Location", "/x").header("Set-Cookie", "s=1"),
            _ => HttpReply::new(200),
        });
        let here = place();
        run(here.path(), words, &server.url("/set")).exits(0);
        assert_eq!(sent(&server)[1], second, "{words}");
        assert_eq!(here.path().join("jar").exists(), words.contains("-c"), "{words}");
    }
}

const KEPT: [&str; 6] = [
    "plain=1",
    "quoted=\"a b\"; Path=/",
    "dir=2; Path=/sub",
    "long=3; Max-Age=1000",
    "until=4; Expires=Wed, 09 Jun 2038 10:18:14 GMT; HttpOnly",
    "empty=",
];

#[test]
fn a_jar_that_curl_can_read() {
    let server = setting(&KEPT);
    let here = place();
    run(here.path(), "-c jar", &server.url("/set")).exits(0);
    let mode = fs::metadata(here.path().join("jar")).expect("a jar").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "cookies are secrets");
    let text = fs::read_to_string(here.path().join("jar")).expect("a jar");
    assert!(text.starts_with("# Netscape HTTP Cookie File\n"), "{text}");
    let lines = lines(here.path());
    assert!(lines.len() == KEPT.len() && lines.iter().all(|line| line.len() == 7), "{text}");
    let of = |name: &str| lines.iter().find(|line| line[5] == name).expect("its line").clone();
    assert_eq!(of("plain"), ["127.0.0.1", "FALSE", "/", "FALSE", "0", "plain", "1"]);
    assert_eq!(of("dir")[2], "/sub");
    assert_eq!(of("until"), ["#HttpOnly_127.0.0.1", "FALSE", "/", "FALSE", "2159691494", "until", "4"]);
    for path in ["/x", "/sub/x"] {
        run(here.path(), "-b jar", &server.url(path)).exits(0);
        let Some(theirs) = curl_in(here.path(), ["-b", "jar", &server.url(path)]) else { return };
        theirs.exits(0);
        let sent = sent(&server);
        assert_eq!(sent[sent.len() - 2], sent[sent.len() - 1], "{path}: ours, then curl's");
        assert_eq!(sent[sent.len() - 1].contains("dir=2"), path == "/sub/x");
        assert!(sent[sent.len() - 1].contains("until=4"), "{sent:?}");
    }
}

/// And the other way round.
#[test]
fn a_jar_that_curl_wrote() {
    let server = setting(&KEPT);
    let here = place();
    let Some(theirs) = curl_in(here.path(), ["-c", "jar", &server.url("/set")]) else { return };
    theirs.exits(0);
    curl_in(here.path(), ["-b", "jar", &server.url("/sub/x")]).expect("curl").exits(0);
    run(here.path(), "-b jar", &server.url("/sub/x")).exits(0);
    let sent = sent(&server);
    assert_eq!(sent[1], sent[2], "curl's, then ours");
}

#[test]
fn two_runs() {
    let server = serving(|request| {
        let number = request.header_text("cookie").and_then(|text| text.strip_prefix("n=")?.parse().ok());
        HttpReply::new(200).header("Set-Cookie", format!("n={}", number.unwrap_or(0) + 1))
    });
    let here = place();
    for _ in 0..3 {
        run(here.path(), "-b jar -c jar", &server.url("/")).exits(0);
    }
    assert_eq!(sent(&server), ["", "n=1", "n=2"]);
    assert_eq!(lines(here.path())[0][6], "3");
    // -c alone begins anew, as with curl.
    run(here.path(), "-c jar", &server.url("/")).exits(0);
    assert_eq!((sent(&server)[3].as_str(), lines(here.path())[0][6].as_str()), ("", "1"));
}

/// A jar keeps its mode and whatever else is wrong with the place: an error, not a lost jar.
#[test]
fn a_jar_that_cannot_be_written() {
    let server = setting(&["a=1"]);
    let here = place();
    let ran = run(here.path(), "-c no/such/dir/jar", &server.url("/set"));
    assert!(!ran.stderr.is_empty(), "it says so: {ran:?}");
    fs::write(here.path().join("jar"), "not a jar at all\n\u{1}\t\t\n").expect("a file");
    let ran = run(here.path(), "-b jar", &server.url("/x"));
    assert!([0, 2].contains(&ran.exit), "{ran:?}");
}

/// Requests for names that are all this machine.
fn at(directory: &Path, words: &str, host: &str, server: &HttpServer, path: &str) {
    let port = server.addr().port();
    let scheme = server.url("/").split(':').next().expect("a scheme").to_owned();
    let pin = format!("{host}:{port}:127.0.0.1");
    let url = format!("{scheme}://{host}:{port}{path}");
    fetch_in(directory, words.split_whitespace().chain(["--resolve", &pin, &url])).exits(0);
}

#[test]
fn for_whom_they_are() {
    // What was set by host `from`, and whether `to` gets it.
    for (from, cookie, to, comes) in [
        ("a.test", "c=1", "a.test", true),
        ("a.test", "c=1", "b.test", false),
        ("a.test", "c=1", "sub.a.test", false),
        ("sub.a.test", "c=1", "a.test", false),
        ("a.test", "c=1; Domain=b.test", "b.test", false),
        ("a.test", "c=1; Domain=b.test", "a.test", false),
        ("a.test", "c=1; Domain=sub.a.test", "sub.a.test", false),
        // Super cookies: for all of a public suffix.
        ("a.com", "c=1; Domain=com", "b.com", false),
        ("a.co.uk", "c=1; Domain=co.uk", "b.co.uk", false),
        ("a.co.uk", "c=1; Domain=.co.uk", "b.co.uk", false),
        ("a.com", "c=1; Domain=.", "b.com", false),
        ("a.com", "c=1; Domain=com.", "b.com", false),
        ("a.github.io", "c=1; Domain=github.io", "b.github.io", false),
        ("127.0.0.1", "c=1; Domain=0.0.1", "a.test", false),
        ("a.test", "c=1; Domain=127.0.0.1", "127.0.0.1", false),
        // A look-alike at the end of a name.
        ("a.test", "c=1; Domain=a.test", "xa.test", false),
        ("A.TEST", "c=1", "a.test", true),
        ("a.test", "__Host-c=1", "a.test", false),
        ("a.test", "__Secure-c=1", "a.test", false),
    ] {
        let server = serving(move |_| HttpReply::new(200).header("Set-Cookie", cookie));
        let here = place();
        at(here.path(), "-c jar", from, &server, "/set");
        at(here.path(), "-b jar", to, &server, "/x");
        assert_eq!(sent(&server)[1].contains("c=1"), comes, "{from} sets {cookie}: {to}");
    }
}

#[test]
fn where_and_when() {
    for (cookie, path, comes) in [
        ("c=1; Path=/a", "/a", true),
        ("c=1; Path=/a", "/a/x", true),
        ("c=1; Path=/a", "/ab", false),
        ("c=1; Path=/a", "/", false),
        ("c=1; Path=/A", "/a", false),
        ("c=1; Path=/a/", "/a/x", true),
        ("c=1; Path=a", "/x", false),
        // Without a path, the directory of what was asked for (RFC 6265 §5.1.4).
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
        // Set in the clear, a Secure cookie could be anybody's (RFC 6265bis §5.7).
        ("c=1; Path=/; Secure", "/x", false),
    ] {
        let server = serving(move |request| match request.path().as_str() {
            "/set/here" => HttpReply::new(200).header("Set-Cookie", cookie),
            _ => HttpReply::new(200),
        });
        let here = place();
        at(here.path(), "-c jar", "a.test", &server, "/set/here");
        at(here.path(), "-b jar", "a.test", &server, path);
        assert_eq!(sent(&server)[1].contains("c=1"), comes, "{cookie} at {path}");
    }
}

#[test]
fn deleted_and_expired() {
    let server = serving(|request| match request.path().as_str() {
        "/set" => HttpReply::new(200).header("Set-Cookie", "c=1; Max-Age=1000").header("Set-Cookie", "d=2"),
        "/away" => HttpReply::new(200).header("Set-Cookie", "c=; Max-Age=0"),
        _ => HttpReply::new(200),
    });
    let here = place();
    for path in ["/set", "/away", "/x"] {
        run(here.path(), "-b jar -c jar", &server.url(path)).exits(0);
    }
    assert_eq!(sent(&server), ["", "c=1; d=2", "d=2"]);
    let past = "127.0.0.1\tFALSE\t/\tFALSE\t786285296\told\t1\n127.0.0.1\tFALSE\t/\tFALSE\t0\tnow\t1\n";
    fs::write(here.path().join("file"), format!("# Netscape HTTP Cookie File\n{past}")).expect("a file");
    run(here.path(), "-b file", &server.url("/x")).exits(0);
    assert_eq!(sent(&server)[3], "now=1");
}

/// A Secure cookie goes over TLS only; the port makes no difference (RFC 6265 §8.5).
#[test]
fn secure() {
    let cert = ServerCert::good().expect("a certificate");
    let files = cert.written().expect("files");
    let handler = |_: &fetch_url_tests::HttpRequest| {
        HttpReply::new(200)
            .header("Set-Cookie", "s=1; Secure")
            .header("Set-Cookie", "__Host-h=1; Secure; Path=/")
            .header("Set-Cookie", "p=1")
    };
    let safe = HttpServer::start_tls(handler, &cert).expect("a server on loopback");
    let clear = serving(|_| HttpReply::new(200).header("Set-Cookie", "s=evil"));
    let here = place();
    let words = format!("--cacert {} -b jar -c jar", files.ca.display());
    run(here.path(), &words, &safe.url("/")).exits(0);
    assert!(lines(here.path()).iter().any(|line| line[5] == "s" && line[3] == "TRUE"));
    run(here.path(), &words, &clear.url("/")).exits(0);
    run(here.path(), &words, &safe.url("/")).exits(0);
    assert_eq!(sent(&clear), ["p=1"]);
    // RFC 6265bis §5.7: what came in the clear does not replace what came safely.
    assert_eq!(sent(&safe)[1], "__Host-h=1; p=1; s=1");
}

/// A value must not become lines, or fields, of the jar (curl CVE-2016-8615 and its kin).
#[test]
fn hostile_cookies() {
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
        let shown = cookie[..cookie.len().min(60)].escape_ascii().to_string();
        let server = serving(move |_| {
            HttpReply::new(200).header("Set-Cookie", &cookie).header("Set-Cookie", "good=1")
        });
        let here = place();
        let ran = run(here.path(), "-b jar -c jar", &server.url("/"));
        // A head may be refused as a whole; half understood it may not be.
        assert!([0, 8, 63].contains(&ran.exit), "{shown}: {ran:?}");
        if ran.exit == 0 {
            let lines = lines(here.path());
            assert!(lines.iter().all(|line| line.len() == 7 && line[5] != "evil"), "{shown}: {lines:?}");
            run(here.path(), "-b jar -c jar", &server.url("/")).exits(0);
            assert!(
                sent(&server)[1].contains("good=1") && !sent(&server)[1].contains("evil"),
                "{shown}: {:?}",
                sent(&server)
            );
        }
    }
}

/// So many that a jar or a request would burst: bounded, and no error.
#[test]
fn a_flood_of_cookies() {
    let server = serving(|_| {
        (0..300).fold(HttpReply::new(200), |reply, number| {
            reply.header("Set-Cookie", format!("c{number}={}", "x".repeat(150)))
        })
    });
    let here = place();
    run(here.path(), "-b jar -c jar", &server.url("/")).exits(0);
    run(here.path(), "-b jar -c jar", &server.url("/")).exits(0);
    let length = server.requests()[1].header("cookie").map_or(0, <[u8]>::len);
    assert!(length <= 16 * 1024, "a request of {length} octets of cookies");
}
