//! A minimal WAIS client for the tests of the server.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::wais::field::field;

/// Returns a search request.
pub(crate) fn search(database: &[u8], words: &[u8], most: u8) -> Vec<u8> {
    let inside = [field(106, words), field(111, &[1]), field(114, &[most])].concat();
    search_apdu(&[field(18, database), field(20, b"3")].concat(), &field(99, &inside))
}

/// Returns a retrieval request for a byte range of a document.
pub(crate) fn retrieval(database: &[u8], id: &[u8], wtype: &[u8], start: u64, end: u64) -> Vec<u8> {
    let term = |used: &str, value: &[u8]| {
        [field(44, format!("{used} ig ig ig ig").as_bytes()), field(45, value)].concat()
    };
    let (start, end) = (start.to_string(), end.to_string());
    let query = [
        term("un re", id),
        term("wt re", wtype),
        field(46, b"a"),
        term("wb ro", start.as_bytes()),
        field(46, b"a"),
        term("wb rl", end.as_bytes()),
        field(46, b"a"),
    ];
    search_apdu(&[field(18, database), field(20, b"1")].concat(), &field(21, &query.concat()))
}

/// Returns an APDU with its header of 25 bytes.
pub(crate) fn with_header(apdu: &[u8]) -> Vec<u8> {
    [format!("{:010}z2wais        0", apdu.len()).as_bytes(), apdu].concat()
}

/// Connects to a server.
pub(crate) fn connected(addr: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(addr).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    stream
}

/// Reads one message, as far as it is received, and the error if it is not complete.
pub(crate) fn read_message(stream: &mut TcpStream) -> (Vec<u8>, Option<ErrorKind>) {
    let mut bytes = Vec::new();
    let header = (&*stream).take(25).read_to_end(&mut bytes).err();
    let digits = bytes.get(..10).and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
    let rest = digits.map_or(0, |length: u64| length.min(100_000));
    let rest = (&*stream).take(rest).read_to_end(&mut bytes).err();
    (bytes, header.or(rest).map(|error| error.kind()))
}

/// Sends these bytes over a new connection and reads one message.
pub(crate) fn exchange(addr: SocketAddr, request: &[u8]) -> (Vec<u8>, Option<ErrorKind>) {
    let mut stream = connected(addr);
    let _ = stream.write_all(request);
    read_message(&mut stream)
}

fn search_apdu(first: &[u8], information: &[u8]) -> Vec<u8> {
    let length = u16::try_from(11 + first.len()).unwrap();
    with_header(&[length.to_be_bytes().as_slice(), &[22], &[0; 10], first, information].concat())
}
