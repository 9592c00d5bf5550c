//! TLS: accepted and refused certificates, and the negotiated HTTP version.

use crate::live::place::{Place, fetch, key};
use crate::live::server::{ALL, CA, Server, each_server};
use crate::live::tree::HELLO;

each_server![http2_is_negotiated, verbatim_targets, without_the_authority];

/// The log of the server contains the protocol version.
fn http2_is_negotiated(server: Server) {
    let key = key();
    fetch(&["--cacert", CA, &server.https(&format!("/hello.txt?{key}"))]).gives(HELLO);
    let line = server.logged(&key);
    assert!(line.contains("HTTP/2.0"), "{line}");
}

fn verbatim_targets(server: Server) {
    let key = key();
    fetch(&["--cacert", CA, &server.https(&format!("/pub/../hello.txt?{key}"))]).gives(HELLO);
    let line = server.logged(&key);
    assert!(line.contains(&format!("/pub/../hello.txt?{key}")), "{line}");
}

/// The test CA is not trusted by the system.
fn without_the_authority(server: Server) {
    fetch(&[&server.https("/hello.txt")]).exits(60).writes("");
    fetch(&[&server.https("/pub/../hello.txt")]).exits(60).writes("");
}

#[track_caller]
fn refused(port: u16, words: &str) {
    for path in ["/hello.txt", "/pub/../hello.txt"] {
        let url = format!("https://localhost:{port}{path}");
        fetch(&["--cacert", CA, &url]).exits(60).writes("").says(words);
        let place = Place::new();
        place.write("old", "old");
        place.fetch(&["--cacert", CA, "-o", "old", &url]).exits(60);
        place.fetch(&["--cacert", CA, "-o", "new", &url]).exits(60);
        place.holds(&["old"]);
        assert_eq!(place.read("old"), b"old");
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn expired() {
    refused(17444, "expired");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn self_signed() {
    refused(17445, "certificate");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn another_name() {
    refused(17446, "not for localhost");
}

/// An IP address in the URL is compared with the IP addresses of the certificate.
#[test]
#[ignore = "needs the servers of docker/"]
fn by_address() {
    for server in ALL {
        let url = server.https("/hello.txt").replace("localhost", "127.0.0.1");
        fetch(&["--cacert", CA, &url]).gives(HELLO);
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn tls_where_there_is_none() {
    for server in ALL {
        let url = format!("https://{}/hello.txt", server.authority());
        fetch(&["--cacert", CA, &url]).exits(35).writes("");
    }
    // The reverse: a TLS port answers a plaintext request with status 400, or not at all.
    let url = ALL[0].https("/hello.txt").replace("https:", "http:");
    fetch(&[&url]).exits(22).says("400");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn an_authority_that_cannot_be_read() {
    fetch(&["--cacert", "no-such-file.pem", &ALL[0].https("/hello.txt")]).exits(2).says("no-such-file.pem");
}
