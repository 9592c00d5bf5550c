//! `gophers:`: TLS from the first byte.

use super::completeness::AssertOutput as _;
use super::menus::{field, links, named};
use crate::live::gopher_server::{GopherServer, PYGOPHERD, each_gopher_server};
use crate::live::program::RunResult;
use crate::live::server::CA;
use crate::live::tree::{BIG, files};
use crate::live::work_dir::{WorkDir, fetch, key};
use fetch_url_tests::sha256;

each_gopher_server![
    files_and_menus_over_tls_equal_the_tree,
    item_of_64_mib_over_tls_is_unchanged,
    each_tls_version_fetches_the_item,
    untrusted_ca_exits_60_before_the_request,
    certificate_for_another_name_exits_60,
    menu_items_on_the_same_server_get_gophers_urls,
    search_over_tls_returns_a_menu,
    missing_menu_over_tls_exits_78,
    end_without_close_notify_exits_18_unless_allowed,
    only_announced_length_or_dot_proves_the_end_without_close_notify,
];

/// pygopherd ends TLS without close_notify: see `end_without_close_notify_exits_18_unless_allowed`.
#[track_caller]
fn trusting(more: &[&str]) -> RunResult {
    fetch(&[&["--cacert", CA, "--allow-tls-truncation"], more].concat())
}

fn files_and_menus_over_tls_equal_the_tree(server: GopherServer) {
    for (path, bytes) in files() {
        let expected = if path.ends_with(".bin") { bytes } else { server.as_text(&bytes) };
        trusting(&[&server.tls_url(&format!("/9{path}"))]).assert_output_with_note(expected);
    }
    trusting(&[&server.tls_url("/0/dots/last.txt")])
        .assert_output_with_note(server.as_text(b"first\nlast\n"));
    let menu =
        trusting(&["--format", "json", &server.tls_url("/1/cgi-bin/ten-thousand")]).assert_exit(0).text();
    assert_eq!(links(&menu).len(), 10_000);
}

fn item_of_64_mib_over_tls_is_unchanged(server: GopherServer) {
    let big = trusting(&[&server.tls_url("/9/big.bin")]).assert_exit(0).out;
    assert_eq!(sha256(&big), BIG);
}

fn each_tls_version_fetches_the_item(server: GopherServer) {
    let expected = server.answer("/about.txt");
    for options in [&["--tls-max", "1.2"][..], &["--tlsv1.3"], &["--tlsv1.2"]] {
        trusting(&[options, &[&server.tls_url("/0/about.txt")]].concat()).assert_output_with_note(&expected);
    }
}

/// The selector is confidential: it is not sent before the certificate was verified.
fn untrusted_ca_exits_60_before_the_request(server: GopherServer) {
    let (key, watch) = (key(), server.watch());
    let dir = WorkDir::new();
    dir.fetch(&["-o", "here", &server.tls_url(&format!("/0/{key}"))]).assert_exit(60);
    dir.assert_entries(&[]);
    server.answer(format!("/{key}-last"));
    watch.line(&format!("{key}-last"));
    assert_eq!(watch.all(&key).len(), 1, "{:?}", watch.all(&key));
    fetch(&["-k", "--allow-tls-truncation", &server.tls_url("/0/about.txt")])
        .assert_exit(0)
        .assert_stdout(server.answer("/about.txt"));
}

fn certificate_for_another_name_exits_60(server: GopherServer) {
    let url = server.tls_url("/0/about.txt");
    trusting(&[&url.replace("localhost", "127.0.0.1")]).assert_output_with_note(server.answer("/about.txt"));
    let other = url.replace("localhost", "wrong.example");
    let port = other.rsplit(':').next().and_then(|rest| rest.split('/').next()).expect("a port").to_owned();
    let to_here = format!("wrong.example:{port}:127.0.0.1");
    trusting(&["--resolve", &to_here, &other]).assert_exit(60).assert_stdout("");
}

/// Items on the same server get `gophers:` URLs in a menu that was fetched over TLS.
fn menu_items_on_the_same_server_get_gophers_urls(server: GopherServer) {
    let base = server.tls_url("").replace("localhost", "127.0.0.1");
    let text = trusting(&["--format", "json", &base]).assert_exit(0).text();
    for name in ["About", "All octets", "Relative"] {
        let url = field(named(&text, name), "url").expect("a URL");
        assert!(url.starts_with(&format!("{base}/")), "{url}");
        trusting(&[&url]).assert_exit(0);
    }
    let about = field(named(&text, "About"), "url").expect("a URL");
    trusting(&[&about]).assert_output_with_note(server.answer("/about.txt"));
    if server.name != PYGOPHERD.name {
        // Items on another server get `gopher:` URLs.
        let url = field(named(&text, "At pygopherd"), "url");
        assert_eq!(url, Some(PYGOPHERD.url("/0/hello.txt")));
    }
}

fn search_over_tls_returns_a_menu(server: GopherServer) {
    let (key, watch) = (key(), server.watch());
    let url = server.tls_url(&format!("/7/cgi-bin/search%09{key}"));
    let text = trusting(&["--format", "json", &url]).assert_exit(0).text();
    assert!(text.contains(&format!("found {key}")), "{text}");
    let line = watch.line(&key);
    let is_tls = if server.is_plus { "TLS " } else { "" };
    assert_eq!(line, format!("{is_tls}/cgi-bin/search\\x09{key}"));
}

fn missing_menu_over_tls_exits_78(server: GopherServer) {
    trusting(&[&server.tls_url(&format!("/1/{}/", key()))])
        .assert_exit(78)
        .assert_stdout("")
        .assert_stderr_contains("not found");
}

/// Binary data ends with the connection, and an attacker on the network path can end a connection.
fn end_without_close_notify_exits_18_unless_allowed(server: GopherServer) {
    let dir = WorkDir::new();
    let url = server.tls_url("/9/all-bytes.bin");
    let result = dir.fetch(&["--cacert", CA, "-o", "here", &url]);
    if server.is_plus {
        result.assert_exit(18).assert_stderr_contains("close_notify");
        assert!(!dir.names().contains(&"here".to_owned()), "{:?}", dir.names());
        // With the option the end is accepted, but completeness is not proven.
        dir.fetch(&["--cacert", CA, "--allow-tls-truncation", "-o", "here", &url]).assert_exit(0);
    } else {
        result.assert_exit(0);
    }
    assert_eq!(dir.read("here"), (0..=255).collect::<Vec<u8>>().repeat(16));
    trusting(&["--require-complete", &url]).assert_exit(18);
}

/// The line of one dot may be part of a text that was cut after it, so that it proves the end only with close_notify or
/// if Gopher+ has announced it.
fn only_announced_length_or_dot_proves_the_end_without_close_notify(server: GopherServer) {
    let own = ["--cacert", CA, "--require-complete"];
    let last = server.tls_url("/0/dots/last.txt");
    let menu = server.tls_url("/1/cgi-bin/ten-thousand");
    for options in [&[&*last][..], &["--format", "json", &menu]] {
        fetch(&[&own[..], options].concat()).assert_exit(if server.is_plus { 18 } else { 0 });
        fetch(&[&own[..2], options].concat()).assert_exit(0);
    }
    trusting(&["--require-complete", &last]).assert_success(server.as_text(b"first\nlast\n"));
    if server.is_plus {
        for path in ["/9/all-bytes.bin", "/0/about.txt", "/9/dot.gif"] {
            let url = server.tls_url(&format!("{path}%09%09+"));
            fetch(&[&own[..], &[&url]].concat()).assert_success(server.answer(&path[2..]));
        }
    }
}

/// On a plain gopher port, a TLS handshake fails.
#[test]
#[ignore = "needs the servers of docker/"]
fn gophers_to_a_plain_port_exits_28_or_35() {
    let url = crate::live::gopher_server::GOPHERNICUS.url("/0/about.txt").replace("gopher:", "gophers:");
    let result = trusting(&["-k", "--connect-timeout", "3", "-m", "5", &url]).assert_stdout("");
    assert!([28, 35].contains(&result.exit), "{} {}", result.exit, result.err);
}
