//! Reports: `-w`, `--events`, `--trace`; they contain no secrets.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use fetch_url_tests::ProxyServer;

use super::server::{APACHE, CA, NGINX};
use super::tree::HELLO;
use super::work_dir::{WorkDir, fetch, key};

#[test]
#[ignore = "needs the servers of docker/"]
fn write_out_variables_describe_the_transfer() {
    let dir = WorkDir::new();
    let format = "%{http_code} %{size_download} %{num_redirects} %{content_type} %{url_effective} %{remote_ip} \
                  %{remote_port} %{scheme} %{exitcode}\\n";
    let row = |url: &str| dir.fetch(&["-s", "--cacert", CA, "-o", "here", "-w", format, url]);
    let told = row(&NGINX.http("/redir/chain/2")).assert_exit(0).text().to_ascii_lowercase();
    assert_eq!(told, "200 13 2 text/plain http://127.0.0.1:17080/hello.txt 127.0.0.1 17080 http 0\n");
    let told = row(&NGINX.https("/hello.txt")).assert_exit(0).text().to_ascii_lowercase();
    assert_eq!(told, "200 13 0 text/plain https://localhost:17443/hello.txt 127.0.0.1 17443 https 0\n");
    let told = row(&NGINX.http("/status/404")).assert_exit(78).text();
    assert!(told.starts_with("404 ") && told.ends_with(" 78\n"), "{told}");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn write_out_is_printed_for_each_url() {
    let urls = [NGINX.http("/hello.txt"), NGINX.http("/status/410"), APACHE.http("/hello.txt")];
    let result = fetch(&["-s", "-w", "[%{http_code}]", &urls[0], &urls[1], &urls[2]]).assert_exit(78);
    assert_eq!(result.text(), format!("{HELLO}[200][410]{HELLO}[200]"));
    let text = fetch(&["-o", "/dev/null", "-w", "%{json}", &urls[0]]).assert_exit(0).text();
    assert!(text.starts_with('{') && text.trim_end().ends_with('}'), "{text}");
    assert!(text.contains("\"http_code\":200") && text.contains("\"size_download\":13"), "{text}");
}

/// One JSON object per line, in chronological order.
#[test]
#[ignore = "needs the servers of docker/"]
fn events_are_written_in_chronological_order() {
    let dir = WorkDir::new();
    let url = APACHE.http(&format!("/cgi/flaky?{}-1", key()));
    dir.fetch(&["--retry", "1", "--events", "events", "-o", "here", &url]).assert_exit(0);
    dir.fetch(&["--events", "hops", "-o", "here", &NGINX.http("/redir/chain/2")]).assert_exit(0);
    dir.fetch(&["--events", "errors", "-o", "here", &NGINX.http("/status/404")]).assert_exit(78);
    let lines = |name: &str| -> Vec<String> {
        let text = String::from_utf8(dir.read(name)).expect("text");
        assert!(text.ends_with('\n'), "{text}");
        text.lines().map(str::to_owned).collect()
    };
    let at = |lines: &[String], word: &str| {
        assert!(lines.iter().all(|line| line.starts_with('{') && line.ends_with('}')), "{lines:#?}");
        lines.iter().position(|line| line.contains(&format!("\"{word}\"")))
    };
    let events = lines("events");
    assert!(
        at(&events, "start") < at(&events, "retry") && at(&events, "retry") < at(&events, "done"),
        "{events:#?}"
    );
    assert!(at(&events, "start").is_some() && at(&events, "error").is_none(), "{events:#?}");
    let events = lines("hops");
    assert_eq!(events.iter().filter(|line| line.contains("\"hop\"")).count(), 2, "{events:#?}");
    let events = lines("errors");
    assert!(at(&events, "error").is_some() && at(&events, "done").is_none(), "{events:#?}");
    assert!(events.iter().any(|line| line.contains("not_found")), "{events:#?}");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn trace_file_contains_requests_and_responses() {
    let dir = WorkDir::new();
    dir.fetch(&["--trace", "trace", "-o", "here", &NGINX.http("/redir/301")]).assert_success("");
    let text = String::from_utf8(dir.read("trace")).expect("text");
    for line in ["GET /redir/301 HTTP/1.1", "HTTP/1.1 301", "GET /hello.txt HTTP/1.1", "HTTP/1.1 200"] {
        assert!(text.contains(line), "{line} is missing in\n{text}");
    }
}

const CANARY: &str = "canary";
/// Base64 of `alice:canary` and `gate:canary`.
const CODED: [&str; 2] = ["YWxpY2U6Y2FuYXJ5", "Z2F0ZTpjYW5hcnk"];

/// Runs with every report and asserts that no report and no other file contains the canary.
#[track_caller]
fn assert_no_secret(dir: &WorkDir, options: &[&str]) {
    let own =
        ["-vvv", "--trace", "trace", "--events", "events", "-w", "%{json}", "-o", "body", "--cacert", CA];
    let result = dir.fetch(&[&own[..], options].concat());
    assert!(!result.err.contains("panicked"), "{}", result.err);
    let mut told = vec![
        ("standard error".to_owned(), result.err.clone()),
        ("standard output".to_owned(), result.text()),
    ];
    for name in dir.names().into_iter().filter(|name| !["body", "netrc", "password"].contains(&name.as_str()))
    {
        told.push((name.clone(), String::from_utf8_lossy(&dir.read(&name)).into_owned()));
    }
    for name in ["trace", "events"] {
        assert!(dir.path(name).exists(), "no {name} of {options:?}");
    }
    for (name, text) in told {
        for secret in [CANARY, CODED[0], CODED[1]] {
            assert!(!text.contains(secret), "{options:?}: {secret} in {name}:\n{text}");
        }
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn reports_contain_no_password_or_token() {
    let dir = WorkDir::new();
    for name in ["netrc", "password"] {
        let text =
            if name == "netrc" { "machine 127.0.0.1 login alice password canary\n" } else { "canary\n" };
        dir.write(name, text);
        fs::set_permissions(dir.path(name), fs::Permissions::from_mode(0o600)).expect("our own file");
    }
    for path in
        ["/headers", "/auth/hello.txt", "/x/../headers", "/redir/away", "/status/404", "/cgi/nph-short"]
    {
        let server = if path.starts_with("/cgi") { APACHE } else { NGINX };
        let url = server.http(path);
        let with_login = url.replace("://", "://alice:canary@");
        assert_no_secret(&dir, &[&with_login]);
        assert_no_secret(&dir, &["-u", "alice:canary", &url]);
        assert_no_secret(&dir, &["--netrc-file", "netrc", &url]);
        assert_no_secret(&dir, &["-u", "alice", "--password-file", "password", &url]);
        assert_no_secret(&dir, &["-H", "Authorization: Bearer canary", &url]);
        assert_no_secret(&dir, &["-H", "Cookie: a=canary", &url]);
        assert_no_secret(&dir, &["-H", "Proxy-Authorization: Basic canary", &url]);
        assert_no_secret(&dir, &["-b", "a=canary", &url]);
        assert_no_secret(&dir, &["--oauth2-bearer", "canary", &url]);
    }
    assert_no_secret(&dir, &["-u", "alice:canary", &NGINX.https("/auth/hello.txt")]);
    assert_no_secret(&dir, &["-u", "alice:canary", "--digest", &APACHE.http("/digest/hello.txt")]);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn reports_contain_no_proxy_password() {
    let dir = WorkDir::new();
    let proxies = [
        ProxyServer::http_with_login("gate", CANARY),
        ProxyServer::http_with_login("gate", "other"),
        ProxyServer::socks5_with_login("gate", CANARY),
        ProxyServer::socks5_with_login("gate", "other"),
    ];
    for proxy in proxies {
        let proxy = proxy.expect("a loopback proxy");
        for url in [NGINX.http("/hello.txt"), NGINX.https("/hello.txt")] {
            assert_no_secret(&dir, &["-x", &proxy.url_as("gate:canary"), &url]);
            assert_no_secret(&dir, &["-x", &proxy.url(), "-U", "gate:canary", &url]);
        }
    }
}
