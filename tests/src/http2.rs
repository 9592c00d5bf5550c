//! A server of handwritten HTTP/2 frames over TLS (RFC 9113 §4.1).

use std::io::{Read, Result, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::ServerCert;

/// The server's side of a connection.
pub type Tls = StreamOwned<ServerConnection, TcpStream>;

/// A frame type: RFC 9113 §6.1.
pub const DATA: u8 = 0;
/// A frame type: RFC 9113 §6.2.
pub const HEADERS: u8 = 1;
/// A frame type: RFC 9113 §6.4.
pub const RST_STREAM: u8 = 3;
/// A frame type: RFC 9113 §6.5.
pub const SETTINGS: u8 = 4;
/// A frame type: RFC 9113 §6.7.
pub const PING: u8 = 6;
/// A frame type: RFC 9113 §6.8.
pub const GOAWAY: u8 = 7;
/// A frame type: RFC 9113 §6.9.
pub const WINDOW_UPDATE: u8 = 8;
/// The flag of the last frame of a stream.
pub const END_STREAM: u8 = 1;
/// The flag of a complete field section.
pub const END_HEADERS: u8 = 4;
/// Entry 8 of the static table of HPACK: `:status: 200`.
pub const STATUS_200: &[u8] = &[0x88];

/// Starts a server on a free port of 127.0.0.1 that runs until the process ends. `play` serves a connection after its
/// preface; it gets the number of the connection, from 0. A client of HTTP/1.1 is answered.
pub fn http2_server(
    cert: &ServerCert,
    play: impl Fn(usize, &mut Tls) + Send + Sync + 'static,
) -> Result<SocketAddr> {
    let mut config = ServerConfig::clone(&*cert.server_config()?);
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let (address, play) = (listener.local_addr()?, Arc::new(play));
    thread::spawn(move || {
        for (number, stream) in listener.incoming().flatten().enumerate() {
            let Ok(tls) = ServerConnection::new(Arc::clone(&config)) else { return };
            let play = Arc::clone(&play);
            thread::spawn(move || {
                let mut stream = StreamOwned::new(tls, stream);
                let mut preface = [0; 24];
                let is_complete = stream.read_exact(&mut preface).is_ok();
                if is_complete && !preface.starts_with(b"PRI") {
                    let response = b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nby HTTP/1.1";
                    let _ = stream.write_all(response).and_then(|()| stream.flush());
                } else if is_complete {
                    frame(&mut stream, SETTINGS, 0, 0, &[]);
                    play(number, &mut stream);
                }
            });
        }
    });
    Ok(address)
}

/// Writes a frame. The client may have closed the connection.
pub fn frame(stream: &mut Tls, kind: u8, flags: u8, id: u32, payload: &[u8]) {
    let length = (payload.len() as u32).to_be_bytes();
    let head = [&length[1..], &[kind, flags], &id.to_be_bytes()].concat();
    let _ = stream.write_all(&[&head, payload].concat()).and_then(|()| stream.flush());
}

/// Reads frames until a request has arrived and returns its stream, or `None` at the end of the connection.
pub fn request(stream: &mut Tls) -> Option<u32> {
    loop {
        let (kind, flags, id, _) = read_frame(stream)?;
        match kind {
            HEADERS => return Some(id),
            SETTINGS if flags == 0 => frame(stream, SETTINGS, 1, 0, &[]),
            _ => {}
        }
    }
}

/// The flow-control windows of a connection and of its one stream, in bytes (RFC 9113 §6.9).
struct Windows {
    connection: i64,
    stream: i64,
}

/// Answers a request with `size` bytes, as fast as the client's flow control allows, and adds them to `sent`.
pub fn send_within_windows(stream: &mut Tls, size: usize, sent: &AtomicUsize) {
    let mut windows = Windows { connection: 65_535, stream: 65_535 };
    let (mut id, mut left, mut initial_window) = (0, size, 65_535_i64);
    while let Some((kind, flags, frame_id, payload)) = read_frame(stream) {
        let number = |at: usize| {
            payload
                .get(at..)
                .and_then(|bytes| bytes.first_chunk())
                .map_or(0, |bytes| u32::from_be_bytes(*bytes))
        };
        match kind {
            SETTINGS if flags == 0 => {
                // Entry 4 is SETTINGS_INITIAL_WINDOW_SIZE.
                if let Some([_, _, value @ ..]) =
                    payload.as_chunks::<6>().0.iter().find(|entry| entry[..2] == [0, 4])
                {
                    let initial = i64::from(u32::from_be_bytes(*value));
                    // A client may send SETTINGS again: the difference counts (RFC 9113 §6.9.2).
                    windows.stream += initial - initial_window;
                    initial_window = initial;
                }
                frame(stream, SETTINGS, 1, 0, &[]);
            }
            WINDOW_UPDATE if frame_id == 0 => windows.connection += i64::from(number(0)),
            WINDOW_UPDATE => windows.stream += i64::from(number(0)),
            PING if flags == 0 => frame(stream, PING, 1, 0, &payload),
            HEADERS => {
                id = frame_id;
                frame(stream, HEADERS, END_HEADERS, id, STATUS_200);
            }
            _ => {}
        }
        while id > 0 && left > 0 {
            let allowed = usize::try_from(windows.connection.min(windows.stream)).unwrap_or(0);
            let length = left.min(allowed).min(16_384);
            if length == 0 {
                break;
            }
            left -= length;
            frame(stream, DATA, if left == 0 { END_STREAM } else { 0 }, id, &vec![b'x'; length]);
            windows.connection -= length as i64;
            windows.stream -= length as i64;
            sent.fetch_add(length, Ordering::SeqCst);
        }
    }
}

/// Reads a frame: type, flags, stream and payload.
pub fn read_frame(stream: &mut Tls) -> Option<(u8, u8, u32, Vec<u8>)> {
    let mut head = [0; 9];
    stream.read_exact(&mut head).ok()?;
    let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
    stream.read_exact(&mut payload).ok()?;
    Some((head[3], head[4], u32::from_be_bytes([head[5], head[6], head[7], head[8]]), payload))
}
