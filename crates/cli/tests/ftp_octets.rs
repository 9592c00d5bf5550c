//! The octets of FTP commands: all but three go out as they are, and those three never, wherever they stood
//! (SEMANTICS.md §2; SECURITY.md, rows 1 to 4).

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use fetch_url_tests::{FtpServer, FtpSite, On};
use support::{BINARY, Ran, alone, command, fetch, ran};

fn serve(site: FtpSite) -> FtpServer {
    FtpServer::start(site).expect("a server on loopback")
}

fn site() -> FtpSite {
    FtpSite::new().file("/x", "object").file("/a/x", "object")
}

fn escaped(octet: usize) -> String {
    format!("%{octet:02X}")
}

/// Row 4: every octet but three arrives as it is, in a name and in a directory.
#[test]
fn all_octets() {
    let allowed: Vec<usize> = (0..256).filter(|octet| ![0, 10, 13].contains(octet)).collect();
    let site = allowed.iter().fold(FtpSite::new(), |site, octet| {
        let name = [b"n", &[*octet as u8][..], b"m"].concat();
        let site = site.file([b"/", &name[..]].concat(), format!("{octet};"));
        site.file([b"/d", &name[..], b"/f"].concat(), format!("{octet}d;"))
    });
    let server = serve(site);
    let base = server.url("");
    let (files, directories): (Vec<String>, Vec<String>) = allowed
        .iter()
        .map(|octet| (format!("{base}n{}m", escaped(*octet)), format!("{base}dn{}m/f", escaped(*octet))))
        .unzip();
    let expected: String = allowed.iter().map(|octet| format!("{octet};")).collect();
    assert_eq!(fetch(files).exits(0).text(), expected);
    assert_eq!(fetch(directories).exits(0).text(), expected.replace(';', "d;"));
    let heard = server.commands().concat();
    for octet in allowed {
        let line = [b"RETR n", &[octet as u8][..], b"m"].concat();
        assert!(heard.contains(&line), "{}", line.escape_ascii());
        let line = [b"CWD dn", &[octet as u8][..], b"m"].concat();
        assert!(heard.contains(&line), "{}", line.escape_ascii());
    }
}

/// BSD takes two 0xFF for one: only after a 550 to the one.
#[test]
fn the_telnet_octet_is_doubled_when_it_must_be() {
    let is_raw: fn(&[u8]) -> bool =
        |line| line.contains(&0xff) && !line.windows(2).any(|pair| pair == [0xff, 0xff]);
    for (path, name) in [("/x%FFy", &b"/x\xffy"[..]), ("/d%FF/f", b"/d\xff/f")] {
        let site = FtpSite::new().telnet().file(name, "found");
        let server = serve(site.answer(On::Which(is_raw), "550 No such file.\r\n"));
        let ran = fetch(["-v", &server.url(path)]);
        assert_eq!((ran.exit, ran.text().as_str()), (0, "found"), "{path}: {}", ran.stderr);
        let heard = server.commands().concat();
        let first = heard.iter().position(|line| is_raw(line));
        let then = heard.iter().position(|line| line.windows(2).any(|pair| pair == [0xff, 0xff]));
        assert!(first.is_some() && first < then, "{:?}", server.dialogue());
    }
    // Where there is no such octet, a 550 is a 550.
    let server = serve(FtpSite::new());
    fetch([server.url("/missing")]).exits(78);
    assert_eq!(server.dialogue().iter().filter(|line| line.starts_with("RETR")).count(), 1);
}

/// Rows 1 to 3: refused before anything is sent, wherever it stands.
#[test]
fn line_ends_and_nul_go_nowhere() {
    let server = serve(site());
    let addr = server.addr();
    for octet in ["%0D", "%0a", "%00", "%0d%0A", "%0D%0ADELE%20x"] {
        for url in [
            format!("ftp://{addr}/x{octet}"),
            format!("ftp://{addr}/{octet}"),
            format!("ftp://{addr}/a{octet}/x"),
            format!("ftp://{addr}/a/{octet}x;type=a"),
            format!("ftp://{addr}/a{octet};type=d"),
            format!("ftp://{addr}/{octet}/"),
            format!("ftp://u{octet}:p@{addr}/x"),
            format!("ftp://u:p{octet}@{addr}/x"),
            format!("ftp://{octet}@{addr}/x"),
            format!("ftps://{addr}/x{octet}"),
        ] {
            for words in ["", "--ftp-method nocwd", "--ftp-method singlecwd", "-I", "--list"] {
                let ran = fetch(words.split_whitespace().chain([url.as_str()]));
                assert_eq!((ran.exit, ran.stdout.len()), (93, 0), "{words} {url}: {}", ran.stderr);
            }
        }
    }
    assert_eq!(server.connections(), 0, "{:?}", server.dialogue());
}

/// The same from everywhere else a login can come from.
#[test]
fn line_ends_in_a_login() {
    let server = serve(site().user("u", "p").account("a"));
    let here = tempfile::tempdir().expect("a directory");
    let put = |name: &str, text: &[u8], mode: u32| {
        fs::write(here.path().join(name), text).expect("a file");
        fs::set_permissions(here.path().join(name), fs::Permissions::from_mode(mode)).expect("a mode");
    };
    put("nul", b"p\0q\n", 0o600);
    put("cr", b"p\rq\n", 0o600);
    put("ask", b"#!/bin/sh\nprintf 'p\\0q\\n'\n", 0o700);
    let mut told = Vec::new();
    for words in [
        &["-u", "u\r\nDELE x:p"][..],
        &["-u", "u:p\r\nDELE x"],
        &["-u", "u:p\n"],
        &["-u", "u\n:p"],
        &["-u", "u:p", "--ftp-account", "a\r\nDELE x"],
        &["-u", "u:p", "--ftp-account", "a\n"],
        &["--ftp-anonymous-email", "me@h\r\nDELE x"],
        &["-u", "u", "--password-file", "nul"],
        &["-u", "u", "--password-file", "cr"],
        &["-u", "u", "--askpass", "./ask"],
    ] {
        let mut command = command();
        command.current_dir(here.path()).args(["--retry", "0"]).args(words).arg(server.url("/x"));
        let ran = ran(command);
        // `-u` may be found out before there is a URL.
        if ![93, 2].contains(&ran.exit) || !ran.stdout.is_empty() {
            told.push(format!("{words:?}: {} {}", ran.exit, ran.stderr));
        }
    }
    let sent: Vec<Vec<u8>> = server.commands().concat();
    let is_bad = |line: &Vec<u8>| line.iter().any(|octet| [0, 10, 13].contains(octet));
    assert!(!sent.iter().any(|line| is_bad(line) || line.starts_with(b"DELE")), "{:?}", server.dialogue());
    assert!(told.is_empty(), "{told:#?}");
}

fn with_netrc(text: &[u8], url: &str) -> Ran {
    let here = tempfile::tempdir().expect("a directory");
    let path = here.path().join("netrc");
    fs::write(&path, text).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("a mode");
    let mut command = std::process::Command::new(BINARY);
    alone(&mut command);
    command.args(["--retry", "0", "--netrc-file"]).arg(&path).arg(url);
    ran(command)
}

#[test]
fn line_ends_in_a_netrc() {
    let server = serve(site());
    for text in [
        &b"machine 127.0.0.1 login u password \"p\\r\\nDELE x\"\n"[..],
        b"machine 127.0.0.1 login \"u\\nDELE x\" password p\n",
        b"machine 127.0.0.1 login u password p\0q\n",
    ] {
        let ran = with_netrc(text, &server.url("/x"));
        assert!([93, 2].contains(&ran.exit), "{}: {ran:?}", text.escape_ascii());
        assert!(!ran.stderr.contains("DELE"), "it shows a password: {}", ran.stderr);
    }
    assert!(!server.dialogue().iter().any(|line| line.contains("DELE") || line.contains('\0')));
}

/// A walk through random paths: whatever `%hh` they hold, a command line is one line (row 1).
#[test]
fn random_paths() {
    let server = serve(FtpSite::new());
    let (mut seed, mut allowed) = (0x2545_f491_4f6c_dd1d_u64, 0);
    let mut next = move |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    for _ in 0..80 {
        let octets: Vec<u8> = (0..=next(6)).map(|_| (next(64) * next(5)) as u8).collect();
        let path: String = octets.iter().map(|octet| format!("%{octet:02x}")).collect();
        let before = server.commands().concat().len();
        let ran = fetch([server.url(&path)]);
        let is_bad = octets.iter().any(|octet| [0, 10, 13].contains(octet));
        let heard = server.commands().concat();
        assert_eq!(ran.exit, if is_bad { 93 } else { 78 }, "{path}: {}", ran.stderr);
        assert_eq!(heard.len() > before, !is_bad, "{path}: {:?}", server.dialogue());
        allowed += usize::from(!is_bad);
        let retr = [b"RETR ", &octets[..]].concat();
        assert!(is_bad || heard[before..].contains(&retr), "{path}: {:?}", server.dialogue());
    }
    assert!((10..70).contains(&allowed), "{allowed}: no good mixture");
    let all = server.commands().concat();
    assert!(!all.iter().flatten().any(|octet| [0, 10, 13].contains(octet)));
}
