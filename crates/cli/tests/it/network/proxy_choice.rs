//! The choice of the proxy: environment variables, `-x` and `--noproxy`, with the same results as in curl.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::support::curl::run_curl_with_env;
use crate::support::{RunResult, fetch_url_command, http_server, run_command, run_fetch_url, temp_dir};
use fetch_url_tests::{CertFiles, HttpResponse, HttpServer, ProxyServer, ReservedPort, ServerCert};

/// Starts an HTTP server that sends the request target as its body.
fn start_origin() -> HttpServer {
    http_server(|request| HttpResponse::new(200).body(request.target.as_slice()))
}

fn start_http_proxy() -> ProxyServer {
    ProxyServer::http().expect("a proxy on loopback")
}

fn start_tls_origin() -> (HttpServer, CertFiles) {
    let cert = ServerCert::good().expect("a certificate");
    let files = cert.write_files().expect("files");
    (
        HttpServer::start_tls(|_| HttpResponse::new(200).body("safe"), &cert).expect("a server on loopback"),
        files,
    )
}

/// Returns the URL of a path on the server with another host name.
fn url_with_host(name: &str, server: &HttpServer, path: &str) -> String {
    server.url(path).replacen("127.0.0.1", name, 1)
}

/// Runs fetch-url with these environment variables.
fn run_with_env<I>(environment: &[(&str, &str)], arguments: I) -> RunResult
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    let mut command = fetch_url_command();
    command.envs(environment.iter().copied()).args(["--retry", "0"]).args(arguments);
    run_command(command)
}

/// Rows of environment variables and options, and `true` if the request goes through the proxy `P`. `N` is an address
/// on which nothing listens, so that a request to it exits with 7.
#[test]
fn proxy_is_chosen_from_environment_and_options() {
    let (origin, proxy) = (start_origin(), start_http_proxy());
    let (tls_origin, files) = start_tls_origin();
    let ca = files.ca.to_str().expect("UTF-8");
    let closed = ReservedPort::tcp().expect("a port");
    let unreachable_proxy = format!("http://{}", closed.addr());
    for (variables, arguments, is_https, uses_proxy) in [
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
        let replace_placeholder = |text: &str| match text {
            "P" => proxy.url(),
            "BARE" => proxy.addr().to_string(),
            "N" => unreachable_proxy.clone(),
            other => other.to_owned(),
        };
        let variables: Vec<(&str, String)> =
            variables.iter().map(|(name, value)| (*name, replace_placeholder(value))).collect();
        let environment: Vec<(&str, &str)> =
            variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let mut options: Vec<String> = arguments.iter().map(|word| replace_placeholder(word)).collect();
        options.extend([
            "--cacert".to_owned(),
            ca.to_owned(),
            if is_https { tls_origin.url("/x") } else { origin.url("/x") },
        ]);
        let before = proxy.requests().len();
        let result = run_with_env(&environment, &options);
        assert_eq!(
            (result.exit, proxy.requests().len() > before),
            (0, uses_proxy),
            "{environment:?} {options:?}: {}",
            result.stderr
        );
        let before = proxy.requests().len();
        let Some(curl) = run_curl_with_env("/".as_ref(), &environment, &options) else { continue };
        assert_eq!(
            (curl.exit, proxy.requests().len() > before),
            (0, uses_proxy),
            "curl, {environment:?} {options:?}"
        );
    }
}

#[test]
fn no_proxy_list_selects_direct_connections() {
    let (origin, proxy) = (start_origin(), start_http_proxy());
    let mut wrong = Vec::new();
    for (list, host, uses_proxy) in [
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
        let resolve = format!("{host}:{}:127.0.0.1", origin.addr().port());
        let url = url_with_host(host, &origin, "/x");
        let arguments = ["--resolve", &resolve, &url];
        let environment = [("http_proxy", &*proxy.url()), ("no_proxy", list)];
        let mut check = |source: &str, run: &dyn Fn() -> Option<RunResult>| {
            let before = proxy.requests().len();
            let Some(result) = run() else { return };
            let went_through_proxy = proxy.requests().len() > before;
            if (result.exit, went_through_proxy) != (0, uses_proxy) {
                wrong.push(format!(
                    "{source}, {list:?} {host}: exit {}, through the proxy: {went_through_proxy}",
                    result.exit
                ));
            }
        };
        check("no_proxy", &|| Some(run_with_env(&environment, arguments)));
        let options = ["-x", &proxy.url(), "--noproxy", list];
        check("--noproxy", &|| Some(run_fetch_url([options.as_slice(), &arguments].concat())));
        check("curl", &|| run_curl_with_env("/".as_ref(), &environment, arguments));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// As in curl, an invalid proxy matters only for a request that would use it.
#[test]
fn invalid_proxy_variable_fails_only_requests_that_use_it() {
    let origin = start_origin();
    for (environment, exit) in [
        (&[("http_proxy", "::bad::"), ("NO_PROXY", "127.0.0.1")][..], 0),
        (&[("http_proxy", "::bad::"), ("no_proxy", "*")], 0),
        (&[("ALL_PROXY", "http://u:geheim@a b/"), ("no_proxy", "127.0.0.0/8")], 0),
        (&[("https_proxy", "::bad::")], 0),
        (&[("http_proxy", "::bad::"), ("no_proxy", "other.test")], 2),
        (&[("ALL_PROXY", "http://u:geheim@a b/")], 2),
    ] {
        let result = run_with_env(environment, [origin.url("/x")]);
        result.assert_exit(exit);
        if exit == 2 {
            result.assert_stderr_contains(&format!("the proxy in {} is not a valid URL", environment[0].0));
            assert!(!result.stderr.contains("geheim"), "{}", result.stderr);
        }
    }
    let options = ["--noproxy", "127.0.0.1", &origin.url("/x")];
    run_with_env(&[("http_proxy", "::bad::")], options).assert_exit(0);
    run_with_env(
        &[("http_proxy", "::bad::")],
        [concat!("file://", env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")],
    )
    .assert_exit(0);
}

/// `-U` applies to every proxy, and a configuration file may contain it without one.
#[test]
fn proxy_user_applies_to_proxies_of_the_environment_and_of_the_command_line() {
    let origin = start_origin();
    let proxy = ProxyServer::http_with_login("me", "pw").expect("a proxy on loopback");
    let (proxy_url, url) = (proxy.url(), origin.url("/x"));
    let environment = [("http_proxy", proxy_url.as_str())];
    assert_eq!(run_with_env(&environment, [url.as_str()]).exit, 67);
    run_with_env(&environment, ["-U", "me:pw", &url]).assert_exit(0);

    let dir = temp_dir();
    let config = dir.path().join("config");
    fs::write(&config, "proxy-user = \"me:pw\"\n").expect("write file");
    fs::set_permissions(&config, fs::Permissions::from_mode(0o600)).expect("set mode");
    let config = config.to_str().expect("UTF-8");
    run_fetch_url(["-K", config, "-x", &proxy_url, &url]).assert_exit(0);
    run_fetch_url(["-K", config, &origin.url("/x")]).assert_exit(0);
}
