//! Metalink documents (RFC 5854) and the header fields of RFC 6249: several places, checksums and sizes, also from hostile
//! documents.

use std::fs;

use crate::support::{
    entry_names, http_server, http_server_first_then, read_text_file, run_fetch_url_in, temp_dir,
};
use fetch_url_tests::{HttpResponse, HttpServer};

/// The SHA-256 of `abc`.
const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const ABC_BASE64: &str = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";

fn document(files: &str) -> String {
    format!("<?xml version=\"1.0\"?><metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">{files}</metalink>")
}

fn file(name: &str, facts: &str, urls: &[String]) -> String {
    let url = |(number, url): (usize, &String)| format!("<url priority=\"{}\">{url}</url>", number + 1);
    let urls: String = urls.iter().enumerate().map(url).collect();
    format!("<file name=\"{name}\">{facts}{urls}</file>")
}

fn sha256(hex: &str) -> String {
    format!("<hash type=\"sha-256\">{hex}</hash>")
}

/// Serves `abc` below `/abc`, another content below `/other`, and nothing else.
fn start_mirror() -> HttpServer {
    http_server(|request| match request.path() {
        path if path.starts_with("/abc") => HttpResponse::new(200).body("abc"),
        path if path.starts_with("/other") => HttpResponse::new(200).body("abX"),
        _ => HttpResponse::new(404),
    })
}

/// A document cannot create the link, but the user may have one.
#[test]
fn link_below_the_output_directory_is_not_followed() {
    let mirror = start_mirror();
    for (name, link) in [("up/victim", "up"), ("up/new/f", "up"), ("sub/up/victim", "sub/up")] {
        for options in ["", "--create-dirs", "--create-dirs --keep-both"] {
            let dir = temp_dir();
            fs::create_dir_all(dir.path().join("out/sub")).expect("a directory");
            fs::write(dir.path().join("victim"), "mine").expect("a file");
            std::os::unix::fs::symlink(dir.path(), dir.path().join("out").join(link)).expect("a link");
            let text = document(&file(name, "", &[mirror.url("/abc")]));
            fs::write(dir.path().join("x.meta4"), text).expect("a file");
            let given = ["--output-dir", "out", "--metalink", "x.meta4"].into_iter();
            run_fetch_url_in(dir.path(), given.chain(options.split_whitespace())).assert_exit(23);
            assert_eq!(read_text_file(dir.path(), "victim"), "mine", "{name} {options}");
            assert_eq!(entry_names(dir.path()), ["out", "victim", "x.meta4"], "{name} {options}");
        }
    }
}

#[test]
fn directory_of_a_document_must_exist_without_create_dirs() {
    let (mirror, dir) = (start_mirror(), temp_dir());
    let two = file("sub/a", "", &[mirror.url("/abc")]) + &file("b", "", &[mirror.url("/abc")]);
    fs::write(dir.path().join("x.meta4"), document(&two)).expect("a file");
    let result = run_fetch_url_in(dir.path(), ["--metalink", "x.meta4"]);
    result.assert_exit(23).assert_stderr_contains("--create-dirs");
    assert_eq!(entry_names(dir.path()), ["b", "x.meta4"]);
    let again = ["--keep-both", "--create-dirs", "--metalink", "x.meta4"];
    run_fetch_url_in(dir.path(), again).assert_exit(0);
    run_fetch_url_in(dir.path(), again).assert_exit(0);
    assert_eq!(entry_names(dir.path()), ["b", "b.1", "b.2", "sub", "x.meta4"]);
    assert_eq!(entry_names(&dir.path().join("sub")), ["a", "a.1"]);
}

/// The reservation must find the path although its directory did not exist before.
#[test]
fn two_files_of_one_name_in_a_new_directory_are_a_conflict() {
    let mirror = start_mirror();
    let one = |url: &str| file("sub/a", "", &[mirror.url(url)]);
    for options in ["", "-Z", "--keep-both", "--keep-both -Z"] {
        let dir = temp_dir();
        let text = document(&(one("/abc") + &one("/other")));
        fs::write(dir.path().join("x.meta4"), text).expect("a file");
        let given = ["--create-dirs", "--metalink", "x.meta4"].into_iter().chain(options.split_whitespace());
        let result = run_fetch_url_in(dir.path(), given);
        let keeps_both = options.starts_with("--keep-both");
        result.assert_exit(if keeps_both { 0 } else { 2 });
        let expected: &[&str] = if keeps_both { &["a", "a.1"] } else { &["a"] };
        assert_eq!(entry_names(&dir.path().join("sub")), expected, "{options}: {}", result.stderr);
    }
}

#[test]
fn places_are_tried_in_order_until_checksum_and_size_are_right() {
    let mirror = start_mirror();
    let places = ["/missing", "/other", "/abc"].map(|path| mirror.url(path));
    let dir = temp_dir();
    let two = file("sub/a", &sha256(ABC), &places) + &file("b", "<size>3</size>", &[mirror.url("/abc/b")]);
    fs::write(dir.path().join("x.meta4"), document(&two)).expect("a file");
    let options = ["--output-dir", "out", "--create-dirs", "--metalink", "x.meta4"];
    let result = run_fetch_url_in(dir.path(), options);
    result.assert_exit(0).assert_stderr_contains("trying http://");
    assert_eq!(read_text_file(&dir.path().join("out/sub"), "a"), "abc");
    assert_eq!(read_text_file(&dir.path().join("out"), "b"), "abc");
    let wrong_size = file("c", "<size>4</size>", &[mirror.url("/abc/c")]);
    fs::write(dir.path().join("y.meta4"), document(&wrong_size)).expect("a file");
    let result = run_fetch_url_in(dir.path(), ["--metalink", "y.meta4"]);
    result.assert_exit(8).assert_stderr_contains("3 bytes, not 4");
    let wrong = file("d", &sha256(ABC), &[mirror.url("/other")]);
    fs::write(dir.path().join("z.meta4"), document(&wrong)).expect("a file");
    run_fetch_url_in(dir.path(), ["--metalink", "z.meta4"]).assert_exit(91);
    assert_eq!(entry_names(dir.path()), ["out", "x.meta4", "y.meta4", "z.meta4"]);
}

#[test]
fn document_of_a_server_gets_the_login_and_its_places_do_not() {
    let mirror = start_mirror();
    let text = document(&(file("a", "", &[mirror.url("/abc/1")]) + &file("b", "", &[mirror.url("/abc/2")])));
    let server = http_server(move |_| {
        HttpResponse::new(200).header("Content-Type", "application/metalink4+xml").body(text.as_str())
    });
    let dir = temp_dir();
    let url = server.url("/x.meta4");
    let options = ["-u", "me:geheim", "-b", "a=b", "-H", "X-Key: k", "-w", "%{urlnum} ", "--metalink", &url];
    run_fetch_url_in(dir.path(), options).assert_exit(0);
    assert!(server.requests()[0].header("authorization").is_some());
    for request in mirror.requests() {
        for name in ["authorization", "cookie", "x-key"] {
            assert!(request.header(name).is_none(), "{name}: {request:?}");
        }
    }
    assert_eq!(entry_names(dir.path()), ["a", "b"]);
    // A redirect of a place does not make it trusted.
    let to = mirror.url("/abc/3");
    let place = http_server(move |_| HttpResponse::new(302).header("Location", &to));
    fs::write(dir.path().join("x.meta4"), document(&file("c", "", &[place.url("/")]))).expect("a file");
    let options = ["--location-trusted", "-u", "me:geheim", "-H", "X-Key: k", "--metalink", "x.meta4"];
    run_fetch_url_in(dir.path(), options).assert_exit(0);
    for request in place.requests().iter().chain(mirror.requests().last()) {
        assert!(
            request.header("authorization").is_none() && request.header("x-key").is_none(),
            "{request:?}"
        );
    }
    let json = run_fetch_url_in(dir.path(), ["--dry-run", "--format", "json", "--metalink", &url]);
    assert!(json.assert_exit(0).stdout_text().contains("\"file\":\"a\""), "{json:?}");
}

#[test]
fn hostile_document_writes_nothing_outside_its_directory() {
    let mirror = start_mirror();
    let place = [mirror.url("/abc")];
    let secret = "file:///etc/hostname".to_owned();
    let named = |name: &str| document(&file(name, "", &place));
    let bomb =
        "<!DOCTYPE m [<!ENTITY a \"aaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]><metalink>&b;</metalink>".to_owned();
    let bytes = "x".repeat(4 << 20) + "x";
    for (case, text, exit) in [
        ("parent", named("../evil"), 8),
        ("inner parent", named("a/../../evil"), 8),
        ("absolute", named("/tmp/evil"), 8),
        ("backslash", named("..\\evil"), 8),
        ("invalid checksum", document(&file("a", &sha256("12"), &place)), 8),
        ("local file", document(&file("a", "", &[secret])), 90),
        ("no file", document(""), 8),
        ("entities", bomb, 8),
        ("not XML", "<html><p>".to_owned(), 8),
        ("too large", bytes, 63),
    ] {
        let dir = temp_dir();
        let inner = dir.path().join("inner");
        fs::create_dir(&inner).expect("a directory");
        let server = http_server(move |_| HttpResponse::new(200).body(text.as_str()));
        let result = run_fetch_url_in(&inner, ["--create-dirs", "--metalink", &server.url("/x.meta4")]);
        assert_eq!(result.exit, exit, "{case}: {}", result.stderr);
        assert_eq!(entry_names(dir.path()), ["inner"], "{case}");
        assert!(entry_names(&inner).is_empty(), "{case}: {:?}", entry_names(&inner));
    }
    let dir = temp_dir();
    for arguments in [["--metalink", "missing.meta4"], ["--metalink", "."]] {
        run_fetch_url_in(dir.path(), arguments).assert_exit(2);
    }
}

#[test]
fn local_document_with_a_forbidden_name_is_named_with_the_reason() {
    let dir = temp_dir();
    let text = document(&file("../evil", "", &["http://127.0.0.1:1/".to_owned()]));
    fs::write(dir.path().join("x.meta4"), text).expect("a file");
    let result = run_fetch_url_in(dir.path(), ["--metalink", "x.meta4"]);
    result.assert_exit(2).assert_stderr_contains(
        "--metalink x.meta4: the metalink has the name \"../evil\", which is not below the directory",
    );
    // No server is to blame.
    assert!(!result.stderr.contains("server"), "{}", result.stderr);
}

/// A host without a scheme is guessed for text that a person typed only (docs/spec/cli.md 2.8, 2.13).
#[test]
fn url_without_a_scheme_in_a_document_is_refused() {
    let server = http_server(|_| HttpResponse::new(200));
    let dir = temp_dir();
    for url in [
        server.addr().to_string(),
        format!("localhost:{}/f", server.addr().port()),
        "ftp.example.test/f".into(),
    ] {
        fs::write(dir.path().join("x.meta4"), document(&file("f", "", &[url]))).expect("a file");
        let result = run_fetch_url_in(dir.path(), ["--metalink", "x.meta4"]);
        result.assert_exit(90).assert_stderr_contains("has no scheme");
    }
    assert_eq!(server.connections(), 0);
}

#[test]
fn duplicates_and_digest_of_the_headers_are_used_with_the_option() {
    let mirror = start_mirror();
    let link = format!(
        "<{}>; rel=duplicate; pri=2, <{}>; rel=duplicate; pri=1",
        mirror.url("/abc"),
        mirror.url("/other")
    );
    let server = http_server(move |request| {
        let reply = HttpResponse::new(200).header("Link", &link);
        let reply = reply.header("Digest", format!("SHA-256={ABC_BASE64}"));
        match request.path().as_str() {
            "/cut" => reply.body("abc").cut_body_at(1).then_close(),
            _ => reply.body("abX"),
        }
    });
    for path in ["/cut", "/wrong"] {
        let dir = temp_dir();
        let run = |options: &[&str]| {
            run_fetch_url_in(
                dir.path(),
                [options, &["--retry", "0", "-u", "me:geheim", "-o", "f", &server.url(path)]].concat(),
            )
        };
        assert_eq!(run(&[]).exit, if path == "/cut" { 18 } else { 0 });
        let _ = fs::remove_file(dir.path().join("f"));
        run(&["--metalink-over-http"]).assert_exit(0);
        assert_eq!(read_text_file(dir.path(), "f"), "abc", "{path}");
    }
    assert!(mirror.requests().iter().all(|request| request.header("authorization").is_none()));
    let alone =
        http_server(|_| HttpResponse::new(200).header("Digest", format!("SHA-256={ABC_BASE64}")).body("abX"));
    let dir = temp_dir();
    run_fetch_url_in(dir.path(), ["--metalink-over-http", "-o", "f", &alone.url("/")]).assert_exit(91);
    assert!(!dir.path().join("f").exists());
}

/// A digest of an error response is that of its content.
#[test]
fn duplicates_of_an_error_response_are_tried_without_its_digest() {
    let mirror = start_mirror();
    let link = format!("<{}>; rel=duplicate", mirror.url("/abc"));
    for (status, exit) in [(404, 78), (403, 9), (500, 22), (503, 92)] {
        let link = link.clone();
        let server = http_server(move |_| {
            let reply = HttpResponse::new(status).header("Link", &link).body("error");
            reply.header("Digest", "SHA-256=ygD8z7QImJ7dxAEGLE0SGaas62ubVUEjV/F5CGLo8Xg=")
        });
        let dir = temp_dir();
        let run = |options: &[&str]| {
            run_fetch_url_in(dir.path(), [options, &["--retry", "0", "-o", "f", &server.url("/")]].concat())
        };
        run(&[]).assert_exit(exit);
        run(&["--metalink-over-http"]).assert_exit(0).assert_stderr_contains("; trying http://");
        assert_eq!(read_text_file(dir.path(), "f"), "abc", "{status}");
        let with_body = run(&["--metalink-over-http", "--fail-with-body"]);
        with_body.assert_exit(exit);
        assert_eq!(read_text_file(dir.path(), "f"), "error", "{status}");
    }
}

/// The head of the response does not tell it.
#[test]
fn object_of_another_size_than_stated_is_not_stored() {
    let cut = || HttpResponse::new(200).header("ETag", "\"1\"").body("abc").cut_body_at(1);
    for (case, first) in [
        ("without Content-Length", HttpResponse::new(200).until_close("other")),
        ("after a restart with another version", cut()),
    ] {
        let other = || HttpResponse::new(200).header("ETag", "\"2\"").body("other");
        let server = http_server_first_then(move |_| first.clone(), move |_| other());
        let dir = temp_dir();
        let stated = file("a", "<size>3</size>", &[server.url("/")]);
        fs::write(dir.path().join("x.meta4"), document(&stated)).expect("a file");
        let options = ["--retry", "1", "--retry-delay", "0.01", "--metalink", "x.meta4"];
        let result = run_fetch_url_in(dir.path(), options);
        assert_eq!(
            (result.exit, entry_names(dir.path())),
            (8, vec!["x.meta4".to_owned()]),
            "{case}: {result:?}"
        );
    }
}

#[test]
fn document_is_fetched_by_get_whatever_is_done_with_other_urls() {
    let mirror = start_mirror();
    let text = document(&file("a", "", &[mirror.url("/abc")]));
    let server = http_server(move |_| HttpResponse::new(200).body(text.as_str()));
    let url = server.url("/x.meta4");
    for options in [
        &["-X", "DELETE"][..],
        &["-d", "a=b"],
        &["--json", "{}"],
        &["-F", "a=b"],
        &["-G", "-d", "a=b"],
        &["-r", "0-1"],
        &["-z", "2020-01-01"],
    ] {
        let before = server.requests().len();
        run_fetch_url_in(temp_dir().path(), [options, &["--metalink", &url]].concat());
        let requests = server.requests().split_off(before);
        assert_eq!(requests.len(), 1, "{options:?}");
        assert_eq!((requests[0].method.as_str(), requests[0].target.as_slice()), ("GET", &b"/x.meta4"[..]));
        assert!(requests[0].body.is_empty(), "{options:?}");
        for name in ["content-type", "range", "if-modified-since"] {
            assert_eq!(requests[0].header_text(name), None, "{options:?}");
        }
        assert_eq!(requests[0].header_text("accept"), Some("*/*"), "{options:?}");
    }
    assert!(mirror.requests().iter().all(|request| request.method == "GET" && request.body.is_empty()));
}

/// Returns `pieces` with the digests of the pieces of `content`.
fn pieces(content: &[u8], length: usize) -> String {
    let hash = |piece: &[u8]| format!("<hash>{}</hash>", fetch_url_tests::sha256(piece));
    let hashes: String = content.chunks(length).map(hash).collect();
    format!("<pieces length=\"{length}\" type=\"sha-256\">{hashes}</pieces>")
}

/// Serves 3 MiB and some bytes below `/good`, and the same with a wrong last byte below `/bad`.
fn start_large_mirror() -> (HttpServer, Vec<u8>) {
    let good = fetch_url_tests::pattern_vec(0, 3 * 1024 * 1024 + 100);
    let content = good.clone();
    let server = http_server(move |request| {
        let mut content = content.clone();
        if request.path().starts_with("/bad") {
            *content.last_mut().expect("a byte") ^= 1;
        }
        fetch_url_tests::file_handler(content, crate::support::strong_etag_headers())(request)
    });
    (server, good)
}

#[test]
fn checksums_of_pieces_are_verified_if_there_is_none_of_the_whole_file() {
    let (mirror, good) = start_large_mirror();
    let both = ["/bad", "/good"].map(|path| mirror.url(path));
    for segments in ["1", "2"] {
        for facts in
            [pieces(&good, 100_000), format!("<size>{}</size>{}", good.len(), pieces(&good, 4_000_000))]
        {
            let dir = temp_dir();
            fs::write(dir.path().join("x.meta4"), document(&file("a", &facts, &both))).expect("a file");
            fs::write(dir.path().join("y.meta4"), document(&file("b", &facts, &both[..1]))).expect("a file");
            let result = run_fetch_url_in(dir.path(), ["--segments", segments, "--metalink", "x.meta4"]);
            result.assert_exit(0).assert_stderr_contains("checksum mismatch: piece ");
            assert!(fs::read(dir.path().join("a")).is_ok_and(|bytes| bytes == good));
            run_fetch_url_in(dir.path(), ["--segments", segments, "--metalink", "y.meta4"]).assert_exit(91);
            assert_eq!(entry_names(dir.path()), ["a", "x.meta4", "y.meta4"]);
        }
    }
}

#[test]
fn incomplete_or_unknown_checksums_are_noted_as_not_checked() {
    let mirror = start_mirror();
    let hash = fetch_url_tests::sha256(b"a");
    for facts in [
        "<hash type=\"sha-224\">00</hash>".to_owned(),
        "<pieces length=\"1\" type=\"crc32\"><hash>00</hash></pieces>".to_owned(),
        format!("<size>3</size><pieces length=\"1\" type=\"sha-256\"><hash>{hash}</hash></pieces>"),
        "<pieces length=\"1\" type=\"sha-256\"></pieces>".to_owned(),
        "<pieces length=\"9\" type=\"sha-256\"><hash>00</hash></pieces>".to_owned(),
        format!("<pieces length=\"0\" type=\"sha-256\"><hash>{hash}</hash></pieces>"),
        format!("<pieces type=\"sha-256\"><hash>{hash}</hash></pieces>"),
    ] {
        let dir = temp_dir();
        let text = document(&file("a", &facts, &["/missing", "/abc"].map(|path| mirror.url(path))));
        fs::write(dir.path().join("x.meta4"), text).expect("a file");
        let result = run_fetch_url_in(dir.path(), ["--metalink", "x.meta4"]);
        result.assert_exit(0);
        assert_eq!(result.stderr.matches("the file is not checked").count(), 1, "{facts}: {result:?}");
    }
    let dir = temp_dir();
    let text = document(&file("a", &pieces(b"ab", 1), &[mirror.url("/abc")]));
    fs::write(dir.path().join("x.meta4"), text).expect("a file");
    // A digest is missing, but the document states no size.
    run_fetch_url_in(dir.path(), ["--metalink", "x.meta4"])
        .assert_exit(91)
        .assert_stderr_contains("piece 3: expected none");
}
