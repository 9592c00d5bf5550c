//! FTP data connections (docs/spec/semantics.md §2, "Data connection"; docs/spec/faults.md, rows 21 to 25): which
//! command sets them up, and that neither the server nor a third party can redirect them to another address.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{RunResult, run_fetch_url};
use fetch_url_tests::{FtpAction, FtpConfig, FtpRule, FtpServer, pattern_vec};
use tokio::net::TcpSocket;

const SIZE: u64 = 100_000;

fn start_server(config: FtpConfig) -> FtpServer {
    FtpServer::start(config).expect("start server")
}

fn test_config() -> FtpConfig {
    FtpConfig::new().pattern("/x", SIZE).file("/y", "y")
}

fn fetch_x(server: &FtpServer, options: &str) -> RunResult {
    let common = ["--read-timeout", "2", "--connect-timeout", "2"].map(str::to_owned);
    run_fetch_url(
        common.into_iter().chain(options.split_whitespace().map(str::to_owned)).chain([server.url("/x")]),
    )
}

#[track_caller]
fn assert_complete(result: &RunResult, case: &str) {
    assert_eq!(result.exit, 0, "{case}: {}", result.stderr);
    assert!(result.stdout == pattern_vec(0, SIZE as usize), "{case}: {} bytes", result.stdout.len());
}

/// The verbs of the received commands that set up data connections.
fn data_commands(server: &FtpServer) -> Vec<String> {
    let verbs =
        server.received_text().into_iter().map(|line| line.split(' ').next().unwrap_or_default().to_owned());
    verbs.filter(|verb| ["EPSV", "PASV", "EPRT", "PORT"].contains(&verb.as_str())).collect()
}

#[test]
fn data_connection_command_follows_options_and_server_support() {
    for (case, config, options, expected) in [
        ("default", test_config(), "", &["EPSV"][..]),
        ("no EPSV", test_config().without("EPSV"), "", &["EPSV", "PASV"]),
        (
            "522",
            test_config().answer("EPSV", "522 Network protocol not supported.\r\n"),
            "",
            &["EPSV", "PASV"],
        ),
        ("425", test_config().answer("EPSV", "425 Not now.\r\n"), "", &["EPSV", "PASV"]),
        ("EPSV disabled", test_config(), "--disable-epsv", &["PASV"]),
        ("active", test_config(), "-P -", &["EPRT"]),
        ("active, own address", test_config(), "-P 127.0.0.1", &["EPRT"]),
        ("active, EPRT disabled", test_config(), "-P - --disable-eprt", &["PORT"]),
        ("active, no EPRT", test_config().without("EPRT"), "-P -", &["EPRT", "PORT"]),
        ("both modes", test_config(), "-P - --ftp-pasv", &["EPSV"]),
        ("both modes", test_config(), "--ftp-pasv -P -", &["EPSV"]),
        ("plain 227", test_config().without("EPSV").pasv_without_parentheses(), "", &["EPSV", "PASV"]),
    ] {
        let server = start_server(config);
        let result = fetch_x(&server, options);
        if case == "both modes" && options.ends_with("-P -") {
            // If passive mode is requested first, either option may win; exactly one data connection command is sent.
            assert!(result.exit == 0 && data_commands(&server).len() == 1, "{result:?}");
            continue;
        }
        assert_complete(&result, case);
        assert_eq!(data_commands(&server), expected, "{case} {options}");
    }
    // Neither EPSV nor PASV is supported: no fallback to active mode without `-P`.
    let server = start_server(test_config().without("EPSV").without("PASV"));
    assert_ne!(fetch_x(&server, "").exit, 0);
    assert!(
        !data_commands(&server).iter().any(|verb| verb == "PORT" || verb == "EPRT"),
        "active mode without -P"
    );
}

#[test]
fn ipv6_server_uses_epsv_and_eprt() {
    let server = start_server(test_config().ipv6());
    for options in ["", "-6", "-P -", "-P ::1"] {
        assert_complete(&fetch_x(&server, options), options);
    }
    assert!(
        server.received_text().iter().any(|line| line.starts_with("EPRT |2|::1|")),
        "{:?}",
        server.received_text()
    );
    // PASV and PORT support IPv4 only, so the options have no effect, as in curl.
    for options in ["--disable-epsv", "-P - --disable-eprt"] {
        assert_complete(&fetch_x(&server, options), options);
    }
    let commands = data_commands(&server);
    assert!(!commands.iter().any(|verb| verb == "PORT" || verb == "PASV"), "{commands:?}");
}

/// The data ports of EPSV cannot be reached. It is tried for the first file only.
#[test]
fn pasv_is_used_for_all_files_after_an_unreachable_port_of_epsv() {
    let server = start_server(test_config().on("EPSV", FtpAction::ClosedPort));
    let result = run_fetch_url(["--retry", "0", &server.url("/x"), &server.url("/y")]);
    assert_eq!((result.exit, result.stdout.len() as u64), (0, SIZE + 1), "{}", result.stderr);
    assert_eq!(data_commands(&server), ["EPSV", "PASV", "PASV"]);
}

/// PASV is not remembered if it did not work: the server has EPSV only, as over IPv6.
#[test]
fn epsv_is_used_for_the_next_file_if_pasv_does_not_work_either() {
    let first = FtpRule::on("EPSV", FtpAction::ClosedPort).nth(1);
    let server = start_server(test_config().without("PASV").rule(first));
    let result = run_fetch_url(["--retry", "0", &server.url("/x"), &server.url("/y")]);
    assert_ne!(result.exit, 0, "{}", result.stderr);
    assert_eq!(result.stdout_text(), "y", "{}", result.stderr);
    assert_eq!(data_commands(&server), ["EPSV", "PASV", "EPSV"]);
}

/// For EPRT, 522 means another network protocol (RFC 2428 §2), and PORT does not support IPv6.
#[test]
fn eprt_that_is_refused_over_ipv6_is_unsupported_and_no_tls_error() {
    let server = start_server(test_config().ipv6().answer("EPRT", "522 Network protocol not supported.\r\n"));
    let result = fetch_x(&server, "-P - --retry 0");
    assert_eq!(result.exit, 1, "{result:?}");
}

/// The server cannot connect to a client behind a firewall. The error is reported at once, and the transfer is not
/// retried.
#[test]
fn refused_active_connection_is_reported_at_once_and_not_retried() {
    for reply in
        ["425 Cannot open data connection.\r\n", "150 Opening.\r\n425 Cannot open data connection.\r\n"]
    {
        let server = start_server(test_config().answer("RETR", reply));
        let start = Instant::now();
        let url = server.url("/x");
        let result = run_fetch_url(["--retry", "3", "--connect-timeout", "60", "-P", "-", &url]);
        result.assert_exit(7).assert_stderr_contains("425").assert_stderr_contains("-P");
        assert_eq!(server.connections(), 1, "{reply}");
        assert!(start.elapsed() < Duration::from_secs(50), "waited for the timeout");
    }
}

/// EPRT and PORT announce the local address of the control connection, and a port that accepts connections.
#[test]
fn active_mode_announces_only_local_addresses() {
    for (options, verb) in [("-P -", "EPRT |1|127.0.0.1|"), ("-P - --disable-eprt", "PORT 127,0,0,1,")] {
        let server = start_server(test_config());
        assert_complete(&fetch_x(&server, options), options);
        assert!(
            server.received_text().iter().any(|line| line.starts_with(verb)),
            "{:?}",
            server.received_text()
        );
    }
    // docs/spec/faults.md, row 24: an address of another host is refused, even if the user asks for it.
    for options in ["-P 192.0.2.1", "-P 8.8.8.8", "-P no-such-host.invalid", "-P 127.0.0.1:80000"] {
        let server = start_server(test_config());
        let result = fetch_x(&server, options);
        assert!(result.exit != 0 && result.stdout.is_empty(), "{options}: {result:?}");
        assert!(!data_commands(&server).iter().any(|verb| verb == "PORT" || verb == "EPRT"), "{options}");
    }
}

/// docs/spec/faults.md, row 21: the address in a 227 reply is ignored; another host is never contacted.
#[test]
fn pasv_and_epsv_addresses_of_other_hosts_are_never_contacted() {
    let listener = TcpListener::bind("127.0.0.2:0").expect("bind a port on 127.0.0.2");
    listener.set_nonblocking(true).expect("set listener to non-blocking");
    let port = listener.local_addr().expect("local address").port();
    let was_contacted = || listener.accept().is_ok();
    // Wrong address, right port: the data connection goes to the address of the control connection.
    for host in [[127, 0, 0, 2], [10, 0, 0, 1], [169, 254, 169, 254], [0, 0, 0, 0], [8, 8, 8, 8]] {
        let server = start_server(test_config().pasv_address(host));
        let result = fetch_x(&server, "--disable-epsv -v");
        assert_complete(&result, "wrong address in 227");
        assert!(result.stderr.contains("address") || result.stderr.contains("227"), "{}", result.stderr);
    }
    // Wrong address and wrong port.
    let named = format!("227 Entering Passive Mode (127,0,0,2,{},{})\r\n", port >> 8, port & 255);
    let server = start_server(test_config().replace_reply("PASV", named));
    let result = fetch_x(&server, "--disable-epsv");
    assert!(result.exit != 0 && result.stdout.is_empty(), "{result:?}");
    // RFC 2428: a 229 reply carries only a port; an address in it is ignored as well.
    let server =
        start_server(test_config().replace_reply("EPSV", format!("229 Ok (|1|127.0.0.2|{port}|)\r\n")));
    fetch_x(&server, "");
    assert!(!was_contacted(), "another host was contacted");
}

/// docs/spec/faults.md, row 23: data ports that belong to other services, on the server's own address.
#[test]
fn data_ports_of_other_services_are_refused() {
    for port in [1, 21, 22, 25, 80, 443, 1023, 2049, 6000, 6667] {
        let epsv = format!("229 Entering Extended Passive Mode (|||{port}|)\r\n");
        let server = start_server(test_config().replace_reply("EPSV", epsv));
        let result = fetch_x(&server, "");
        assert_eq!((result.exit, result.stdout.len()), (90, 0), "EPSV {port}: {}", result.stderr);
        let pasv = format!("227 Entering Passive Mode (127,0,0,1,{},{})\r\n", port >> 8, port & 255);
        let server = start_server(test_config().replace_reply("PASV", pasv));
        let result = fetch_x(&server, "--disable-epsv");
        assert_eq!((result.exit, result.stdout.len()), (90, 0), "PASV {port}: {}", result.stderr);
    }
    // `--allow-port` permits the port; the connection then fails, because nothing listens on it.
    let server = start_server(test_config().without("PASV").replace_reply("EPSV", "229 Ok (|||6667|)\r\n"));
    let result = fetch_x(&server, "--allow-port 6667");
    assert!(![0, 90].contains(&result.exit), "{result:?}");
}

/// docs/spec/faults.md, row 22. After a malformed 229 reply, PASV may be tried once; then the transfer fails.
#[test]
fn malformed_epsv_and_pasv_replies_never_deliver_data() {
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
        let server = start_server(test_config().replace_reply("EPSV", format!("{reply}\r\n")));
        let result = fetch_x(&server, "");
        assert!([0, 8].contains(&result.exit), "{reply}: {result:?}");
        assert!(data_commands(&server).iter().filter(|verb| *verb == "PASV").count() <= 1, "{reply}");
        let server =
            start_server(test_config().without("PASV").replace_reply("EPSV", format!("{reply}\r\n")));
        let result = fetch_x(&server, "");
        assert!(result.exit != 0 && result.stdout.is_empty(), "{reply}, no PASV: {result:?}");
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
        let server = start_server(test_config().replace_reply("PASV", format!("{reply}\r\n")));
        let result = fetch_x(&server, "--disable-epsv");
        assert_eq!((result.exit, result.stdout.len()), (8, 0), "{reply}: {}", result.stderr);
    }
}

/// A 425 reply means that the data connection failed. The retry sets up a new one with a new port.
#[test]
fn failed_data_connection_is_retried_with_a_new_port() {
    let fail_first_retr =
        |reply: &str| test_config().rule(FtpRule::on("RETR", FtpAction::Answer(reply.into())).nth(1));
    let server = start_server(fail_first_retr("425 Can't open data connection.\r\n"));
    assert_complete(&fetch_x(&server, "--retry 1 --retry-delay 0"), "425 once");
    let commands = server.received_text();
    let last_position = |start: &str| commands.iter().rposition(|line| line.starts_with(start));
    let first = commands.iter().position(|line| line.starts_with("RETR"));
    // EPSV is sent again between the two RETR commands: the first port is not reused.
    assert!(
        commands[first.unwrap_or(0)..last_position("RETR").unwrap_or(0)].contains(&"EPSV".to_owned()),
        "{commands:?}"
    );
    let server = start_server(fail_first_retr("425 Can't open data connection.\r\n"));
    let result = fetch_x(&server, "");
    assert!(result.exit != 0 && result.stdout.is_empty(), "without a retry: {result:?}");
    // The server announces a port where nothing listens: only the first time, then every time.
    let server = start_server(test_config().rule(FtpRule::on("EPSV", FtpAction::ClosedPort).nth(1)));
    assert_complete(&fetch_x(&server, "--retry 1 --retry-delay 0"), "a dead port once");
    let server =
        start_server(test_config().on("EPSV", FtpAction::ClosedPort).on("PASV", FtpAction::ClosedPort));
    let result = fetch_x(&server, "");
    assert!([7, 28].contains(&result.exit), "{result:?}");
}

/// The address policy applies to control and data connections (docs/spec/faults.md, row 46).
#[test]
fn public_only_refuses_loopback_before_connecting() {
    let server = start_server(test_config());
    fetch_x(&server, "--public-only").assert_exit(90);
    assert_eq!((server.connections(), server.data_connections()), (0, 0));
}

/// Starts an active-mode server for one transfer. After RETR it calls `before_connecting` with the data address of the
/// client, and then connects to that address.
fn start_active_mode_server(before_connecting: impl FnOnce(SocketAddr) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind a port");
    let addr = listener.local_addr().expect("local address");
    thread::spawn(move || {
        let Ok((mut control, _)) = listener.accept() else { return };
        let Ok(lines) = control.try_clone().map(BufReader::new) else { return };
        let _ = control.write_all(b"220 Hello\r\n");
        let (mut data_address, mut before_connecting) = (None, Some(before_connecting));
        for line in lines.lines().map_while(Result::ok) {
            let reply = match line.split(' ').next().unwrap_or_default() {
                "USER" => "230 In.\r\n",
                "PWD" => "257 \"/\"\r\n",
                "TYPE" => "200 Ok.\r\n",
                "EPRT" => {
                    let port = line.split('|').nth(3).and_then(|port| port.parse::<u16>().ok());
                    data_address = port.map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
                    "200 Ok.\r\n"
                }
                "RETR" => {
                    let Some((addr, before_connecting)) = data_address.zip(before_connecting.take()) else {
                        return;
                    };
                    let _ = control.write_all(b"150 Here it comes.\r\n");
                    before_connecting(addr);
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

/// Connects from another loopback address, as a third party would.
#[allow(
    clippy::disallowed_methods,
    reason = "the test plays a third party, outside the program's network layer"
)]
fn connect_from_other_address(to: SocketAddr) -> std::io::Result<TcpStream> {
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

/// docs/spec/faults.md, row 25: a connection from another address is closed, and its data is discarded.
#[test]
fn active_port_rejects_connection_from_other_address() {
    let (sender, receiver) = mpsc::channel();
    let addr = start_active_mode_server(move |port| {
        let was_rejected = connect_from_other_address(port).map(|mut stream| {
            let _ = stream.write_all(b"from a stranger");
            let started = Instant::now();
            let received = stream.read(&mut [0; 10]);
            (!matches!(received, Ok(count) if count > 0)) && started.elapsed() < Duration::from_secs(2)
        });
        let _ = sender.send(was_rejected.ok());
    });
    let result = run_fetch_url(["-P", "-", "--read-timeout", "3", &format!("ftp://{addr}/x")]);
    let was_rejected = receiver.recv_timeout(Duration::from_secs(5)).expect("a report from the third party");
    assert!(!result.stdout_text().contains("stranger"), "{result:?}");
    assert!(
        result.exit == 0 && result.stdout_text() == "from the server"
            || result.exit != 0 && result.stdout.is_empty(),
        "{result:?}"
    );
    assert_ne!(was_rejected, Some(false), "the connection from another address was accepted");
}

/// The server never opens the data connection.
#[test]
fn active_mode_times_out_when_server_never_connects() {
    let addr = start_active_mode_server(|_| thread::sleep(Duration::from_secs(20)));
    let started = Instant::now();
    let result = run_fetch_url([
        "-P",
        "-",
        "--connect-timeout",
        "1",
        "--read-timeout",
        "1",
        &format!("ftp://{addr}/x"),
    ]);
    assert!([7, 28].contains(&result.exit), "{result:?}");
    assert!(started.elapsed() < Duration::from_secs(6), "{:?}", started.elapsed());
}
