//! Comparison with curl, if it is installed: the same bytes for the same URLs.

use std::process::{Command, Stdio};

use crate::live::gopher_server::{GopherServer, each_gopher_server};
use crate::live::program::start_other;
use crate::live::server::CA;
use crate::live::tree::{files, odd_files};
use crate::live::work_dir::{WorkDir, fetch};

each_gopher_server![
    files_equal_those_of_curl,
    odd_names_equal_those_of_curl,
    menus_and_searches_equal_those_of_curl,
    tls_items_equal_those_of_curl
];

fn has_curl() -> bool {
    let asked = Command::new("curl").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}

/// Compares the output of curl and fetch-url for `url`, with `options` for fetch-url. Returns `false` if curl fails.
/// curl accepts an end of TLS without close_notify.
#[track_caller]
fn compare_with_curl(options: &[&str], url: &str) -> bool {
    if !has_curl() {
        return true;
    }
    let dir = WorkDir::new();
    let peer =
        start_other("curl", dir.folder(), &["-q", "-s", "-g", "--path-as-is", "--cacert", CA, url]).wait();
    if peer.exit == 0 {
        fetch(&[&["--cacert", CA, "--allow-tls-truncation"], options, &[url]].concat())
            .assert_exit(0)
            .assert_stdout(&peer.out);
    }
    peer.exit == 0
}

fn files_equal_those_of_curl(server: GopherServer) {
    for (path, _) in files() {
        for gtype in ['0', '9'] {
            assert!(compare_with_curl(&[], &server.url(&format!("/{gtype}{path}"))), "{path}");
        }
    }
    assert!(compare_with_curl(&[], &server.url("/9/big.bin")));
}

/// curl sends CR and LF, and does not detect errors.
fn odd_names_equal_those_of_curl(server: GopherServer) {
    for (path, _) in odd_files() {
        let is_refused = ["%0A", "%0D"].iter().any(|byte| path.contains(byte));
        let url = server.url(&format!("/9{path}"));
        if !is_refused && !server.answer(decoded(&path)).starts_with(b"3") {
            assert!(compare_with_curl(&[], &url), "{path}");
        }
    }
}

/// Percent-decodes a path.
fn decoded(path: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let [first, behind @ ..] = rest {
        rest = behind;
        let escape =
            behind.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        match escape.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => bytes.push(*first),
        }
    }
    bytes
}

fn menus_and_searches_equal_those_of_curl(server: GopherServer) {
    for path in [
        "",
        "/",
        "/1",
        "/1/pub",
        "/1/odd",
        "/1/kinds",
        "/1/cgi-bin/ten-thousand",
        "/7/cgi-bin/search%09one%20two",
    ] {
        assert!(compare_with_curl(&["--format", "raw"], &server.url(path)), "{path}");
    }
}

fn tls_items_equal_those_of_curl(server: GopherServer) {
    for path in ["/9/all-bytes.bin", "/9/big.bin", "/0/hello.txt"] {
        assert!(compare_with_curl(&[], &server.tls_url(path)), "{path}");
    }
    assert!(compare_with_curl(&["--format", "raw"], &server.tls_url("/1/odd")));
}
