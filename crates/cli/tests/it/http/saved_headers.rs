//! `-D`, `--etag-save` and `--etag-compare`, and `-T`.

use std::fs;
use std::path::Path;

use crate::support::curl::run_curl;
use crate::support::{
    entry_names, http_server, http_server_first_then, read_text_file, run_fetch_url_in, temp_dir,
};
use fetch_url_tests::{FileHeaders, HttpRequest, HttpResponse, HttpServer, RangeSupport, file_handler};

/// A server with one version of an object, which answers 304 to its ETag.
fn versioned_server(tag: &'static str) -> HttpServer {
    http_server(move |request: &HttpRequest| {
        let is_same = request.header_text("if-none-match") == Some(tag);
        let status = if is_same { 304 } else { 200 };
        let reply = HttpResponse::new(status).header("ETag", tag);
        if is_same { reply } else { reply.body("content") }
    })
}

#[test]
fn dump_header_writes_the_headers_of_all_urls() {
    let server = http_server(|request| HttpResponse::new(200).header("X-Path", request.path()).body("body"));
    let dir = temp_dir();
    fs::write(dir.path().join("heads"), "old text").expect("a file");
    let arguments = ["-D", "heads", "-o", "a", "-o", "b", &server.url("/a"), &server.url("/b")];
    run_fetch_url_in(dir.path(), arguments).assert_exit(0);
    let text = read_text_file(dir.path(), "heads").to_lowercase();
    assert!(text.starts_with("http/1.1 200") && !text.contains("old text"), "{text}");
    assert!(text.contains("x-path: /a") && text.contains("x-path: /b") && !text.contains("body"), "{text}");
    assert_eq!(read_text_file(dir.path(), "a"), "body");
    let result = run_fetch_url_in(dir.path(), ["-D", "-", "-o", "a", &server.url("/a")]);
    assert!(result.assert_exit(0).stdout_text().contains("200"), "{result:?}");
    run_fetch_url_in(dir.path(), ["-D", "no/such/heads", "-o", "c", &server.url("/a")]).assert_exit(23);
    assert!(!dir.path().join("c").exists());
}

#[test]
fn unchanged_etag_fetches_nothing_and_keeps_the_file() {
    let (first, second) = (versioned_server("\"v1\""), versioned_server("\"v2\""));
    let dir = temp_dir();
    let run = |url: String| {
        let options = ["--etag-compare", "tag", "--etag-save", "tag", "-o", "file", "-w", "%{http_code}"];
        run_fetch_url_in(dir.path(), [&options[..], &[&url]].concat())
    };
    assert_eq!(run(first.url("/x")).assert_exit(0).stdout_text(), "200");
    assert_eq!(read_text_file(dir.path(), "tag"), "\"v1\"\n");
    fs::write(dir.path().join("file"), "mine").expect("a file");
    run(first.url("/x")).assert_exit(0);
    assert_eq!(first.requests()[1].header_text("if-none-match"), Some("\"v1\""));
    assert_eq!(
        (read_text_file(dir.path(), "file").as_str(), read_text_file(dir.path(), "tag").as_str()),
        ("mine", "\"v1\"\n")
    );
    run(second.url("/x")).assert_exit(0);
    assert_eq!(
        (read_text_file(dir.path(), "file").as_str(), read_text_file(dir.path(), "tag").as_str()),
        ("content", "\"v2\"\n")
    );
}

#[test]
fn etag_with_bytes_above_0x7f_is_saved_and_compared_unchanged() {
    let dir = temp_dir();
    for tag in [&b"\"v\xe9\x80\xff\""[..], b"W/\"\xc3\xa9\xc2\x85\""] {
        let server = http_server(move |request: &HttpRequest| {
            let is_same = request.header("if-none-match") == Some(tag);
            let reply = HttpResponse::new(if is_same { 304 } else { 200 }).header("ETag", tag);
            if is_same { reply } else { reply.body("content") }
        });
        let options = ["--etag-compare", "tag", "--etag-save", "tag", "-o", "file", "-w", "%{http_code}"];
        for status in ["200", "304"] {
            let result = run_fetch_url_in(dir.path(), [&options[..], &[&server.url("/x")]].concat());
            assert_eq!(result.assert_exit(0).stdout_text(), status, "{tag:?}");
            assert_eq!(fs::read(dir.path().join("tag")).expect("a file"), [tag, b"\n"].concat());
        }
    }
}

/// The first version breaks off, and the retry gets the second one: what is recorded is of the second one.
#[test]
fn etag_headers_and_report_of_a_restarted_download_are_those_of_the_saved_version() {
    let version = |tag: &str, content: &str| {
        let old = "Thu, 01 Dec 1994 12:34:56 GMT";
        HttpResponse::new(200).header("ETag", tag).header("Last-Modified", old).body(content)
    };
    let server = http_server_first_then(
        move |_| version("\"one\"", "version 1").cut_body_at(3),
        move |_| version("\"two\"", "version 2"),
    );
    let dir = temp_dir();
    let options =
        ["--retry-delay", "0.05", "--retry", "1", "--etag-save", "tag", "-D", "heads", "-o", "file"];
    let url = server.url("/");
    let arguments = [&options[..], &["-w", "%header{etag}", &url]].concat();
    let result = run_fetch_url_in(dir.path(), arguments).assert_exit(0).stdout_text();
    assert_eq!(read_text_file(dir.path(), "file"), "version 2");
    assert_eq!((read_text_file(dir.path(), "tag").as_str(), result.as_str()), ("\"two\"\n", "\"two\""));
    assert!(read_text_file(dir.path(), "heads").contains("\"two\""));
}

#[test]
fn etag_of_a_failed_transfer_is_not_saved() {
    let server =
        http_server(|_| HttpResponse::new(200).header("ETag", "\"new\"").body("content").cut_body_at(3));
    let dir = temp_dir();
    fs::write(dir.path().join("tag"), "\"old\"\n").expect("a file");
    run_fetch_url_in(dir.path(), ["--etag-save", "tag", "-o", "file", &server.url("/")]).assert_exit(18);
    assert_eq!(read_text_file(dir.path(), "tag"), "\"old\"\n");
    run_fetch_url_in(dir.path(), ["--etag-save", "tag", &server.url("/a"), &server.url("/b")]).assert_exit(2);
    fs::write(dir.path().join("tag"), "a\nX-Header: b").expect("a file");
    run_fetch_url_in(dir.path(), ["--etag-compare", "tag", &server.url("/")]).assert_exit(2);
}

#[test]
fn not_modified_without_a_condition_is_still_an_error() {
    let server = http_server(|_| HttpResponse::new(304));
    run_fetch_url_in(temp_dir().path(), [server.url("/")]).assert_exit(8);
}

#[test]
fn upload_sends_the_file_by_put_and_appends_its_name() {
    let server = http_server(|request| HttpResponse::new(201).body(request.path()));
    let dir = temp_dir();
    fs::write(dir.path().join("a b"), vec![b'x'; 300_000]).expect("a file");
    let result = run_fetch_url_in(dir.path(), ["-T", "a b", &server.url("/dir/")]);
    assert_eq!(result.assert_exit(0).stdout_text(), "/dir/a%20b");
    run_fetch_url_in(dir.path(), ["-T", "a b", "-X", "POST", &server.url("/name")]).assert_exit(0);
    let requests = server.requests();
    let shown: Vec<_> =
        requests.iter().map(|request| (request.method.as_str(), request.body.len())).collect();
    assert_eq!(shown, [("PUT", 300_000), ("POST", 300_000)]);
    assert_eq!(requests[0].header_text("content-type"), None);
    for arguments in [["-T", "missing", "http://127.0.0.1:9/"], ["-T", "a b", "ftp://127.0.0.1:9/"]] {
        run_fetch_url_in(dir.path(), arguments).assert_exit(2);
    }
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn uploads_belong_to_the_urls_in_their_order_and_other_urls_are_fetched() {
    let server = http_server(|request| HttpResponse::new(200).body(request.path()));
    let dir = temp_dir();
    fs::write(dir.path().join("a"), "AAA").expect("a file");
    fs::write(dir.path().join("b"), "BBBBBB").expect("a file");
    let (first, second, third) = (server.url("/1"), server.url("/2"), server.url("/3"));
    let arguments = ["-T", "a", &first, "-T", "b", &second, &third];
    let shown = |request: &HttpRequest| {
        format!("{} {} {}", request.method, request.path(), String::from_utf8_lossy(&request.body))
    };
    run_fetch_url_in(dir.path(), arguments).assert_exit(0);
    let own: Vec<String> = server.requests().iter().map(shown).collect();
    assert_eq!(own, ["PUT /1 AAA", "PUT /2 BBBBBB", "GET /3 "]);
    if let Some(result) = run_curl(dir.path(), arguments) {
        result.assert_exit(0);
        assert_eq!(server.requests()[3..].iter().map(shown).collect::<Vec<_>>(), own);
    }
    run_fetch_url_in(dir.path(), ["-T", "a", "-T", "b", &first]).assert_exit(2);
    run_fetch_url_in(dir.path(), ["-T", "a", "-I", &first]).assert_exit(2);
}

#[test]
fn etag_option_with_several_urls_exits_2() {
    let server = versioned_server("\"v1\"");
    let dir = temp_dir();
    fs::write(dir.path().join("tag"), "\"v1\"\n").expect("a file");
    for option in ["--etag-compare", "--etag-save"] {
        let arguments = [option, "tag", "-o", "x", &server.url("/1"), "-o", "y", &server.url("/2")];
        run_fetch_url_in(dir.path(), arguments).assert_exit(2).assert_stderr_contains("exactly one URL");
    }
    assert!(server.requests().is_empty());
}

#[test]
fn headers_of_an_http_error_are_reported() {
    let server = http_server(|_| HttpResponse::new(503).header("X-Why", "night").body("closed"));
    let dir = temp_dir();
    let url = server.url("/");
    let options =
        ["-v", "-D", "heads", "-o", "file", "-w", "%header{x-why} %{http_code} %{num_headers}", &url];
    let result = run_fetch_url_in(dir.path(), options);
    assert!(result.assert_exit(92).stdout_text().starts_with("night 503 "), "{result:?}");
    assert!(!result.stdout_text().ends_with(" 0"), "{result:?}");
    result.assert_stderr_contains("< X-Why: night");
    assert!(read_text_file(dir.path(), "heads").contains("X-Why: night"));
    assert!(!dir.path().join("file").exists());
    // The page of an error is neither a listing nor a metalink.
    for options in [&["-v", "--list", &url][..], &["-v", "--metalink", &url]] {
        run_fetch_url_in(dir.path(), options).assert_exit(92);
    }
    // The body is read in segments and resumed only without an error.
    for options in [&["-r", "0-1"][..], &["-C", "-"], &["--segments", "2"]] {
        let options = [&["-D", "heads", "-o", "file", &url][..], options].concat();
        run_fetch_url_in(dir.path(), options).assert_exit(92);
        assert!(!dir.path().join("file").exists());
    }
}

#[test]
fn headers_of_an_http_error_and_of_its_redirects_are_printed_before_it_fails() {
    let server = http_server(|request| match request.path().as_str() {
        "/from" => HttpResponse::new(302).header("Location", "/gone").header("X-At", "from"),
        _ => HttpResponse::new(404).header("X-At", "gone").body("page"),
    });
    let (dir, url) = (temp_dir(), server.url("/from"));
    for option in ["-I", "-i"] {
        for output in [&[][..], &["-o", "/dev/stdout"], &["-Z"]] {
            let result = run_fetch_url_in(dir.path(), [&[option, url.as_str()][..], output].concat());
            let text = result.assert_exit(78).stdout_text();
            let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} is missing: {text}"));
            assert!(at("HTTP/1.1 302") == 0 && at("X-At: from") < at("\n\nHTTP/1.1 404"), "{text}");
            assert!(at("404") < at("X-At: gone") && text.ends_with("\n\n"), "{text}");
            assert!(!text.contains("page"), "{text}");
        }
        // A file is not replaced by the header of an error.
        for output in [&["-o", "file"][..], &["-O", "-J"], &["-o", "/dev/null"]] {
            let result = run_fetch_url_in(dir.path(), [&[option, url.as_str()][..], output].concat());
            assert!(result.assert_exit(78).stdout.is_empty(), "{output:?}: {result:?}");
            assert!(entry_names(dir.path()).is_empty(), "{output:?}");
        }
        let result = run_fetch_url_in(dir.path(), [option, "-w", "%{size_download}", &url]);
        assert!(result.assert_exit(78).stdout_text().ends_with("\n\n0"), "{result:?}");
        let result = run_fetch_url_in(dir.path(), [option, "--fail-with-body", &url]);
        assert_eq!(result.assert_exit(78).stdout_text().matches("HTTP/1.1 404").count(), 1, "{result:?}");
    }
    let json = run_fetch_url_in(dir.path(), ["-I", "--format", "json", &url]);
    assert_eq!(json.assert_exit(78).stdout_text().lines().count(), 1, "{json:?}");
}

#[test]
fn error_with_a_body_that_cannot_be_decoded_is_the_same_with_and_without_reported_headers() {
    let server = http_server(|_| HttpResponse::new(404).header("Content-Encoding", "unknown").body("x"));
    for options in [&["--compressed"][..], &["--compressed", "-v"], &["--compressed", "-w", "%{http_code}"]] {
        run_fetch_url_in(temp_dir().path(), [options, &[&server.url("/")]].concat()).assert_exit(78);
    }
}

/// The range and the offset are those of a download; the upload would replace the object of the server and then fail.
#[test]
fn upload_with_a_range_or_an_offset_exits_2_without_a_request() {
    let server = http_server(|_| HttpResponse::new(201));
    let dir = temp_dir();
    fs::write(dir.path().join("a"), "AAA").expect("a file");
    for options in [&["-C", "1"][..], &["-C", "-"], &["--continue"], &["-r", "0-1"]] {
        let url = server.url("/x");
        run_fetch_url_in(dir.path(), [&["-T", "a", "-o", "out", &url], options].concat()).assert_exit(2);
    }
    assert_eq!((server.connections(), entry_names(dir.path())), (0, vec!["a".to_owned()]));
}

#[test]
fn upload_to_a_path_that_is_missing_or_ends_with_a_slash_appends_the_name() {
    let server = http_server(|request| HttpResponse::new(201).body(request.target.as_slice()));
    let dir = temp_dir();
    fs::write(dir.path().join("f"), "x").expect("a file");
    let root = server.url("");
    let root = root.trim_end_matches('/');
    for (url, target) in [
        ("", "/f"),
        ("/", "/f"),
        ("?x", "/f?x"),
        ("?x/", "/f?x/"),
        ("/dir/?x", "/dir/f?x"),
        ("/dir/?x/", "/dir/f?x/"),
        ("/dir/#top", "/dir/f"),
        ("/dir#top/", "/dir"),
        ("/dir?x/", "/dir?x/"),
        ("/{a/,b}", "/a/f/b"),
    ] {
        for start in [root, root.trim_start_matches("http://")] {
            let result = run_fetch_url_in(dir.path(), ["-T", "f", &format!("{start}{url}")]);
            assert_eq!(result.assert_exit(0).stdout_text(), target, "{start}{url}");
        }
    }
}

#[test]
fn uploaded_file_with_the_name_of_standard_input_keeps_its_name() {
    let server = http_server(|_| HttpResponse::new(201));
    let dir = temp_dir();
    fs::write(dir.path().join("-"), "x").expect("a file");
    run_fetch_url_in(dir.path(), ["-T", "./-", &server.url("/d/")]).assert_exit(0);
    let request = server.requests().pop().expect("a request");
    assert_eq!((request.path().as_str(), request.body.as_slice()), ("/d/-", &b"x"[..]));
}

#[test]
fn heads_of_several_urls_end_with_an_empty_line() {
    let server = http_server(|request| HttpResponse::new(200).header("X-Path", request.path()));
    let text = run_fetch_url_in(temp_dir().path(), ["-I", &server.url("/1"), &server.url("/2")]);
    let text = text.assert_exit(0).stdout_text();
    let heads: Vec<&str> = text.split_terminator("\n\n").collect();
    assert!(heads.len() == 2 && text.ends_with("\n\n"), "{text:?}");
    assert!(heads.iter().all(|head| head.starts_with("HTTP/1.1 200 OK\n")), "{text:?}");
    assert!(heads[0].contains("X-Path: /1") && heads[1].contains("X-Path: /2"), "{text:?}");
    let json = run_fetch_url_in(temp_dir().path(), ["-I", "--format", "json", &server.url("/1")]);
    assert_eq!(json.assert_exit(0).stdout_text().lines().count(), 1);
}

/// Field values may have bytes above 0x7F in any encoding (RFC 9110 §5.5).
#[test]
fn header_field_that_is_not_utf8_is_written_as_received() {
    let server = http_server(|_| HttpResponse::new(200).header("X-Name", b"caf\xe9").body("ok"));
    let dir = temp_dir();
    let line = b"X-Name: caf\xe9\n";
    let has_line = |bytes: &[u8]| bytes.windows(line.len()).any(|window| window == line);
    let url = server.url("/");
    for options in [&["-i"][..], &["-I"], &["-D", "-"]] {
        let result = run_fetch_url_in(dir.path(), options.iter().chain(&[url.as_str()]));
        assert!(has_line(&result.assert_exit(0).stdout), "{options:?}: {result:?}");
    }
    run_fetch_url_in(dir.path(), ["-D", "head", "-i", "-o", "both", &url]).assert_exit(0);
    for name in ["head", "both"] {
        assert!(has_line(&fs::read(dir.path().join(name)).expect("a file")), "{name}");
    }
}

#[test]
fn etag_is_written_to_standard_output_after_the_object() {
    let server = versioned_server("\"v1\"");
    let dir = temp_dir();
    let result = run_fetch_url_in(dir.path(), ["--etag-save", "-", &server.url("/x")]);
    assert_eq!(result.assert_exit(0).stdout_text(), "content\"v1\"\n");
    let result = run_fetch_url_in(dir.path(), ["--etag-save", "-", "-o", "file", &server.url("/x")]);
    assert_eq!(result.assert_exit(0).stdout_text(), "\"v1\"\n");
    assert_eq!(entry_names(dir.path()), ["file"]);
}

/// The tag of another version would make the next run keep the file.
#[test]
fn file_is_not_replaced_if_the_etag_of_its_old_version_cannot_be_removed() {
    // Nobody can write to it.
    let read_only = "/sys/kernel/uevent_seqnum";
    if !Path::new(read_only).exists() {
        return;
    }
    let server = http_server(|_| HttpResponse::new(200).header("ETag", "\"new\"").body("new"));
    for segments in ["1", "2"] {
        let dir = temp_dir();
        fs::write(dir.path().join("file"), "old").expect("a file");
        let options = ["--segments", segments, "--etag-save", read_only, "-o", "file", &server.url("/")];
        run_fetch_url_in(dir.path(), options).assert_exit(23);
        assert_eq!(fs::read_to_string(dir.path().join("file")).expect("the file"), "old");
    }
}

/// The first bytes of the file are of another version.
#[test]
fn etag_is_not_saved_if_the_start_of_the_file_was_not_fetched() {
    let ranges = RangeSupport::Correct;
    let headers = FileHeaders { etag: Some("\"v2\"".into()), last_modified: None, ranges };
    let server = http_server(file_handler("0123456789".into(), headers));
    let dir = temp_dir();
    fs::write(dir.path().join("file"), "ZZZZZ").expect("a file");
    let options = ["-C", "5", "--etag-save", "tag", "-o", "file", &server.url("/")];
    run_fetch_url_in(dir.path(), options).assert_exit(0);
    assert_eq!(read_text_file(dir.path(), "file"), "ZZZZZ56789");
    assert_eq!(read_text_file(dir.path(), "tag"), "");
}
