//! A process that was stopped (SIGSTOP) or slept with the machine.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use crate::support::{send_signal, spawn_fetch_url, wait_for_exit};

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n";
/// Longer than the read timeout of the runs.
const STOP_TIME: Duration = Duration::from_millis(3500);

/// Reads the request.
fn accept_request(listener: &TcpListener) -> TcpStream {
    let (mut stream, _) = listener.accept().expect("a connection");
    let mut request = [0; 4096];
    assert!(stream.read(&mut request).expect("a request") > 0);
    stream
}

/// Sends `before`, stops the process, sends `after`, and continues the process after its read timeout. Returns its exit
/// status.
fn stop_between(before: &[u8], after: &[u8], options: &[&str]) -> i32 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let child = spawn_fetch_url([&["--read-timeout", "2"], options, &[&url]].concat());
    let mut stream = accept_request(&listener);
    stream.write_all(before).expect("a socket that takes data");
    thread::sleep(Duration::from_millis(300));
    send_signal(&child, "STOP");
    stream.write_all(after).expect("a socket that takes data");
    thread::sleep(STOP_TIME);
    send_signal(&child, "CONT");
    wait_for_exit(child).exit
}

#[test]
fn response_that_arrives_while_the_process_is_stopped_is_read() {
    let response = [HEAD, b"0123456789"].concat();
    let speed = ["--speed-limit", "5", "--speed-time", "1"];
    let (start, rest) = response.split_at(response.len() - 5);
    let cases = [
        ("before the head", &b""[..], &response[..], &[][..]),
        ("in the body", start, rest, &[]),
        ("in the body, with a minimum rate", start, rest, &speed),
    ];
    thread::scope(|scope| {
        for (case, before, after, options) in cases {
            scope.spawn(move || assert_eq!(stop_between(before, after, options), 0, "{case}"));
        }
    });
}

#[test]
fn silent_server_is_a_timeout_after_the_process_was_stopped() {
    assert_eq!(stop_between(HEAD, b"", &[]), 28);
    assert_eq!(stop_between(b"", b"", &["-m", "1"]), 28);
}
