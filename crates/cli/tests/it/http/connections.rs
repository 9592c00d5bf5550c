//! HTTP connections: connection reuse after different kinds of responses, and the connection options of a proxy.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::support::{run_fetch_url, run_fetch_url_in, temp_dir};

/// Starts a TCP server that runs `handler` with the number and the stream of each connection, on a thread of its own.
fn start_connection_server(
    handler: impl Fn(usize, std::net::TcpStream) + Send + Sync + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind a port");
    let address = listener.local_addr().expect("local address");
    let handler = Arc::new(handler);
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().flatten().enumerate() {
            let handler = handler.clone();
            std::thread::spawn(move || handler(number, stream));
        }
    });
    address
}

/// Reads a request up to the end of its header. Returns `false` if the connection closes before.
fn read_request(stream: &mut std::net::TcpStream) -> bool {
    read_request_header(stream).is_some()
}

/// Reads a request up to the end of its header and returns it in lower case, or `None` if the connection closes before.
fn read_request_header(stream: &mut std::net::TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => bytes.push(byte[0]),
            _ => return None,
        }
    }
    Some(String::from_utf8_lossy(&bytes).to_ascii_lowercase())
}

/// The server closes each connection after one response without sending `Connection: close`.
#[test]
fn unannounced_close_after_each_response_is_not_an_error() {
    let server = start_connection_server(|_, mut stream| {
        if read_request(&mut stream) {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        }
    });
    let urls: Vec<String> = (0..60).map(|number| format!("http://{server}/{number}")).collect();
    let result = run_fetch_url(&urls);
    assert_eq!((result.exit, result.stdout_text()), (0, "ok".repeat(60)), "{}", result.stderr);
}

/// The server refuses the request before it has read its body, so the rest is not sent, and the connection cannot be reused.
#[test]
fn connection_with_unsent_request_body_is_not_reused() {
    let server = start_connection_server(|_, mut stream| {
        if read_request(&mut stream) {
            let _ = stream.write_all(b"HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno");
            std::thread::sleep(Duration::from_secs(8));
        }
    });
    let dir = temp_dir();
    fs::write(dir.path().join("large"), vec![0; 30_000_000]).expect("write file");
    let url = format!("http://{server}/");
    let started = Instant::now();
    let options = ["--data-binary", "@large", "--no-fail", "-m", "6"];
    let result = run_fetch_url_in(dir.path(), [&options[..], &[&url, &url]].concat());
    assert!(started.elapsed() < Duration::from_secs(5), "{:?} {result:?}", started.elapsed());
    assert_eq!((result.exit, result.stdout_text().as_str()), (0, "nono"), "{}", result.stderr);
}

/// The 401 response and the repeated request share a connection; 40 URLs need at most two connections.
#[test]
fn digest_authentication_reuses_its_connection() {
    let connection_count = Arc::new(AtomicUsize::new(0));
    let counter = connection_count.clone();
    let server = start_connection_server(move |_, mut stream| {
        counter.fetch_add(1, Ordering::SeqCst);
        while let Some(header) = read_request_header(&mut stream) {
            let reply: &[u8] = if header.contains("authorization: digest ") {
                b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
            } else {
                b"HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\nContent-Length: 0\r\n\r\n"
            };
            if stream.write_all(reply).is_err() {
                return;
            }
        }
    });
    let urls: Vec<String> = (0..40).map(|number| format!("http://{server}/{number}")).collect();
    let result = run_fetch_url(["--digest", "-u", "a:b"].into_iter().chain(urls.iter().map(String::as_str)));
    assert_eq!((result.exit, result.stdout_text()), (0, "ok".repeat(40)), "{}", result.stderr);
    assert!(
        connection_count.load(Ordering::SeqCst) <= 2,
        "{} connections",
        connection_count.load(Ordering::SeqCst)
    );
}

/// `--interface`, `--resolve` and `--connect-to` with a proxy.
#[test]
fn connection_options_apply_to_the_proxy() {
    let peers = Arc::new(std::sync::Mutex::new(Vec::new()));
    let recorded_peers = peers.clone();
    let proxy = start_connection_server(move |_, mut stream| {
        recorded_peers
            .lock()
            .expect("lock is not poisoned")
            .push(stream.peer_addr().expect("peer address").ip().to_string());
        if read_request(&mut stream) {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
        }
    });
    let by_address = format!("http://{proxy}");
    let result = run_fetch_url(["--interface", "127.0.0.9", "-x", &by_address, "http://a.invalid/"]);
    assert_eq!((result.exit, result.stdout_text().as_str()), (0, "ok"), "{}", result.stderr);
    assert_eq!(*peers.lock().expect("lock is not poisoned"), ["127.0.0.9"]);
    let (port, by_name) = (proxy.port(), format!("http://p.invalid:{}", proxy.port()));
    let pin = format!("p.invalid:{port}:127.0.0.1");
    run_fetch_url(["--resolve", &pin, "-x", &by_name, "http://a.invalid/"]).assert_exit(0);
    run_fetch_url(["-x", &by_name, "http://a.invalid/"]).assert_exit(5);
    run_fetch_url(["--connect-to", "::b.invalid:", "-x", &by_address, "http://a.invalid/"]).assert_exit(1);
    assert_eq!(
        peers.lock().expect("lock is not poisoned").len(),
        2,
        "an unexpected request reached the proxy"
    );
}
