//! A minimal Prospero client for the tests of the server.

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use crate::prospero::header::{ACKNOWLEDGE, ProsperoHeader};

/// How long the client waits before it repeats its request or acknowledgement.
const REPEAT_AFTER: Duration = Duration::from_millis(50);
/// Maximum wait for a response.
const RESPONSE_TIMEOUT: Duration = Duration::from_millis(800);

/// A client of one server.
pub(crate) struct TestClient {
    socket: UdpSocket,
    addr: SocketAddr,
}

impl TestClient {
    pub(crate) fn new(addr: SocketAddr) -> Self {
        let socket = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
        Self { socket, addr }
    }

    pub(crate) fn send(&self, bytes: &[u8]) {
        self.socket.send_to(bytes, self.addr).unwrap();
    }

    /// Receives the next datagram within this time.
    pub(crate) fn receive(&self, time: Duration) -> Option<(Vec<u8>, SocketAddr)> {
        self.socket.set_read_timeout(Some(time)).unwrap();
        let mut buffer = vec![0; 65_536];
        let (length, from) = self.socket.recv_from(&mut buffer).ok()?;
        Some((buffer[..length].to_vec(), from))
    }

    /// Receives datagrams until there is none for 60 ms.
    pub(crate) fn receive_all(&self) -> Vec<Vec<u8>> {
        std::iter::from_fn(|| self.receive(Duration::from_millis(60))).map(|(bytes, _)| bytes).collect()
    }

    /// Sends a request with this id. Returns the text of the response, or `None` if it is not complete within
    /// 800 ms. Lost packets are requested again, and flagged packets are acknowledged when all packets before
    /// them were received.
    pub(crate) fn exchange(&self, connection: u16, text: &[u8]) -> Option<Vec<u8>> {
        let (first, end) = (request(connection, text), Instant::now() + RESPONSE_TIMEOUT);
        self.send(&first);
        let (mut packets, mut total, mut flagged) = (BTreeMap::new(), 0, 0);
        while Instant::now() < end {
            let Some((bytes, _)) = self.receive(REPEAT_AFTER) else {
                let through = through(&packets);
                self.send(&if through == 0 { first.clone() } else { acknowledgement(connection, through) });
                continue;
            };
            let header = ProsperoHeader::parse(&bytes).filter(|header| header.connection == connection);
            let Some(header) = header else { continue };
            if header.number > 0 {
                packets.entry(header.number).or_insert_with(|| bytes[usize::from(header.length)..].to_vec());
            }
            if header.flags & ACKNOWLEDGE != 0 {
                flagged = header.number.max(flagged);
            }
            total = header.total.max(total);
            let through = through(&packets);
            if total > 0 && through >= total {
                self.send(&acknowledgement(connection, through));
                return Some(packets.into_values().collect::<Vec<_>>().concat());
            }
            if flagged > 0 && through >= flagged {
                self.send(&acknowledgement(connection, through));
                flagged = 0;
            }
        }
        None
    }
}

/// Returns a request in one packet.
pub(crate) fn request(connection: u16, text: &[u8]) -> Vec<u8> {
    let header = ProsperoHeader { length: 9, connection, number: 1, total: 1, ..ProsperoHeader::default() };
    [header.encode(), text.to_vec()].concat()
}

/// Returns an acknowledgement of all packets up to this number.
pub(crate) fn acknowledgement(connection: u16, through: u16) -> Vec<u8> {
    ProsperoHeader { length: 9, connection, through, ..ProsperoHeader::default() }.encode()
}

fn through(packets: &BTreeMap<u16, Vec<u8>>) -> u16 {
    let in_order = packets.keys().zip(1..).take_while(|(number, expected)| *number == expected);
    in_order.last().map_or(0, |(number, _)| *number)
}
