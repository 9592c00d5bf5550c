//! Where an answer may send us, and where not (SECURITY.md, rows 26 to 29 and 44; SEMANTICS.md, section 3).

mod support;

use fetch_url_tests::{Before, HttpReply, HttpRequest, HttpServer, ServerCert, Target};
use support::{fetch, serving};

fn moved(location: impl AsRef<[u8]>) -> HttpReply {
    HttpReply::new(302).header("Location", location).body("moved: this is not the object\n")
}

/// `/from…` leads to `location`; everything else is the object: its own request target.
fn leading_to(location: impl Into<Vec<u8>>) -> HttpServer {
    let location = location.into();
    serving(
        move |request| {
            if request.path().starts_with("/a/from") { moved(&location) } else { found(request) }
        },
    )
}

fn found(request: &HttpRequest) -> HttpReply {
    HttpReply::new(200).body(request.target.as_slice())
}

#[test]
fn references_are_resolved_as_rfc_3986_says() {
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
        let server = leading_to(location);
        let ran = fetch(["--max-redirs", "2", &server.url("/a/from?old")]);
        let last = server.requests().last().map(HttpRequest::path).unwrap_or_default();
        match target {
            // Another scheme by accident.
            "" => assert!([1, 90, 8].contains(&ran.exit), "{location}: {ran:?}"),
            // An empty reference is the same document: a loop; or it names nowhere.
            "/a/from" => assert!([8, 47].contains(&ran.exit), "{location}: {ran:?}"),
            _ if target.starts_with("/a/from") => assert_eq!(last, target),
            _ => assert_eq!(
                (ran.exit, last.as_str(), ran.text().as_str()),
                (0, target, target),
                "{location}: {}",
                ran.stderr
            ),
        }
    }
}

#[test]
fn to_another_server() {
    let other = serving(found);
    for location in [
        other.url("/x"),
        other.url("/x").replacen("http:", "", 1),
        other.url("/x").to_uppercase().replace("/X", "/x"),
    ] {
        let server = leading_to(location.as_str());
        let ran = fetch([server.url("/a/from")]);
        assert_eq!((ran.exit, ran.text().as_str()), (0, "/x"), "{location}: {}", ran.stderr);
    }
    let hosts = other.requests();
    assert!(hosts.iter().all(|request| request.header_text("host") == Some(&other.addr().to_string())));
}

#[test]
fn every_status_that_redirects() {
    for status in [301, 302, 303, 307, 308] {
        let server = serving(move |request| match request.path().as_str() {
            "/a" => HttpReply::new(status).header("Location", "/b").body("not this"),
            _ => found(request),
        });
        let ran = fetch([server.url("/a")]);
        assert_eq!((ran.exit, ran.text().as_str()), (0, "/b"), "{status}: {}", ran.stderr);
    }
    // 304 was not asked for, 300 leaves the choice, 305 and 306 are no longer used.
    for status in [300, 304, 305, 306] {
        let server = serving(move |request| match request.path().as_str() {
            "/a" => HttpReply::new(status).header("Location", "/b"),
            _ => HttpReply::new(200).body("followed"),
        });
        let ran = fetch([server.url("/a")]);
        assert!(status == 300 || server.requests().len() == 1, "{status} was followed: {ran:?}");
    }
}

/// What people write into Location though no URL may hold it.
#[test]
fn locations_that_are_not_quite_urls() {
    for (location, target) in [
        (&b"/a b"[..], "/a%20b"),
        ("/caf\u{e9}".as_bytes(), "/caf%C3%A9"),
        (b"/caf\xe9", "/caf%E9"),
        (b"/a\"b<c>d", "/a%22b%3Cc%3Ed"),
        (b"/a|b", "/a%7Cb"),
    ] {
        let server = leading_to(location);
        let ran = fetch([server.url("/a/from")]);
        let last = server.requests().last().map(HttpRequest::path).unwrap_or_default();
        let is_followed = ran.exit == 0 && last == target;
        // Refusing is safe; guessing something else is not.
        let is_refused = [3, 8].contains(&ran.exit) && server.requests().len() == 1 && ran.stdout.is_empty();
        assert!(is_followed || is_refused, "{location:?}: {last} {ran:?}");
    }
}

#[test]
fn locations_that_are_missing_or_nonsense() {
    let none = serving(|_| HttpReply::new(302).body("moved, but where?"));
    let ran = fetch([none.url("/a")]);
    assert!(ran.exit == 8 && ran.stdout.is_empty(), "{ran:?}");
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
        let server = leading_to(location);
        let ran = fetch([server.url("/a/from")]);
        assert!([3, 8].contains(&ran.exit) && ran.stdout.is_empty(), "{location}: {ran:?}");
        assert_eq!(server.requests().len(), 1, "{location}");
    }
    let two = serving(|request| match request.path().as_str() {
        "/a" => moved("/b").header("Location", "/c"),
        _ => found(request),
    });
    let ran = fetch([two.url("/a")]);
    assert!(ran.exit == 8 || ran.text() == "/b", "two different Locations: {ran:?}");
}

/// `/0` → `/1` → … → `/N`, and `/N` is the object.
fn chain(length: u32) -> HttpServer {
    serving(move |request| {
        let hop: u32 = request.path()[1..].parse().unwrap_or(0);
        if hop < length { moved(format!("/{}", hop + 1)) } else { found(request) }
    })
}

#[test]
fn how_many() {
    for (length, flags, exit) in [
        (10, &[][..], 0),
        (11, &[], 47),
        (3, &["--max-redirs", "3"], 0),
        (4, &["--max-redirs", "3"], 47),
        (0, &["--max-redirs", "0"], 0),
        (1, &["--max-redirs", "0"], 47),
        (20, &["--max-redirs", "50"], 0),
    ] {
        let server = chain(length);
        let target = Target::new(Before::Old).unwrap();
        let path = target.path();
        let ran = fetch([flags, &["-o", path.to_str().unwrap(), &server.url("/0")]].concat());
        ran.exits(exit);
        assert_eq!(target.is_untouched().unwrap(), exit != 0);
        assert!(target.leftovers().unwrap().is_empty());
        assert!(server.requests().len() <= length as usize + 1);
    }
}

#[test]
fn circles() {
    let server = serving(|request| match request.path().as_str() {
        "/self" => moved("/self"),
        "/a" => moved("/b"),
        "/b" => moved("/c"),
        "/fragment" => moved("/fragment#again"),
        _ => moved("/a"),
    });
    for path in ["/self", "/a", "/fragment"] {
        let ran = fetch(["--max-redirs", "1000", &server.url(path)]);
        ran.exits(47);
    }
    assert!(server.requests().len() < 12, "{} requests for three circles", server.requests().len());
}

#[test]
fn not_followed_when_not_wanted() {
    let server = leading_to("/b");
    let ran = fetch(["--no-location", &server.url("/a/from")]);
    assert_eq!((ran.exit, ran.text().as_str()), (0, "moved: this is not the object\n"), "{}", ran.stderr);
    let ran = fetch(["--no-location", "-I", &server.url("/a/from")]);
    assert!(ran.exit == 0 && ran.text().to_lowercase().contains("location: /b"), "{ran:?}");
    // A place that must not be followed can still be looked at.
    let evil = leading_to("file:///etc/passwd");
    let ran = fetch(["--no-location", "-i", &evil.url("/a/from")]);
    assert!(ran.exit == 0 && ran.text().to_lowercase().contains("location: file:///etc/passwd"), "{ran:?}");
    fetch(["-L", "--no-location", &server.url("/a/from")]).exits(2);
    fetch(["-L", &server.url("/a/from")]).exits(0);
}

#[test]
fn from_https_to_http_is_refused() {
    let cert = ServerCert::good().unwrap();
    let files = cert.written().unwrap();
    let plain = serving(found);
    let location = plain.url("/x");
    let secure = HttpServer::start_tls(move |_| moved(&location), &cert).unwrap();
    let ran = fetch(["--cacert", files.ca.to_str().unwrap(), &secure.url("/a")]);
    ran.exits(90).says("fetch-url: ").says("http");
    assert!(ran.stdout.is_empty());
    assert_eq!(plain.connections(), 0);
    // The other way is fine.
    let safe = HttpServer::start_tls(found, &cert).unwrap();
    let up = leading_to(safe.url("/x"));
    let ran = fetch(["--cacert", files.ca.to_str().unwrap(), &up.url("/a/from")]);
    assert_eq!((ran.exit, ran.text().as_str()), (0, "/x"), "{}", ran.stderr);
}

#[test]
fn other_schemes_are_refused_with_the_reason_and_nothing_is_fetched() {
    let elsewhere = serving(found);
    let at = elsewhere.addr();
    let secret = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(secret.path(), "the file's own octets").unwrap();
    for location in [
        format!("file://{}", secret.path().display()),
        format!("file://localhost{}", secret.path().display()),
        format!("FILE:{}", secret.path().display()),
        format!("ftp://{at}/x"),
        format!("ftps://{at}/x"),
        format!("gopher://{at}/1x"),
        format!("nntp://{at}/g/1"),
        format!("wais://{at}/db"),
        format!("prospero://{at}/x"),
        format!("telnet://{at}/"),
        "news:a.group".to_owned(),
        "mailto:a@b.example".to_owned(),
        "data:text/plain,hello".to_owned(),
        "javascript:alert(1)".to_owned(),
        "x-mine://h/".to_owned(),
        format!("nfs://{at}/x"),
        format!("local-file://{}", secret.path().display()),
    ] {
        let server = leading_to(location.as_str());
        let target = Target::new(Before::Old).unwrap();
        let ran = fetch(["-o", target.path().to_str().unwrap(), &server.url("/a/from")]);
        // An unknown scheme may also be called one.
        let has_no_name = ["data:", "javascript:", "x-mine:", "nfs:", "local-file:"];
        let is_stranger = has_no_name.iter().any(|scheme| location.starts_with(scheme));
        let exits = if is_stranger { &[90, 1][..] } else { &[90] };
        assert!(exits.contains(&ran.exit), "{location}: {ran:?}");
        assert!(ran.stderr.starts_with("fetch-url: ") && ran.stderr.len() > 40, "{location}: {}", ran.stderr);
        assert!(target.is_untouched().unwrap() && target.leftovers().unwrap().is_empty(), "{location}");
        assert_eq!(server.requests().len(), 1);
    }
    assert_eq!(elsewhere.connections(), 0);
}

/// RFC 1738, section 6: a redirect is a fine way to make a client talk to a mail server.
#[test]
fn ports_of_other_protocols_are_refused() {
    for port in [1, 19, 22, 25, 110, 143, 6000, 6667] {
        let server = leading_to(format!("http://127.0.0.1:{port}/x"));
        fetch([server.url("/a/from")]).exits(90);
        fetch([format!("http://127.0.0.1:{port}/x")]).exits(90);
    }
}

#[test]
fn hostile_locations_do_not_reach_the_terminal() {
    for location in ["http://h/\u{1b}[2J", "file:///\u{1b}]0;x\u{7}", "x\u{9b}y:z", "ftp://h/\u{202e}gpj"] {
        let server = leading_to(location);
        for flags in [&[][..], &["-vvv"], &["--format", "json"]] {
            let ran = fetch([flags, &[&server.url("/a/from")]].concat());
            let is_hostile = |character: char| {
                character.is_control() && character != '\n' || ('\u{202a}'..='\u{202e}').contains(&character)
            };
            assert!(!ran.stderr.contains(is_hostile), "{flags:?}: {:?}", ran.stderr);
        }
    }
}

#[test]
fn the_method_and_the_range_survive_a_hop() {
    let server = leading_to("/b");
    fetch(["-I", &server.url("/a/from")]).exits(0);
    let methods: Vec<String> = server.requests().into_iter().map(|request| request.method).collect();
    assert_eq!(methods, ["HEAD", "HEAD"]);
    let server = leading_to("/b");
    fetch(["-r", "0-1", &server.url("/a/from")]);
    assert_eq!(server.requests()[1].header_text("range"), Some("bytes=0-1"));
}

/// The name of `-O` is that of the URL that was asked for; a redirect does not choose it.
#[test]
fn a_redirect_does_not_choose_the_name() {
    let directory = tempfile::tempdir().unwrap();
    let server = leading_to("/evil.sh");
    support::fetch_in(directory.path(), ["-O", &server.url("/a/from.txt")]).exits(0);
    assert_eq!(support::names(directory.path()), ["from.txt"]);
}
