//! Forms of several parts (`-F`, RFC 7578): fetch-url sends what curl sends, and reads files while it sends them.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use crate::support::curl::run_curl;
use crate::support::{
    fetch_url_command, http_server, run_fetch_url, run_fetch_url_in, run_measuring_memory, temp_dir,
};
use fetch_url_tests::{HttpRequest, HttpResponse, HttpServer};

fn dir_with_files() -> tempfile::TempDir {
    let dir = temp_dir();
    for (name, content) in [
        ("a.txt", "one\r\ntwo"),
        ("b.PNG", "\0png"),
        ("plain", "x"),
        ("q\"uote", "q"),
        ("fields", "X-A: 1\nX-B: 2\n"),
    ] {
        fs::write(dir.path().join(name), content).expect("a file");
    }
    dir
}

/// Returns the type and the body of a form with its random boundary replaced.
fn form_text(request: &HttpRequest) -> String {
    let media_type = request.header_text("content-type").expect("a type").to_owned();
    let (_, boundary) = media_type.split_once("boundary=").expect("a boundary");
    let body = String::from_utf8_lossy(&request.body).replace(boundary, "BOUNDARY");
    format!("{} {}\n{body}", request.method, media_type.replace(boundary, "BOUNDARY"))
}

fn start_server() -> HttpServer {
    http_server(|_| HttpResponse::new(200).body("ok"))
}

#[test]
fn form_equals_curl() {
    let (server, dir) = (start_server(), dir_with_files());
    let mut rows: Vec<Vec<&str>> = [
        "a=b",
        "a=",
        "a=b=c",
        "=b",
        "f=@a.txt",
        "f=@b.PNG",
        "f=@plain",
        "f=<a.txt",
        "f=@q\"uote",
        "f=@a.txt;type=text/x-own",
        "f=@a.txt;filename=other name",
        "f=@a.txt;type=text/html;charset=utf-8",
        "f=@a.txt;type=text/html; charset=\"utf-8\"",
        "f=@a.txt;type=multipart/x-own; boundary=\"a;b\"",
        "f=@a.txt;filename=\"a;b\\\"c\"",
        "f=@a.txt;filename=x.png",
        "f=x;filename=a.png",
        "f=x ;type=text/x-own",
        "f= x ",
        "f= @a.txt ;type=text/x-own",
        "f=@a.txt ;type=text/x-own",
        "f=<a.txt ;type=text/x-own",
        "f= \"x \" ;type=text/x-own",
        "f=x;filename=plain",
        "f=x;filename=a.txt",
        "f=<b.PNG",
        "f=@plain;filename=x.html;type=text/x-own",
        "f=@plain;type=text/x-own;filename=x.html",
        "f=@a.txt;headers=\"Content-Type: text/x-own\"",
        "f=@a.txt;headers=\"content-disposition: form-data; name=own\"",
        "f=\"@a;b\"",
        "f=x;type=text/x-own",
        "f=<plain;type=text/x-own",
        "f=@a.txt;headers=\"X-A: b\"",
        "f=@a.txt;headers=@fields",
        "n\"ame=b",
    ]
    .iter()
    .map(|field| vec!["-F", field])
    .collect();
    rows.push(vec!["-F", "a=1", "--form-string", "b=@x;type=y", "-F", "c=@a.txt", "-F", "a=2"]);
    rows.push(vec!["--form-escape", "-F", "n\"a\\me=b"]);
    rows.push(vec!["-X", "PUT", "-F", "a=b"]);
    for row in rows {
        let url = server.url("/form");
        let arguments = [&row[..], &[url.as_str()]].concat();
        run_fetch_url_in(dir.path(), &arguments).assert_exit(0);
        let own = form_text(&server.requests().pop().expect("a request"));
        let Some(result) = run_curl(dir.path(), arguments.iter().copied()) else { continue };
        result.assert_exit(0);
        assert_eq!(own, form_text(&server.requests().pop().expect("a request")), "{row:?}");
    }
}

#[test]
fn given_content_type_gets_the_boundary() {
    let server = start_server();
    for media_type in ["application/x-own", "multipart/mixed", "Multipart/Form-Data; charset=utf-8"] {
        let field = format!("Content-Type: {media_type}");
        run_fetch_url(["-H", &field, "-F", "a=b", &server.url("/form")]).assert_exit(0);
        let form = form_text(&server.requests().pop().expect("a request"));
        assert!(form.starts_with(&format!("POST {media_type}; boundary=BOUNDARY\n--BOUNDARY\r\n")), "{form}");
    }
}

#[test]
fn list_of_files_becomes_one_part_for_each() {
    let (server, dir) = (start_server(), dir_with_files());
    let url = server.url("/");
    run_fetch_url_in(dir.path(), ["-F", "f=@a.txt,b.PNG;type=image/x-own,\"plain\"", &url]).assert_exit(0);
    let text = form_text(&server.requests()[0]);
    assert_eq!(text.matches("form-data; name=\"f\"; filename=").count(), 3, "{text}");
    assert!(text.contains("image/x-own") && text.ends_with("--BOUNDARY--\r\n"), "{text}");
}

#[test]
fn form_can_read_standard_input() {
    let server = start_server();
    let mut command = fetch_url_command();
    command.args(["-F", "f=@-;filename=in", "-F", "g=x", &server.url("/")]).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::null()).spawn().expect("a process");
    child.stdin.take().expect("a pipe").write_all(b"typed").expect("written");
    assert!(child.wait().expect("an exit").success());
    let text = form_text(&server.requests()[0]);
    assert!(text.contains("filename=\"in\"") && text.contains("\r\n\r\ntyped\r\n"), "{text}");
}

#[test]
fn file_of_a_form_is_streamed_and_sent_again_after_307_but_not_after_303() {
    let dir = temp_dir();
    fs::write(dir.path().join("large"), vec![b'x'; 60 << 20]).expect("a file");
    let server = http_server(|request| match request.path().as_str() {
        "/307" => HttpResponse::new(307).header("Location", "/end"),
        "/303" => HttpResponse::new(303).header("Location", "/end"),
        _ => HttpResponse::new(200).body(format!("{} {}", request.method, request.body.len())),
    });
    let field = format!("f=@{}", dir.path().join("large").display());
    let (memory, result) = run_measuring_memory(["-F", &field, &server.url("/307")]);
    let text = result.assert_exit(0).stdout_text();
    let size: u64 = text.strip_prefix("POST ").expect("a POST").parse().expect("a size");
    assert!(size > 60 << 20 && memory < 40 * 1024, "{size} bytes were sent with {memory} KiB");
    assert_eq!(run_fetch_url(["-F", "a=b", &server.url("/303")]).assert_exit(0).stdout_text(), "GET 0");
    assert!(server.requests().last().expect("a request").header("content-type").is_none());
}

#[test]
fn line_end_in_the_header_of_a_part_is_refused_and_sends_nothing() {
    let server = start_server();
    for field in ["f=x;type=a/b\r\nX: y", "f=x;headers=\"X: y\r\n\r\nz\"", "f=x;type=a/b;charset=\"u\nX: y\""]
    {
        run_fetch_url(["-F", field, &server.url("/")])
            .assert_exit(93)
            .assert_stderr_contains("CR, LF or NUL");
    }
    assert!(server.requests().is_empty());
}

#[test]
fn invalid_form_is_a_usage_error_and_sends_nothing() {
    let (server, dir) = (start_server(), dir_with_files());
    let url = server.url("/");
    for (arguments, message) in [
        (&["-F", "name"][..], "expected NAME=VALUE"),
        (&["-F", "f=@-", "-F", "g=<-"], "standard input can be the content of one field only"),
        (&["-F", "f=@-,-"], "standard input can be the content of one field only"),
        (&["-F", "f=@missing"], "missing: No such file"),
        (&["-F", "f=<missing"], "missing: No such file"),
        (&["-F", "f=a;b"], "unknown parameter \"b\""),
        (&["-F", "f=@a.txt;encoder=base64"], "unknown parameter \"encoder\""),
        (&["-F", "f=(;type=multipart/mixed"], "forms within forms"),
        (&["-I", "-F", "f=a"], "-I cannot be combined"),
        (&["-d", "x", "-F", "f=a"], "cannot be used with"),
        (&["-T", "a.txt", "-F", "f=a"], "cannot be used with"),
    ] {
        let result = run_fetch_url_in(dir.path(), arguments.iter().chain(&[url.as_str()]));
        result.assert_exit(2).assert_stderr_contains(message);
    }
    run_fetch_url(["-F", "a=b", "ftp://h.test/"])
        .assert_exit(2)
        .assert_stderr_contains("http, https and gopher");
    assert!(server.requests().is_empty());
}
