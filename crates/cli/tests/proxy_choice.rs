//! Which proxy, if any: the environment, `-x` and `--noproxy`, as curl reads them (CLI.md "http").

#![allow(clippy::expect_used, reason = "a helper of tests")]

#[path = "support/curl.rs"]
mod second_opinion;
mod support;

use std::ffi::OsStr;
use std::net::TcpListener;

use fetch_url_tests::{CertFiles, HttpReply, HttpServer, ProxyServer, ServerCert};
use second_opinion::curl_with;
use support::{Ran, command, fetch, ran, serving};

fn origin() -> HttpServer {
    serving(|request| HttpReply::new(200).body(request.target.as_slice()))
}

fn http() -> ProxyServer {
    ProxyServer::http().expect("a proxy on loopback")
}

fn safe_origin() -> (HttpServer, CertFiles) {
    let cert = ServerCert::good().expect("a certificate");
    let files = cert.written().expect("files");
    (HttpServer::start_tls(|_| HttpReply::new(200).body("safe"), &cert).expect("a server on loopback"), files)
}

/// The URL of a path at the origin under another name.
fn under(name: &str, server: &HttpServer, path: &str) -> String {
    server.url(path).replacen("127.0.0.1", name, 1)
}

/// Runs with these variables in the environment.
fn with<I>(environment: &[(&str, &str)], arguments: I) -> Ran
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    let mut command = command();
    command.envs(environment.iter().copied()).args(["--retry", "0"]).args(arguments);
    ran(command)
}

/// A port where nobody listens.
fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").to_string()
}

/// Rows of the environment, and whether the request goes through the proxy `P`; `N` is a proxy where nobody
/// listens, so that to go there ends with 7.
#[test]
fn the_environment() {
    let (origin, proxy) = (origin(), http());
    let (safe, files) = safe_origin();
    let ca = files.ca.to_str().expect("UTF-8");
    let nobody = format!("http://{}", nobody());
    for (variables, arguments, is_https, through) in [
        (&[("http_proxy", "P")][..], &[][..], false, true),
        (&[("http_proxy", "BARE")], &[], false, true),
        (&[("HTTP_PROXY", "N")], &[], false, false),
        (&[("http_proxy", "P")], &[], true, false),
        (&[("https_proxy", "P")], &[], true, true),
        (&[("HTTPS_PROXY", "P")], &[], true, true),
        (&[("https_proxy", "P"), ("HTTPS_PROXY", "N")], &[], true, true),
        (&[("https_proxy", "N")], &[], false, false),
        (&[("all_proxy", "P")], &[], false, true),
        (&[("ALL_PROXY", "P")], &[], true, true),
        (&[("all_proxy", "N"), ("http_proxy", "P")], &[], false, true),
        (&[("all_proxy", "P"), ("https_proxy", "N")], &[], false, true),
        (&[("ftp_proxy", "N")], &[], false, false),
        (&[("http_proxy", "N")], &["-x", ""], false, false),
        (&[("all_proxy", "N")], &["-x", ""], true, false),
        (&[("http_proxy", "N")], &["-x", "P"], false, true),
        (&[("http_proxy", "N"), ("no_proxy", "*")], &[], false, false),
        (&[("http_proxy", "N"), ("NO_PROXY", "127.0.0.1")], &[], false, false),
        (&[("http_proxy", "P"), ("no_proxy", "127.0.0.1")], &["--noproxy", "other.test"], false, true),
        (&[("http_proxy", "P"), ("no_proxy", "*")], &["--noproxy", ""], false, true),
        (&[("http_proxy", "N")], &["--noproxy", "*"], false, false),
        (&[("http_proxy", "")], &[], false, false),
    ] {
        let filled = |text: &str| match text {
            "P" => proxy.url(),
            "BARE" => proxy.addr().to_string(),
            "N" => nobody.clone(),
            other => other.to_owned(),
        };
        let variables: Vec<(&str, String)> =
            variables.iter().map(|(name, value)| (*name, filled(value))).collect();
        let environment: Vec<(&str, &str)> =
            variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let mut words: Vec<String> = arguments.iter().map(|word| filled(word)).collect();
        words.extend([
            "--cacert".to_owned(),
            ca.to_owned(),
            if is_https { safe.url("/x") } else { origin.url("/x") },
        ]);
        let before = proxy.requests().len();
        let ran = with(&environment, &words);
        assert_eq!(
            (ran.exit, proxy.requests().len() > before),
            (0, through),
            "{environment:?} {words:?}: {}",
            ran.stderr
        );
        let before = proxy.requests().len();
        let Some(theirs) = curl_with("/".as_ref(), &environment, &words) else { continue };
        assert_eq!(
            (theirs.exit, proxy.requests().len() > before),
            (0, through),
            "curl, {environment:?} {words:?}"
        );
    }
}

/// Who is asked directly.
#[test]
fn no_proxy() {
    let (origin, proxy) = (origin(), http());
    let mut told = Vec::new();
    for (list, host, through) in [
        ("", "a.test", true),
        ("*", "a.test", false),
        ("a.test", "a.test", false),
        ("A.Test", "a.test", false),
        ("a.test", "A.TEST", false),
        ("a.test", "www.a.test", false),
        (".a.test", "www.a.test", false),
        (".a.test", "a.test", false),
        ("a.test", "xa.test", true),
        ("www.a.test", "a.test", true),
        ("b.test,a.test", "a.test", false),
        ("b.test, a.test", "a.test", false),
        (" a.test ,b.test", "a.test", false),
        ("b.test a.test", "a.test", false),
        ("a.test.", "a.test", false),
        ("test", "a.test", false),
        ("est", "a.test", true),
        ("127.0.0.1", "127.0.0.1", false),
        ("127.0.0.2", "127.0.0.1", true),
        ("127.0.0.0/8", "127.0.0.1", false),
        ("127.0.0.1/32", "127.0.0.1", false),
        ("127.0.0.0/31", "127.0.0.1", false),
        ("127.0.0.2/31", "127.0.0.1", true),
        ("10.0.0.0/8", "127.0.0.1", true),
        ("0.0.0.1", "127.0.0.1", true),
        ("127.0.0.0/8", "localhost", true),
    ] {
        let pin = format!("{host}:{}:127.0.0.1", origin.addr().port());
        let url = under(host, &origin, "/x");
        let arguments = ["--resolve", &pin, &url];
        let environment = [("http_proxy", &*proxy.url()), ("no_proxy", list)];
        let mut check = |who: &str, run: &dyn Fn() -> Option<Ran>| {
            let before = proxy.requests().len();
            let Some(ran) = run() else { return };
            let went = proxy.requests().len() > before;
            if (ran.exit, went) != (0, through) {
                told.push(format!("{who}, {list:?} {host}: exit {}, through the proxy: {went}", ran.exit));
            }
        };
        check("no_proxy", &|| Some(with(&environment, arguments)));
        let given = ["-x", &proxy.url(), "--noproxy", list];
        check("--noproxy", &|| Some(fetch([given.as_slice(), &arguments].concat())));
        check("curl", &|| curl_with("/".as_ref(), &environment, arguments));
    }
    assert!(told.is_empty(), "{}", told.join("\n"));
}
