//! `gophers:`: TLS from the first byte.

use super::ends::Came as _;
use super::menus::{field, links, named};
use crate::live::digest::sha256;
use crate::live::gopher_server::{GopherServer, PYGOPHERD, each_gopher_server};
use crate::live::place::{Place, fetch, key};
use crate::live::program::Ran;
use crate::live::server::CA;
use crate::live::tree::{BIG, files};

each_gopher_server![
    files_and_menus,
    sixty_four_mebibytes,
    of_one_version,
    of_an_authority_that_is_not_believed,
    of_another_name,
    items_of_the_same_server,
    a_search,
    an_error,
    the_end_of_the_connection,
    an_end_that_was_told,
];

/// pygopherd ends TLS without close_notify: see `the_end_of_the_connection`.
#[track_caller]
fn trusting(more: &[&str]) -> Ran {
    fetch(&[&["--cacert", CA, "--allow-tls-truncation"], more].concat())
}

fn files_and_menus(server: GopherServer) {
    for (path, bytes) in files() {
        let expected = if path.ends_with(".bin") { bytes } else { server.as_text(&bytes) };
        trusting(&[&server.tls_url(&format!("/9{path}"))]).came(expected);
    }
    trusting(&[&server.tls_url("/0/dots/last.txt")]).came(server.as_text(b"first\nlast\n"));
    let menu = trusting(&["--format", "json", &server.tls_url("/1/cgi-bin/ten-thousand")]).exits(0).text();
    assert_eq!(links(&menu).len(), 10_000);
}

fn sixty_four_mebibytes(server: GopherServer) {
    let big = trusting(&[&server.tls_url("/9/big.bin")]).exits(0).out;
    assert_eq!(sha256(&big), BIG);
}

fn of_one_version(server: GopherServer) {
    let expected = server.answer("/about.txt");
    for options in [&["--tls-max", "1.2"][..], &["--tlsv1.3"], &["--tlsv1.2"]] {
        trusting(&[options, &[&server.tls_url("/0/about.txt")]].concat()).came(&expected);
    }
}

/// The selector is confidential: it is not sent before the certificate was verified.
fn of_an_authority_that_is_not_believed(server: GopherServer) {
    let (key, watch) = (key(), server.watch());
    let place = Place::new();
    place.fetch(&["-o", "here", &server.tls_url(&format!("/0/{key}"))]).exits(60);
    place.holds(&[]);
    server.answer(format!("/{key}-last"));
    watch.line(&format!("{key}-last"));
    assert_eq!(watch.all(&key).len(), 1, "{:?}", watch.all(&key));
    fetch(&["-k", "--allow-tls-truncation", &server.tls_url("/0/about.txt")])
        .exits(0)
        .writes(server.answer("/about.txt"));
}

fn of_another_name(server: GopherServer) {
    let url = server.tls_url("/0/about.txt");
    trusting(&[&url.replace("localhost", "127.0.0.1")]).came(server.answer("/about.txt"));
    let other = url.replace("localhost", "wrong.example");
    let port = other.rsplit(':').next().and_then(|rest| rest.split('/').next()).expect("a port").to_owned();
    let to_here = format!("wrong.example:{port}:127.0.0.1");
    trusting(&["--resolve", &to_here, &other]).exits(60).writes("");
}

/// Items on the same server get `gophers:` URLs in a menu that was fetched over TLS.
fn items_of_the_same_server(server: GopherServer) {
    let base = server.tls_url("").replace("localhost", "127.0.0.1");
    let text = trusting(&["--format", "json", &base]).exits(0).text();
    for name in ["About", "All octets", "Relative"] {
        let url = field(named(&text, name), "url").expect("a URL");
        assert!(url.starts_with(&format!("{base}/")), "{url}");
        trusting(&[&url]).exits(0);
    }
    let about = field(named(&text, "About"), "url").expect("a URL");
    trusting(&[&about]).came(server.answer("/about.txt"));
    if server.name != PYGOPHERD.name {
        // Items on another server get `gopher:` URLs.
        let url = field(named(&text, "At pygopherd"), "url");
        assert_eq!(url, Some(PYGOPHERD.url("/0/hello.txt")));
    }
}

fn a_search(server: GopherServer) {
    let (key, watch) = (key(), server.watch());
    let url = server.tls_url(&format!("/7/cgi-bin/search%09{key}"));
    let text = trusting(&["--format", "json", &url]).exits(0).text();
    assert!(text.contains(&format!("found {key}")), "{text}");
    let line = watch.line(&key);
    let is_tls = if server.is_plus { "TLS " } else { "" };
    assert_eq!(line, format!("{is_tls}/cgi-bin/search\\x09{key}"));
}

fn an_error(server: GopherServer) {
    trusting(&[&server.tls_url(&format!("/1/{}/", key()))]).exits(78).writes("").says("not found");
}

/// Binary data ends with the connection, and an attacker on the network path can end a connection.
fn the_end_of_the_connection(server: GopherServer) {
    let place = Place::new();
    let url = server.tls_url("/9/all-bytes.bin");
    let ran = place.fetch(&["--cacert", CA, "-o", "here", &url]);
    if server.is_plus {
        ran.exits(18).says("close_notify");
        assert!(!place.names().contains(&"here".to_owned()), "{:?}", place.names());
        // With the option the end is accepted, but completeness is not proven.
        place.fetch(&["--cacert", CA, "--allow-tls-truncation", "-o", "here", &url]).exits(0);
    } else {
        ran.exits(0);
    }
    assert_eq!(place.read("here"), (0..=255).collect::<Vec<u8>>().repeat(16));
    trusting(&["--require-complete", &url]).exits(18);
}

/// A length or a final dot proves the end, whether or not close_notify follows.
fn an_end_that_was_told(server: GopherServer) {
    let own = ["--cacert", CA, "--require-complete"];
    let last = server.tls_url("/0/dots/last.txt");
    fetch(&[&own[..], &[&last]].concat()).gives(server.as_text(b"first\nlast\n"));
    let menu = server.tls_url("/1/cgi-bin/ten-thousand");
    fetch(&[&own[..], &["--format", "json", &menu]].concat()).exits(0);
    if server.is_plus {
        for path in ["/9/all-bytes.bin", "/0/about.txt", "/9/dot.gif"] {
            let url = server.tls_url(&format!("{path}%09%09+"));
            fetch(&[&own[..], &[&url]].concat()).gives(server.answer(&path[2..]));
        }
    }
}

/// On a plain gopher port, a TLS handshake fails.
#[test]
#[ignore = "needs the servers of docker/"]
fn where_there_is_none() {
    let url = crate::live::gopher_server::GOPHERNICUS.url("/0/about.txt").replace("gopher:", "gophers:");
    let ran = trusting(&["-k", "--connect-timeout", "3", "-m", "5", &url]).writes("");
    assert!([28, 35].contains(&ran.exit), "{} {}", ran.exit, ran.err);
}
