//! What a hop carries on and what it leaves behind: secrets, methods, schemes (SECURITY.md, rows 26 to 31 and
//! 44; SEMANTICS.md, section 3). Where an answer may point at all is in `redirects.rs`.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use fetch_url_tests::{CertFiles, HttpReply, HttpRequest, HttpServer, ServerCert, file_handler};
use support::{Ran, ensure, fetch, fetch_in, first_then, in_parallel, serving, tagged};

fn moved(status: u16, location: &str) -> HttpReply {
    HttpReply::new(status).header("Location", location)
}

fn host(request: &HttpRequest) -> String {
    request.header_text("host").unwrap_or_default().to_owned()
}

/// What comes behind `/to/` is where it leads, with `!` for `://`, so that `/to/to/` takes two steps;
/// everything else is the object.
fn answer(request: &HttpRequest) -> HttpReply {
    let path = request.path();
    match path.strip_prefix("/to/") {
        Some("") => moved(302, "/object"),
        Some(place) if place.starts_with("mailto:") || place.starts_with("news:") => moved(302, place),
        Some(place) if place.contains('!') => moved(302, &place.replacen('!', "://", 1)),
        Some(place) => moved(302, &format!("/{place}")),
        None => HttpReply::new(200).body("object"),
    }
}

/// Three servers on this machine.
struct Places {
    here: HttpServer,
    there: HttpServer,
    safe: HttpServer,
    files: CertFiles,
}

impl Places {
    fn new() -> Self {
        let cert = ServerCert::good().expect("a certificate");
        let files = cert.written().expect("its files");
        let safe = HttpServer::start_tls(answer, &cert).expect("a server");
        Self { here: serving(answer), there: serving(answer), safe, files }
    }

    /// `HERE`, `THERE` and `SAFE` are the authorities; `ALSO` is `HERE` by its name instead of its number.
    fn filled(&self, text: &str) -> String {
        let also = format!("localhost:{}", self.here.addr().port());
        text.replace("THERE", &self.there.addr().to_string())
            .replace("ALSO", &also)
            .replace("HERE", &self.here.addr().to_string())
            .replace("SAFE", &self.safe.addr().to_string())
    }

    fn ca(&self) -> &str {
        self.files.ca.to_str().expect("UTF-8")
    }

    /// All requests, in the order of the three servers.
    fn requests(&self) -> Vec<HttpRequest> {
        [self.here.requests(), self.there.requests(), self.safe.requests()].concat()
    }

    /// The requests for the path, whoever got them.
    fn got(&self, path: &str) -> HttpRequest {
        let mut all = self.requests();
        all.retain(|request| request.path() == path);
        assert_eq!(all.len(), 1, "{path}: {all:?}");
        all.remove(0)
    }
}

/// A way to give a secret: options (with `_` for a blank), a login of the URL, the field that carries it, and
/// a word in that field.
const SECRETS: [(&str, &str, &str, &str); 9] = [
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

/// From where, by what redirects, and whether the last request still has the secret.
const WAYS: [(&str, &str, bool); 12] = [
    ("http://HERE", "", true),
    // The same place, said relatively, absolutely, in other letters, and several times.
    ("http://HERE", "/to/", true),
    ("http://HERE", "/to/http!HERE/object", true),
    ("http://HERE", "/to/HTTP!HERE/object", true),
    ("http://HERE", "/to/to/to/", true),
    ("https://SAFE", "/to/https!SAFE/object", true),
    // Another port, another name of the same address, another scheme.
    ("http://HERE", "/to/http!THERE/object", false),
    ("http://HERE", "/to/http!ALSO/object", false),
    ("http://ALSO", "/to/http!HERE/object", false),
    ("http://HERE", "/to/https!SAFE/object", false),
    // And home again: what was left behind stays there.
    ("http://HERE", "/to/http!THERE/to/http!HERE/object", false),
    ("http://HERE", "/to/http!ALSO/to/http!HERE/to/", false),
];

#[test]
fn secrets_stay_at_home() {
    let rows: Vec<_> = SECRETS.iter().flat_map(|secret| WAYS.iter().map(move |way| (secret, way))).collect();
    in_parallel(&rows, 4, |((words, login, field, value), (from, way, stays))| {
        let places = Places::new();
        let way = if way.is_empty() { "/object" } else { way };
        let url = places.filled(&format!("{from}{way}")).replacen("://", &format!("://{login}"), 1);
        let words = words.split_whitespace().map(|word| word.replace('_', " "));
        let ran = fetch(words.chain([
            "--max-redirs".into(),
            "5".into(),
            "--cacert".into(),
            places.ca().into(),
            url.clone(),
        ]));
        ensure(ran.exit == 0 && ran.text() == "object", || format!("{url}: {}", ran.stderr))?;
        let last = places.got("/object");
        let sent = last.header_text(field) == Some(value);
        ensure(sent == *stays, || {
            format!("{words:?} {url}: sent at the end: {sent}", words = (field, value))
        })?;
        // Wherever else it went on the way: to strangers never.
        let strangers = places.there.requests().into_iter().chain(places.safe.requests());
        let strangers = strangers.filter(|_| from.starts_with("http:"));
        let leaked = strangers.filter(|request| request.header(field).is_some()).count();
        ensure(leaked == 0, || format!("{value} went to a stranger on the way {url}"))
    });
}

/// A server is its scheme, its name in whatever letters, and its port, said or not (row 29).
#[test]
fn the_same_server_in_other_words() {
    for (location, stays) in [
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
        let server = serving(move |request| match request.path().as_str() {
            "/from" => moved(302, location),
            _ => HttpReply::new(200).body("object"),
        });
        // Whatever is asked, it is this server that is connected to.
        let all_here = format!("::127.0.0.1:{}", server.addr().port());
        let words = ["-u", "u:pw", "-b", "s=1", "-H", "X-Api-Key: key", "--connect-to", &all_here];
        let ran = fetch(words.into_iter().chain(["http://a.test/from"]));
        let requests = server.requests();
        // A port with a zero in front may be no port.
        if location.contains("080") && ran.exit != 0 {
            continue;
        }
        ran.exits(0);
        let sent = |name: &str| requests[1].header_text(name).map(str::to_owned);
        let secrets = [sent("x-api-key"), sent("cookie")].map(|value| value.is_some());
        assert_eq!(secrets, [stays; 2], "{location}");
        assert_eq!(sent("authorization").as_deref() == Some("Basic dTpwdw=="), stays, "{location}");
    }
}

#[test]
fn what_a_caller_may_show_anybody() {
    let places = Places::new();
    let url = places.filled("http://HERE/to/http!THERE/object");
    fetch(["-A", "me/1", "-H", "Accept: text/html", &url]).exits(0);
    let last = places.got("/object");
    assert_eq!(last.header_text("user-agent"), Some("me/1"), "it is no secret");
    assert_eq!(last.header_text("host"), Some(places.there.addr().to_string().as_str()));
}

/// A `Host` of the caller is for the server of the URL: to another it would name the wrong site.
#[test]
fn a_host_of_the_caller() {
    let places = Places::new();
    fetch(["-H", "Host: mine.test", &places.filled("http://HERE/to/http!THERE/object")]).exits(0);
    assert_eq!(host(&places.here.requests()[0]), "mine.test");
    assert_eq!(host(&places.got("/object")), places.there.addr().to_string());
}

/// The login of the redirect itself is for where it points to, or for nobody; the first one's is not.
#[test]
fn a_login_in_a_location() {
    let places = Places::new();
    let there = places.filled("http://v:other@THERE/object");
    let here = serving(move |_| moved(302, &there));
    let ran = fetch(["-u", "u:pw", &here.url("/x")]);
    let sent =
        places.requests().first().and_then(|request| request.header_text("authorization").map(str::to_owned));
    assert!(ran.exit != 0 || sent.is_none() || sent.as_deref() == Some("Basic djpvdGhlcg=="), "{sent:?}");
}

fn netrc(text: &str) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("netrc");
    fs::write(&path, text).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("its mode");
    (directory, path)
}

const ONE: &str = "Basic b25lOnAx";
const TWO: &str = "Basic dHdvOnAy";

/// Row 31: each host by its own entry and by no other's.
#[test]
fn netrc_is_asked_at_each_hop() {
    let both = "machine 127.0.0.1 login one password p1\nmachine localhost login two password p2\n";
    let first = "machine 127.0.0.1 login one password p1\ndefault login d password pd\n";
    let second = "machine localhost login two password p2\n";
    let nameless = "machine 127.0.0.1 login one password p1\nmachine localhost\n";
    let no_password = "machine 127.0.0.1 login one password p1\nmachine localhost login one\n";
    for (text, words, login, sent) in [
        (both, "", "", [Some(ONE), Some(TWO)]),
        (first, "", "", [Some(ONE), None]),
        (second, "", "", [None, Some(TWO)]),
        (nameless, "", "", [Some(ONE), None]),
        // The caller's own are for the first host; the second has its entry.
        (second, "-u one:p1", "", [Some(ONE), Some(TWO)]),
        (second, "", "one:p1@", [Some(ONE), Some(TWO)]),
        (second, "-H Authorization:Mine", "", [Some("Mine"), Some(TWO)]),
    ] {
        let (_directory, path) = netrc(text);
        let places = Places::new();
        let url = places.filled(&format!("http://{login}HERE/to/http!ALSO/object"));
        let ran =
            fetch(words.split_whitespace().chain(["--netrc-file", path.to_str().expect("UTF-8"), &url]));
        ran.exits(0);
        let got: Vec<_> = places.here.requests();
        let got = [got[0].header_text("authorization"), got[1].header_text("authorization")];
        assert_eq!(got, sent, "{text} {words} {url}");
    }
    // A login without a password (CVE-2024-11053): never with the first one's password.
    let (_directory, path) = netrc(no_password);
    let places = Places::new();
    let url = places.filled("http://HERE/to/http!ALSO/object");
    fetch(["--netrc-file", path.to_str().expect("UTF-8"), &url]);
    let sent = places.here.requests()[1].header_text("authorization").map(str::to_owned);
    assert_ne!(sent.as_deref(), Some(ONE));
}

/// RFC 9110 §15.4: what becomes of method and body.
#[test]
fn methods_and_bodies() {
    for (words, status, method, body) in [
        ("-d a=b", 301, "GET", ""),
        ("-d a=b", 302, "GET", ""),
        ("-d a=b", 303, "GET", ""),
        ("-d a=b", 307, "POST", "a=b"),
        ("-d a=b", 308, "POST", "a=b"),
        // Only POST may become GET on 301 and 302.
        ("-X PUT -d a=b", 301, "PUT", "a=b"),
        ("-X PUT -d a=b", 302, "PUT", "a=b"),
        ("-X PUT -d a=b", 307, "PUT", "a=b"),
        ("-X DELETE", 302, "DELETE", ""),
        ("-X DELETE", 307, "DELETE", ""),
        ("-I", 303, "HEAD", ""),
        ("-I", 302, "HEAD", ""),
    ] {
        let server = serving(move |request| match request.path().as_str() {
            "/from" => moved(status, "/to"),
            _ => HttpReply::new(200).body("object"),
        });
        fetch(words.split_whitespace().chain([server.url("/from").as_str()])).exits(0);
        let last = &server.requests()[1];
        assert_eq!(
            (last.method.as_str(), last.body.as_slice()),
            (method, body.as_bytes()),
            "{words} {status}"
        );
        let described = last.header("content-type").is_some() || last.header("content-length").is_some();
        assert!(
            described != body.is_empty() || method != "GET",
            "{words} {status}: fields of a body that is gone"
        );
    }
    // On the way to another server, a body that 307 keeps goes along, as everywhere; a login does not.
    let places = Places::new();
    let there = places.there.url("/object");
    let here = serving(move |_| moved(307, &there));
    fetch(["-u", "u:pw", "-d", "a=b", &here.url("/x")]).exits(0);
    let last = places.got("/object");
    assert_eq!((last.method.as_str(), last.body.as_slice()), ("POST", &b"a=b"[..]));
    assert!(last.header("authorization").is_none());
}

/// A form that leads back to itself is no circle: the second request is another one (RFC 9110 §15.4.4).
#[test]
fn back_to_the_form() {
    for (words, status) in
        [("-d a=b", 303), ("-d a=b", 302), ("-d a=b", 301), ("-X PUT -d a=b", 303), ("-X DELETE", 303)]
    {
        let server = serving(move |request| match request.method.as_str() {
            "GET" => HttpReply::new(200).body("object"),
            _ => moved(status, "/x"),
        });
        let ran = fetch(words.split_whitespace().chain([server.url("/x").as_str()]));
        // curl repeats the method of -X for ever; RFC 9110 makes it a GET.
        let is_curls = words.starts_with("-X") && ran.exit == 47;
        assert!(ran.exit == 0 && ran.text() == "object" || is_curls, "{words} {status}: {ran:?}");
    }
}

/// What stands for itself, and a redirect from `from` to `to`.
fn goes(places: &Places, words: &str, from: &str, to: &str) -> Ran {
    let url = places.filled(&format!("{from}/to/{}", to.replacen("://", "!", 1)));
    fetch(words.split_whitespace().chain(["--read-timeout", "1", "--cacert", places.ca(), &url]))
}

#[test]
fn the_schemes_of_the_caller() {
    for (words, url, exits) in [
        ("--proto =https", "http://HERE/object", &[90, 1][..]),
        ("--proto -http", "http://HERE/object", &[90, 1]),
        ("--proto =http", "http://HERE/object", &[0]),
        ("--proto =https", "https://SAFE/object", &[0]),
        ("--proto =https,http", "http://HERE/object", &[0]),
        ("--proto -all,https", "http://HERE/object", &[90, 1]),
        ("--proto -all,https", "https://SAFE/object", &[0]),
        ("--proto +ftp", "http://HERE/object", &[0]),
        ("--proto -file", "file:///etc/hostname", &[90, 1]),
        ("--proto -file", "http://HERE/object", &[0]),
        ("--proto =file", "file:///etc/hostname", &[0]),
        ("--proto =nonsense", "http://HERE/object", &[2, 90, 1]),
        // Redirects have rules of their own, and do not touch the caller's own URL.
        ("--proto-redir =https", "http://HERE/object", &[0]),
        ("--proto-redir -all", "http://HERE/object", &[0]),
    ] {
        let places = Places::new();
        let ran = fetch(words.split_whitespace().chain(["--cacert", places.ca(), &places.filled(url)]));
        assert!(exits.contains(&ran.exit), "{words} {url}: {ran:?}");
        assert!(
            ran.exit == 0 || places.requests().is_empty() && ran.stdout.is_empty(),
            "{words} {url}: asked"
        );
    }
}

#[test]
fn the_schemes_of_redirects() {
    for (words, from, to, exit) in [
        ("", "http://HERE", "https://SAFE/object", 0),
        ("", "https://SAFE", "http://HERE/object", 90),
        ("", "http://HERE", "https://SAFE/to/http!HERE/object", 90),
        // Narrowed.
        ("--proto-redir =https", "http://HERE", "http://THERE/object", 90),
        ("--proto-redir =https", "http://HERE", "https://SAFE/object", 0),
        ("--proto-redir =https", "http://HERE", "object", 90),
        ("--proto-redir =http", "http://HERE", "https://SAFE/object", 90),
        ("--proto-redir -all", "http://HERE", "object", 90),
        // What --proto does not allow, a redirect may not either.
        ("--proto =http", "http://HERE", "https://SAFE/object", 90),
        ("--proto =http --proto-redir =http,https", "http://HERE", "https://SAFE/object", 90),
        // Down to http only by name.
        ("--proto-redir =http,https", "https://SAFE", "http://HERE/object", 0),
        ("--proto-redir =https", "https://SAFE", "http://HERE/object", 90),
        ("--proto-redir =https", "https://SAFE", "https://SAFE/object", 0),
        ("", "http://HERE", "ftp://THERE/x", 90),
    ] {
        let places = Places::new();
        let ran = goes(&places, words, from, to);
        assert_eq!(ran.exit, exit, "{words} {from} to {to}: {}", ran.stderr);
        let is_object = ran.text() == "object";
        assert!(
            is_object == (exit == 0) && (exit == 0 || ran.stdout.is_empty()),
            "{words} {from} to {to}: {ran:?}"
        );
        let asked = places.requests().iter().filter(|request| request.path() == "/object").count();
        assert_eq!(asked, usize::from(exit == 0), "{words} {from} to {to}");
    }
    let places = Places::new();
    let ran = goes(&places, "--proto-redir +ftp", "http://HERE", "ftp://THERE/x");
    assert_ne!(ran.exit, 90, "it was allowed: {}", ran.stderr);
    assert_ne!(ran.exit, 0);
}

/// Every scheme of RFC 1738, and files above all: no wish makes a server's word reach them (row 26).
#[test]
fn never_whatever_is_allowed() {
    let secret = tempfile::NamedTempFile::new().expect("a file");
    fs::write(secret.path(), "the file's own octets").expect("a file");
    let places = Places::new();
    let file = secret.path().display();
    for words in
        ["", "--proto-redir =all", "--proto-redir +all", "--proto-redir +file,telnet,mailto --proto =all"]
    {
        for to in [
            format!("file://{file}"),
            format!("file://localhost{file}"),
            format!("FILE://{file}"),
            format!("http://HERE/to/file!{file}"),
            "telnet://THERE/".to_owned(),
            "mailto:a@b.example".to_owned(),
            "mailto://a@b.example".to_owned(),
        ] {
            let ran = goes(&places, words, "http://HERE", &to);
            assert!([90, 1].contains(&ran.exit), "{words} to {to}: {ran:?}");
            assert!(ran.stdout.is_empty(), "{words} to {to}: {:?}", ran.text());
        }
        // The others: refused unless allowed, and never a success without their access method.
        for scheme in ["ftp", "gopher", "nntp", "wais", "prospero"] {
            let ran = goes(&places, words, "http://HERE", &format!("{scheme}://THERE/x"));
            assert!(ran.exit != 0 && ran.stdout.is_empty(), "{words} to {scheme}: {ran:?}");
            assert!(!words.is_empty() || ran.exit == 90, "{words} to {scheme}: {ran:?}");
        }
        let ran = goes(&places, words, "http://HERE", "news:a.group");
        assert!(ran.exit != 0 && ran.stdout.is_empty(), "{ran:?}");
    }
    assert!(places.there.requests().is_empty());
}

#[test]
fn without_end_only_when_asked() {
    let server = serving(|request| {
        let hop: u32 = request.path()[1..].parse().unwrap_or(0);
        if hop < 60 { moved(302, &format!("/{}", hop + 1)) } else { HttpReply::new(200).body("object") }
    });
    assert_eq!(fetch(["--max-redirs", "-1", &server.url("/0")]).exits(0).text(), "object");
    fetch(["--max-redirs", "0", &server.url("/59")]).exits(47);
    fetch(["--max-redirs", "1", &server.url("/59")]).exits(0);
    for wrong in ["-2", "x", "1.5"] {
        fetch(["--max-redirs", wrong, &server.url("/60")]).exits(2);
    }
    // A circle is one, however long one may go on.
    let circle = serving(|_| moved(302, "/again"));
    fetch(["--max-redirs", "-1", &circle.url("/x")]).exits(47);
    assert!(circle.requests().len() < 5, "{}", circle.requests().len());
}

/// A server that sees whether its cookie comes back: no circle for who keeps cookies.
#[test]
fn a_cookie_ends_the_circle() {
    for circle in ["/x", "/y"] {
        let server = serving(move |request| match (request.header("cookie"), request.path().as_str()) {
            (Some(_), "/x") => HttpReply::new(200).body("object"),
            (_, "/x") => moved(302, circle).header("Set-Cookie", "seen=1; Path=/"),
            _ => moved(302, "/x"),
        });
        let here = tempfile::tempdir().expect("a directory");
        let ran = fetch_in(here.path(), ["-c", "jar", &server.url("/x")]);
        assert_eq!((ran.exit, ran.text().as_str()), (0, "object"), "{circle}: {}", ran.stderr);
        let asked = server.requests().len();
        fetch([server.url("/x")]).exits(47);
        assert!(server.requests().len() - asked < 5, "{circle}");
    }
    // A cookie that changes nothing is a circle all the same.
    let server = serving(|_| moved(302, "/x").header("Set-Cookie", "seen=1"));
    let here = tempfile::tempdir().expect("a directory");
    fetch_in(here.path(), ["-c", "jar", &server.url("/x")]).exits(47);
    assert!(server.requests().len() < 13, "{}", server.requests().len());
}

/// A second try follows the same rules as the first, at a hop and from the beginning.
#[test]
fn the_second_try_leaves_them_behind_too() {
    let firsts: [fn() -> HttpReply; 3] = [
        || HttpReply::new(503),
        || HttpReply::raw("").then_reset(),
        || {
            HttpReply::new(200)
                .header("ETag", "\"v1\"")
                .header("Accept-Ranges", "bytes")
                .body("object")
                .cut_body_at(2)
        },
    ];
    for (number, first) in firsts.into_iter().enumerate() {
        let honest = file_handler(b"object".to_vec(), tagged());
        let stranger = first_then(move |_| first(), honest);
        let there = stranger.url("/x");
        let home = serving(move |_| moved(302, &there));
        let words = ["--retry-delay", "0.05", "-u", "u:pw", "-b", "s=1", "-H", "X-Api-Key: key"];
        let ran = fetch(words.into_iter().chain([home.url("/x").as_str()]));
        assert_eq!((ran.exit, ran.text().as_str()), (0, "object"), "fault {number}: {}", ran.stderr);
        assert_eq!(stranger.requests().len(), 2, "fault {number}");
        for request in stranger.requests() {
            let leaks = ["authorization", "cookie", "x-api-key"].map(|name| request.header(name).is_some());
            assert_eq!(leaks, [false; 3], "fault {number}");
        }
        let kept = home.requests().iter().all(|request| request.header("authorization").is_some());
        assert!(kept, "fault {number}: at home they are shown each time");
    }
}

/// The hop is told to programs, without passwords.
#[test]
fn told_to_programs() {
    let places = Places::new();
    let url = places.filled("http://u:KanarienVogel@HERE/to/http!THERE/object");
    let ran = fetch(["--events", "-", "-o", "/dev/null", "-w", "%{num_redirects} %{url_effective}", &url]);
    let text = ran.exits(0).text();
    let hop = text.lines().find(|line| line.contains("\"hop\"")).expect("an event");
    let hop: serde_json::Value = serde_json::from_str(hop).expect("JSON");
    assert_eq!(hop["to"], places.there.url("/object"), "{hop}");
    assert!(text.ends_with(&format!("1 {}", places.there.url("/object"))), "{text}");
    assert!(!text.contains("KanarienVogel"), "{text}");
}
