//! The ARDP datagrams of Prospero: which addresses are tried, and when the client stops sending.

use std::net::{Ipv4Addr, UdpSocket};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::run_fetch_url;
use fetch_url_tests::ReservedPort;

/// The read timeout of the test sockets.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Binds a UDP socket to 127.0.0.`last`.
fn bind_udp(last: u8, port: u16) -> UdpSocket {
    let socket = UdpSocket::bind((Ipv4Addr::new(127, 0, 0, last), port)).expect("bind socket");
    socket.set_read_timeout(Some(TIMEOUT)).expect("set timeout");
    socket
}

/// Answers each request with a header of three bytes, which holds the id of the request, and this text. Received
/// datagrams are sent to the returned channel.
fn answer_requests(socket: UdpSocket, answer: &'static [u8]) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut bytes = [0; 2048];
        while let Ok((length, from)) = socket.recv_from(&mut bytes) {
            let is_request = bytes[3..5] != [0, 0];
            if is_request {
                let _ = socket.send_to(&[&[3, bytes[1], bytes[2]], answer].concat(), from);
            }
            if sender.send(bytes[..length].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}

fn local_port(socket: &UdpSocket) -> u16 {
    socket.local_addr().expect("local address").port()
}

#[test]
fn second_address_is_tried_if_the_first_does_not_answer() {
    let silent = bind_udp(1, 0);
    let port = local_port(&silent);
    let datagrams = answer_requests(bind_udp(2, port), b"FAILURE NOT-FOUND\n");
    let resolve = format!("two.example:{port}:127.0.0.1,127.0.0.2");
    let url = format!("prospero://two.example:{port}/x");
    run_fetch_url(["--read-timeout", "3", "--resolve", &resolve, &url])
        .assert_exit(78)
        .assert_stderr_contains("NOT-FOUND");
    assert!(datagrams.recv().is_ok());
}

#[test]
fn closed_port_is_detected_without_waiting_for_retransmission() {
    let closed = ReservedPort::udp().expect("a port");
    let start = Instant::now();
    run_fetch_url([format!("prospero://{}/x", closed.addr())]).assert_exit(7);
    // The first retransmission would be sent after four seconds.
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    // The next address is tried immediately as well.
    let port = closed.addr().port();
    let second = bind_udp(2, port);
    let _heard = answer_requests(second, b"FAILURE NOT-FOUND\n");
    let resolve = format!("two.example:{port}:127.0.0.1,127.0.0.2");
    let start = Instant::now();
    run_fetch_url(["--resolve", &resolve, &format!("prospero://two.example:{port}/x")]).assert_exit(78);
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
}

#[test]
fn complete_answer_sends_no_cancel() {
    let socket = bind_udp(1, 0);
    let url = format!("prospero://127.0.0.1:{}/x", local_port(&socket));
    let datagrams = answer_requests(socket, b"FAILURE NOT-FOUND\n");
    run_fetch_url([url]).assert_exit(78);
    assert!(datagrams.recv_timeout(TIMEOUT).is_ok());
    assert!(datagrams.recv_timeout(Duration::from_millis(200)).is_err());
}
