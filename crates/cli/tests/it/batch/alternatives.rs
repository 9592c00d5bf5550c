//! Alternative URLs and duplicates: when they are tried, and what they are sent.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use crate::support::{
    http_server, read_text_file, run_fetch_url_in, run_shell, spawn_fetch_url, temp_dir, wait_for_exit,
    write_file,
};
use fetch_url_tests::{HttpResponse, HttpServer};

/// The SHA-256 of `whole`.
const WHOLE: &str = "5d5766cf2d78701614200418ee1450690d9af12c84d52545e4802f001ad53099";

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
