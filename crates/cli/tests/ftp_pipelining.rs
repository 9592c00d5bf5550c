//! Commands that go out together (SEMANTICS.md §2, "Pipelining"; SECURITY.md, rows 80 and 111): fast where the
//! server can do it, and right where it cannot, or says its replies early, late, twice, in pieces or in verse.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use fetch_url_tests::{Act, FtpServer, FtpSite, On, Rule, pattern_vec};
use support::{Ran, fetch, in_parallel};

const SIZE: u64 = 70_000;

fn serve(site: FtpSite) -> FtpServer {
    FtpServer::start(site).expect("a server on loopback")
}

fn site() -> FtpSite {
    FtpSite::new().pattern("/a/b/x", SIZE).pattern("/a/b/y", SIZE + 1).file("/a/b/z", "z")
}

fn is_x(ran: &Ran, what: &str) {
    assert_eq!(ran.exit, 0, "{what}: {}", ran.stderr);
    assert!(ran.stdout == pattern_vec(0, SIZE as usize), "{what}: {} octets", ran.stdout.len());
}

fn logins(server: &FtpServer) -> usize {
    server.dialogue().iter().filter(|line| line.starts_with("USER ")).count()
}

/// Passes a control connection on, and keeps what comes together together: each piece is what the client had
/// written when its pause began.
fn between(server: &FtpServer) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let (addr, there) = (listener.local_addr().expect("an address"), server.addr());
    let pieces = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&pieces);
    thread::spawn(move || {
        let Ok((client, _)) = listener.accept() else { return };
        let Ok(server) = TcpStream::connect(there) else { return };
        let (Ok(from_server), Ok(to_client)) = (server.try_clone(), client.try_clone()) else { return };
        thread::spawn(move || pass(from_server, to_client, |_| {}));
        pass(client, server, |octets| {
            kept.lock().expect("no panic").push(String::from_utf8_lossy(octets).into_owned());
        });
    });
    (addr, pieces)
}

fn pass(mut from: TcpStream, mut to: TcpStream, mut note: impl FnMut(&[u8])) {
    let mut buffer = [0; 16 * 1024];
    loop {
        // Time for all of one write, and for the other side to answer what came before.
        thread::sleep(Duration::from_millis(25));
        match from.read(&mut buffer) {
            Ok(count) if count > 0 => {
                note(&buffer[..count]);
                if to.write_all(&buffer[..count]).is_err() {
                    return;
                }
            }
            _ => {
                let _ = to.shutdown(std::net::Shutdown::Both);
                return;
            }
        }
    }
}

#[test]
fn all_of_it_in_one_piece() {
    let server = serve(site());
    let (addr, pieces) = between(&server);
    let ran = fetch([format!("ftp://u:pw@{addr}/a/b/x")]);
    is_x(&ran, "through a relay");
    let pieces = pieces.lock().expect("no panic").clone();
    let rest = pieces.iter().find(|piece| piece.contains("CWD a")).expect("a CWD");
    for line in ["CWD a\r\n", "CWD b\r\n", "TYPE I\r\n", "SIZE x\r\n", "EPSV\r\n"] {
        assert!(rest.contains(line), "{line:?} came apart: {pieces:?}");
    }
    // USER · PASS · the rest · RETR, and an end.
    assert!(pieces.len() <= 5, "{pieces:?}");
    // A password goes out when it was asked for, and alone.
    assert!(pieces.iter().any(|piece| piece.starts_with("PASS")), "{pieces:?}");
    assert!(!pieces.iter().any(|piece| piece.contains("USER") && piece.contains("PASS")), "{pieces:?}");
}

/// And with a position: REST is part of it.
#[test]
fn a_position_in_the_same_piece() {
    let server = serve(site());
    let (addr, pieces) = between(&server);
    let ran = fetch(["-r", "69990-", &format!("ftp://{addr}/a/b/x")]);
    assert!(ran.exits(0).stdout == pattern_vec(69_990, 10));
    let pieces = pieces.lock().expect("no panic").clone();
    let rest = pieces.iter().find(|piece| piece.contains("CWD a")).expect("a CWD");
    assert!(rest.contains("EPSV\r\n") && pieces.len() <= 6, "{pieces:?}");
}

/// What comes early is lost: once that is noticed, this host is asked one thing at a time.
#[test]
fn a_server_that_wants_one_at_a_time() {
    let server = serve(site().one_at_a_time());
    let urls = ["/a/b/x", "/a/b/y", "/a/b/z", "/a/b/x"].map(|path| server.url(path));
    let begun = Instant::now();
    let ran = fetch(urls.iter().map(String::as_str).chain(["-v"]));
    let size = SIZE as usize;
    let all = [pattern_vec(0, size), pattern_vec(0, size + 1), b"z".to_vec(), pattern_vec(0, size)].concat();
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert!(ran.stdout == all, "{} octets", ran.stdout.len());
    assert!(logins(&server) <= 2, "more than one fall-back: {:?}", server.dialogue());
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    // The password of somebody goes out on each of the two connections at most once.
    let server = serve(site().one_at_a_time().user("u", "pw"));
    is_x(&fetch([server.url("/a/b/x").replacen("://", "://u:pw@", 1)]), "with a login");
    assert!(logins(&server) <= 2, "{:?}", server.dialogue());
}

/// A reply that is missing once, one that is there twice, and two that changed places.
#[test]
fn replies_out_of_step() {
    let once = |on: &str, act: Act| site().rule(Rule::on(on, act).nth(1));
    let nothing = || Act::Answer(Vec::new());
    let rows = [
        ("no reply to CWD", once("CWD", nothing())),
        ("no reply to TYPE", once("TYPE", nothing())),
        ("no reply to SIZE", once("SIZE", nothing())),
        ("no reply to MDTM", once("MDTM", nothing())),
        ("twice CWD", once("CWD", Act::After(b"250 Again.\r\n".to_vec()))),
        ("twice TYPE", once("TYPE", Act::After(b"200 Again.\r\n".to_vec()))),
        ("twice SIZE", once("SIZE", Act::After(b"213 17\r\n".to_vec()))),
        ("a stranger", once("TYPE", Act::Before(b"120 Soon.\r\n".to_vec()))),
        ("a complaint", once("SIZE", Act::Before(b"500 What?\r\n".to_vec()))),
        (
            "the other way round",
            once("TYPE", Act::Reword(Vec::new()))
                .rule(Rule::on("SIZE", Act::After(b"200 Type set.\r\n".to_vec())).nth(1)),
        ),
        ("no sense", once("TYPE", Act::Answer(b"hello\r\n".to_vec()))),
        ("a transfer too early", once("CWD", Act::Before(b"226 Transfer complete.\r\n".to_vec()))),
        ("all too early", once("PASS", Act::After(b"250 a\r\n250 b\r\n200 t\r\n213 1\r\n".to_vec()))),
    ];
    in_parallel(&rows, 6, |(what, site)| {
        let server = serve(site.clone());
        let begun = Instant::now();
        let ran = fetch(["--read-timeout", "3", &server.url("/a/b/x")]);
        let is_right = ran.exit == 0 && ran.stdout == pattern_vec(0, SIZE as usize);
        let is_told =
            [8, 18, 28].contains(&ran.exit) && pattern_vec(0, SIZE as usize).starts_with(&ran.stdout);
        assert!(is_right || is_told, "{what}: {} {} {}", ran.exit, ran.stdout.len(), ran.stderr);
        // What happened once does not happen again: one thing at a time it works.
        assert!(
            is_right || *what == "no sense" && ran.exit == 8,
            "{what} is not repeated one at a time: {} {}",
            ran.exit,
            ran.stderr
        );
        assert!(logins(&server) <= 2, "{what}: {:?}", server.dialogue());
        assert!(begun.elapsed() < Duration::from_secs(8), "{what}: {:?}", begun.elapsed());
        Ok(())
    });
}

/// The same each time: an end, and never another object.
#[test]
fn always_out_of_step() {
    let rows = [
        ("no reply to SIZE", site().answer("SIZE", "")),
        ("twice CWD", site().on("CWD", Act::After(b"250 Again.\r\n".to_vec()))),
        ("twice SIZE", site().on("SIZE", Act::After(b"213 17\r\n".to_vec()))),
        ("no sense", site().answer("CWD", "hello\r\n")),
    ];
    in_parallel(&rows, 4, |(what, site)| {
        let server = serve(site.clone());
        let ran = fetch(["--read-timeout", "1", &server.url("/a/b/x")]);
        let is_right = ran.exit == 0 && ran.stdout == pattern_vec(0, SIZE as usize);
        let is_told = [8, 18, 28].contains(&ran.exit) && ran.stdout.is_empty();
        assert!(is_right || is_told, "{what}: {} {} {}", ran.exit, ran.stdout.len(), ran.stderr);
        assert!(logins(&server) <= 3, "{what}: {:?}", server.dialogue());
        Ok(())
    });
}

/// Late is not lost.
#[test]
fn late_replies() {
    let server = serve(site().delay(Duration::from_millis(600)));
    is_x(&fetch([server.url("/a/b/x")]), "late");
    assert_eq!(server.connections(), 1, "{:?}", server.dialogue());
}

#[test]
fn a_password_that_is_thought_about() {
    in_parallel(&["PASS", "USER"], 2, |verb| {
        let server = serve(site().user("u", "pw").on(*verb, Act::Pause(Duration::from_secs(4))));
        is_x(&fetch([server.url("/a/b/x").replacen("://", "://u:pw@", 1)]), verb);
        assert_eq!((server.connections(), logins(&server)), (1, 1), "{verb}: {:?}", server.dialogue());
        Ok(())
    });
}

#[test]
fn replies_in_pieces() {
    let server = serve(site().split_replies());
    is_x(&fetch([server.url("/a/b/x")]), "octet by octet");
    assert_eq!(server.connections(), 1, "{:?}", server.dialogue());
    let everything: fn(&[u8]) -> bool = |_| true;
    let server = serve(site().on(On::Which(everything), Act::Pause(Duration::from_millis(30))));
    is_x(&fetch([server.url("/a/b/x")]), "one by one");
    assert_eq!(server.connections(), 1, "{:?}", server.dialogue());
}

/// Lines that look like the end of the reply (RFC 959 §4.2), and much that looks like nothing.
#[test]
fn poems() {
    let poem = |code: u16, lines: usize| {
        let verse =
            format!("{code} is not the end\r\n").replacen(' ', "-", 1) + "200 nor this\r\n 226 nor that\r\n";
        format!("{code}-A poem\r\n{}{code}\r\n{code}x\r\n{code} The end.\r\n", verse.repeat(lines))
    };
    let tame = |code: u16| {
        format!(
            "{code}-A poem\r\n {code} indented\r\n{code}-{code} \r\n\r\n-\r\n{code}-\r\n\t{code} tab\r\n{code} The end.\r\n"
        )
    };
    let long = |code: u16| {
        let line = format!("{code}-{}\r\n", "o".repeat(200));
        format!("{}{code} The end.\r\n", line.repeat(250))
    };
    for (what, text) in [("tame", tame as fn(u16) -> String), ("long", long)] {
        let server = serve(
            site()
                .greeting(text(220).trim_end())
                .reword("USER", text(331))
                .reword("PASS", text(230))
                .reword("CWD", text(250))
                .reword("TYPE", text(200))
                .on("RETR", Act::Mark(text(150).into()))
                .reword("RETR", text(226)),
        );
        is_x(&fetch([server.url("/a/b/x")]), what);
        assert_eq!(server.connections(), 1, "{what}: {:?}", server.dialogue());
    }
    // A bare line of another code within: RFC 959 lets the poem go on, suppaftp ends it. Nobody takes harm.
    let server = serve(site().reword("CWD", poem(250, 3)));
    let ran = fetch(["--read-timeout", "2", &server.url("/a/b/x")]);
    assert!([0, 8, 28].contains(&ran.exit), "{ran:?}");
    assert!(ran.exit != 0 || ran.stdout == pattern_vec(0, SIZE as usize));
    // Row 80: 1000 lines or 64 KiB.
    for text in ["250-line\r\n".repeat(3000), format!("250-{}\r\n", "o".repeat(100_000))] {
        let server = serve(site().reword("CWD", format!("{text}250 End\r\n")));
        fetch([server.url("/a/b/x")]).exits(63);
    }
}

/// Words nobody asked for, before and after: never taken for the reply to what comes next.
#[test]
fn unsolicited_words() {
    let rows = [
        ("after the login", "PASS", Act::After(b"226 Transfer complete.\r\n".to_vec())),
        ("beside the data", "RETR", Act::Before(b"226 Transfer complete.\r\n".to_vec())),
        ("behind the data", "RETR", Act::After(b"226 Again.\r\n".to_vec())),
        ("a goodbye", "RETR", Act::After(b"421 Timeout.\r\n".to_vec())),
    ];
    in_parallel(&rows, 4, |(what, on, act)| {
        let server = serve(site().rule(Rule::on(*on, act.clone()).nth(1)));
        let ran = fetch(["--read-timeout", "2", &server.url("/a/b/x"), &server.url("/a/b/y")]);
        let size = SIZE as usize;
        let all = [pattern_vec(0, size), pattern_vec(0, size + 1)].concat();
        assert!(ran.exit != 0 || ran.stdout == all, "{what}: {} octets", ran.stdout.len());
        // Only a transfer whose end was announced before it began may fail.
        assert!(ran.exit == 0 || *what == "beside the data", "{what}: {} {}", ran.exit, ran.stderr);
        Ok(())
    });
}
