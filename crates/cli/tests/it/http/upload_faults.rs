//! Servers that misbehave while they receive a file (`-T`), data or a form (docs/spec/faults.md, rows 120 to 122): the run
//! ends with the status of its cause, in bounded time and memory.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use crate::support::{
    http_server, http_server_first_then, run_fetch_url_in, run_measuring_memory, run_shell, temp_dir,
};
use fetch_url_tests::{HttpResponse, ProxyServer};

/// Size of the file that is sent, in bytes: more than the buffers of a socket.
const SIZE: usize = 32 << 20;

/// Starts a server that handles each connection with `serve`.
fn start_server(serve: fn(TcpStream)) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        listener.incoming().flatten().for_each(|stream| drop(thread::spawn(move || serve(stream))))
    });
    address
}

fn read_some(stream: &mut TcpStream) {
    let _ = stream.read(&mut [0; 4096]);
}

#[test]
fn server_that_misbehaves_during_an_upload_fails_with_the_status_of_its_cause() {
    let refuses_early = start_server(|mut stream| {
        read_some(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        // The connection stays open for reading, so that the response is not lost by a reset.
        while stream.read(&mut [0; 65536]).is_ok_and(|count| count > 0) {}
    });
    let closes = start_server(|mut stream| read_some(&mut stream));
    let never_reads = start_server(|stream| {
        thread::park();
        drop(stream);
    });
    let endless_interim = start_server(|mut stream| {
        read_some(&mut stream);
        while stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").is_ok() {}
    });
    let dir = temp_dir();
    fs::write(dir.path().join("large"), vec![b'x'; SIZE]).expect("a file");
    for (case, address, exits) in [
        ("refuses early", refuses_early, &[22][..]),
        ("closes", closes, &[7, 18, 52]),
        ("never reads", never_reads, &[28]),
        ("endless interim responses", endless_interim, &[63]),
    ] {
        let url = format!("http://{address}/x");
        for options in [&["-T", "large"][..], &["-F", "f=@large"], &["--data-binary", "@large"]] {
            let common = ["--retry", "0", "-m", "3", "-o", "out"];
            let result = run_fetch_url_in(dir.path(), common.iter().chain(options).chain(&[url.as_str()]));
            assert!(exits.contains(&result.exit), "{case} {options:?}: {result:?}");
            assert!(!dir.path().join("out").exists(), "{case} {options:?}");
        }
    }
}

#[test]
fn post_is_not_repeated_after_the_server_may_have_processed_it() {
    let server = http_server(|_| HttpResponse::raw(""));
    let dir = temp_dir();
    fs::write(dir.path().join("file"), "x").expect("a file");
    let url = server.url("/");
    for options in [&["-F", "f=@file"][..], &["--data-binary", "@file"]] {
        let before = server.requests().len();
        let common = ["--retry", "2", "--retry-delay", "0.01"];
        run_fetch_url_in(dir.path(), common.iter().chain(options).chain(&[url.as_str()])).assert_exit(52);
        assert_eq!(server.requests().len() - before, 1, "{options:?}");
    }
    // PUT is idempotent (RFC 9110 §9.2.2).
    let before = server.requests().len();
    run_fetch_url_in(dir.path(), ["--retry", "2", "--retry-delay", "0.01", "-T", "file", &url])
        .assert_exit(52);
    assert_eq!(server.requests().len() - before, 3);
}

/// Opening and closing a FIFO would end its writer and lose its data.
#[test]
fn fifo_to_send_is_opened_once() {
    let server = http_server(|_| HttpResponse::new(200));
    let dir = temp_dir();
    let fifo = dir.path().join("fifo");
    run_shell("mkfifo \"$1\"", [&fifo]).assert_exit(0);
    let url = server.url("/");
    for (option, prefix) in [("--data-binary", "@"), ("--json", "@"), ("-T", "")] {
        let script = "(i=0; while [ $i -lt 9999 ]; do echo 123456789; i=$((i+1)); done >\"$1\") & \
            timeout -k 1 20 \"$F\" --retry 0 \"$3\" \"$4$1\" \"$2\"";
        let arguments = [fifo.as_os_str(), url.as_ref(), option.as_ref(), prefix.as_ref()];
        run_shell(script, arguments).assert_exit(0);
        let request = server.requests().pop().expect("a request");
        assert!(request.body == "123456789\n".repeat(9999).as_bytes(), "{option}: {}", request.body.len());
    }
}

#[test]
fn standard_input_is_uploaded_as_a_whole_in_each_attempt() {
    let numbers: String = (1..=30_000).map(|number| format!("{number}\n")).collect();
    let challenge =
        || HttpResponse::new(401).header("WWW-Authenticate", "Digest realm=\"r\", nonce=\"n\", qop=\"auth\"");
    let moved = || HttpResponse::new(307).header("Location", "/other/");
    for (case, first) in
        [("401", challenge()), ("a redirect", moved()), ("no response", HttpResponse::raw(""))]
    {
        let server = http_server_first_then(move |_| first.clone(), |_| HttpResponse::new(201));
        let script = "seq 30000 | \"$F\" --retry 1 --retry-delay 0.01 --digest -u me:pw -T - \"$1\"";
        run_shell(script, [server.url("/dir/")]).assert_exit(0);
        let requests = server.requests();
        assert_eq!(requests.len(), 2, "{case}");
        for request in requests {
            assert!(request.path().ends_with('/') && request.method == "PUT", "{case}: {request:?}");
            assert!(request.body == numbers.as_bytes(), "{case}: {} bytes", request.body.len());
        }
    }
}

/// Servers that stream may reply before they have read the file.
#[test]
fn file_is_sent_as_a_whole_if_the_server_accepts_it_early() {
    fn serve(mut stream: TcpStream, reply: &str) -> usize {
        let mut received = Vec::new();
        while !received.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
            let mut buffer = [0; 4096];
            let count = stream.read(&mut buffer).expect("a request");
            received.extend_from_slice(&buffer[..count]);
        }
        stream.write_all(reply.as_bytes()).expect("a reply");
        thread::sleep(Duration::from_millis(100));
        let _ = stream.read_to_end(&mut received);
        received.len()
    }
    let dir = temp_dir();
    fs::write(dir.path().join("large"), vec![b'x'; SIZE]).expect("a file");
    let socks = ProxyServer::socks5().expect("a proxy on loopback");
    let proxy = socks.url();
    for reply in [
        "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    ] {
        for (option, proxy) in [("-T", ""), ("-F", ""), ("-T", proxy.as_str()), ("-F", proxy.as_str())] {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            let url = format!("http://{}/x", listener.local_addr().expect("an address"));
            let server = thread::spawn(move || serve(listener.accept().expect("a connection").0, reply));
            let file = if option == "-T" { "large" } else { "f=@large" };
            run_fetch_url_in(dir.path(), ["--retry", "0", "-x", proxy, option, file, &url]).assert_exit(0);
            assert!(server.join().expect("a server") > SIZE, "{option} {proxy:?} {reply:?}");
        }
    }
}

#[test]
fn connection_that_is_closed_after_an_early_success_is_an_error() {
    let address = start_server(|mut stream| {
        read_some(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
        thread::sleep(Duration::from_millis(100));
    });
    let dir = temp_dir();
    fs::write(dir.path().join("large"), vec![b'x'; SIZE]).expect("a file");
    let url = format!("http://{address}/x");
    let result = run_fetch_url_in(dir.path(), ["--retry", "2", "-T", "large", &url]);
    result.assert_exit(18).assert_stderr_contains("before the whole body was sent");
}

#[test]
fn standard_input_that_cannot_be_stored_exits_23() {
    let server = http_server(|_| HttpResponse::new(201));
    run_shell("echo x | TMPDIR=/nonexistent \"$F\" -T - \"$1\"", [server.url("/name")])
        .assert_exit(23)
        .assert_stderr_contains("the temporary file of -T in /nonexistent");
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn empty_standard_input_is_an_upload_without_bytes() {
    let server = http_server(|_| HttpResponse::new(201));
    run_shell("\"$F\" -T . \"$1\" </dev/null", [server.url("/name")]).assert_exit(0);
    let request = server.requests().pop().expect("a request");
    assert_eq!((request.header_text("content-length"), request.body.len()), (Some("0"), 0));
    let twice = "\"$F\" -T - -T - \"$1\" \"$1\" </dev/null";
    run_shell(twice, [server.url("/name")])
        .assert_exit(2)
        .assert_stderr_contains("standard input is read by -T");
}

#[test]
fn endless_response_to_an_upload_needs_little_memory() {
    let server = http_server(|_| HttpResponse::new(200).stream(1 << 30));
    let dir = temp_dir();
    fs::write(dir.path().join("large"), vec![b'x'; SIZE]).expect("a file");
    let field = format!("f=@{}", dir.path().join("large").display());
    let (memory, result) =
        run_measuring_memory(["-F", &field, "--max-filesize", "1M", "-o", "/dev/null", &server.url("/")]);
    assert_eq!(result.exit, 63, "{}", result.stderr);
    assert!(memory < 64 * 1024, "{memory} KiB");
}

/// The read timeout counts from the last bytes that were sent, so an upload may take longer. A server that stops reading is
/// a timeout.
#[test]
fn upload_that_advances_may_take_longer_than_the_read_timeout() {
    let slow = start_server(|mut stream| {
        read_head(&mut stream);
        // The buffers of the sockets hold the rest, which is read without a pause.
        let mut piece = vec![0; SIZE / 20];
        for number in 0..20 {
            thread::sleep(Duration::from_millis(if number < 12 { 300 } else { 0 }));
            if stream.read_exact(&mut piece).is_err() {
                return;
            }
        }
        let _ = stream.read_exact(&mut [0; SIZE % 20]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        // The end of a form is unread: to close the connection now could reset it before the response is read.
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    let stops = start_server(|mut stream| {
        read_head(&mut stream);
        let _ = stream.read_exact(&mut vec![0; SIZE / 2]);
        thread::park();
        drop(stream);
    });
    let dir = temp_dir();
    fs::write(dir.path().join("large"), vec![b'x'; SIZE]).expect("a file");
    let proxy = ProxyServer::socks5().expect("a proxy on loopback");
    for (address, exit) in [(slow, 0), (stops, 28)] {
        for route in [&[][..], &["-x", &proxy.url()]] {
            let bodies = [&["-T", "large"][..], &["--data-binary", "@large"], &["-F", "f=<large"]];
            for body in bodies.into_iter().take(if exit == 0 { 3 } else { 1 }) {
                let fixed = ["--retry", "0", "--read-timeout", "3"];
                let url = format!("http://{address}/x");
                let result = run_fetch_url_in(dir.path(), [&fixed[..], body, route, &[&url]].concat());
                assert_eq!(result.exit, exit, "{body:?} {route:?} {result:?}");
            }
        }
    }
}

/// The server sends 401 before it has read the body, and never reads the rest. The request with the login uses another
/// connection.
#[test]
fn request_after_an_early_challenge_uses_another_connection() {
    let server = start_server(|mut stream| {
        let head = read_head(&mut stream);
        if !head.contains("uthorization: Basic") {
            let challenge =
                "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n";
            let _ = stream.write_all(challenge.as_bytes());
            thread::park();
        }
        if stream.read_exact(&mut vec![0; SIZE]).is_ok() {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        }
    });
    let dir = temp_dir();
    fs::write(dir.path().join("large"), vec![b'x'; SIZE]).expect("a file");
    let url = format!("http://{server}/x");
    for body in [&["-T", "large"][..], &["--data-binary", "@large"]] {
        let fixed = ["--retry", "0", "-m", "20", "--anyauth", "-u", "u:pw"];
        let result = run_fetch_url_in(dir.path(), [&fixed[..], body, &[&url]].concat());
        assert_eq!((result.exit, &result.stdout[..]), (0, &b"ok"[..]), "{body:?} {result:?}");
    }
}

/// Reads a request up to its empty line and returns its head.
fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read_exact(&mut byte).is_ok() {
        head.push(byte[0]);
    }
    String::from_utf8_lossy(&head).into_owned()
}
