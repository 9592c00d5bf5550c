//! What FTP URLs are on the wire: the command table of SEMANTICS.md §2 (RFC 1738 §3.2.2) against a server that
//! writes down what it hears, and the octets that never go out (SECURITY.md, rows 1 to 4).

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use fetch_url_tests::{Act, EmptyCwd, FtpServer, FtpSite, On};
use support::{BINARY, Ran, alone, command, ensure, fetch, in_parallel, ran};

fn serve(site: FtpSite) -> FtpServer {
    FtpServer::start(site).expect("a server on loopback")
}

/// Under the login directory `/home` and beside it.
fn site() -> FtpSite {
    let site = FtpSite::new().login_directory("/home").file("/etc/motd", "root motd");
    ["c.bin", "c.txt", "dir/one", "dir/two", "b/x", "b/c.bin", "x?y", "x#y"]
        .iter()
        .fold(site, |site, name| site.file(format!("/home/a/{name}"), format!("a {name}\n")))
        .file("/home/b/x", "b x\n")
        .file("/home/etc/motd", "home motd")
        .file("/home/x?y", "question")
        .file("/home/x", "x\n")
}

/// What the server heard after the login, without what any client may ask about the server itself.
fn asked(server: &FtpServer) -> Vec<String> {
    let of_the_server = ["USER", "PASS", "FEAT", "PWD", "SYST", "OPTS", "NOOP", "QUIT", "CLNT"];
    let mut lines = server.dialogue();
    lines.retain(|line| !of_the_server.contains(&line.split(' ').next().unwrap_or_default()));
    lines
}

/// URL path, options, commands and what comes out.
type Row = (&'static str, &'static str, &'static [&'static str], &'static str);

#[track_caller]
fn check(site: &FtpSite, rows: &[Row]) {
    in_parallel(rows, 8, |(path, words, expected, output)| {
        let server = serve(site.clone());
        let url = format!("ftp://{}{path}", server.addr());
        let ran = fetch(words.split_whitespace().chain([url.as_str()]));
        let what = format!("{words} {path:?}");
        ensure(ran.exit == 0, || format!("{what}: exit {} {}", ran.exit, ran.stderr))?;
        // Where EPSV stands among the others is nobody's business, as long as the transfer comes after it.
        let is_epsv = |line: &String| line == "EPSV";
        let (asked, mut expected) = (asked(&server), expected.to_vec());
        expected.retain(|line| *line != "EPSV");
        ensure(asked.iter().filter(|line| is_epsv(line)).count() == 1, || format!("{what}: {asked:?}"))?;
        let others: Vec<&String> = asked.iter().filter(|line| !is_epsv(line)).collect();
        ensure(others == expected, || format!("{what}: {asked:?}"))?;
        ensure(asked.last().is_none_or(|line| !is_epsv(line)), || format!("{what}: {asked:?}"))?;
        ensure(ran.text() == *output, || format!("{what}: {:?}", ran.text()))
    });
}

#[test]
fn the_table() {
    check(
        &site(),
        &[
            ("/x", "", &["TYPE I", "SIZE x", "MDTM x", "EPSV", "RETR x"], "x\n"),
            (
                "/a/b/c.bin",
                "",
                &["CWD a", "CWD b", "TYPE I", "SIZE c.bin", "MDTM c.bin", "EPSV", "RETR c.bin"],
                "a b/c.bin\n",
            ),
            (
                "/%2Fetc/motd",
                "",
                &["CWD /etc", "TYPE I", "SIZE motd", "MDTM motd", "EPSV", "RETR motd"],
                "root motd",
            ),
            (
                "/%2fetc%2Fmotd",
                "",
                &["TYPE I", "SIZE /etc/motd", "MDTM /etc/motd", "EPSV", "RETR /etc/motd"],
                "root motd",
            ),
            (
                "/etc/motd",
                "",
                &["CWD etc", "TYPE I", "SIZE motd", "MDTM motd", "EPSV", "RETR motd"],
                "home motd",
            ),
            (
                "/a%2Fb/c.bin",
                "",
                &["CWD a/b", "TYPE I", "SIZE c.bin", "MDTM c.bin", "EPSV", "RETR c.bin"],
                "a b/c.bin\n",
            ),
            (
                "/a/../b/x",
                "",
                &["CWD a", "CWD ..", "CWD b", "TYPE I", "SIZE x", "MDTM x", "EPSV", "RETR x"],
                "b x\n",
            ),
            ("/x?y", "", &["TYPE I", "SIZE x?y", "MDTM x?y", "EPSV", "RETR x?y"], "question"),
            (
                "/a/x%23y#not-sent",
                "",
                &["CWD a", "TYPE I", "SIZE x#y", "MDTM x#y", "EPSV", "RETR x#y"],
                "a x#y\n",
            ),
            (
                "/a/c.txt;type=i",
                "",
                &["CWD a", "TYPE I", "SIZE c.txt", "MDTM c.txt", "EPSV", "RETR c.txt"],
                "a c.txt\n",
            ),
            // No typecode: a suffix changes nothing.
            (
                "/a/c.txt",
                "",
                &["CWD a", "TYPE I", "SIZE c.txt", "MDTM c.txt", "EPSV", "RETR c.txt"],
                "a c.txt\n",
            ),
        ],
    );
}

/// TYPE A has neither a size nor a position (row 110), and CR LF is a line's end here.
#[test]
fn text() {
    check(
        &site(),
        &[
            ("/a/c.txt;type=a", "", &["CWD a", "TYPE A", "EPSV", "RETR c.txt"], "a c.txt\n"),
            ("/a/c.txt;type=A", "", &["CWD a", "TYPE A", "EPSV", "RETR c.txt"], "a c.txt\n"),
            ("/a/c.txt", "-B", &["CWD a", "TYPE A", "EPSV", "RETR c.txt"], "a c.txt\n"),
            ("/a/c.txt", "--use-ascii", &["CWD a", "TYPE A", "EPSV", "RETR c.txt"], "a c.txt\n"),
            (
                "/a/c.txt;type=i",
                "-B",
                &["CWD a", "TYPE I", "SIZE c.txt", "MDTM c.txt", "EPSV", "RETR c.txt"],
                "a c.txt\n",
            ),
        ],
    );
    // Only CR LF becomes LF, wherever it is cut.
    for (sent, expected) in [
        ("a\r\nb\r\n", "a\nb\n"),
        ("a\rb", "a\rb"),
        ("a\r\r\nb", "a\r\nb"),
        ("a\r", "a\r"),
        ("a\n\r\n", "a\n\n"),
        ("\r\n\r\n", "\n\n"),
    ] {
        let act = |octets: &str| Act::Data(octets.into());
        let drip = Act::Drip(1, std::time::Duration::from_millis(1));
        let server = serve(site().on("RETR", act(sent)).on("RETR", drip));
        let ran = fetch([server.url("/x;type=a")]);
        assert_eq!((ran.exit, ran.text().as_str()), (0, expected), "{sent:?}: {}", ran.stderr);
    }
    // Without being asked not an octet is changed.
    let server = serve(site().file("/home/t.txt", "a\r\nb\rc\n"));
    assert_eq!(fetch([server.url("/t.txt")]).exits(0).text(), "a\r\nb\rc\n");
}

#[test]
fn directories() {
    let two = "one\r\ntwo\r\n";
    let raw = "--format raw";
    check(
        &site().dir("/home/void"),
        &[
            ("", raw, &["EPSV", "NLST"], "a\r\nb\r\netc\r\nvoid\r\nx\r\nx?y\r\n"),
            ("/", raw, &["EPSV", "NLST"], "a\r\nb\r\netc\r\nvoid\r\nx\r\nx?y\r\n"),
            ("/;type=d", raw, &["EPSV", "NLST"], "a\r\nb\r\netc\r\nvoid\r\nx\r\nx?y\r\n"),
            ("/a/dir/", raw, &["CWD a", "CWD dir", "EPSV", "NLST"], two),
            ("/a/dir/;type=d", raw, &["CWD a", "CWD dir", "EPSV", "NLST"], two),
            ("/a/dir/;type=D", raw, &["CWD a", "CWD dir", "EPSV", "NLST"], two),
            ("/%2Fetc/", raw, &["CWD /etc", "EPSV", "NLST"], "motd\r\n"),
            ("/void/", raw, &["CWD void", "EPSV", "NLST"], ""),
        ],
    );
    // Raw is raw: the server's own lines.
    // The name is the argument; the server puts it before each entry.
    let server = serve(site());
    let ran = fetch(["--format", "raw", &server.url("/a/dir;type=d")]);
    assert_eq!(asked(&server), ["CWD a", "EPSV", "NLST dir"]);
    assert!(ran.exits(0).text().contains("one") && ran.text().lines().count() == 2, "{}", ran.text());
}

/// `--list`: a directory whatever it looks like.
#[test]
fn a_directory_by_word() {
    let server = serve(site());
    let ran = fetch(["--format", "raw", "--list", &server.url("/a/dir")]);
    assert!(ran.exits(0).text().contains("two"), "{}", ran.text());
    let asked = asked(&server);
    assert!(asked.last().is_some_and(|line| line.starts_with("NLST")), "{asked:?}");
    assert!(!asked.iter().any(|line| line.starts_with("RETR") || line.starts_with("SIZE")), "{asked:?}");
}

/// `-I`: what is known, and no data connection.
#[test]
fn the_head() {
    let server = serve(site().modified("/home/x", "19941201123456"));
    let ran = fetch(["-I", &server.url("/x")]);
    let (text, asked) = (ran.exits(0).text(), asked(&server));
    assert!(text.contains('2') && text.contains("1994"), "{text}");
    assert!(asked.contains(&"SIZE x".to_owned()) && asked.contains(&"MDTM x".to_owned()), "{asked:?}");
    let opens = |line: &String| ["EPSV", "PASV", "RETR"].iter().any(|verb| line.starts_with(verb));
    assert!(!asked.iter().any(opens) && server.data_connections() == 0, "{asked:?}");
    fetch(["-I", &server.url("/missing")]).exits(78);
}

#[test]
fn ways_to_walk() {
    check(
        &site(),
        &[
            (
                "/a/b/x",
                "--ftp-method rfc1738",
                &["CWD a", "CWD b", "TYPE I", "SIZE x", "MDTM x", "EPSV", "RETR x"],
                "a b/x\n",
            ),
            (
                "/a/b/x",
                "--ftp-method nocwd",
                &["TYPE I", "SIZE a/b/x", "MDTM a/b/x", "EPSV", "RETR a/b/x"],
                "a b/x\n",
            ),
            (
                "/%2Fetc/motd",
                "--ftp-method nocwd",
                &["TYPE I", "SIZE /etc/motd", "MDTM /etc/motd", "EPSV", "RETR /etc/motd"],
                "root motd",
            ),
            (
                "/a/b/x",
                "--ftp-method singlecwd",
                &["CWD a/b", "TYPE I", "SIZE x", "MDTM x", "EPSV", "RETR x"],
                "a b/x\n",
            ),
            ("/x", "--ftp-method singlecwd", &["TYPE I", "SIZE x", "MDTM x", "EPSV", "RETR x"], "x\n"),
            (
                "/a/b/x",
                "--ftp-method auto",
                &["CWD a", "CWD b", "TYPE I", "SIZE x", "MDTM x", "EPSV", "RETR x"],
                "a b/x\n",
            ),
        ],
    );
}

/// A server that lets nobody change its directory.
#[test]
fn a_cwd_that_is_refused() {
    let closed = || serve(site().answer("CWD", "550 Failed to change directory.\r\n"));
    for method in ["rfc1738", "singlecwd"] {
        let server = closed();
        fetch(["--ftp-method", method, &server.url("/a/b/x")]).exits(78);
        assert_eq!(server.octets_sent(), 0, "{method}");
    }
    let server = closed();
    let ran = fetch(["-v", "--ftp-method", "auto", &server.url("/a/b/x")]);
    assert_eq!(ran.exits(0).text(), "a b/x\n");
    let asked = asked(&server);
    assert_eq!(asked.last().map(String::as_str), Some("RETR a/b/x"), "{asked:?}");
    let told = ran.stderr.lines().any(|line| !line.contains("CWD a") && line.contains("CWD"));
    let told = told || ran.stderr.to_lowercase().contains("whole path");
    assert!(told, "-v does not say which way worked: {}", ran.stderr);
}

/// `//etc/motd`: a null argument, whatever the server makes of it.
#[test]
fn null_arguments() {
    for (how, exits) in [(EmptyCwd::GoesHome, 0), (EmptyCwd::Refused, 1), (EmptyCwd::Stays, 1)] {
        let server = serve(site().empty_cwd(how));
        let ran = fetch([server.url("//etc/motd").replacen("/etc", "//etc", 1).replace("///", "//")]);
        let heard = server.commands().concat();
        assert!(heard.contains(&b"CWD ".to_vec()), "{how:?}: {:?}", server.dialogue());
        match exits {
            0 => assert_eq!(ran.exits(0).text(), "home motd"),
            _ => assert!(ran.exit != 0 && ran.stdout.is_empty(), "{how:?}: {ran:?}"),
        }
    }
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
