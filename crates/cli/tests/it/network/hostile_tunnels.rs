//! Hostile and faulty proxies in front of schemes other than HTTP (docs/spec/faults.md, sections 2.C and 2.H): each fault
//! has its exit status, ends in time, in bounded memory, and sends nothing to the server.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::support::{check_in_parallel, ensure, run_fetch_url, run_measuring_memory};
use fetch_url_tests::{FtpConfig, FtpServer, ProxyServer, ReservedPort};

const NAME: &str = "only-there.invalid";
/// The timeout of the rows that stall.
const TIMEOUT: &str = "1";

/// The fault of a proxy, which begins when the first bytes arrive.
#[derive(Clone)]
enum Fault {
    /// Sends each of these after the next bytes of the client, then closes.
    Replies(Vec<Vec<u8>>),
    /// Sends the first bytes, then repeats the second until the client closes.
    Endless(Vec<u8>, Vec<u8>),
    /// Sends these bytes, then nothing.
    Stall(Vec<u8>),
}

/// Starts a proxy with this fault. It serves every connection in the same way and counts them.
fn start_proxy(fault: Fault) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let connections = Arc::<AtomicUsize>::default();
    let counter = Arc::clone(&connections);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            counter.fetch_add(1, Ordering::SeqCst);
            let fault = fault.clone();
            std::thread::spawn(move || serve(stream, &fault));
        }
    });
    (address, connections)
}

fn serve(mut stream: TcpStream, fault: &Fault) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    stream.set_write_timeout(Some(Duration::from_secs(10)))?;
    let mut received = [0; 4096];
    match fault {
        Fault::Replies(replies) => {
            for reply in replies {
                if stream.read(&mut received)? == 0 {
                    return Ok(());
                }
                stream.write_all(reply)?;
            }
            stream.shutdown(std::net::Shutdown::Write)?;
        }
        Fault::Endless(start, piece) => {
            let _ = stream.read(&mut received)?;
            stream.write_all(start)?;
            let many = piece.repeat(1000);
            loop {
                stream.write_all(&many)?;
            }
        }
        Fault::Stall(start) => {
            let _ = stream.read(&mut received)?;
            stream.write_all(start)?;
        }
    }
    while stream.read(&mut received)? > 0 {}
    Ok(())
}

fn replies(replies: &[&[u8]]) -> Fault {
    Fault::Replies(replies.iter().map(|reply| reply.to_vec()).collect())
}

/// A row: name, scheme of the proxy with its login, fault, exit status.
type Row = (&'static str, &'static str, Fault, i32);

const GRANTED: &[u8] = b"\x05\x00\x00\x01\0\0\0\0\0\0";

fn socks5_rows() -> Vec<Row> {
    let method: &[u8] = b"\x05\x00";
    let refused = |code: u8| replies(&[b"\x05\x00", &[5, code, 0, 1, 0, 0, 0, 0, 0, 0]]);
    vec![
        ("closed at once", "socks5h://", replies(&[]), 52),
        ("closed before a reply", "socks5h://", replies(&[b""]), 52),
        ("version 4", "socks5h://", replies(&[b"\x04\x00"]), 8),
        ("HTTP", "socks5h://", replies(&[b"HTTP/1.1 400 Bad Request\r\n\r\n"]), 8),
        ("method not offered", "socks5h://", replies(&[b"\x05\x01"]), 8),
        ("login not offered", "socks5h://", replies(&[b"\x05\x02"]), 8),
        ("no method", "socks5h://", replies(&[b"\x05\xff"]), 67),
        ("login refused", "socks5h://me:Geheim@", replies(&[b"\x05\x02", b"\x01\x01"]), 67),
        ("no method with a login", "socks5h://me:Geheim@", replies(&[b"\x05\xff"]), 67),
        (
            "login asked for twice",
            "socks5h://me:Geheim@",
            replies(&[b"\x05\x02", b"\x01\x00\x05\x02", b"\x01\x00"]),
            9,
        ),
        (
            "version of the reply to the login",
            "socks5h://me:Geheim@",
            replies(&[b"\x05\x02", b"\x07\x00"]),
            8,
        ),
        ("version of the reply", "socks5h://", replies(&[method, b"\x04\x00\x00\x01\0\0\0\0\0\0"]), 8),
        ("address type 0", "socks5h://", replies(&[method, b"\x05\x00\x00\x00\0\0\0\0\0\0"]), 8),
        ("address type 255", "socks5h://", replies(&[method, b"\x05\x00\x00\xff\0\0\0\0\0\0"]), 8),
        ("name longer than the reply", "socks5h://", replies(&[method, b"\x05\x00\x00\x03\xffabc"]), 18),
        ("general failure", "socks5h://", refused(1), 7),
        ("not allowed", "socks5h://", refused(2), 9),
        ("network unreachable", "socks5h://", refused(3), 7),
        ("host unreachable", "socks5h://", refused(4), 7),
        ("connection refused", "socks5h://", refused(5), 7),
        ("time to live", "socks5h://", refused(6), 7),
        ("command not supported", "socks5h://", refused(7), 9),
        ("address type not supported", "socks5h://", refused(8), 9),
        ("unknown code", "socks5h://", refused(99), 8),
        ("stall", "socks5h://", Fault::Stall(Vec::new()), 28),
        ("stall within a reply", "socks5h://", Fault::Stall(b"\x05".to_vec()), 28),
        ("server closes in the tunnel", "socks5h://", replies(&[method, GRANTED]), 52),
        ("SOCKS 4: refused", "socks4a://", replies(&[b"\x00\x5b\0\0\0\0\0\0"]), 7),
        ("SOCKS 4: no identd", "socks4a://", replies(&[b"\x00\x5c\0\0\0\0\0\0"]), 67),
        ("SOCKS 4: other user", "socks4a://", replies(&[b"\x00\x5d\0\0\0\0\0\0"]), 67),
        ("SOCKS 4: unknown code", "socks4a://", replies(&[b"\x00\x00\0\0\0\0\0\0"]), 8),
        ("SOCKS 4: version", "socks4a://", replies(&[b"\x04\x5a\0\0\0\0\0\0"]), 8),
        ("SOCKS 4: cut", "socks4a://", replies(&[b"\x00\x5a\0\0"]), 18),
    ]
}

fn connect_rows() -> Vec<Row> {
    let reply = |text: &str| replies(&[text.as_bytes()]);
    let (http, with_login) = ("http://", "http://me:Geheim@");
    let content = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil";
    let ok = b"HTTP/1.1 200 OK\r\n".to_vec();
    vec![
        ("CONNECT: closed", http, replies(&[b""]), 52),
        ("CONNECT: cut", http, reply("HTTP/1.1 200 OK\r\nX: "), 18),
        ("CONNECT: not HTTP", http, reply("SSH-2.0-x\r\n"), 8),
        ("CONNECT: HTTP/0.9", http, reply("evil"), 8),
        ("CONNECT: HTTP/2", http, reply("HTTP/2 200\r\n\r\n"), 8),
        ("CONNECT: redirect", http, reply("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n"), 8),
        ("CONNECT: 400", http, reply("HTTP/1.1 400 Bad Request\r\n\r\nevil"), 22),
        ("CONNECT: 401", http, reply("HTTP/1.1 401 Who\r\n\r\n"), 9),
        ("CONNECT: 403", http, reply("HTTP/1.1 403 Forbidden\r\n\r\n"), 9),
        ("CONNECT: 404", http, reply("HTTP/1.1 404 Not Found\r\n\r\n"), 22),
        ("CONNECT: 407", http, reply("HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic\r\n\r\n"), 67),
        ("CONNECT: 407 with a login", with_login, reply("HTTP/1.1 407 Who\r\n\r\nGeheim bWU6R2VoZWlt"), 67),
        (
            "CONNECT: login in the reason",
            with_login,
            reply("HTTP/1.1 500 Geheim bWU6R2VoZWlt\r\nX: Geheim bWU6R2VoZWlt\r\n\r\n"),
            7,
        ),
        ("CONNECT: login in place of a response", with_login, reply("bWU6R2VoZWlt Geheim\r\n\r\n"), 8),
        ("CONNECT: 500", http, reply("HTTP/1.1 500 Oops\r\n\r\n"), 7),
        ("CONNECT: 502", http, reply("HTTP/1.1 502 Bad Gateway\r\n\r\n"), 7),
        ("CONNECT: 503", http, reply("HTTP/1.1 503 Busy\r\n\r\n"), 92),
        ("CONNECT: 101", http, reply("HTTP/1.1 101 Switching\r\n\r\nevil"), 8),
        // The content belongs to the tunnel (RFC 9110 §9.3.6), and is not an FTP greeting.
        ("CONNECT: 200 with a body", http, reply(content), 8),
        ("CONNECT: long line", http, Fault::Endless(b"HTTP/1.1 200 ".to_vec(), b"x".to_vec()), 63),
        ("CONNECT: endless fields", http, Fault::Endless(ok, b"X: y\r\n".to_vec()), 63),
        (
            "CONNECT: endless interim responses",
            http,
            Fault::Endless(Vec::new(), b"HTTP/1.1 100 Continue\r\n\r\n".to_vec()),
            63,
        ),
        ("CONNECT: stall", http, Fault::Stall(b"HTTP/1.1 200".to_vec()), 28),
    ]
}

#[test]
fn every_fault_of_a_proxy_has_its_exit_status_and_is_bounded() {
    let rows = [socks5_rows(), connect_rows()].concat();
    check_in_parallel(&rows, 4, |(case, scheme, fault, exit)| {
        let (address, _) = start_proxy(fault.clone());
        let proxy = format!("{scheme}{address}");
        let url = format!("ftp://{NAME}:2121/a");
        let arguments = ["-v", "-p", "--connect-timeout", TIMEOUT, "--read-timeout", "5", "-x", &proxy, &url];
        let start = Instant::now();
        let (memory, result) = run_measuring_memory(&arguments);
        ensure(result.exit == *exit, || format!("{case}: exit {}: {}", result.exit, result.stderr))?;
        ensure(start.elapsed() < Duration::from_secs(8), || format!("{case}: {:?}", start.elapsed()))?;
        ensure(memory < 64 * 1024, || format!("{case}: {memory} KiB"))?;
        ensure(result.stdout.is_empty(), || format!("{case}: output of the proxy"))?;
        let is_secret_shown = result.stderr.contains("Geheim") || result.stderr.contains("bWU6R2VoZWlt");
        ensure(!is_secret_shown, || format!("{case}: the login is shown: {}", result.stderr))
    });
}

#[test]
fn secret_fields_of_the_response_to_connect_are_masked() {
    for status in ["200 OK", "407 Proxy Authentication Required: no", "503 No"] {
        let fields = "Set-Cookie: s=Geheim\r\nX-Auth-Token : Geheim\r\n Geheim\r\nLocation: http://u:Geheim@h/\r\nVia: 1.1 x\r\n\r\n";
        let (address, _) = start_proxy(replies(&[format!("HTTP/1.1 {status}\r\n{fields}").as_bytes()]));
        let proxy = format!("http://{address}");
        let url = format!("gopher://{NAME}:7000/0x");
        let stderr = run_fetch_url(["-v", "-p", "--read-timeout", "5", "-x", &proxy, &url]).stderr;
        assert!(!stderr.contains("Geheim"), "{stderr}");
        for line in [status, "Set-Cookie: ***", "X-Auth-Token: ***", "Via: 1.1 x"] {
            assert!(stderr.contains(line), "{line}: {stderr}");
        }
    }
}

#[test]
fn password_that_the_proxy_repeats_is_masked_in_every_spelling() {
    for spelling in ["Ge%26heim", "Ge&heim", "%47e%26%68eim", "bTpHZSZoZWlt", "bTpHZSZoZWl%74"] {
        let reply = format!("HTTP/1.1 503 No {spelling}\r\nX-Q: q={spelling}&r=1\r\n\r\n");
        let (address, _) = start_proxy(replies(&[reply.as_bytes()]));
        let proxy = format!("http://m:Ge%26heim@{address}");
        let url = format!("gopher://{NAME}:7000/0x");
        for options in [&["-v"][..], &["--trace", "-"], &["--events", "-"], &[]] {
            let arguments = [options, &["-p", "--read-timeout", "5", "-x", &proxy, &url]].concat();
            let result = run_fetch_url(arguments);
            let shown = format!("{}{}", result.stdout_text(), result.stderr);
            assert!(!shown.contains(spelling), "{options:?}: {shown}");
        }
    }
}

/// A reply that is cut at any byte is an error, never an open tunnel.
#[test]
fn reply_that_is_cut_at_any_byte_is_an_error() {
    let connect: &[u8] = b"HTTP/1.1 200 OK\r\nVia: x\r\n\r\n";
    let mut rows: Vec<(&str, Vec<Vec<u8>>)> = Vec::new();
    rows.extend((0..connect.len()).map(|length| ("http", vec![connect[..length].to_vec()])));
    rows.extend((0..GRANTED.len()).map(|length| ("socks5h", vec![vec![5, 0], GRANTED[..length].to_vec()])));
    rows.extend((0..2).map(|length| ("socks5h", vec![vec![5, 0][..length].to_vec()])));
    rows.extend((0..8).map(|length| ("socks4a", vec![b"\x00\x5a\0\0\0\0\0\0"[..length].to_vec()])));
    check_in_parallel(&rows, 4, |(scheme, parts)| {
        let (address, _) = start_proxy(Fault::Replies(parts.clone()));
        let proxy = format!("{scheme}://{address}");
        let url = format!("gopher://{NAME}:7070/0/a");
        let result = run_fetch_url(["--retry", "0", "--max-time", "5", "-x", &proxy, &url]);
        ensure([52, 18].contains(&result.exit), || format!("{scheme} {parts:?}: {result:?}"))
    });
}

/// The data connection is a tunnel too, and its faults are errors.
#[test]
fn refused_tunnel_for_ftp_data_is_an_error_without_a_direct_connection() {
    let ftp = FtpServer::start(FtpConfig::new().anonymous().file("/a", "hello")).expect("a server");
    // A forwarding proxy that allows the port of the control connection only.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let control = ftp.addr();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || forward_one_port(stream, control));
        }
    });
    let url = ftp.url("/a").replacen("127.0.0.1", NAME, 1);
    let result = run_fetch_url(["--retry", "0", "-p", "-x", &format!("http://{address}"), &url]);
    result.assert_exit(9).assert_stderr_contains("403").assert_stderr_contains(&address.to_string());
    assert_eq!(ftp.data_connections(), 0, "a direct data connection");
    assert!(result.stdout.is_empty());
}

fn forward_one_port(mut client: TcpStream, allowed: SocketAddr) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        client.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let target = format!("CONNECT {NAME}:{} ", allowed.port());
    if !head.starts_with(target.as_bytes()) {
        return client.write_all(b"HTTP/1.1 403 Forbidden\r\n\r\n");
    }
    client.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
    let mut server = TcpStream::connect(allowed)?;
    let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
    std::thread::spawn(move || std::io::copy(&mut from_client, &mut to_server));
    std::io::copy(&mut server, &mut client).map(drop)
}

/// A login is sent to the proxy, not to the server, and is not shown; the login of the server is not sent to the proxy.
#[test]
fn logins_of_proxy_and_server_are_kept_apart() {
    let config = || FtpConfig::new().user("ann", "Serverpw").file("/a", "hello");
    let socks = ProxyServer::socks5_with_login("me", "Geheim").expect("a proxy on loopback");
    let http = ProxyServer::http_with_login("me", "Geheim").expect("a proxy on loopback");
    for (proxy, scheme) in [(&socks, "socks5h"), (&http, "http")] {
        let ftp = FtpServer::start(config()).expect("a server");
        let url = ftp.url("/a").replacen("127.0.0.1", NAME, 1);
        let bare = format!("{scheme}://{}", proxy.addr());
        let with_login = format!("{scheme}://me:Geheim@{}", proxy.addr());
        for options in [&["-x", &with_login][..], &["-x", &bare, "-U", "me:Geheim"]] {
            let arguments = [&["-p", "-vvv", "-u", "ann:Serverpw"], options, &[&url]].concat();
            let result = run_fetch_url(&arguments);
            assert_eq!(result.assert_exit(0).stdout_text(), "hello");
            for secret in ["Geheim", "bWU6R2VoZWlt", "Serverpw"] {
                assert!(!result.stderr.contains(secret), "{secret}: {}", result.stderr);
            }
            result.assert_stderr_contains(&format!("through the proxy {bare}"));
        }
        let received = ftp.received_text().concat();
        assert!(!received.contains("Geheim") && received.contains("Serverpw"));
        let all = format!("{:?} {:?}", proxy.tunnels(), proxy.requests());
        assert!(!all.contains("Serverpw"));
        for (login, words) in [("me:wrong", "rejects the login"), ("", "requires a login")] {
            let proxy = format!("{scheme}://{}", proxy.addr());
            let user: &[&str] = if login.is_empty() { &[] } else { &["-U", login] };
            let result = run_fetch_url([&["-p", "-x", &proxy], user, &[&url]].concat());
            result.assert_exit(67).assert_stderr_contains(words).assert_stderr_contains("-U USER:PASSWORD");
            assert!(!result.stderr.contains("wrong"), "{}", result.stderr);
        }
    }
}

#[test]
fn proxy_that_cannot_be_reached_or_found_has_its_exit_status() {
    let closed = ReservedPort::tcp().expect("a port");
    let url = format!("gopher://{NAME}:7070/0/a");
    for scheme in ["socks4a", "socks5h", "http", "https"] {
        let proxy = format!("{scheme}://{}", closed.addr());
        let result = run_fetch_url(["--retry", "0", "-x", &proxy, &url]);
        result.assert_exit(7).assert_stderr_contains(&proxy);
        let result = run_fetch_url(["--retry", "0", "-x", &format!("{scheme}://no-proxy.invalid:1"), &url]);
        result.assert_exit(5).assert_stderr_contains("no-proxy.invalid");
    }
    // An https proxy with a certificate that is not trusted, even with -k, which is for servers.
    let cert = fetch_url_tests::ServerCert::good().expect("a certificate");
    let inner = ProxyServer::http().expect("a proxy on loopback");
    let front = fetch_url_tests::TlsFront::start(inner.addr(), &cert).expect("a TLS server");
    let proxy = format!("https://{}", front.addr());
    for options in [&[][..], &["-k"]] {
        let result = run_fetch_url([&["--retry", "0", "-x", &proxy], options, &[&url]].concat());
        result.assert_exit(60).assert_stderr_contains(&proxy);
    }
    assert!(inner.requests().is_empty());
}
