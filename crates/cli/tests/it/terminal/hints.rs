//! Errors that name their cause in words, hints that can be pasted, and no retry of what cannot pass.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use crate::support::{
    fetch_url_command, http_server, run_command, run_fetch_url, run_fetch_url_in, temp_dir,
};
use fetch_url_tests::{
    FtpConfig, FtpServer, GopherConfig, GopherServer, HttpResponse, HttpServer, ReservedPort, ServerCert,
};

#[test]
fn missing_directory_is_named_and_create_dirs_is_the_hint() {
    let server = http_server(|_| {
        HttpResponse::new(200).header("Content-Disposition", "attachment; filename=n").body("x")
    });
    let (dir, url) = (temp_dir(), server.url("/n"));
    for arguments in
        [&["-o", "no/such/n"][..], &["-O", "--output-dir", "no/such"], &["-OJ", "--output-dir", "no/such"]]
    {
        let result = run_fetch_url_in(dir.path(), arguments.iter().chain(&[url.as_str()]));
        result.assert_exit(23).assert_stderr_contains("the directory no/such does not exist");
        result.assert_stderr_contains("--create-dirs creates it");
    }
    run_fetch_url_in(dir.path(), ["--create-dirs", "-o", "no/such/n", &url]).assert_exit(0);
}

#[test]
fn wrong_password_is_a_refused_login_and_a_missing_one_a_needed_login() {
    let http = http_server(|_| HttpResponse::new(401).header("WWW-Authenticate", "Basic realm=\"x\""));
    let url = http.url("/");
    run_fetch_url([url.as_str()])
        .assert_exit(67)
        .assert_stderr_contains("login needed (401")
        .assert_stderr_contains("-u USER");
    run_fetch_url(["-u", "me:geheim", &url]).assert_exit(67).assert_stderr_contains("login refused (401");
    let ftp = FtpServer::start(FtpConfig::new().user("me", "right")).expect("start server");
    let result = run_fetch_url(["-u", "me:geheim", &ftp.url("/x")]);
    result.assert_exit(67).assert_stderr_contains("login refused: PASS (530");
}

#[test]
fn gopher_url_without_item_type_gets_a_hint() {
    let server = GopherServer::start(GopherConfig::new()).expect("start server");
    let result = run_fetch_url([server.url("foo")]);
    result.assert_exit(78).assert_stderr_contains("/1/foo is a menu").assert_stderr_contains("/0/foo a text");
    let result = run_fetch_url([server.url("0/foo")]);
    assert!(!result.assert_exit(78).stderr.contains("item type"), "{}", result.stderr);
}

#[test]
fn what_this_machine_cannot_do_is_not_retried() {
    for (options, exit, message) in [
        ("-6 http://127.0.0.1:9999/", 6, "127.0.0.1 has no IPv6 address"),
        ("-4 http://[::1]:9999/", 6, "[::1] has no IPv4 address"),
        ("--interface no-such-dev0 http://127.0.0.1:9999/", 7, "no network device no-such-dev0"),
        ("--interface 192.0.2.77 http://127.0.0.1:9999/", 7, "does not have the address 192.0.2.77"),
    ] {
        let mut command = fetch_url_command();
        command.args(options.split(' '));
        let result = run_command(command);
        result.assert_exit(exit).assert_stderr_contains(message);
        assert!(!result.stderr.contains("retrying"), "{options}: {}", result.stderr);
    }
}

/// `-v` shows what happens in the order in which it happens, without secrets.
#[test]
fn verbose_shows_names_addresses_tls_and_the_request_as_it_was_sent() {
    let cert = ServerCert::good().expect("a certificate");
    let server = HttpServer::start_tls(|_| HttpResponse::new(200).body("x"), &cert).expect("start server");
    let dir = temp_dir();
    std::fs::write(dir.path().join("ca"), cert.ca_pem()).expect("a file");
    let url = server.url("/a").replace("127.0.0.1", "localhost");
    let again = url.replace("/a", "/b");
    let options = ["-v", "-4", "--cacert", "ca", "-u", "me:geheim", "-H", "x-oNe: 1"];
    let result = run_fetch_url_in(dir.path(), options.iter().chain(&[url.as_str(), &again]));
    let text = result.assert_exit(0).stderr.clone();
    let mut rest = text.as_str();
    for part in [
        "* Host localhost was resolved: 127.0.0.1",
        "*   Trying 127.0.0.1:",
        "* Connected to localhost (127.0.0.1) port ",
        "* SSL connection using TLSv1.3 / TLS_",
        "* ALPN: server ",
        "* Server certificate:\n*  subject: ",
        "*  start date: ",
        "*  expire date: ",
        "*  issuer: ",
        "> GET /a HTTP/1.1\n> Host: localhost:",
        "> Authorization: Basic ***\n",
        "> x-oNe: 1\n",
        "< HTTP/1.1 200",
        "* Re-using existing connection with host localhost\n> GET /b HTTP/1.1",
    ] {
        rest = rest.split_once(part).unwrap_or_else(|| panic!("{part:?} is missing: {text}")).1;
    }
    assert!(!text.contains("geheim") && !text.contains("bWU6"), "{text}");
    // A request that was not sent is not shown.
    let port = ReservedPort::tcp().expect("a port");
    let result = run_fetch_url(["-v", &format!("http://{}/x", port.addr())]);
    assert!(!result.assert_exit(7).stderr.contains("> GET"), "{}", result.stderr);
    result.assert_stderr_contains("*   Trying 127.0.0.1:");
}

#[test]
fn negative_number_is_a_wrong_value_and_not_an_option() {
    for option in ["-m", "--retry", "--connect-timeout", "--limit-rate", "--parallel-max", "--segments"] {
        let result = run_fetch_url([option, "-1", "http://127.0.0.1:1/"]);
        result.assert_exit(2).assert_stderr_contains("invalid value '-1' for '");
        assert!(result.stderr.contains(option), "{}", result.stderr);
    }
}

#[test]
fn part_of_a_response_that_is_malformed_is_named() {
    for (head, message) in [
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "Content-Length is not one number",
        ),
        ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "Content-Length is not one number"),
        (
            "HTTP/1.1 200 OK\r\nX-A: a\x07b\r\n\r\n",
            "a line of the header is not a field, or has a control character",
        ),
        ("HTTP/1.1 200 OK\r\nno field\r\n\r\n", "a line of the header is not a field"),
        ("SSH-2.0-x\r\n\r\n", "not an HTTP response"),
    ] {
        let server = http_server(move |_| HttpResponse::raw(head));
        run_fetch_url([server.url("/")]).assert_exit(8).assert_stderr_contains(message);
    }
}

#[test]
fn data_that_cannot_be_in_a_query_is_named_without_a_caret() {
    for (data, message) in
        [("a b", "a space is not allowed"), ("a%zz", "must be followed by two hexadecimal")]
    {
        let result = run_fetch_url(["-G", "-d", data, "http://127.0.0.1:1/x"]);
        result.assert_exit(3).assert_stderr_contains("with the data of -G: ").assert_stderr_contains(message);
        assert!(!result.stderr.contains('^'), "{}", result.stderr);
    }
    let result = run_fetch_url(["-G", "-d", "a=b", "http://127.0.0.1:1/x y"]);
    result.assert_exit(3).assert_stderr_contains("    http://127.0.0.1:1/x y\n");
}

#[test]
fn file_whose_start_is_to_be_kept_and_that_is_missing_is_named() {
    let server = http_server(|_| HttpResponse::new(200).body("x"));
    let result = run_fetch_url_in(temp_dir().path(), ["-C", "10", "-o", "x", &server.url("/")]);
    result.assert_exit(2).assert_stderr_contains("-C 10 keeps the start of x, which does not exist");
    assert_eq!(server.connections(), 0);
}

#[test]
fn output_that_ends_with_a_slash_exits_2_before_a_request() {
    let server = http_server(|_| HttpResponse::new(200).body("x"));
    let dir = temp_dir();
    std::fs::create_dir(dir.path().join("dir")).expect("a directory");
    for directory in ["dir/", "none/"] {
        let result = run_fetch_url_in(dir.path(), ["-o", directory, &server.url("/")]);
        result.assert_exit(2).assert_stderr_contains(&format!("--output-dir {directory} -O"));
    }
    assert_eq!(server.connections(), 0);
}

#[test]
fn line_of_a_header_file_that_is_no_field_is_named() {
    let dir = temp_dir();
    std::fs::write(dir.path().join("fields"), "A: 1\n\ncanary\n").expect("a file");
    let result = run_fetch_url_in(dir.path(), ["-H", "@fields", "http://127.0.0.1:1/"]);
    result.assert_exit(2).assert_stderr_contains("-H: fields:3: expected \"Name: value\"");
    assert!(!result.stderr.contains("canary"), "{}", result.stderr);
}

#[test]
fn argument_that_is_not_utf8_is_named_and_not_printed_if_it_may_be_a_secret() {
    let (value, joined) = (OsStr::from_bytes(b"me:canary\xe9"), OsStr::from_bytes(b"--user=me:canary\xe9"));
    let (short, url) = (OsStr::from_bytes(b"-ume:canary\xe9"), OsStr::from_bytes(b"http://u:canary@h/\xe9"));
    let file = OsStr::from_bytes(b"file\xe9");
    for (arguments, named) in [
        (&["-u".as_ref(), value, "http://h/".as_ref()][..], "the value of -u is"),
        (&["-o".as_ref(), file, "--user".as_ref(), value, "http://h/".as_ref()], "the value of --user is"),
        (&[joined, "http://h/".as_ref()], "the value of --user is"),
        (&[short, "http://h/".as_ref()], "the value of -u is"),
        (&["-s".as_ref(), url], "the argument http://u:******@h/"),
        (&["mirror".as_ref(), "-A".as_ref(), value, "http://h/".as_ref()], "the value of -A is"),
    ] {
        let result = run_fetch_url(arguments);
        result.assert_exit(2).assert_stderr_contains(named).assert_stderr_contains("not UTF-8");
        assert!(!result.stderr.contains("canary"), "{}", result.stderr);
    }
    let directory = temp_dir();
    let server = http_server(|_| HttpResponse::new(200).body("x"));
    let url = server.url("/");
    run_fetch_url_in(directory.path(), ["-o".as_ref(), file, OsStr::new(&url)]).assert_exit(0);
    assert!(directory.path().join(file).exists());
}
