//! A Prospero client that believes everything, for the servers' own tests.

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use crate::prospero::header::{ACKNOWLEDGE, ProsperoHeader};

/// How long nothing has to come before something is asked for again.
const QUIET: Duration = Duration::from_millis(50);
/// How long one answer may take.
const PATIENCE: Duration = Duration::from_millis(800);

/// A socket, and whom it speaks to.
pub(crate) struct Asking {
    socket: UdpSocket,
    addr: SocketAddr,
}

impl Asking {
    pub(crate) fn new(addr: SocketAddr) -> Self {
        let socket = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
        Self { socket, addr }
    }

    pub(crate) fn send(&self, octets: &[u8]) {
        self.socket.send_to(octets, self.addr).unwrap();
    }

    /// The next datagram, within this time.
    pub(crate) fn next(&self, time: Duration) -> Option<(Vec<u8>, SocketAddr)> {
        self.socket.set_read_timeout(Some(time)).unwrap();
        let mut buffer = vec![0; 65_536];
        let (length, from) = self.socket.recv_from(&mut buffer).ok()?;
        Some((buffer[..length].to_vec(), from))
    }

    /// All datagrams until nothing comes for a while.
    pub(crate) fn all(&self) -> Vec<Vec<u8>> {
        std::iter::from_fn(|| self.next(Duration::from_millis(60))).map(|(octets, _)| octets).collect()
    }

    /// The text of the answer to a request with this id; none if it is not there in time. What is lost is asked for
    /// after a while, and what is flagged is acknowledged as soon as everything before it is there.
    pub(crate) fn answer(&self, connection: u16, text: &[u8]) -> Option<Vec<u8>> {
        let (first, end) = (request(connection, text), Instant::now() + PATIENCE);
        self.send(&first);
        let (mut packets, mut total, mut flagged) = (BTreeMap::new(), 0, 0);
        while Instant::now() < end {
            let Some((octets, _)) = self.next(QUIET) else {
                let through = through(&packets);
                self.send(&if through == 0 { first.clone() } else { acknowledgement(connection, through) });
                continue;
            };
            let header = ProsperoHeader::read(&octets).filter(|header| header.connection == connection);
            let Some(header) = header else { continue };
            if header.number > 0 {
                packets.entry(header.number).or_insert_with(|| octets[usize::from(header.length)..].to_vec());
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

/// A request in one packet.
pub(crate) fn request(connection: u16, text: &[u8]) -> Vec<u8> {
    let header = ProsperoHeader { length: 9, connection, number: 1, total: 1, ..ProsperoHeader::default() };
    [header.octets(), text.to_vec()].concat()
}

/// Everything up to this has arrived.
pub(crate) fn acknowledgement(connection: u16, through: u16) -> Vec<u8> {
    ProsperoHeader { length: 9, connection, through, ..ProsperoHeader::default() }.octets()
}

fn through(packets: &BTreeMap<u16, Vec<u8>>) -> u16 {
    let in_order = packets.keys().zip(1..).take_while(|(number, expected)| *number == expected);
    in_order.last().map_or(0, |(number, _)| *number)
}
