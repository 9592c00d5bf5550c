//! Method, body and header fields of a request, and which of them a redirect keeps.

use super::server::{APACHE, CA, NGINX};
use super::work_dir::{WorkDir, fetch, key};

const FORM: &str = "application/x-www-form-urlencoded";

/// Returns the expected output of `/cgi/echo`.
fn echo(method: &str, media_type: &str, bytes: &[u8]) -> Vec<u8> {
    let length = if bytes.is_empty() { "-".to_owned() } else { bytes.len().to_string() };
    [format!("{method} {media_type} {length}\n").as_bytes(), bytes].concat()
}

/// Asserts the output of `/cgi/echo`, plain and over HTTP/2.
#[track_caller]
fn assert_echo(options: &[&str], expected: &[u8]) {
    let dir = WorkDir::new();
    dir.write("octets", BYTES);
    dir.write("lines", "one\r\ntwo\n");
    for url in [APACHE.http("/cgi/echo"), APACHE.https("/cgi/echo"), APACHE.http("/x/../cgi/echo")] {
        dir.fetch(&[options, &["--cacert", CA, &url]].concat()).assert_success(expected);
    }
}

const BYTES: &[u8] = b"\0\r\n\xff&=%41@\n";

#[test]
#[ignore = "needs the servers of docker/"]
fn data_option_posts_a_form() {
    assert_echo(&["-d", "a=b"], &echo("POST", FORM, b"a=b"));
    assert_echo(&["-d", "a=b", "-d", "c=%41 &"], &echo("POST", FORM, b"a=b&c=%41 &"));
    // Line ends and NUL are removed, as in curl.
    assert_echo(&["-d", "@lines"], &echo("POST", FORM, b"onetwo"));
}

#[test]
#[ignore = "needs the servers of docker/"]
fn data_binary_posts_the_bytes_unchanged() {
    assert_echo(&["--data-binary", "@octets"], &echo("POST", FORM, BYTES));
    assert_echo(&["--data-binary", "@octets", "-H", "Content-Type: a/b"], &echo("POST", "a/b", BYTES));
    let big = "x".repeat(3 << 20);
    let dir = WorkDir::new();
    dir.write("big", &big);
    for url in [APACHE.http("/cgi/echo"), APACHE.https("/cgi/echo")] {
        let result = dir.fetch(&["--data-binary", "@big", "--cacert", CA, &url]);
        result.assert_success(echo("POST", FORM, big.as_bytes()));
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn request_option_sets_the_method() {
    assert_echo(&["-X", "DELETE"], &echo("DELETE", "-", b""));
    assert_echo(&["-X", "PUT", "-d", "abc"], &echo("PUT", FORM, b"abc"));
    assert_echo(&["-X", "PATCH", "--data-binary", "@octets"], &echo("PATCH", FORM, BYTES));
    fetch(&["-X", "BAD METHOD", &APACHE.http("/cgi/echo")]).assert_exit(2);
}

/// 303 changes every method to GET, 301 and 302 change POST to GET, 307 and 308 keep the method (RFC 9110 §15.4).
#[test]
#[ignore = "needs the servers of docker/"]
fn redirect_status_decides_method_and_body() {
    for (status, expected) in [
        ("301", echo("GET", "-", b"")),
        ("302", echo("GET", "-", b"")),
        ("303", echo("GET", "-", b"")),
        ("307", echo("POST", FORM, b"a=b")),
        ("308", echo("POST", FORM, b"a=b")),
    ] {
        let path = format!("/redir/{status}");
        fetch(&["-d", "a=b", &APACHE.http(&path)]).assert_success(&expected);
        fetch(&["-d", "a=b", "--cacert", CA, &APACHE.https(&path)]).assert_success(&expected);
    }
}

/// Returns the CGI variables of the request, over HTTP/2.
#[track_caller]
fn variables(options: &[&str]) -> Vec<String> {
    let url = APACHE.https(&format!("/cgi/env?{}", key()));
    let text = fetch(&[options, &["--cacert", CA, &url]].concat()).assert_exit(0).text();
    text.lines().map(str::to_owned).collect()
}

#[track_caller]
fn assert_line(lines: &[String], expected: &str) {
    assert!(lines.iter().any(|line| line == expected), "{expected} is missing in {lines:#?}");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn header_options_set_or_remove_fields() {
    let options =
        ["-H", "X-One: 1", "-H", "X-Two;", "-H", "Accept: text/html", "-A", "me/1", "-e", "http://a/"];
    let received = variables(&options);
    for line in [
        "HTTP_X_ONE=1",
        "HTTP_X_TWO=",
        "HTTP_ACCEPT=text/html",
        "HTTP_USER_AGENT=me/1",
        "HTTP_REFERER=http://a/",
    ] {
        assert_line(&received, line);
    }
    // A field without a value is not sent.
    let received = variables(&["-H", "Accept:", "-A", ""]);
    assert!(!received.iter().any(|line| line.starts_with("HTTP_ACCEPT=")), "{received:#?}");
    assert!(!received.iter().any(|line| line.starts_with("HTTP_USER_AGENT=")), "{received:#?}");
    assert_line(&variables(&["-H", "Host: other.test.invalid"]), "HTTP_HOST=other.test.invalid");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn header_with_a_line_end_is_rejected_before_the_request() {
    for field in ["X: a\r\nY: b", "X: a\nY: b", "X\r\nY: b", "X Y: a", ": a", "nothing"] {
        let result = fetch(&["-v", "-H", field, &NGINX.http("/headers")]);
        assert!([2, 93].contains(&result.exit), "{field:?}: {}\n{}", result.exit, result.err);
        result.assert_stdout("").assert_stderr_omits("> GET");
    }
}

/// Header fields of the caller may be secret: they are sent to the first origin only.
#[test]
#[ignore = "needs the servers of docker/"]
fn header_fields_are_not_sent_to_another_origin() {
    for field in ["Authorization: Bearer canary", "Cookie: a=canary", "X-Api-Key: canary"] {
        let there = fetch(&["-H", field, &NGINX.http("/headers")]).assert_exit(0).text();
        assert!(there.contains("canary"), "{there}");
        for path in ["/redir/other-origin", "/redir/away", "/cookie/leave"] {
            let received = fetch(&["-H", field, &NGINX.http(path)]).assert_exit(0).text();
            assert!(
                received.starts_with("GET /headers ") && !received.contains("canary"),
                "{path}: {received}"
            );
        }
    }
    let received = fetch(&["-b", "a=canary", &NGINX.http("/redir/away")]).assert_exit(0).text();
    assert!(!received.contains("canary"), "{received}");
}
