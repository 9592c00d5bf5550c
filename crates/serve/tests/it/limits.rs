//! Many clients at once: memory, file descriptors, and the limits with names.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use fetch_url_tests::{
    FtpConfig, FtpServer, GopherConfig, GopherItem, GopherServer, HttpResponse, HttpServer,
};

use crate::support::{Reply, TestServer, connect_from, options};

/// The number of slow clients.
const SLOW_CLIENTS: usize = 200;
/// The number of requests, of which every second one is cancelled.
const REQUESTS: usize = 10_000;
/// The maximum growth of the memory while each slow client reads a MiB, in bytes.
const MAX_GROWTH: u64 = 32 << 20;

/// Returns the memory of this process in bytes.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kibibytes * 1024
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("Linux").count()
}

/// Waits until no more than `most` descriptors are open.
fn wait_for_descriptors(most: usize) {
    let started = Instant::now();
    while descriptors() > most {
        assert!(started.elapsed() < Duration::from_secs(30), "{} descriptors, at most {most}", descriptors());
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn read(stream: &mut TcpStream, count: usize) {
    let mut bytes = vec![0; 16 * 1024];
    let mut left = count;
    while left > 0 {
        let length = stream.read(&mut bytes).expect("more bytes");
        assert!(length > 0, "the end");
        left = left.saturating_sub(length);
    }
}

#[test]
fn slow_clients_need_no_memory_and_leave_no_descriptor() {
    let gopher =
        GopherServer::start(GopherConfig::new().item(GopherItem::pattern("/big", 1 << 30))).expect("starts");
    let server = TestServer::start();
    let url = gopher.url("9/big");
    assert_eq!(server.page("/").status, 200);
    let before = descriptors();
    let mut clients: Vec<TcpStream> = (0..SLOW_CLIENTS).map(|_| server.connect()).collect();
    for client in &mut clients {
        client.write_all(format!("GET {url} HTTP/1.1\r\nHost: h\r\n\r\n").as_bytes()).expect("sent");
    }
    clients.iter_mut().for_each(|client| read(client, 64 * 1024));
    let first = memory();
    clients.iter_mut().for_each(|client| read(client, 1 << 20));
    let second = memory();
    assert!(second < first + MAX_GROWTH, "{first} bytes, then {second}");
    drop(clients);
    // The server and the upstream server have closed all connections: the requests were cancelled.
    wait_for_descriptors(before);
    assert_eq!(server.page("/").status, 200);
}

#[test]
fn cancelled_requests_leave_nothing_behind() {
    let gopher = GopherServer::start(
        GopherConfig::new()
            .item(GopherItem::text("/a", "hello\r\n"))
            .item(GopherItem::pattern("/big", 1 << 24)),
    )
    .expect("starts");
    let server = TestServer::start();
    assert_eq!(server.get(&gopher.url("0/a"), &[]).status, 200);
    let (before, memory_before) = (descriptors(), memory());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= REQUESTS {
                        break;
                    }
                    if number.is_multiple_of(2) {
                        assert_eq!(server.get(&gopher.url("0/a"), &[]).text(), "hello\r\n");
                        continue;
                    }
                    let mut stream = server.connect();
                    let head = format!("GET {} HTTP/1.1\r\nHost: h\r\n\r\n", gopher.url("9/big"));
                    stream.write_all(head.as_bytes()).expect("sent");
                    // Some leave before the answer, some within it.
                    if number % 4 == 1 {
                        read(&mut stream, 1000);
                    }
                }
            });
        }
    });
    wait_for_descriptors(before);
    let after = memory();
    assert!(after < memory_before + MAX_GROWTH, "{memory_before} bytes, then {after}");
}

#[test]
fn client_that_leaves_cancels_the_request_to_the_server() {
    let http = HttpServer::start(|_| HttpResponse::new(200).stream(1 << 30)).expect("starts");
    let ftp = FtpServer::start(FtpConfig::new().pattern("/big", 1 << 30)).expect("starts");
    let server = TestServer::start();
    let before = descriptors();
    for url in [http.url("/"), ftp.url("/big")] {
        let mut stream = server.connect();
        stream.write_all(format!("GET {url} HTTP/1.1\r\nHost: h\r\n\r\n").as_bytes()).expect("sent");
        read(&mut stream, 100_000);
    }
    // An FTP control connection may stay open for the next request.
    wait_for_descriptors(before + 2);
    assert!(ftp.bytes_sent() < 1 << 29, "{} bytes", ftp.bytes_sent());
}

#[test]
fn further_requests_of_one_client_are_refused() {
    let http = HttpServer::start(|_| HttpResponse::new(200).stream(1 << 30)).expect("starts");
    let mut options = options();
    options.limits.max_requests_per_client = 2;
    let server = TestServer::with(options);
    let mut clients: Vec<TcpStream> = (0..2).map(|_| server.connect()).collect();
    for client in &mut clients {
        client
            .write_all(format!("GET {} HTTP/1.1\r\nHost: h\r\n\r\n", http.url("/")).as_bytes())
            .expect("sent");
        read(client, 1000);
    }
    let reply = server.page("/");
    assert_eq!((reply.status, reply.field("retry-after")), (429, Some("1")), "{reply:?}");
    drop(clients);
    let started = Instant::now();
    while server.page("/").status != 200 {
        assert!(started.elapsed() < Duration::from_secs(30));
    }
}

#[test]
fn further_connections_wait_for_a_free_place() {
    let mut options = options();
    options.limits.max_clients = 1;
    let server = TestServer::with(options);
    let idle = server.connect();
    let mut waiting = server.connect();
    waiting.set_read_timeout(Some(Duration::from_millis(300))).expect("a timeout");
    waiting
        .write_all(format!("GET / HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", server.addr).as_bytes())
        .expect("sent");
    assert!(waiting.read(&mut [0]).is_err(), "an answer before its turn");
    drop(idle);
    waiting.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
    assert_eq!(Reply::read(waiting).status, 200);
}

#[test]
fn free_place_serves_clients_of_each_address() {
    let mut options = options();
    options.listen = vec![SocketAddr::from(([127, 0, 0, 1], 0)); 3];
    options.limits.max_clients = 1;
    let server = TestServer::with(options);
    // Several requests in a row at each address, and in another order than that of the listeners.
    for address in server.addresses.iter().rev() {
        for _ in 0..3 {
            let mut stream = TcpStream::connect(address).expect("it listens");
            stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
            let head = format!("GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
            stream.write_all(head.as_bytes()).expect("sent");
            assert_eq!(Reply::read(stream).status, 200, "{address}");
        }
    }
}

#[test]
fn client_that_does_not_read_is_disconnected() {
    let gopher =
        GopherServer::start(GopherConfig::new().item(GopherItem::pattern("/big", 1 << 28))).expect("starts");
    let mut options = options();
    options.limits.idle_timeout = Duration::from_millis(300);
    let server = TestServer::with(options);
    let mut stream = server.connect();
    stream
        .write_all(format!("GET {} HTTP/1.1\r\nHost: h\r\n\r\n", gopher.url("9/big")).as_bytes())
        .expect("sent");
    let before = Instant::now();
    while gopher.connections() == 0 || before.elapsed() < Duration::from_millis(1500) {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(!Reply::read(stream).is_complete);
}

#[test]
fn object_beyond_the_size_limit_is_refused() {
    let ftp = FtpServer::start(FtpConfig::new().file("/a", "0123456789")).expect("starts");
    let mut options = options();
    options.policy.limits.max_size = Some(5);
    let server = TestServer::with(options);
    let reply = server.get(&ftp.url("/a"), &[]);
    assert_eq!((reply.status, reply.problem("code").as_str()), (502, "limit_reached"), "{reply:?}");
}

#[test]
fn one_address_leaves_connections_for_others() {
    let mut options = options();
    options.limits.max_clients = 8;
    options.allowed_clients = vec!["192.0.2.0/24".parse().expect("a network")];
    let server = TestServer::with(options);
    let clients: Vec<TcpStream> = (0..6).map(|_| server.connect()).collect();
    for _ in 0..20 {
        let mut further = server.connect();
        assert_eq!(further.read(&mut [0]).expect("closed"), 0, "a quarter is left for other addresses");
    }
    let mut other = connect_from([127, 0, 0, 2], &server);
    other
        .write_all(format!("GET / HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", server.addr).as_bytes())
        .expect("sent");
    assert_eq!(Reply::read(other).status, 200);
    drop(clients);
    let started = Instant::now();
    while server.page("/").status != 200 {
        assert!(started.elapsed() < Duration::from_secs(30), "the places of the client are not free");
    }
}
