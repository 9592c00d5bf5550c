//! FTP over TLS (RFC 4217; SEMANTICS.md §2, "FTPS"; SECURITY.md, rows 40 to 42 and 102): nothing of a login in the
//! clear when that was asked for, nothing from before the handshake, and the same certificate rules on both
//! connections.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::time::Duration;

use fetch_url_tests::{Act, CertFiles, Ending, FtpServer, FtpSite, Rule, ServerCert, pattern_vec};
use support::{Ran, fetch};

const SIZE: u64 = 100_000;
const CANARY: &str = "KanarienVogel";

struct House {
    cert: ServerCert,
    files: CertFiles,
}

impl House {
    fn new(cert: ServerCert) -> Self {
        let files = cert.written().expect("files");
        Self { cert, files }
    }

    fn good() -> Self {
        Self::new(ServerCert::good().expect("a certificate"))
    }

    fn start(&self, site: FtpSite) -> FtpServer {
        FtpServer::start_tls(site, &self.cert).expect("a server on loopback")
    }

    fn implicit(&self, site: FtpSite) -> FtpServer {
        FtpServer::start_implicit(site, &self.cert).expect("a server on loopback")
    }

    /// Fetches `/a/x` as somebody with a password, with the CA of this house.
    fn run(&self, server: &FtpServer, words: &str) -> Ran {
        let url = server.url("/a/x").replacen("://", &format!("://u:{CANARY}@"), 1);
        let ca = self.files.ca.to_str().expect("UTF-8");
        let common = ["--cacert", ca, "--read-timeout", "2"];
        fetch(common.into_iter().chain(words.split_whitespace()).chain([url.as_str()]))
    }
}

fn site() -> FtpSite {
    FtpSite::new().pattern("/a/x", SIZE).pattern("/a/y", SIZE).user("u", CANARY)
}

#[track_caller]
fn is_whole(ran: &Ran, what: &str) {
    assert_eq!(ran.exit, 0, "{what}: {}", ran.stderr);
    assert!(ran.stdout == pattern_vec(0, SIZE as usize), "{what}: {} octets", ran.stdout.len());
}

fn heard(server: &FtpServer, start: &str) -> bool {
    server.dialogue().iter().any(|line| line.starts_with(start))
}

/// Where a command stands among all that came.
fn place(server: &FtpServer, start: &str) -> usize {
    let lines = server.dialogue();
    lines.iter().position(|line| line.starts_with(start)).unwrap_or_else(|| panic!("no {start} in {lines:?}"))
}

#[test]
fn three_ways_to_ask() {
    let house = House::good();
    for words in ["--ssl-reqd", "--ssl"] {
        let server = house.start(site());
        is_whole(&house.run(&server, words), words);
        assert!(place(&server, "AUTH TLS") < place(&server, "USER"), "{:?}", server.dialogue());
        assert!(place(&server, "PBSZ 0") < place(&server, "PROT P"));
        assert!(place(&server, "PROT P") < place(&server, "RETR"));
        assert_eq!(server.resumed().len(), 1, "the data went in the clear");
    }
    let server = house.implicit(site());
    is_whole(&house.run(&server, ""), "ftps");
    assert!(!heard(&server, "AUTH") && heard(&server, "PROT P") && server.resumed().len() == 1);
    // Without being asked it is in the clear, as ever.
    let server = house.start(site());
    is_whole(&house.run(&server, ""), "plain");
    assert!(!heard(&server, "AUTH") && server.resumed().is_empty());
}

/// Row 40: no fall-back, and no name before TLS.
#[test]
fn a_server_without_tls() {
    let house = House::good();
    for refusal in [
        "500 What?\r\n",
        "502 No.\r\n",
        "504 No.\r\n",
        "431 Not now.\r\n",
        "534 Policy.\r\n",
        "230 In.\r\n",
        "220 Hello.\r\n",
    ] {
        let server = house.start(site().answer("AUTH", refusal));
        let ran = house.run(&server, "--ssl-reqd");
        assert_eq!((ran.exit, ran.stdout.len()), (35, 0), "{refusal:?}: {}", ran.stderr);
        assert!(!heard(&server, "USER") && !heard(&server, "PASS"), "{refusal:?}: {:?}", server.dialogue());
    }
    // `--ssl` only tries.
    let server = house.start(site().answer("AUTH", "502 No.\r\n"));
    is_whole(&house.run(&server, "--ssl"), "--ssl");
    // A handshake that fails is no refusal: whoever is on the way could make it fail.
    let server = house.start(site().answer("AUTH", "234 Go on.\r\n"));
    for words in ["--ssl-reqd", "--ssl"] {
        let ran = house.run(&server, words);
        assert!([28, 35].contains(&ran.exit), "{words}: {ran:?}");
    }
    assert!(!heard(&server, "PASS"), "{:?}", server.dialogue());
    // An ftps URL that meets a plain server.
    let plain = FtpServer::start(site()).expect("a server on loopback");
    let url = plain.url("/a/x").replacen("ftp:", "ftps:", 1).replacen("://", &format!("://u:{CANARY}@"), 1);
    let ran = fetch(["--read-timeout", "2", &url]);
    assert!([35, 28].contains(&ran.exit) && !heard(&plain, "USER"), "{ran:?} {:?}", plain.dialogue());
    // A server that greets by letting everybody in.
    let server = house.start(site().greeting("230 In already."));
    let ran = house.run(&server, "--ssl-reqd");
    assert!(ran.exit != 0 && !heard(&server, "USER") || heard(&server, "PROT P"), "{ran:?}");
}

/// The data stay private, or do not come.
#[test]
fn protection_that_is_refused() {
    let house = House::good();
    for (verb, reply) in [
        ("PROT", "534 No.\r\n"),
        ("PROT", "536 No.\r\n"),
        ("PROT", "500 What?\r\n"),
        ("PBSZ", "500 What?\r\n"),
        ("PBSZ", "503 No.\r\n"),
    ] {
        let server = house.start(site().answer(verb, reply));
        let ran = house.run(&server, "--ssl-reqd");
        assert_eq!((ran.exit, ran.stdout.len()), (35, 0), "{verb} {reply:?}: {}", ran.stderr);
        assert_eq!(server.octets_sent(), 0, "{verb} {reply:?}");
    }
    // 200 to PROT P, and then in the clear.
    let server = house.start(site().on("PROT", Act::ClearData));
    let ran = house.run(&server, "--ssl-reqd");
    assert!([18, 28, 35].contains(&ran.exit) && ran.stdout.is_empty(), "{ran:?}");
}

/// Row 41: what stood there in the clear is never a reply.
#[test]
fn words_before_the_handshake() {
    let house = House::good();
    for words in [
        "230 In.\r\n",
        "331 Password?\r\n",
        "230 In.\r\n200 P\r\n200 P\r\n257 \"/\"\r\n250 Ok\r\n",
        "220 Hello.\r\n",
        "x",
    ] {
        let server = house.start(site().inject_after_auth(words));
        let ran = house.run(&server, "--ssl-reqd");
        // Refused outright, or forgotten: then the login took its whole way.
        let is_forgotten = ran.exit == 0 && heard(&server, &format!("PASS {CANARY}"));
        assert!(
            ran.exit == 35 && !heard(&server, "USER") || is_forgotten,
            "{words:?}: {} {}",
            ran.exit,
            ran.stderr
        );
    }
}

/// Row 42, on the control connection.
#[test]
fn certificates_of_the_server() {
    for cert in [
        ServerCert::expired(),
        ServerCert::not_yet_valid(),
        ServerCert::wrong_name(),
        ServerCert::for_clients(),
    ] {
        let house = House::new(cert.expect("a certificate"));
        for (server, words) in [
            (house.start(site()), "--ssl-reqd"),
            (house.start(site()), "--ssl"),
            (house.implicit(site()), ""),
        ] {
            house.run(&server, words).exits(60);
            assert!(!heard(&server, "USER"), "{words}: {:?}", server.dialogue());
        }
    }
    // Of somebody else's authority; `-k` takes it, and whoever is pinned is checked all the same.
    let (house, stranger) = (House::good(), House::good());
    stranger.run(&house.start(site()), "--ssl-reqd").exits(60);
    is_whole(&stranger.run(&house.start(site()), "--ssl-reqd -k"), "-k");
    let pin = "--pinnedpubkey sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    let server = house.start(site());
    let ran = house.run(&server, &format!("--ssl-reqd {pin}"));
    assert!([60, 35, 90].contains(&ran.exit) && !heard(&server, "USER"), "{ran:?}");
}

/// And on the data connection: the same name, the same authority.
#[test]
fn certificates_of_the_data() {
    for bad in
        [ServerCert::expired(), ServerCert::wrong_name(), ServerCert::good(), ServerCert::self_signed()]
    {
        let house = House::good();
        let server = house.start(site().data_cert(&bad.expect("a certificate")));
        let ran = house.run(&server, "--ssl-reqd");
        assert_eq!((ran.exit, ran.stdout.len()), (60, 0), "{}", ran.stderr);
    }
    let house = House::good();
    let server = house.start(site().data_cert(&ServerCert::wrong_name().expect("a certificate")));
    is_whole(&house.run(&server, "--ssl-reqd -k"), "-k");
}

/// vsftpd's and proftpd's default: a data connection must resume the session of its control connection.
#[test]
fn the_session_is_taken_along() {
    let good = || ServerCert::good().expect("a certificate");
    for (what, cert) in [("1.2", good().only_tls12()), ("1.3", good().only_tls13()), ("any", good())] {
        let house = House::new(cert);
        for implicit in [false, true] {
            let site = site().requires_session_reuse();
            let server = if implicit { house.implicit(site) } else { house.start(site) };
            let words = if implicit { "" } else { "--ssl-reqd" };
            let first = server.url("/a/y").replacen("://", &format!("://u:{CANARY}@"), 1);
            let ran = house.run(&server, &format!("{words} -v {first} {first}"));
            assert_eq!(ran.exit, 0, "{what} {implicit}: {}", ran.stderr);
            assert_eq!(ran.stdout.len() as u64, 3 * SIZE, "{what}");
            assert_eq!(server.resumed(), [true; 3], "{what} {implicit}");
        }
    }
    // Its refusal is the server's word, not an empty file.
    let house = House::good();
    let other = House::good();
    let server = house.start(site().requires_session_reuse().data_cert(&other.cert));
    let ran = house.run(&server, "--ssl-reqd -k");
    assert!(ran.exit != 0 && ran.stdout.is_empty(), "{ran:?}");
}

/// Row 102: an end without close_notify may be anybody's.
#[test]
fn an_end_that_nobody_signed() {
    let house = House::good();
    for (site, what) in [
        (site().on("RETR", Act::CutData(60_000, Ending::Fin)).final_reply("226 Done.\r\n"), "short"),
        (
            site().no("SIZE").on("RETR", Act::CutData(60_000, Ending::Fin)).final_reply("226 Done.\r\n"),
            "no size",
        ),
        (
            site().no("SIZE").on("RETR", Act::CutData(SIZE, Ending::Fin)).final_reply("226 Done.\r\n"),
            "all, no size",
        ),
        (site().on("RETR", Act::CutData(60_000, Ending::Reset)).final_reply("226 Done.\r\n"), "reset"),
    ] {
        for implicit in [false, true] {
            let server = if implicit { house.implicit(site.clone()) } else { house.start(site.clone()) };
            let ran = house.run(&server, if implicit { "" } else { "--ssl-reqd" });
            assert_eq!(ran.exit, 18, "{what} {implicit}: {}", ran.stderr);
        }
    }
}

/// Commands together and one by one, in pieces and late, under TLS too.
#[test]
fn manners() {
    let house = House::good();
    for (what, site) in [
        ("pieces", site().split_replies()),
        ("late", site().delay(Duration::from_millis(100))),
        ("the last word waits for us", site().final_after_client_closes()),
        ("no EPSV", site().no("EPSV")),
        ("thoughtful", site().rule(Rule::on("PASS", Act::Pause(Duration::from_millis(1500))).nth(1))),
    ] {
        let server = house.start(site.clone());
        is_whole(&house.run(&server, "--ssl-reqd"), what);
        assert_eq!(server.connections(), 1, "{what}: {:?}", server.dialogue());
        is_whole(&house.run(&house.implicit(site), ""), what);
    }
    let server = house.start(site());
    is_whole(&house.run(&server, "--ssl-reqd -P -"), "active");
    assert!(heard(&server, "EPRT") && server.resumed().len() == 1);
}

/// The secret is nowhere, and a connection in the clear is not used by somebody who wants TLS (row 45).
#[test]
fn under_tls_or_not_at_all() {
    let house = House::good();
    let server = house.start(site());
    let ran = house.run(&server, "--ssl-reqd -vvv");
    assert!(!ran.stderr.contains(CANARY) && ran.exit == 0, "{}", ran.stderr);
    let url = server.url("/a/y").replacen("://", &format!("://u:{CANARY}@"), 1);
    let before = server.connections();
    house.run(&server, &format!("--ssl-reqd {url}")).exits(0);
    let said = server.commands()[before..]
        .iter()
        .all(|lines| lines.first().is_some_and(|line| line.starts_with(b"AUTH")));
    assert!(said, "{:?}", server.dialogue());
}
