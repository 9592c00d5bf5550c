//! URLs as people type them: without a scheme, with a misspelt one, or as the path of a file.

use fetch_url_tests::Terminal;

use crate::support::{BINARY, echo_server, run_fetch_url, run_fetch_url_in, temp_dir};

/// Returns the host and the port of a server on loopback.
fn host_and_port() -> (fetch_url_tests::HttpServer, String) {
    let server = echo_server();
    let url = server.url("");
    let host = url.trim_start_matches("http://").trim_end_matches('/').to_owned();
    (server, host)
}

#[test]
fn host_without_a_scheme_is_fetched_over_http() {
    let (server, host) = host_and_port();
    let result = run_fetch_url([format!("{host}/x?y")]);
    assert_eq!(result.assert_exit(0).stderr, "", "a note without a terminal");
    assert_eq!(server.requests()[0].target, b"/x?y");
    // The name of the file and the query of -G are those of the URL.
    let dir = temp_dir();
    let port = host.rsplit(':').next().expect("a port");
    let arguments = ["-O", "-G", "-d", "a=b", &format!("localhost:{port}/name.txt")];
    run_fetch_url_in(dir.path(), arguments).assert_exit(0);
    assert_eq!(server.requests()[1].target, b"/name.txt?a=b");
    assert!(dir.path().join("name.txt").is_file());
}

#[test]
fn login_and_host_without_a_scheme_are_fetched_and_the_password_is_not_printed() {
    let (server, host) = host_and_port();
    let options = ["-v", "--format", "json", "-w", "%{url} %{url_effective} %{json}"];
    for exit in [0, 6] {
        let host = if exit == 0 { &host } else { "no-such-host.invalid" };
        let url = format!("me:canary@{host}/x");
        let result = run_fetch_url(options.iter().chain(&[url.as_str()]));
        result.assert_exit(exit);
        assert!(!result.stdout_text().contains("canary") && !result.stderr.contains("canary"), "{result:?}");
    }
    assert_eq!(server.requests()[0].header_text("authorization"), Some("Basic bWU6Y2FuYXJ5"));
    run_fetch_url([format!("sip:me@{host}")]).assert_exit(1);
}

#[test]
fn host_without_a_scheme_is_accepted_in_an_input_file() {
    let (server, host) = host_and_port();
    let dir = temp_dir();
    std::fs::write(dir.path().join("list"), format!("{host}/one\n")).expect("a file");
    run_fetch_url_in(dir.path(), ["--input-file", "list"]).assert_exit(0);
    assert_eq!(server.requests()[0].target, b"/one");
    assert!(dir.path().join("one").is_file());
}

#[test]
fn note_on_a_terminal_names_the_url_and_no_password() {
    let (_server, host) = host_and_port();
    let url = format!("me@{host}/x");
    for (url, shown) in [(format!("me:canary@{host}/x"), format!("me:******@{host}/x")), (url.clone(), url)] {
        let mut terminal = Terminal::run(BINARY, &[&url, "-o", "/dev/null"], 120).expect("a terminal");
        terminal.expect(&format!("no scheme was given; fetching http://{shown}")).expect("a note");
        assert_eq!(terminal.exit_status().expect("an end"), 0, "{}", terminal.screen());
        assert!(!terminal.screen().contains("canary"), "{}", terminal.screen());
    }
    let url = format!("me@{host}/x");
    let mut terminal = Terminal::run(BINARY, &["-s", &url, "-o", "/dev/null"], 120).expect("a terminal");
    terminal.exit_status().expect("an end");
    assert!(!terminal.screen().contains("scheme"), "{}", terminal.screen());
}

#[test]
fn scheme_of_a_gateway_is_not_a_host() {
    let (server, host) = host_and_port();
    let gateway = format!("rfc=http://{host}/rfc/{{path}}");
    run_fetch_url(["--gateway", &gateway, "rfc:1738"]);
    let result = run_fetch_url(["explain", "--gateway", &gateway, "rfc:1738"]);
    assert!(!result.stdout_text().contains("assumed"), "{result:?}");
    assert!(
        server.requests().iter().all(|request| request.target.starts_with(b"/rfc/")),
        "{:?}",
        server.requests()
    );
}

#[test]
fn proto_default_replaces_the_assumed_scheme() {
    let result = run_fetch_url(["--proto-default", "gopher", "ftp.invalid:7777/x"]);
    result.assert_exit(6).assert_stderr_contains("gopher://ftp.invalid:7777/x");
    for bad in ["nothing", "mailto", ""] {
        run_fetch_url(["--proto-default", bad, "127.0.0.1:1/x"]).assert_exit(2);
    }
}

#[test]
fn path_is_an_error_with_its_file_url() {
    let dir = temp_dir();
    let shown = dir.path().canonicalize().expect("a directory");
    for (text, url) in [
        ("/etc/host name", "file:///etc/host%20name".to_owned()),
        ("./a b#c", format!("file://{}/a%20b%23c", shown.display())),
    ] {
        let result = run_fetch_url_in(dir.path(), [text]);
        result.assert_exit(3).assert_stderr_contains(&format!("  hint: the URL of this file is {url}\n"));
        run_fetch_url_in(dir.path(), ["explain", text]).assert_exit(3).assert_stderr_contains(&url);
    }
}

#[test]
fn misspelt_scheme_is_corrected_by_a_hint_only() {
    for (text, hint, exit) in [
        ("htp://u:canary@127.0.0.1:1/x", "did you mean http://u:******@127.0.0.1:1/x?", 1),
        ("fpt://127.0.0.1:1/x", "did you mean ftp://127.0.0.1:1/x?", 1),
        ("http//127.0.0.1:1/x", "did you mean http://127.0.0.1:1/x?", 3),
        ("sftp://127.0.0.1:1/x", "does not support SSH", 1),
    ] {
        let result = run_fetch_url([text]);
        result.assert_exit(exit).assert_stderr_contains(hint);
        assert!(!result.stderr.contains("canary"), "{}", result.stderr);
    }
}

#[test]
fn explain_completes_the_scheme_in_the_lenient_dialect_only() {
    let result = run_fetch_url(["explain", "ftp.example.org/x"]);
    let text = result.assert_exit(0).stdout_text();
    assert!(text.starts_with("ftp://ftp.example.org/x\n") && text.contains("ftp is assumed"), "{text}");
    let result = run_fetch_url(["explain", "--json", "localhost:80/x"]);
    let value: serde_json::Value = serde_json::from_slice(&result.assert_exit(0).stdout).expect("JSON");
    assert_eq!((&value["url"], &value["added_scheme"]), (&"http://localhost:80/x".into(), &"http".into()));
    run_fetch_url(["explain", "--dialect", "rfc1738", "example.org/x"]).assert_exit(3);
}
