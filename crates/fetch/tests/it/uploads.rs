//! Request bodies whose response arrives before they are sent: the rest is sent, or the result says that it was not
//! (docs/spec/cli.md, 15.23).

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

use fetch_url::http::{HttpOptions, HttpVersion, RequestBody};
use fetch_url::{Code, Condition, Content, Error, Fetcher, Policy, Request, Retry};
use fetch_url_tests::{HttpResponse, HttpServer};
use tokio::task::JoinSet;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const WINDOW_UPDATE: u8 = 8;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// Entry 8 of the static table of HPACK: `:status: 200`.
const STATUS_200: &[u8] = &[0x88];
/// The flow-control windows at the start of a connection (RFC 9113 §6.9.2).
const INITIAL_WINDOW: usize = 65_535;

/// Starts a server that handles each connection with `serve`, whose results are received.
fn start_server<T: Send + 'static>(
    serve: impl Fn(&mut TcpStream) -> T + Clone + Send + 'static,
) -> (SocketAddr, Receiver<T>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let (results, received) = channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (results, serve) = (results.clone(), serve.clone());
            std::thread::spawn(move || drop(results.send(serve(&mut stream))));
        }
    });
    (address, received)
}

fn fetcher() -> Fetcher {
    let mut policy = Policy::default();
    policy.retry = Retry::never();
    Fetcher::builder().policy(policy).build()
}

async fn sent(address: SocketAddr, body: RequestBody, version: HttpVersion) -> Result<Vec<u8>, Error> {
    sent_with(&fetcher(), address, body, version).await
}

async fn sent_with(
    fetcher: &Fetcher,
    address: SocketAddr,
    body: RequestBody,
    version: HttpVersion,
) -> Result<Vec<u8>, Error> {
    let mut options = HttpOptions::default();
    (options.method, options.body, options.version) = (Some("PUT".to_owned()), Some(body), version);
    let request = Request::new(&format!("http://{address}/x"))?.with_extra(options);
    let response = fetcher.fetch(request).await?;
    match response.content {
        Content::Body(body) => body.collect(1 << 20).await,
        other => panic!("{other:?}"),
    }
}

async fn sent_by_http2(address: SocketAddr, body: impl Into<RequestBody>) -> Result<Vec<u8>, Error> {
    sent(address, body.into(), HttpVersion::Http2PriorKnowledge).await
}

/// Writes a frame. The client may have closed the connection.
fn frame(stream: &mut TcpStream, kind: u8, flags: u8, id: u32, payload: &[u8]) {
    let length = u32::try_from(payload.len()).expect("a short frame").to_be_bytes();
    let _ = stream.write_all(&[&length[1..], &[kind, flags], &id.to_be_bytes(), payload].concat());
}

/// Reads a frame: type, flags, stream and length of the payload.
fn read_frame(stream: &mut TcpStream) -> Option<(u8, u8, u32, usize)> {
    let mut head = [0; 9];
    stream.read_exact(&mut head).ok()?;
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
    stream.read_exact(&mut vec![0; length]).ok()?;
    Some((head[3], head[4], u32::from_be_bytes([head[5], head[6], head[7], head[8]]), length))
}

/// Opens HTTP/2, and sends a response of two bytes as soon as a request has arrived. Returns its stream.
fn reply_early(stream: &mut TcpStream) -> Option<u32> {
    stream.read_exact(&mut [0; 24]).ok()?;
    frame(stream, SETTINGS, 0, 0, &[]);
    loop {
        if let (HEADERS, _, id, _) = read_frame(stream)? {
            frame(stream, HEADERS, END_HEADERS, id, STATUS_200);
            frame(stream, DATA, END_STREAM, id, b"ok");
            return Some(id);
        }
    }
}

/// Reads DATA up to its end, or up to `limit` bytes, and opens the windows after each frame if `opens_windows`. Returns the
/// number of bytes.
fn read_data(stream: &mut TcpStream, limit: usize, opens_windows: bool) -> usize {
    let mut received = 0;
    while received < limit {
        let Some((kind, flags, id, length)) = read_frame(stream) else { break };
        if kind != DATA {
            continue;
        }
        received += length;
        if flags & END_STREAM != 0 {
            break;
        }
        for id in [0, id].into_iter().filter(|_| opens_windows && length > 0) {
            frame(stream, WINDOW_UPDATE, 0, id, &u32::try_from(length).expect("a length").to_be_bytes());
        }
    }
    received
}

/// The server closes the connection only after the client: to close a socket with unread bytes resets the connection.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn http2_body_is_sent_to_its_end_after_an_early_response() {
    for size in [1, INITIAL_WINDOW + 1, 200_000] {
        let (address, received) = start_server(|stream| {
            reply_early(stream);
            let length = read_data(stream, usize::MAX, true);
            let _ = stream.shutdown(Shutdown::Write);
            while read_frame(stream).is_some() {}
            length
        });
        assert_eq!(sent_by_http2(address, vec![b'x'; size]).await.expect("a response"), b"ok", "{size}");
        assert_eq!(received.recv().expect("a result"), size);
    }
}

/// The rest of the body waits in h2 until the server opens its window.
#[tokio::test]
async fn http2_body_that_waits_at_the_end_of_the_connection_is_truncated() {
    for rest in [1, 20_000, 100_000] {
        let (address, received) = start_server(|stream| {
            reply_early(stream);
            read_data(stream, INITIAL_WINDOW, false)
        });
        let error = sent_by_http2(address, vec![b'x'; INITIAL_WINDOW + rest]).await.expect_err("it was cut");
        assert_eq!(error.code(), Code::Truncated, "{rest}: {error}");
        assert_eq!(received.recv().expect("a result"), INITIAL_WINDOW);
    }
}

/// RFC 9113 §8.1: a server that has sent a complete response may decline the rest of the request without an error.
#[tokio::test]
async fn http2_response_before_a_reset_without_error_is_kept() {
    fn reset_with(stream: &mut TcpStream, code: u32) {
        let id = reply_early(stream).unwrap_or(1);
        frame(stream, RST_STREAM, 0, id, &code.to_be_bytes());
        while read_frame(stream).is_some() {}
    }
    let (no_error, _results) = start_server(|stream| reset_with(stream, 0));
    let response = sent_by_http2(no_error, vec![b'x'; 200_000]).await.expect("a response");
    assert_eq!(response, b"ok");
    let (internal_error, _results) = start_server(|stream| reset_with(stream, 2));
    let error = sent_by_http2(internal_error, vec![b'x'; 200_000]).await.expect_err("an error");
    assert_eq!(error.code(), Code::Truncated, "{error}");
}

/// nginx replies to several uploads at the same time in this way (`return 200`).
#[tokio::test]
async fn parallel_http2_uploads_that_the_server_declines_are_complete() {
    let (address, _results) = start_server(|stream| {
        let _ = stream.read_exact(&mut [0; 24]);
        frame(stream, SETTINGS, 0, 0, &[]);
        let mut declined = HashSet::new();
        while let Some((kind, _, id, length)) = read_frame(stream) {
            if kind == HEADERS {
                frame(stream, HEADERS, END_HEADERS, id, STATUS_200);
                frame(stream, DATA, END_STREAM, id, b"ok");
            }
            if kind == DATA && length > 0 {
                frame(stream, WINDOW_UPDATE, 0, 0, &u32::try_from(length).expect("a length").to_be_bytes());
                if declined.insert(id) {
                    frame(stream, RST_STREAM, 0, id, &[0; 4]);
                }
            }
        }
    });
    let fetcher = fetcher();
    for _ in 0..2 {
        let mut uploads = JoinSet::new();
        for _ in 0..4 {
            let fetcher = fetcher.clone();
            uploads.spawn(async move {
                let body = RequestBody::from(vec![b'x'; 200_000]);
                sent_with(&fetcher, address, body, HttpVersion::Http2PriorKnowledge).await
            });
        }
        for response in uploads.join_all().await {
            assert_eq!(response.expect("a response"), b"ok");
        }
    }
}

#[tokio::test]
async fn http2_file_that_becomes_shorter_while_it_is_sent_is_truncated() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    file.as_file().set_len(1 << 20).expect("set size");
    let body = RequestBody::file(file.path()).expect("a regular file");
    let file = std::sync::Arc::new(file);
    let (address, _results) = start_server(move |stream| {
        let _ = stream.read_exact(&mut [0; 24]);
        frame(stream, SETTINGS, 0, 0, &[]);
        while let Some((kind, ..)) = read_frame(stream) {
            if kind == DATA {
                file.as_file().set_len(10_000).expect("set size");
                for id in [0, 1] {
                    frame(stream, WINDOW_UPDATE, 0, id, &(1_u32 << 20).to_be_bytes());
                }
            }
        }
    });
    let error = sent_by_http2(address, body).await.expect_err("the file is shorter");
    assert_eq!(error.code(), Code::Truncated, "{error}");
    assert!(error.to_string().contains("changed while it was being sent"), "{error}");
}

/// RFC 9112 §9.5: the response may arrive although the body cannot be written any more.
#[tokio::test]
async fn response_before_the_connection_is_closed_during_the_body_is_read() {
    fn reply_and_close(stream: &mut TcpStream, status: &str) {
        let _ = stream.read(&mut [0; 100]);
        // In one packet: the reset by which a socket with unread data is closed discards what is not sent yet.
        let reply = format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
        let _ = stream.write_all(reply.as_bytes());
    }
    let body = || RequestBody::from(vec![b'x'; 16 << 20]);
    for _ in 0..5 {
        let (address, _results) = start_server(|stream| reply_and_close(stream, "413 Too Large"));
        let error = sent(address, body(), HttpVersion::Http1).await.expect_err("a refusal");
        assert_eq!(error.code(), Code::HttpError, "{error}");
        let (address, _results) = start_server(|stream| reply_and_close(stream, "201 Created"));
        let error = sent(address, body(), HttpVersion::Http1).await.expect_err("the body is not sent");
        assert_eq!(error.code(), Code::Truncated, "{error}");
        let (address, _results) = start_server(|stream| drop(stream.read(&mut [0; 100])));
        let error = sent(address, body(), HttpVersion::Http1).await.expect_err("no response");
        assert_eq!(error.code(), Code::EmptyReply, "{error}");
    }
}

/// The response to a PUT has its own modification time.
#[tokio::test]
async fn time_condition_does_not_apply_to_the_response_to_a_body() {
    let modified = |_: &_| {
        HttpResponse::new(200).header("Last-Modified", "Mon, 01 Jan 2018 00:00:00 GMT").body("stored")
    };
    let server = HttpServer::start(modified).expect("a server");
    let request = |options| {
        let request = Request::new(&server.url("/x")).expect("a request");
        request.only_if(Condition::ModifiedSince(1_577_836_800)).with_extra(options)
    };
    let fetcher = Fetcher::builder().build();
    let mut options = HttpOptions::default();
    let unchanged = fetcher.fetch(request(options.clone())).await.expect("a response");
    assert!(matches!(unchanged.content, Content::Unchanged), "{unchanged:?}");
    options.body = Some("x".into());
    let response = fetcher.fetch(request(options)).await.expect("a response");
    assert_eq!(response.bytes().await.expect("a body"), &b"stored"[..]);
}

#[tokio::test]
async fn endless_size_line_of_a_chunk_is_rejected() {
    let (address, _results) = start_server(|stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n");
        while stream.write_all(&[b'0'; 65536]).is_ok() {}
    });
    let mut policy = Policy::default();
    policy.retry = Retry::never();
    let fetcher = Fetcher::builder().policy(policy).build();
    let response = fetcher.get(&format!("http://{address}/x")).await.expect("a response");
    let Content::Body(body) = response.content else { panic!("a body") };
    let error = body.collect(1 << 20).await.expect_err("no end");
    assert_eq!(error.code(), Code::PeerMisbehaved, "{error}");
}
