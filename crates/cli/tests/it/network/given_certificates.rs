//! `--cacert` with the certificate of the server itself, as created by `openssl req -x509`: self-signed, `CA:TRUE`.

use std::path::Path;

use crate::support::curl::run_curl;
use crate::support::{RunResult, run_fetch_url};
use fetch_url_tests::{HttpResponse, HttpServer, ServerCert};

fn start_tls_server(cert: &ServerCert) -> HttpServer {
    HttpServer::start_tls(|_| HttpResponse::new(200).body("safe"), cert).expect("a server on loopback")
}

fn fetch_with_cacert(ca: &Path, url: &str) -> RunResult {
    run_fetch_url(["--cacert".as_ref(), ca.as_os_str(), url.as_ref()])
}

#[test]
fn self_signed_ca_certificate_is_accepted_with_cacert() {
    for cert in [ServerCert::self_signed_ca(), ServerCert::self_signed_ca_with_key_usage()] {
        let cert = cert.expect("a certificate");
        let (server, files) = (start_tls_server(&cert), cert.write_files().expect("files"));
        for host in ["127.0.0.1", "localhost"] {
            let url = server.url("/").replace("127.0.0.1", host);
            assert_eq!(fetch_with_cacert(&files.ca, &url).assert_exit(0).stdout_text(), "safe", "{host}");
            let options = ["--cacert".as_ref(), files.ca.as_os_str(), url.as_ref()];
            if let Some(curl) = run_curl("/".as_ref(), options) {
                assert_eq!(curl.assert_exit(0).stdout_text(), "safe", "curl, {host}");
            }
        }
    }
}

#[test]
fn self_signed_ca_certificate_is_rejected_without_cacert_or_if_invalid() {
    let given = ServerCert::self_signed_ca().expect("a certificate");
    let files = given.write_files().expect("files");
    let server = start_tls_server(&ServerCert::self_signed_ca().expect("a certificate"));
    let words = "that of an authority (CA:TRUE), not of a server";
    // A certificate with the same names, but not the one passed with --cacert.
    fetch_with_cacert(&files.ca, &server.url("/")).assert_exit(60).assert_stderr_contains(words);
    // Without --cacert, the certificate authorities of the system are used.
    let result = run_fetch_url([start_tls_server(&given).url("/")]);
    result.assert_exit(60).assert_stderr_contains(words).assert_stderr_contains("--cacert");
    for (cert, words) in [
        (ServerCert::self_signed_ca_for_names(&["other.test"]), "is for other.test, not for 127.0.0.1"),
        (ServerCert::expired_self_signed_ca(), "expired on Mon, 01 Jan 2001"),
        (ServerCert::client_only_self_signed_ca(), "not for servers"),
    ] {
        let cert = cert.expect("a certificate");
        let (server, files) = (start_tls_server(&cert), cert.write_files().expect("files"));
        fetch_with_cacert(&files.ca, &server.url("/")).assert_exit(60).assert_stderr_contains(words);
        assert!(server.requests().is_empty(), "{words}");
    }
}
