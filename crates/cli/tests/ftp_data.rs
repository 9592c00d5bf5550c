//! Data connections (SEMANTICS.md §2, "Data connection"; SECURITY.md, rows 21 to 25): who opens them, to where,
//! and that neither a server nor a stranger turns them elsewhere.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use fetch_url_tests::{Act, FtpServer, FtpSite, Rule, pattern_vec};
use support::{Ran, fetch};
use tokio::net::TcpSocket;

const SIZE: u64 = 100_000;

fn serve(site: FtpSite) -> FtpServer {
    FtpServer::start(site).expect("a server on loopback")
}

fn site() -> FtpSite {
    FtpSite::new().pattern("/x", SIZE).file("/y", "y")
}

fn run(server: &FtpServer, words: &str) -> Ran {
    let common = ["--read-timeout", "2", "--connect-timeout", "2"].map(str::to_owned);
    fetch(common.into_iter().chain(words.split_whitespace().map(str::to_owned)).chain([server.url("/x")]))
}

#[track_caller]
fn is_whole(ran: &Ran, what: &str) {
    assert_eq!(ran.exit, 0, "{what}: {}", ran.stderr);
    assert!(ran.stdout == pattern_vec(0, SIZE as usize), "{what}: {} octets", ran.stdout.len());
}

/// The commands that make data connections, by their verbs.
fn roads(server: &FtpServer) -> Vec<String> {
    let verbs =
        server.dialogue().into_iter().map(|line| line.split(' ').next().unwrap_or_default().to_owned());
    verbs.filter(|verb| ["EPSV", "PASV", "EPRT", "PORT"].contains(&verb.as_str())).collect()
}

#[test]
fn which_road() {
    for (what, site, words, expected) in [
        ("as it is", site(), "", &["EPSV"][..]),
        ("no EPSV", site().no("EPSV"), "", &["EPSV", "PASV"]),
        ("522", site().answer("EPSV", "522 Network protocol not supported.\r\n"), "", &["EPSV", "PASV"]),
        ("by word", site(), "--disable-epsv", &["PASV"]),
        ("active", site(), "-P -", &["EPRT"]),
        ("an address", site(), "-P 127.0.0.1", &["EPRT"]),
        ("active, old", site(), "-P - --disable-eprt", &["PORT"]),
        ("no EPRT", site().no("EPRT"), "-P -", &["EPRT", "PORT"]),
        ("the last word", site(), "-P - --ftp-pasv", &["EPSV"]),
        ("the last word", site(), "--ftp-pasv -P -", &["EPSV"]),
        ("plain 227", site().no("EPSV").pasv_without_parentheses(), "", &["EPSV", "PASV"]),
    ] {
        let server = serve(site);
        let ran = run(&server, words);
        if what == "the last word" && words.ends_with("-P -") {
            // Either order of the two words has one meaning, or the last one counts.
            assert!(ran.exit == 0 && roads(&server).len() == 1, "{ran:?}");
            continue;
        }
        is_whole(&ran, what);
        assert_eq!(roads(&server), expected, "{what} {words}");
    }
    // No way at all.
    let server = serve(site().no("EPSV").no("PASV"));
    assert_ne!(run(&server, "").exit, 0);
    assert!(!roads(&server).iter().any(|verb| verb == "PORT" || verb == "EPRT"), "nobody asked for that");
}

#[test]
fn over_ipv6() {
    let server = serve(site().ipv6());
    for words in ["", "-6", "-P -", "-P ::1"] {
        is_whole(&run(&server, words), words);
    }
    assert!(server.dialogue().iter().any(|line| line.starts_with("EPRT |2|::1|")), "{:?}", server.dialogue());
    // PASV and PORT know IPv4 alone.
    for words in ["--disable-epsv", "-P - --disable-eprt"] {
        let ran = run(&server, words);
        assert!(ran.exit != 0 || !roads(&server).contains(&"PORT".to_owned()), "{words}: {ran:?}");
    }
}

/// What is said in EPRT and PORT is our own side of the control connection, and a port that listens.
#[test]
fn the_address_of_an_active_port() {
    for (words, verb) in [("-P -", "EPRT |1|127.0.0.1|"), ("-P - --disable-eprt", "PORT 127,0,0,1,")] {
        let server = serve(site());
        is_whole(&run(&server, words), words);
        assert!(server.dialogue().iter().any(|line| line.starts_with(verb)), "{:?}", server.dialogue());
    }
    // Row 24: nobody else's address, whoever asks for it.
    for words in ["-P 192.0.2.1", "-P 8.8.8.8", "-P no-such-host.invalid", "-P 127.0.0.1:80000"] {
        let server = serve(site());
        let ran = run(&server, words);
        assert!(ran.exit != 0 && ran.stdout.is_empty(), "{words}: {ran:?}");
        assert!(!roads(&server).iter().any(|verb| verb == "PORT" || verb == "EPRT"), "{words}");
    }
}

/// Row 21: 227 names somebody else, who hears nothing.
#[test]
fn another_host_in_pasv() {
    let listener = TcpListener::bind("127.0.0.2:0").expect("a port on another loopback address");
    listener.set_nonblocking(true).expect("a listener");
    let port = listener.local_addr().expect("an address").port();
    let is_called = || listener.accept().is_ok();
    // The address lies, the port is the server's.
    for host in [[127, 0, 0, 2], [10, 0, 0, 1], [169, 254, 169, 254], [0, 0, 0, 0], [8, 8, 8, 8]] {
        let server = serve(site().pasv_address(host));
        let ran = run(&server, "--disable-epsv -v");
        is_whole(&ran, "the port of the server");
        assert!(ran.stderr.contains("address") || ran.stderr.contains("227"), "{}", ran.stderr);
    }
    // Both lie.
    let named = format!("227 Entering Passive Mode (127,0,0,2,{},{})\r\n", port >> 8, port & 255);
    let server = serve(site().reword("PASV", named));
    let ran = run(&server, "--disable-epsv");
    assert!(ran.exit != 0 && ran.stdout.is_empty(), "{ran:?}");
    // RFC 2428: EPSV has a port alone; one with an address is no better.
    let server = serve(site().reword("EPSV", format!("229 Ok (|1|127.0.0.2|{port}|)\r\n")));
    run(&server, "");
    assert!(!is_called(), "a stranger was called");
}

/// Row 23: ports of other services, on the server itself.
#[test]
fn ports_that_are_not_for_data() {
    for port in [1, 21, 22, 25, 80, 443, 1023, 2049, 6000, 6667] {
        let epsv = format!("229 Entering Extended Passive Mode (|||{port}|)\r\n");
        let server = serve(site().reword("EPSV", epsv));
        let ran = run(&server, "");
        assert_eq!((ran.exit, ran.stdout.len()), (90, 0), "EPSV {port}: {}", ran.stderr);
        let pasv = format!("227 Entering Passive Mode (127,0,0,1,{},{})\r\n", port >> 8, port & 255);
        let server = serve(site().reword("PASV", pasv));
        let ran = run(&server, "--disable-epsv");
        assert_eq!((ran.exit, ran.stdout.len()), (90, 0), "PASV {port}: {}", ran.stderr);
    }
    // With leave it is tried; here nobody listens.
    let server = serve(site().no("PASV").reword("EPSV", "229 Ok (|||6667|)\r\n"));
    let ran = run(&server, "--allow-port 6667");
    assert!(![0, 90].contains(&ran.exit), "{ran:?}");
}

/// Row 22: numbers that are none. EPSV may fall back to PASV once; then it is the server's fault.
#[test]
fn garbage_for_a_port() {
    for reply in [
        "229 Ok (|||0|)",
        "229 Ok (|||70000|)",
        "229 Ok (|||-1|)",
        "229 Ok (||||)",
        "229 Ok",
        "229 Ok (|||12a|)",
        "229 Ok (|||123456789012345678901234567890|)",
        "229 (|||",
        "229 Ok (\u{e9}||5000|)",
    ] {
        let server = serve(site().reword("EPSV", format!("{reply}\r\n")));
        let ran = run(&server, "");
        assert!([0, 8].contains(&ran.exit), "{reply}: {ran:?}");
        assert!(roads(&server).iter().filter(|verb| *verb == "PASV").count() <= 1, "{reply}");
        let server = serve(site().no("PASV").reword("EPSV", format!("{reply}\r\n")));
        let ran = run(&server, "");
        assert!(ran.exit != 0 && ran.stdout.is_empty(), "{reply}, no PASV: {ran:?}");
    }
    for reply in [
        "227 Ok (127,0,0,1,300,1)",
        "227 Ok (127,0,0,1,10)",
        "227 Ok (127,0,0,1,0,0)",
        "227 Ok",
        "227 Ok (a,b,c,d,e,f)",
        "227 Ok (127,0,0,1,10,)",
        "227 (,,,,,)",
        "227 Ok (127,0,0,1,99999999999999999999,1)",
        "227 Ok (1,2,3,4,5,-6)",
    ] {
        let server = serve(site().reword("PASV", format!("{reply}\r\n")));
        let ran = run(&server, "--disable-epsv");
        assert_eq!((ran.exit, ran.stdout.len()), (8, 0), "{reply}: {}", ran.stderr);
    }
}

/// 425 says: not now. What is asked for again is the data connection too.
#[test]
fn no_data_connection() {
    let once = |reply: &str| site().rule(Rule::on("RETR", Act::Answer(reply.into())).nth(1));
    let server = serve(once("425 Can't open data connection.\r\n"));
    is_whole(&run(&server, "--retry 1 --retry-delay 0"), "425 once");
    let asked = server.dialogue();
    let place = |start: &str| asked.iter().rposition(|line| line.starts_with(start));
    let first = asked.iter().position(|line| line.starts_with("RETR"));
    // The port of the first attempt is not used again.
    assert!(asked[first.unwrap_or(0)..place("RETR").unwrap_or(0)].contains(&"EPSV".to_owned()), "{asked:?}");
    let server = serve(once("425 Can't open data connection.\r\n"));
    let ran = run(&server, "");
    assert!(ran.exit != 0 && ran.stdout.is_empty(), "without a retry: {ran:?}");
    // A port where nobody listens, once and always.
    let server = serve(site().rule(Rule::on("EPSV", Act::DeadPort).nth(1)));
    is_whole(&run(&server, "--retry 1 --retry-delay 0"), "a dead port once");
    let server = serve(site().on("EPSV", Act::DeadPort).on("PASV", Act::DeadPort));
    let ran = run(&server, "");
    assert!([7, 28].contains(&ran.exit), "{ran:?}");
}

/// The policy of addresses is for data connections too (row 46).
#[test]
fn reach() {
    let server = serve(site());
    run(&server, "--public-only").exits(90);
    assert_eq!((server.connections(), server.data_connections()), (0, 0));
}

/// A server of one transfer that the client is to be called back for; what it is told, and the port.
fn calling(visit: impl FnOnce(SocketAddr) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let addr = listener.local_addr().expect("an address");
    thread::spawn(move || {
        let Ok((mut control, _)) = listener.accept() else { return };
        let Ok(lines) = control.try_clone().map(BufReader::new) else { return };
        let _ = control.write_all(b"220 Hello\r\n");
        let (mut there, mut visit) = (None, Some(visit));
        for line in lines.lines().map_while(Result::ok) {
            let reply = match line.split(' ').next().unwrap_or_default() {
                "USER" => "230 In.\r\n",
                "PWD" => "257 \"/\"\r\n",
                "TYPE" => "200 Ok.\r\n",
                "EPRT" => {
                    let port = line.split('|').nth(3).and_then(|port| port.parse::<u16>().ok());
                    there = port.map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
                    "200 Ok.\r\n"
                }
                "RETR" => {
                    let Some((addr, visit)) = there.zip(visit.take()) else { return };
                    let _ = control.write_all(b"150 Here it comes.\r\n");
                    visit(addr);
                    let Ok(mut data) = TcpStream::connect_timeout(&addr, Duration::from_secs(2)) else {
                        let _ = control.write_all(b"425 Nobody there.\r\n");
                        continue;
                    };
                    let _ = data.write_all(b"from the server");
                    drop(data);
                    "226 Done.\r\n"
                }
                _ => "500 What?\r\n",
            };
            let _ = control.write_all(reply.as_bytes());
        }
    });
    addr
}

/// Connects from another address of this machine.
#[allow(clippy::disallowed_methods, reason = "not the program: a stranger to it")]
fn stranger(to: SocketAddr) -> std::io::Result<TcpStream> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let stream = runtime.block_on(async {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from(([127, 0, 0, 7], 0)))?;
        socket.connect(to).await?.into_std()
    })?;
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    Ok(stream)
}

/// Row 25: who comes first from elsewhere is sent away, and what it says is nobody's object.
#[test]
fn a_stranger_at_the_active_port() {
    let (tell, told) = mpsc::channel();
    let addr = calling(move |port| {
        let sent_away = stranger(port).map(|mut stream| {
            let _ = stream.write_all(b"from a stranger");
            let begun = Instant::now();
            let heard = stream.read(&mut [0; 10]);
            (!matches!(heard, Ok(count) if count > 0)) && begun.elapsed() < Duration::from_secs(2)
        });
        let _ = tell.send(sent_away.ok());
    });
    let ran = fetch(["-P", "-", "--read-timeout", "3", &format!("ftp://{addr}/x")]);
    let sent_away = told.recv_timeout(Duration::from_secs(5)).expect("a visit");
    assert!(!ran.text().contains("stranger"), "{ran:?}");
    assert!(
        ran.exit == 0 && ran.text() == "from the server" || ran.exit != 0 && ran.stdout.is_empty(),
        "{ran:?}"
    );
    assert_ne!(sent_away, Some(false), "the stranger was let in");
}

/// A server that never calls.
#[test]
fn a_call_that_does_not_come() {
    let addr = calling(|_| thread::sleep(Duration::from_secs(20)));
    let begun = Instant::now();
    let ran = fetch(["-P", "-", "--connect-timeout", "1", "--read-timeout", "1", &format!("ftp://{addr}/x")]);
    assert!([7, 28].contains(&ran.exit), "{ran:?}");
    assert!(begun.elapsed() < Duration::from_secs(6), "{:?}", begun.elapsed());
}
