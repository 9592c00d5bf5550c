//! HTTP/2 from a server that sends handwritten frames (RFC 9113 §4.1): a body is complete only with END_STREAM, and a
//! connection that timed out is not reused.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use fetch_url::{Code, Content, Error, Fetcher, Policy, Retry, Trust};
use fetch_url_tests::ServerCert;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

type Tls = StreamOwned<ServerConnection, TcpStream>;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// Entry 8 of the static table of HPACK: `:status: 200`.
const STATUS_200: &[u8] = &[0x88];

/// Serves one connection after the other; `play` gets the number of each.
fn server(cert: &ServerCert, play: fn(usize, &mut Tls)) -> SocketAddr {
    let mut config = ServerConfig::clone(&*cert.server_config().expect("a configuration"));
    config.alpn_protocols = vec![b"h2".to_vec()];
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().flatten().enumerate() {
            let tls = ServerConnection::new(config.clone()).expect("a connection");
            std::thread::spawn(move || {
                let mut stream = StreamOwned::new(tls, stream);
                let mut preface = [0; 24];
                if stream.read_exact(&mut preface).is_ok() {
                    frame(&mut stream, SETTINGS, 0, 0, &[]);
                    play(number, &mut stream);
                }
            });
        }
    });
    address
}

/// Writes a frame. The client may have closed the connection.
fn frame(stream: &mut Tls, kind: u8, flags: u8, id: u32, payload: &[u8]) {
    let length = u32::try_from(payload.len()).expect("a short frame").to_be_bytes();
    let head = [&length[1..], &[kind, flags], &id.to_be_bytes()].concat();
    let _ = stream.write_all(&[&head, payload].concat()).and_then(|()| stream.flush());
}

/// Reads frames until a request has arrived and returns its stream, or `None` at the end of the connection.
fn request(stream: &mut Tls) -> Option<u32> {
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).ok()?;
        let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
        stream.read_exact(&mut payload).ok()?;
        match head[3] {
            HEADERS => return Some(u32::from_be_bytes([head[5], head[6], head[7], head[8]])),
            SETTINGS if head[4] == 0 => frame(stream, SETTINGS, 1, 0, &[]),
            _ => {}
        }
    }
}

async fn fetched(fetcher: &Fetcher, address: SocketAddr) -> Result<Vec<u8>, Error> {
    let response = fetcher.get(&format!("https://localhost:{}/x", address.port())).await?;
    assert_eq!(response.meta.protocol, Some("HTTP/2"));
    match response.content {
        Content::Body(body) => body.collect(1 << 20).await,
        other => panic!("{other:?}"),
    }
}

fn fetcher(cert: &ServerCert, retries: u32) -> Fetcher {
    let mut policy = Policy::default();
    policy.retry = Retry::never();
    policy.retry.max_retries = retries;
    policy.retry.delay = Some(Duration::from_millis(20));
    policy.timeouts.reply = Duration::from_millis(500);
    let trust = Trust::Authorities(cert.ca_pem().as_bytes().to_vec());
    Fetcher::builder().policy(policy).trust(trust).build()
}

fn half(stream: &mut Tls, flags: u8) -> u32 {
    let id = request(stream).unwrap_or(1);
    frame(stream, HEADERS, END_HEADERS, id, STATUS_200);
    frame(stream, DATA, flags, id, b"half of it");
    id
}

#[tokio::test]
async fn body_without_end_stream_fails_as_truncated() {
    let cert = ServerCert::good().expect("a certificate");
    let whole = server(&cert, |_, stream| {
        half(stream, END_STREAM);
        request(stream);
    });
    assert_eq!(fetched(&fetcher(&cert, 0), whole).await.expect("it is whole"), b"half of it");
    let resets: [fn(usize, &mut Tls); 3] = [
        |_, stream| {
            let id = half(stream, 0);
            frame(stream, RST_STREAM, 0, id, &0_u32.to_be_bytes());
            request(stream);
        },
        |_, stream| {
            let id = half(stream, 0);
            frame(stream, RST_STREAM, 0, id, &8_u32.to_be_bytes());
            request(stream);
        },
        |_, stream| {
            half(stream, 0);
        },
    ];
    for (number, reset) in resets.into_iter().enumerate() {
        let error = fetched(&fetcher(&cert, 0), server(&cert, reset)).await.expect_err("it was cut");
        assert_eq!(error.code(), Code::Truncated, "reset {number}: {error}");
    }
}

/// The first connection answers once and then sends nothing; later connections work.
#[tokio::test]
async fn silent_connection_is_replaced_by_a_new_one() {
    let cert = ServerCert::good().expect("a certificate");
    let address = server(&cert, |number, stream| {
        half(stream, END_STREAM);
        while request(stream).is_some() {
            if number > 0 {
                return;
            }
        }
    });
    let fetcher = fetcher(&cert, 2);
    assert_eq!(fetched(&fetcher, address).await.expect("the first"), b"half of it");
    assert_eq!(fetched(&fetcher, address).await.expect("the second, elsewhere"), b"half of it");
}
