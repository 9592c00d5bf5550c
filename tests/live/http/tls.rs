//! TLS: accepted and refused certificates, and the negotiated HTTP version.

use crate::live::server::{ALL, CA, Server, each_server};
use crate::live::tree::HELLO;
use crate::live::work_dir::{WorkDir, fetch, key};

each_server![http2_is_negotiated, dot_segments_are_sent_unchanged_over_tls, untrusted_ca_exits_60];

/// The log of the server contains the protocol version.
fn http2_is_negotiated(server: Server) {
    let key = key();
    fetch(&["--cacert", CA, &server.https(&format!("/hello.txt?{key}"))]).assert_success(HELLO);
    let line = server.logged(&key);
    assert!(line.contains("HTTP/2.0"), "{line}");
}

fn dot_segments_are_sent_unchanged_over_tls(server: Server) {
    let key = key();
    fetch(&["--cacert", CA, &server.https(&format!("/pub/../hello.txt?{key}"))]).assert_success(HELLO);
    let line = server.logged(&key);
    assert!(line.contains(&format!("/pub/../hello.txt?{key}")), "{line}");
}

/// The test CA is not trusted by the system.
fn untrusted_ca_exits_60(server: Server) {
    fetch(&[&server.https("/hello.txt")]).assert_exit(60).assert_stdout("");
    fetch(&[&server.https("/pub/../hello.txt")]).assert_exit(60).assert_stdout("");
}

#[track_caller]
fn assert_refused(port: u16, words: &str) {
    for path in ["/hello.txt", "/pub/../hello.txt"] {
        let url = format!("https://localhost:{port}{path}");
        fetch(&["--cacert", CA, &url]).assert_exit(60).assert_stdout("").assert_stderr_contains(words);
        let dir = WorkDir::new();
        dir.write("old", "old");
        dir.fetch(&["--cacert", CA, "-o", "old", &url]).assert_exit(60);
        dir.fetch(&["--cacert", CA, "-o", "new", &url]).assert_exit(60);
        dir.assert_entries(&["old"]);
        assert_eq!(dir.read("old"), b"old");
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn expired_certificate_exits_60() {
    assert_refused(17444, "expired");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn self_signed_certificate_exits_60() {
    assert_refused(17445, "certificate");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn certificate_for_another_name_exits_60() {
    assert_refused(17446, "not for localhost");
}

/// An IP address in the URL is compared with the IP addresses of the certificate.
#[test]
#[ignore = "needs the servers of docker/"]
fn ip_address_in_the_certificate_is_accepted() {
    for server in ALL {
        let url = server.https("/hello.txt").replace("localhost", "127.0.0.1");
        fetch(&["--cacert", CA, &url]).assert_success(HELLO);
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn https_to_a_plain_port_exits_35() {
    for server in ALL {
        let url = format!("https://{}/hello.txt", server.authority());
        fetch(&["--cacert", CA, &url]).assert_exit(35).assert_stdout("");
    }
    // The reverse: a TLS port answers a plaintext request with status 400, or not at all.
    let url = ALL[0].https("/hello.txt").replace("https:", "http:");
    fetch(&[&url]).assert_exit(22).assert_stderr_contains("400");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn missing_ca_file_exits_2() {
    fetch(&["--cacert", "no-such-file.pem", &ALL[0].https("/hello.txt")])
        .assert_exit(2)
        .assert_stderr_contains("no-such-file.pem");
}
