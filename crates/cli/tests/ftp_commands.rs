//! What FTP URLs are on the wire: the command table of SEMANTICS.md §2 (RFC 1738 §3.2.2) against a server that
//! writes down what it hears. Which octets go out is in `ftp_octets.rs`.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use fetch_url_tests::{Act, EmptyCwd, FtpServer, FtpSite};
use support::{ensure, fetch, in_parallel};

fn serve(site: FtpSite) -> FtpServer {
    FtpServer::start(site).expect("a server on loopback")
}

/// Under the login directory `/base` and beside it.
fn site() -> FtpSite {
    let site = FtpSite::new().login_directory("/base").file("/etc/motd", "far motd");
    ["c.bin", "c.txt", "dir/one", "dir/two", "b/x", "b/c.bin", "x?y", "x#y"]
        .iter()
        .fold(site, |site, name| site.file(format!("/base/a/{name}"), format!("a {name}\n")))
        .file("/base/b/x", "b x\n")
        .file("/base/etc/motd", "base motd")
        .file("/base/x?y", "question")
        .file("/base/x", "x\n")
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
                "far motd",
            ),
            (
                "/%2fetc%2Fmotd",
                "",
                &["TYPE I", "SIZE /etc/motd", "MDTM /etc/motd", "EPSV", "RETR /etc/motd"],
                "far motd",
            ),
            (
                "/etc/motd",
                "",
                &["CWD etc", "TYPE I", "SIZE motd", "MDTM motd", "EPSV", "RETR motd"],
                "base motd",
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
    let server = serve(site().file("/base/t.txt", "a\r\nb\rc\n"));
    assert_eq!(fetch([server.url("/t.txt")]).exits(0).text(), "a\r\nb\rc\n");
}

#[test]
fn directories() {
    let two = "one\r\ntwo\r\n";
    let raw = "--format raw";
    check(
        &site().dir("/base/void"),
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
    let server = serve(site().modified("/base/x", "19941201123456"));
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
                "far motd",
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
            0 => assert_eq!(ran.exits(0).text(), "base motd"),
            _ => assert!(ran.exit != 0 && ran.stdout.is_empty(), "{how:?}: {ran:?}"),
        }
    }
}
