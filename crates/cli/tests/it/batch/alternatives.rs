//! Alternative URLs and duplicates: when they are tried, and what they are sent.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use crate::support::{
    entry_names, http_server, read_text_file, run_fetch_url_in, run_shell, spawn_fetch_url, temp_dir,
    wait_for_exit, write_file,
};
use fetch_url_tests::{HttpResponse, HttpServer};

/// The SHA-256 of `whole`.
const WHOLE: &str = "5d5766cf2d78701614200418ee1450690d9af12c84d52545e4802f001ad53099";

/// The SHA-256 of `evil!`.
const EVIL: &str = "d058e3b77560e4e1dc4b6affe370f560574402d1cf42d989c8dfe22a574ad6fc";

/// Serves `whole` at `/whole`, its first bytes at `/cut`, and other bytes at `/wrong`; `/link…` adds a duplicate at `copy`.
fn start_server(copy: &str) -> HttpServer {
    let link = format!("<{copy}>; rel=duplicate");
    http_server(move |request| {
        let path = request.path();
        let reply = |status| HttpResponse::new(status).header("Link", &link);
        match path.as_str() {
            "/whole" => reply(200).body("whole"),
            "/cut" => reply(200).body("whole").cut_body_at(2).then_close(),
            "/wrong" => reply(200).body("WRONG"),
            "/missing" => reply(404).body("no"),
            _ => reply(500).body("error"),
        }
    })
}

#[test]
fn no_alternative_is_tried_after_bytes_were_written_to_a_stream() {
    let copy = start_server("http://127.0.0.1:1/");
    let server = start_server(&copy.url("/whole"));
    let dir = temp_dir();
    let (cut, wrong, missing, whole) =
        (server.url("/cut"), server.url("/wrong"), server.url("/missing"), copy.url("/whole"));
    for (line, options, exit, expected) in [
        (format!("{cut} {whole}\t/dev/stdout"), "", 18, "wh"),
        (format!("{wrong} {whole}\t/dev/stdout\tsha256:{WHOLE}"), "", 91, "WRONG"),
        (format!("{missing} {whole}\t/dev/stdout"), "--fail-with-body", 78, "no"),
        (format!("{missing} {whole}\t/dev/stdout"), "", 0, "whole"),
    ] {
        write_file(dir.path(), "list", &(line.clone() + "\n"));
        let options = options.split_whitespace();
        let arguments = ["--input-file", "list", "--retry", "0"].into_iter().chain(options);
        let result = run_fetch_url_in(dir.path(), arguments);
        assert_eq!((result.exit, &*result.stdout_text()), (exit, expected), "{line}: {}", result.stderr);
    }
    for output in [&[][..], &["-o", "-"], &["-o", "/dev/stdout"], &["-o", "/dev/fd/1"]] {
        let arguments = [&["--metalink-over-http", "--retry", "0", &cut][..], output].concat();
        let result = run_fetch_url_in(dir.path(), arguments);
        assert_eq!((result.exit, &*result.stdout_text()), (18, "wh"), "{output:?}: {}", result.stderr);
    }
    let file = ["--metalink-over-http", "--retry", "0", "-o", "f", &cut];
    run_fetch_url_in(dir.path(), file).assert_exit(0);
    assert_eq!(read_text_file(dir.path(), "f"), "whole");
}

/// The duplicate has what the object was before; a GET of it would hide that nothing was changed.
#[test]
fn duplicate_does_not_replace_a_failed_request_that_changes_something() {
    let copy = start_server("http://127.0.0.1:1/");
    let server = start_server(&copy.url("/whole"));
    let dir = temp_dir();
    write_file(dir.path(), "data", "data");
    for options in ["-T data", "-d x", "--json {}", "-X DELETE", "-F a=b", "-X PUT"] {
        let url = server.url("/error");
        let arguments = ["--metalink-over-http", "--retry", "0", &url].into_iter();
        run_fetch_url_in(dir.path(), arguments.chain(options.split(' '))).assert_exit(22);
        assert!(copy.requests().is_empty(), "{options}");
    }
    for options in ["-X GET", "-I"] {
        let url = server.url("/error");
        let arguments = ["--metalink-over-http", "--retry", "0", &url].into_iter();
        run_fetch_url_in(dir.path(), arguments.chain(options.split(' '))).assert_exit(0);
    }
    assert_eq!(copy.requests().len(), 2);
}

#[test]
fn data_of_a_query_are_not_sent_to_urls_of_documents() {
    let copy = start_server("http://127.0.0.1:1/");
    let server = start_server(&copy.url("/whole"));
    let dir = temp_dir();
    let data = ["-G", "-d", "q=secret", "--retry", "0", "-o", "f"];
    run_fetch_url_in(dir.path(), [&data[..], &["--metalink-over-http", &server.url("/error")]].concat())
        .assert_exit(0);
    let document = format!(
        "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\"><file name=\"g\"><url>{}</url></file></metalink>",
        copy.url("/whole")
    );
    write_file(dir.path(), "m.meta4", &document);
    run_fetch_url_in(dir.path(), [&data[..5], &["--metalink", "m.meta4"]].concat()).assert_exit(0);
    let targets: Vec<_> = copy.requests().iter().map(|request| request.target.clone()).collect();
    assert_eq!(targets, [b"/whole", b"/whole"]);
    assert!(server.requests()[0].target.ends_with(b"?q=secret"));
}

#[test]
fn digest_of_the_object_cannot_be_checked_with_the_headers_in_the_output() {
    let dir = temp_dir();
    let arguments = ["--metalink-over-http", "-i", "http://127.0.0.1:1/"];
    run_fetch_url_in(dir.path(), arguments).assert_exit(2).assert_stderr_contains("-i");
}

/// Each object needs several writes.
#[test]
fn objects_of_parallel_transfers_are_not_mixed_in_a_fifo() {
    let server = http_server(|request| {
        let letter = if request.path() == "/a" { "a" } else { "b" };
        HttpResponse::new(200).body(letter.repeat(50_000)).drip(5_000, Duration::from_millis(20))
    });
    let dir = temp_dir();
    let fifo = dir.path().join("fifo");
    run_shell("mkfifo \"$1\"", [&fifo]).assert_exit(0);
    let mut reader = open_fifo(&fifo);
    let name = fifo.display().to_string();
    let child = spawn_fetch_url(["-Z", "-s", "-o", &name, &server.url("/a"), "-o", &name, &server.url("/b")]);
    // The reader also has the FIFO open for writing, so a read waits for ever if bytes are missing.
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut content = vec![0; 100_000];
        let read = reader.read_exact(&mut content);
        sender.send(read.map(|()| content))
    });
    wait_for_exit(child).assert_exit(0);
    let content = receiver.recv_timeout(Duration::from_secs(20)).expect("both objects").expect("bytes");
    let changes = content.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert_eq!(changes, 1, "one object after the other");
}

/// Opens a FIFO for both directions, which does not wait for a writer.
fn open_fifo(path: &Path) -> File {
    File::options().read(true).write(true).open(path).expect("a FIFO")
}

/// Serves `/a/x` cut, or with status 404 at `/gone/x`, and names `/b/Makefile` as a duplicate, which is older.
fn start_server_with_duplicate() -> HttpServer {
    http_server(|request| {
        let path = request.path();
        let link = "</b/Makefile>; rel=duplicate";
        let modified = |date| HttpResponse::new(200).header("Last-Modified", date);
        match path.as_str() {
            "/a/x" => modified("Sun, 01 Jan 2017 00:00:00 GMT")
                .header("Link", link)
                .header("ETag", "\"a\"")
                .body("whole")
                .cut_body_at(2)
                .then_close(),
            "/gone/x" => HttpResponse::new(404).header("Link", link).body("no"),
            _ if request.header("if-modified-since").is_some() => HttpResponse::new(304),
            _ => modified("Fri, 01 Jan 2010 00:00:00 GMT").header("ETag", "\"b\"").body("whole"),
        }
    })
}

/// The name comes from the URL that the user gave. The server must not choose a file that is replaced.
#[test]
fn file_is_named_after_the_first_url_of_the_object() {
    let server = start_server_with_duplicate();
    for path in ["/a/x", "/gone/x"] {
        for options in ["-O", "--remote-name-all", "-O --segments 2", "-O -C -", "-O --skip-existing"] {
            let dir = temp_dir();
            write_file(dir.path(), "Makefile", "mine");
            let arguments = ["--metalink-over-http", "--retry", "0"].into_iter().chain(options.split(' '));
            run_fetch_url_in(dir.path(), arguments.chain([&*server.url(path)])).assert_exit(0);
            assert_eq!(read_text_file(dir.path(), "x"), "whole", "{path} {options}");
            assert_eq!(read_text_file(dir.path(), "Makefile"), "mine", "{path} {options}");
            assert_eq!(entry_names(dir.path()), ["Makefile", "x"], "{path} {options}");
        }
        let dir = temp_dir();
        write_file(dir.path(), "list", &format!("{} {}\n", server.url(path), server.url("/b/Makefile")));
        let list = ["--input-file", "list", "--remote-name-all", "--retry", "0"];
        run_fetch_url_in(dir.path(), list).assert_exit(0);
        assert_eq!(entry_names(dir.path()), ["list", "x"], "{path}");
    }
}

/// With `-J`, the name of the first attempt is kept, and no file is replaced.
#[test]
fn name_that_the_server_chose_is_kept_for_its_duplicate() {
    let server = http_server(|request| {
        let named = |name| {
            HttpResponse::new(200).header("Content-Disposition", format!("attachment; filename={name}"))
        };
        match request.path().as_str() {
            "/a" => {
                named("first").header("Link", "</b>; rel=duplicate").body("whole").cut_body_at(2).then_close()
            }
            "/gone" => HttpResponse::new(404).header("Link", "</b>; rel=duplicate"),
            _ => named("second").body("whole"),
        }
    });
    for (path, name) in [("/a", "first"), ("/gone", "second")] {
        let dir = temp_dir();
        let arguments = ["-O", "-J", "--metalink-over-http", "--retry", "0", &server.url(path)];
        run_fetch_url_in(dir.path(), arguments).assert_exit(0);
        assert_eq!(entry_names(dir.path()), [name]);
        write_file(dir.path(), name, "mine");
        run_fetch_url_in(dir.path(), arguments).assert_exit(2);
        assert_eq!(read_text_file(dir.path(), name), "mine");
    }
    // The name of a later attempt than the first is kept, too.
    let dir = temp_dir();
    write_file(
        dir.path(),
        "list",
        &format!("{} {} {}\n", server.url("/gone"), server.url("/a"), server.url("/b")),
    );
    let list = ["--input-file", "list", "-J", "--remote-name-all", "--retry", "0"];
    run_fetch_url_in(dir.path(), list).assert_exit(0);
    assert_eq!(entry_names(dir.path()), ["first", "list"]);
}

/// The object was modified after the date, as its server has said; its copy has another time.
#[test]
fn copy_is_requested_without_the_condition_that_the_object_has_met() {
    let server = start_server_with_duplicate();
    let dir = temp_dir();
    write_file(dir.path(), "f", "old");
    let date = ["-z", "2015-01-01", "--retry", "0"];
    let document = ["--metalink-over-http", "-o", "f", &server.url("/a/x")];
    run_fetch_url_in(dir.path(), date.into_iter().chain(document)).assert_exit(0);
    assert_eq!(read_text_file(dir.path(), "f"), "whole");
    write_file(dir.path(), "list", &format!("{} {}\tg\n", server.url("/a/x"), server.url("/b/x")));
    run_fetch_url_in(dir.path(), date.into_iter().chain(["--input-file", "list"])).assert_exit(0);
    assert_eq!(read_text_file(dir.path(), "g"), "whole");
    // The object may have been received in a later attempt than the first.
    let chain = format!("{} {} {}\ti\n", server.url("/gone/x"), server.url("/a/x"), server.url("/b/x"));
    write_file(dir.path(), "list", &chain);
    run_fetch_url_in(dir.path(), date.into_iter().chain(["--input-file", "list"])).assert_exit(0);
    assert_eq!(read_text_file(dir.path(), "i"), "whole");
    // Nothing is known of an object whose server does not have it.
    write_file(dir.path(), "list", &format!("{} {}\th\n", server.url("/gone/x"), server.url("/b/x")));
    run_fetch_url_in(dir.path(), date.into_iter().chain(["--input-file", "list"])).assert_exit(0);
    assert_eq!(entry_names(dir.path()), ["f", "g", "i", "list"]);
}

/// The digest of a server does not replace the checksum that the user requires.
#[test]
fn checksum_of_the_user_counts_and_not_that_of_a_server() {
    let evil = "sha-256=:0Fjjt3Vg5OHcS2r/43D1YFdEAtHPQtmJyN/iKldK1vw=:";
    let server = http_server(move |request| {
        let reply = HttpResponse::new(200).body("evil!");
        match request.path().as_str() {
            "/list" => HttpResponse::new(200).body(format!("{WHOLE}  x\n{WHOLE}  y\n")),
            "/document" => {
                let hash = format!("<hash type=\"sha-256\">{EVIL}</hash>");
                let url = format!("<url>http://{}/y</url>", request.header_text("host").expect("a host"));
                HttpResponse::new(200).body(format!(
                    "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\"><file name=\"f\">{hash}{url}</file></metalink>"
                ))
            }
            "/x" => reply.header("Link", "</y>; rel=duplicate").header("Repr-Digest", evil),
            _ => reply,
        }
    });
    let (given, list) =
        (format!("--checksum sha256:{WHOLE}"), format!("--checksum-from {}", server.url("/list")));
    for required in [&given, &list] {
        for (named, path) in [("--metalink-over-http -o f", "/x"), ("--metalink", "/document")] {
            let dir = temp_dir();
            let url = server.url(path);
            let arguments =
                required.split(' ').chain(["--retry", "0"]).chain(named.split(' ')).chain([&*url]);
            // A list and a document that contradict each other are an error.
            let is_contradiction = path == "/document" && required == &list;
            run_fetch_url_in(dir.path(), arguments).assert_exit(if is_contradiction { 2 } else { 91 });
            assert!(entry_names(dir.path()).is_empty(), "{required} {named}");
        }
    }
    // So does the checksum of a line.
    let dir = temp_dir();
    write_file(dir.path(), "lines", &format!("{}\tf\tsha256:{WHOLE}\n", server.url("/x")));
    let lines = ["--input-file", "lines", "--metalink-over-http", "--retry", "0"];
    run_fetch_url_in(dir.path(), lines.into_iter().chain(list.split(' '))).assert_exit(91);
    assert!(!dir.path().join("f").exists());
}

/// The list beside a copy says no more than the copy.
#[test]
fn list_beside_a_copy_does_not_replace_the_checksum_of_the_object() {
    let copy = http_server(|request| match request.path().as_str() {
        "/x" => HttpResponse::new(200).body("evil!"),
        "/SHA256SUMS" => HttpResponse::new(200).body(format!("{EVIL}  x\n")),
        _ => HttpResponse::new(404),
    });
    let good = start_server(&copy.url("/x"));
    let duplicates = http_server({
        let link = format!("<{}>; rel=duplicate", copy.url("/x"));
        move |request| match request.path().as_str() {
            "/x" => HttpResponse::new(200).header("Link", &link).body("whole").cut_body_at(2).then_close(),
            "/SHA256SUMS" => HttpResponse::new(200).body(format!("{WHOLE}  x\n")),
            _ => HttpResponse::new(404),
        }
    });
    let dir = temp_dir();
    let from_list = ["--checksum-from", "auto", "--retry", "0"];
    let arguments = ["--metalink-over-http", "-o", "f", &duplicates.url("/x")];
    run_fetch_url_in(dir.path(), from_list.into_iter().chain(arguments)).assert_exit(91);
    let hash = format!("<hash type=\"sha-256\">{WHOLE}</hash>");
    let file = |url: String| format!("<file name=\"f\">{hash}<url>{url}</url></file>");
    for (url, exit) in [(copy.url("/x"), 91), (good.url("/whole"), 0)] {
        let document =
            format!("<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">{}</metalink>", file(url));
        write_file(dir.path(), "m.meta4", &document);
        run_fetch_url_in(dir.path(), from_list.into_iter().chain(["--metalink", "m.meta4"]))
            .assert_exit(exit);
        assert_eq!(dir.path().join("f").exists(), exit == 0);
    }
    // A checksum of one file cannot be that of another.
    let two = file(good.url("/whole")) + &file(good.url("/whole")).replace("\"f\"", "\"g\"");
    let document = format!("<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">{two}</metalink>");
    write_file(dir.path(), "m.meta4", &document);
    let checksum = format!("sha256:{WHOLE}");
    run_fetch_url_in(dir.path(), ["--checksum", &checksum, "--metalink", "m.meta4"]).assert_exit(2);
    let several = ["--checksum", &checksum, "--metalink", "m.meta4", "--metalink", "m.meta4"];
    run_fetch_url_in(dir.path(), several).assert_exit(2).assert_stderr_contains("a single URL");
}

/// It would mean another version to the server of the URL (RFC 9110 §8.8.3).
#[test]
fn etag_of_a_duplicate_is_not_saved() {
    let server = start_server_with_duplicate();
    let dir = temp_dir();
    let arguments = ["--metalink-over-http", "--etag-save", "tag", "-o", "f", "--retry", "0"];
    run_fetch_url_in(dir.path(), arguments.into_iter().chain([&*server.url("/a/x")])).assert_exit(0);
    assert_eq!(
        (read_text_file(dir.path(), "f"), read_text_file(dir.path(), "tag")),
        ("whole".into(), String::new())
    );
}
