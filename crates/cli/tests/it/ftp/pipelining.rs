//! Pipelined FTP commands (docs/spec/semantics.md §2, "Pipelining"; docs/spec/faults.md, rows 80 and 111): several
//! commands in one segment if the server supports it, and correct results if the server loses commands or sends
//! replies early, late, twice, in pieces or with many lines.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{RunResult, check_in_parallel, run_fetch_url};
use fetch_url_tests::{FtpAction, FtpConfig, FtpRule, FtpServer, FtpTrigger, pattern_vec};

const SIZE: u64 = 70_000;

fn start_server(config: FtpConfig) -> FtpServer {
    FtpServer::start(config).expect("start server")
}

fn test_config() -> FtpConfig {
    FtpConfig::new().pattern("/a/b/x", SIZE).pattern("/a/b/y", SIZE + 1).file("/a/b/z", "z")
}

fn assert_is_x(result: &RunResult, case: &str) {
    assert_eq!(result.exit, 0, "{case}: {}", result.stderr);
    assert!(result.stdout == pattern_vec(0, SIZE as usize), "{case}: {} bytes", result.stdout.len());
}

fn count_logins(server: &FtpServer) -> usize {
    server.received_text().iter().filter(|line| line.starts_with("USER ")).count()
}

/// Starts a relay for one control connection. It records what the client sends in pieces: each piece is all that was
/// written before the client paused.
fn start_relay(server: &FtpServer) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind a port");
    let (addr, server_addr) = (listener.local_addr().expect("local address"), server.addr());
    let pieces = Arc::new(Mutex::new(Vec::new()));
    let recorded = Arc::clone(&pieces);
    thread::spawn(move || {
        let Ok((client, _)) = listener.accept() else { return };
        let Ok(server) = TcpStream::connect(server_addr) else { return };
        let (Ok(from_server), Ok(to_client)) = (server.try_clone(), client.try_clone()) else { return };
        thread::spawn(move || forward(from_server, to_client, |_| {}));
        forward(client, server, |bytes| {
            recorded.lock().expect("lock is not poisoned").push(String::from_utf8_lossy(bytes).into_owned());
        });
    });
    (addr, pieces)
}

fn forward(mut from: TcpStream, mut to: TcpStream, mut record: impl FnMut(&[u8])) {
    let mut buffer = [0; 16 * 1024];
    loop {
        // Wait until one write is complete and the other side has replied to the piece before.
        thread::sleep(Duration::from_millis(25));
        match from.read(&mut buffer) {
            Ok(count) if count > 0 => {
                record(&buffer[..count]);
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
fn commands_after_login_are_sent_in_one_piece() {
    let server = start_server(test_config());
    let (addr, pieces) = start_relay(&server);
    let result = run_fetch_url([format!("ftp://u:pw@{addr}/a/b/x")]);
    assert_is_x(&result, "through a relay");
    let pieces = pieces.lock().expect("lock is not poisoned").clone();
    let pipelined = pieces.iter().find(|piece| piece.contains("CWD a")).expect("a piece with CWD");
    for line in ["CWD a\r\n", "CWD b\r\n", "TYPE I\r\n", "SIZE x\r\n", "EPSV\r\n"] {
        assert!(pipelined.contains(line), "{line:?} is not in the pipelined piece: {pieces:?}");
    }
    // USER, PASS, the pipelined commands, RETR and QUIT.
    assert!(pieces.len() <= 5, "{pieces:?}");
    // PASS is sent only after the reply to USER, in a piece of its own.
    assert!(pieces.iter().any(|piece| piece.starts_with("PASS")), "{pieces:?}");
    assert!(!pieces.iter().any(|piece| piece.contains("USER") && piece.contains("PASS")), "{pieces:?}");
}

/// With a range, REST is pipelined as well.
#[test]
fn range_request_is_pipelined_with_the_setup_commands() {
    let server = start_server(test_config());
    let (addr, pieces) = start_relay(&server);
    let result = run_fetch_url(["-r", "69990-", &format!("ftp://{addr}/a/b/x")]);
    assert!(result.assert_exit(0).stdout == pattern_vec(69_990, 10));
    let pieces = pieces.lock().expect("lock is not poisoned").clone();
    let pipelined = pieces.iter().find(|piece| piece.contains("CWD a")).expect("a piece with CWD");
    assert!(pipelined.contains("EPSV\r\n") && pieces.len() <= 6, "{pieces:?}");
}

/// The server discards commands that arrive before its reply. After one failure, commands are sent one by one.
#[test]
fn server_without_pipelining_costs_at_most_one_reconnect() {
    let server = start_server(test_config().drops_pipelined_commands());
    let urls = ["/a/b/x", "/a/b/y", "/a/b/z", "/a/b/x"].map(|path| server.url(path));
    let started = Instant::now();
    let result = run_fetch_url(urls.iter().map(String::as_str).chain(["-v"]));
    let size = SIZE as usize;
    let all = [pattern_vec(0, size), pattern_vec(0, size + 1), b"z".to_vec(), pattern_vec(0, size)].concat();
    assert_eq!(result.exit, 0, "{}", result.stderr);
    assert!(result.stdout == all, "{} bytes", result.stdout.len());
    assert!(count_logins(&server) <= 2, "more than one reconnect: {:?}", server.received_text());
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
    // The password is sent at most once on each of the two connections.
    let server = start_server(test_config().drops_pipelined_commands().user("u", "pw"));
    assert_is_x(&run_fetch_url([server.url("/a/b/x").replacen("://", "://u:pw@", 1)]), "with a login");
    assert!(count_logins(&server) <= 2, "{:?}", server.received_text());
}

/// One reply is missing, duplicated or swapped with another one.
#[test]
fn single_misplaced_reply_is_repaired_without_pipelining() {
    let fail_once = |on: &str, act: FtpAction| test_config().rule(FtpRule::on(on, act).nth(1));
    let no_reply = || FtpAction::Answer(Vec::new());
    let rows = [
        ("no reply to CWD", fail_once("CWD", no_reply())),
        ("no reply to TYPE", fail_once("TYPE", no_reply())),
        ("no reply to SIZE", fail_once("SIZE", no_reply())),
        ("no reply to MDTM", fail_once("MDTM", no_reply())),
        ("two replies to CWD", fail_once("CWD", FtpAction::After(b"250 Again.\r\n".to_vec()))),
        ("two replies to TYPE", fail_once("TYPE", FtpAction::After(b"200 Again.\r\n".to_vec()))),
        ("two replies to SIZE", fail_once("SIZE", FtpAction::After(b"213 17\r\n".to_vec()))),
        ("an unrelated 120", fail_once("TYPE", FtpAction::Before(b"120 Soon.\r\n".to_vec()))),
        ("an unrelated 500", fail_once("SIZE", FtpAction::Before(b"500 What?\r\n".to_vec()))),
        (
            "replies swapped",
            fail_once("TYPE", FtpAction::ReplaceReply(Vec::new()))
                .rule(FtpRule::on("SIZE", FtpAction::After(b"200 Type set.\r\n".to_vec())).nth(1)),
        ),
        ("a malformed reply", fail_once("TYPE", FtpAction::Answer(b"hello\r\n".to_vec()))),
        ("a 226 too early", fail_once("CWD", FtpAction::Before(b"226 Transfer complete.\r\n".to_vec()))),
        (
            "all replies too early",
            fail_once("PASS", FtpAction::After(b"250 a\r\n250 b\r\n200 t\r\n213 1\r\n".to_vec())),
        ),
    ];
    check_in_parallel(&rows, 6, |(case, config)| {
        let server = start_server(config.clone());
        let started = Instant::now();
        let result = run_fetch_url(["--read-timeout", "3", &server.url("/a/b/x")]);
        let is_correct = result.exit == 0 && result.stdout == pattern_vec(0, SIZE as usize);
        let is_reported =
            [8, 18, 28].contains(&result.exit) && pattern_vec(0, SIZE as usize).starts_with(&result.stdout);
        assert!(
            is_correct || is_reported,
            "{case}: {} {} {}",
            result.exit,
            result.stdout.len(),
            result.stderr
        );
        // The fault happens once, so the second attempt without pipelining succeeds.
        assert!(
            is_correct || *case == "a malformed reply" && result.exit == 8,
            "{case}: not retried without pipelining: {} {}",
            result.exit,
            result.stderr
        );
        assert!(count_logins(&server) <= 2, "{case}: {:?}", server.received_text());
        assert!(started.elapsed() < Duration::from_secs(8), "{case}: {:?}", started.elapsed());
        Ok(())
    });
}

/// The fault happens on every connection: the transfer fails or succeeds, but never delivers wrong data.
#[test]
fn permanent_misplaced_replies_never_deliver_wrong_data() {
    let rows = [
        ("no reply to SIZE", test_config().answer("SIZE", "")),
        ("two replies to CWD", test_config().on("CWD", FtpAction::After(b"250 Again.\r\n".to_vec()))),
        ("two replies to SIZE", test_config().on("SIZE", FtpAction::After(b"213 17\r\n".to_vec()))),
        ("a malformed reply", test_config().answer("CWD", "hello\r\n")),
    ];
    check_in_parallel(&rows, 4, |(case, config)| {
        let server = start_server(config.clone());
        let result = run_fetch_url(["--read-timeout", "1", &server.url("/a/b/x")]);
        let is_correct = result.exit == 0 && result.stdout == pattern_vec(0, SIZE as usize);
        let is_reported = [8, 18, 28].contains(&result.exit) && result.stdout.is_empty();
        assert!(
            is_correct || is_reported,
            "{case}: {} {} {}",
            result.exit,
            result.stdout.len(),
            result.stderr
        );
        assert!(count_logins(&server) <= 3, "{case}: {:?}", server.received_text());
        Ok(())
    });
}

/// Replies that take 600 ms are not treated as lost.
#[test]
fn late_replies_do_not_cause_a_reconnect() {
    let server = start_server(test_config().delay(Duration::from_millis(600)));
    assert_is_x(&run_fetch_url([server.url("/a/b/x")]), "late");
    assert_eq!(server.connections(), 1, "{:?}", server.received_text());
}

#[test]
fn slow_login_replies_do_not_cause_a_reconnect() {
    check_in_parallel(&["PASS", "USER"], 2, |verb| {
        let server =
            start_server(test_config().user("u", "pw").on(*verb, FtpAction::Pause(Duration::from_secs(4))));
        assert_is_x(&run_fetch_url([server.url("/a/b/x").replacen("://", "://u:pw@", 1)]), verb);
        assert_eq!(
            (server.connections(), count_logins(&server)),
            (1, 1),
            "{verb}: {:?}",
            server.received_text()
        );
        Ok(())
    });
}

#[test]
fn replies_in_pieces_do_not_cause_a_reconnect() {
    let server = start_server(test_config().split_replies());
    assert_is_x(&run_fetch_url([server.url("/a/b/x")]), "byte by byte");
    assert_eq!(server.connections(), 1, "{:?}", server.received_text());
    let any_command: fn(&[u8]) -> bool = |_| true;
    let server = start_server(
        test_config().on(FtpTrigger::Matches(any_command), FtpAction::Pause(Duration::from_millis(30))),
    );
    assert_is_x(&run_fetch_url([server.url("/a/b/x")]), "one by one");
    assert_eq!(server.connections(), 1, "{:?}", server.received_text());
}

/// Multi-line replies with lines that look like their end (RFC 959 §4.2).
#[test]
fn long_multi_line_replies_are_read_up_to_1000_lines() {
    let ambiguous_reply = |code: u16, lines: usize| {
        let repeated_lines =
            format!("{code} is not the end\r\n").replacen(' ', "-", 1) + "200 nor this\r\n 226 nor that\r\n";
        format!("{code}-A poem\r\n{}{code}\r\n{code}x\r\n{code} The end.\r\n", repeated_lines.repeat(lines))
    };
    let indented_reply = |code: u16| {
        format!(
            "{code}-A poem\r\n {code} indented\r\n{code}-{code} \r\n\r\n-\r\n{code}-\r\n\t{code} tab\r\n{code} The end.\r\n"
        )
    };
    let many_lines_reply = |code: u16| {
        let line = format!("{code}-{}\r\n", "o".repeat(200));
        format!("{}{code} The end.\r\n", line.repeat(250))
    };
    for (case, text) in [("indented", indented_reply as fn(u16) -> String), ("many lines", many_lines_reply)]
    {
        let server = start_server(
            test_config()
                .greeting(text(220).trim_end())
                .replace_reply("USER", text(331))
                .replace_reply("PASS", text(230))
                .replace_reply("CWD", text(250))
                .replace_reply("TYPE", text(200))
                .on("RETR", FtpAction::PreliminaryReply(text(150).into()))
                .replace_reply("RETR", text(226)),
        );
        assert_is_x(&run_fetch_url([server.url("/a/b/x")]), case);
        assert_eq!(server.connections(), 1, "{case}: {:?}", server.received_text());
    }
    // A line with another code inside the reply: RFC 959 continues the reply, other parsers end it. Either is safe.
    let server = start_server(test_config().replace_reply("CWD", ambiguous_reply(250, 3)));
    let result = run_fetch_url(["--read-timeout", "2", &server.url("/a/b/x")]);
    assert!([0, 8, 28].contains(&result.exit), "{result:?}");
    assert!(result.exit != 0 || result.stdout == pattern_vec(0, SIZE as usize));
    // docs/spec/faults.md, row 80: more than 1000 lines or 64 KiB exit with 63.
    for text in ["250-line\r\n".repeat(3000), format!("250-{}\r\n", "o".repeat(100_000))] {
        let server = start_server(test_config().replace_reply("CWD", format!("{text}250 End\r\n")));
        run_fetch_url([server.url("/a/b/x")]).assert_exit(63);
    }
}

/// An unsolicited reply is never used as the reply to the next command.
#[test]
fn unsolicited_replies_never_deliver_wrong_data() {
    let rows = [
        ("after the login", "PASS", FtpAction::After(b"226 Transfer complete.\r\n".to_vec())),
        ("before the data", "RETR", FtpAction::Before(b"226 Transfer complete.\r\n".to_vec())),
        ("after the data", "RETR", FtpAction::After(b"226 Again.\r\n".to_vec())),
        ("connection closed", "RETR", FtpAction::After(b"421 Timeout.\r\n".to_vec())),
    ];
    check_in_parallel(&rows, 4, |(case, on, act)| {
        let server = start_server(test_config().rule(FtpRule::on(*on, act.clone()).nth(1)));
        let result = run_fetch_url(["--read-timeout", "2", &server.url("/a/b/x"), &server.url("/a/b/y")]);
        let size = SIZE as usize;
        let all = [pattern_vec(0, size), pattern_vec(0, size + 1)].concat();
        assert!(result.exit != 0 || result.stdout == all, "{case}: {} bytes", result.stdout.len());
        // Only the transfer with an early 226 may fail.
        assert!(result.exit == 0 || *case == "before the data", "{case}: {} {}", result.exit, result.stderr);
        Ok(())
    });
}

#[test]
fn unterminated_reply_with_lines_without_codes_exits_63() {
    let mut reply = b"250-x\r\n331 y\r\n".to_vec();
    (0..3000).for_each(|_| reply.extend_from_slice(b"no code\r\n"));
    let server = start_server(FtpConfig::new().file("/a", "a;").dir("/d").answer("CWD", reply));
    run_fetch_url([server.url("d/x")]).assert_exit(63);
}

/// docs/spec/faults.md, row 81: every reply arrives after 700 ms, just within the read timeout of 1 s.
#[test]
fn many_replies_just_within_the_read_timeout_exit_28() {
    let server = start_server(FtpConfig::new().file("/a", "a;").delay(Duration::from_millis(700)));
    let started = Instant::now();
    let url = server.url("1/2/3/4/5/6/7/8/a");
    run_fetch_url(["--read-timeout", "1", "--ftp-method", "rfc1738", &url]).assert_exit(28);
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}
