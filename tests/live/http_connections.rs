//! The server, protocol and host name of a connection: TLS options, HTTP versions, `--resolve`, `--connect-to`.

use super::server::{CA, NGINX};
use super::tree::HELLO;
use super::work_dir::{WorkDir, fetch};

const TLS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docker/run/tls");

/// Returns the connection as nginx sees it: HTTP version, TLS version, SNI, Host.
#[track_caller]
fn connection(options: &[&str], url: &str) -> String {
    fetch(&[options, &["--cacert", CA, url]].concat()).assert_exit(0).text()
}

#[test]
#[ignore = "needs the servers of docker/"]
fn http_version_follows_the_option() {
    let url = NGINX.https("/connection");
    assert!(connection(&[], &url).starts_with("HTTP/2.0 "));
    assert!(connection(&["--http2"], &url).starts_with("HTTP/2.0 "));
    assert!(connection(&["--http1.1"], &url).starts_with("HTTP/1.1 "));
    for (options, version) in [(&[][..], "2"), (&["--http1.1"], "1.1")] {
        let dir = WorkDir::new();
        let own = ["--cacert", CA, "-o", "here", "-w", "%{http_version} %{http_code}\\n", &url];
        dir.fetch(&[options, &own].concat()).assert_success(format!("{version} 200\n"));
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn tls_version_follows_the_option() {
    let url = NGINX.https("/connection");
    let old = "https://localhost:17450/connection";
    assert!(connection(&[], &url).contains(" TLSv1.3 "));
    assert!(connection(&["--tls-max", "1.2"], &url).contains(" TLSv1.2 "));
    assert!(connection(&["--tlsv1.2"], &url).contains(" TLSv1.3 "));
    assert_eq!(connection(&[], old), "HTTP/1.1 TLSv1.2\n");
    fetch(&["--cacert", CA, "--tlsv1.3", old]).assert_exit(35).assert_stdout("");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn insecure_option_accepts_invalid_certificates() {
    for port in [17444, 17445, 17446] {
        let url = format!("https://localhost:{port}/hello.txt");
        fetch(&["-k", "--no-fail", &url]).assert_exit(0);
        fetch(&["--cacert", CA, &url]).assert_exit(60);
    }
    assert!(fetch(&["-k", &NGINX.https("/hello.txt")]).assert_exit(0).text() == HELLO);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn client_certificate_is_sent_if_given() {
    let url = "https://localhost:17449/whoami";
    let (cert, key) = (format!("{TLS}/client.pem"), format!("{TLS}/client.key"));
    fetch(&["--cacert", CA, "-E", &cert, "--key", &key, url]).assert_success("CN=client.test.invalid\n");
    fetch(&["--cacert", CA, url]).assert_exit(22).assert_stderr_contains("400");
    // The client certificate is not signed by a CA that the server knows: the server ends the handshake or answers 400.
    let other = format!("{TLS}/selfsigned.pem");
    let result = fetch(&["--cacert", CA, "-E", &other, "--key", &format!("{TLS}/selfsigned.key"), url]);
    assert!([22, 35].contains(&result.exit), "{}", result.err);
    fetch(&["--cacert", CA, "-E", "no-such-file.pem", "--key", &key, url]).assert_exit(2);
    fetch(&["--cacert", CA, "-E", &cert, "--key", &other, url]).assert_exit(2);
}

/// The name is used for SNI, Host and the certificate check.
#[test]
#[ignore = "needs the servers of docker/"]
fn resolve_and_connect_to_keep_the_name_of_the_url() {
    let name = "origin.test.invalid:17443";
    let url = format!("https://{name}/connection");
    let expected = format!("HTTP/2.0 TLSv1.3 sni=origin.test.invalid host={name}\n");
    assert_eq!(connection(&["--resolve", &format!("{name}:127.0.0.1")], &url), expected);
    let ends = format!("{name}:127.0.0.1:17443");
    assert_eq!(connection(&["--connect-to", &ends], &url), expected);
    // To another port: SNI and Host are those of the URL.
    let connection_seen =
        connection(&["--connect-to", "::127.0.0.1:17443"], "https://origin.test.invalid/connection");
    assert_eq!(connection_seen, "HTTP/2.0 TLSv1.3 sni=origin.test.invalid host=origin.test.invalid\n");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn overridden_name_is_checked_against_the_certificate() {
    for name in ["other.invalid:17443", "a.b.test.invalid:17443"] {
        let url = format!("https://{name}/hello.txt");
        fetch(&["--cacert", CA, "--resolve", &format!("{name}:127.0.0.1"), &url])
            .assert_exit(60)
            .assert_stdout("");
        fetch(&["--cacert", CA, "--connect-to", "::127.0.0.1:17443", &url]).assert_exit(60).assert_stdout("");
    }
    // The certificate is for this name only.
    let url = "https://other.invalid:17446/hello.txt";
    let own = ["--cacert", CA, "--resolve", "other.invalid:17446:127.0.0.1", "--no-fail", url];
    fetch(&own).assert_exit(0);
}

/// `.invalid` names do not resolve, so an override for another port does not help.
#[test]
#[ignore = "needs the servers of docker/"]
fn resolve_applies_to_its_port_only() {
    let url = "http://origin.test.invalid:17080/hello.txt";
    fetch(&["--resolve", "origin.test.invalid:17080:127.0.0.1", url]).assert_success(HELLO);
    fetch(&["--resolve", "origin.test.invalid:17081:127.0.0.1", url]).assert_exit(6);
}

/// Returns the SHA-256 of the server's public key, computed by openssl.
fn pin() -> Option<String> {
    let line = format!(
        "openssl x509 -in '{TLS}/server.pem' -pubkey -noout | openssl pkey -pubin -outform der | \
         openssl dgst -sha256 -binary | openssl base64"
    );
    let result = std::process::Command::new("sh").args(["-c", &line]).output().ok()?;
    let text = String::from_utf8(result.stdout).ok()?.trim().to_owned();
    (text.len() == 44).then(|| format!("sha256//{text}"))
}

#[test]
#[ignore = "needs the servers of docker/"]
fn certificate_without_the_pinned_key_is_rejected() {
    let Some(pin) = pin() else { return };
    let other = format!("sha256//{}=", "A".repeat(43));
    let url = NGINX.https("/hello.txt");
    fetch(&["--cacert", CA, "--pinnedpubkey", &pin, &url]).assert_success(HELLO);
    fetch(&["--cacert", CA, "--pinnedpubkey", &format!("{other};{pin}"), &url]).assert_success(HELLO);
    let result = fetch(&["--cacert", CA, "--pinnedpubkey", &other, &url]).assert_stdout("");
    assert!([35, 60, 90].contains(&result.exit), "{}", result.err);
    // The pin is also checked with `-k`.
    let result = fetch(&["-k", "--pinnedpubkey", &other, &url]).assert_stdout("");
    assert!([35, 60, 90].contains(&result.exit), "{}", result.err);
}
