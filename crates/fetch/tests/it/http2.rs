//! HTTP/2 from a server that sends handwritten frames (RFC 9113 §4.1): a body is complete only with END_STREAM,
//! requests that were not processed are sent again, and invalid responses are rejected.

use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fetch_url::http::HttpOptions;
use fetch_url::{Code, Content, Error, Fetcher, Policy, Request, Retry, Trust, blocking};
use fetch_url_tests::ServerCert;
use fetch_url_tests::http2::{
    DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, RST_STREAM, STATUS_200, Tls, frame, http2_server,
    request, send_within_windows,
};

/// Serves one connection. The number counts the connections from 0.
type Play = fn(usize, &mut Tls);

fn server(cert: &ServerCert, play: Play) -> SocketAddr {
    http2_server(cert, play).expect("a server")
}

async fn fetched(fetcher: &Fetcher, address: SocketAddr) -> Result<Vec<u8>, Error> {
    sent(fetcher, Request::new(&url(address))?).await
}

async fn posted(fetcher: &Fetcher, address: SocketAddr) -> Result<Vec<u8>, Error> {
    let mut options = HttpOptions::default();
    options.method = Some("POST".to_owned());
    sent(fetcher, Request::new(&url(address))?.with_extra(options)).await
}

fn url(address: SocketAddr) -> String {
    format!("https://localhost:{}/x", address.port())
}

async fn sent(fetcher: &Fetcher, request: Request) -> Result<Vec<u8>, Error> {
    let response = fetcher.fetch(request).await?;
    assert_eq!(response.meta.protocol, Some("HTTP/2"));
    match response.content {
        Content::Body(body) => body.collect(1 << 20).await,
        other => panic!("{other:?}"),
    }
}

fn fetcher(cert: &ServerCert, retries: u32) -> Fetcher {
    fetcher_with_timeout(cert, retries, Duration::from_secs(10))
}

fn fetcher_with_timeout(cert: &ServerCert, retries: u32, reply_timeout: Duration) -> Fetcher {
    let mut policy = Policy::default();
    policy.retry = Retry::never();
    policy.retry.max_retries = retries;
    policy.retry.delay = Some(Duration::from_millis(20));
    policy.timeouts.reply = reply_timeout;
    let trust = Trust::Authorities(cert.ca_pem().as_bytes().to_vec());
    Fetcher::builder().policy(policy).trust(trust).build()
}

fn half(stream: &mut Tls, flags: u8) -> u32 {
    let id = request(stream).unwrap_or(1);
    frame(stream, HEADERS, END_HEADERS, id, STATUS_200);
    frame(stream, DATA, flags, id, b"half of it");
    id
}

fn answered(_: usize, stream: &mut Tls) {
    half(stream, END_STREAM);
}

fn answer_with_connection_number(number: usize, stream: &mut Tls) {
    while let Some(id) = request(stream) {
        frame(stream, HEADERS, END_HEADERS, id, STATUS_200);
        frame(stream, DATA, END_STREAM, id, number.to_string().as_bytes());
    }
}

#[tokio::test]
async fn parallel_requests_share_the_first_connection() {
    let cert = ServerCert::good().expect("a certificate");
    let server = server(&cert, answer_with_connection_number);
    let fetcher = fetcher(&cert, 0);
    let get = || fetched(&fetcher, server);
    let (a, b, c, d) = tokio::join!(get(), get(), get(), get());
    for number in [a, b, c, d] {
        assert_eq!(number.expect("a response"), b"0", "the number of the connection");
    }
}

/// Another runtime may not run, or may have ended.
#[test]
fn connection_is_shared_on_its_runtime_only() {
    let cert = ServerCert::good().expect("a certificate");
    let server = server(&cert, answer_with_connection_number);
    let shared = fetcher(&cert, 0);
    let blocking = || blocking::Fetcher::from_fetcher(shared.clone()).expect("a runtime");
    let get = |fetcher: &blocking::Fetcher| {
        fetcher.get(url(server)).and_then(blocking::Response::text).expect("a response")
    };
    let (first, second, third) = (blocking(), blocking(), blocking());
    assert_eq!([&first, &second, &third].map(get), ["0", "1", "2"], "the numbers of the connections");
    drop(third);
    assert_eq!([&first, &second].map(get), ["0", "1"]);
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
    let fetcher = fetcher_with_timeout(&cert, 2, Duration::from_secs(1));
    assert_eq!(fetched(&fetcher, address).await.expect("the first"), b"half of it");
    assert_eq!(fetched(&fetcher, address).await.expect("the second, elsewhere"), b"half of it");
}

fn refused(_: usize, stream: &mut Tls) {
    if let Some(id) = request(stream) {
        frame(stream, RST_STREAM, 0, id, &7_u32.to_be_bytes());
    }
    request(stream);
}

/// Sends GOAWAY with NO_ERROR and a last stream below the request.
fn going_away(_: usize, stream: &mut Tls) {
    if let Some(id) = request(stream) {
        frame(stream, GOAWAY, 0, 0, &[(id - 1).to_be_bytes(), [0; 4]].concat());
    }
    request(stream);
}

/// The server did not process the request (RFC 9113 §8.7), so even a POST is sent again.
#[tokio::test]
async fn request_that_was_not_processed_is_sent_again() {
    let cert = ServerCert::good().expect("a certificate");
    let servers: [fn(usize, &mut Tls); 2] = [
        |number, stream| if number == 0 { refused(number, stream) } else { answered(number, stream) },
        |number, stream| {
            if number == 0 { going_away(number, stream) } else { answered(number, stream) }
        },
    ];
    for play in servers {
        let fetcher = fetcher(&cert, 1);
        assert_eq!(fetched(&fetcher, server(&cert, play)).await.expect("a retry"), b"half of it");
        assert_eq!(posted(&fetcher, server(&cert, play)).await.expect("a retry"), b"half of it");
    }
    let error = fetched(&fetcher(&cert, 0), server(&cert, refused)).await.expect_err("no retry");
    assert_eq!((error.code(), error.is_transient()), (Code::Busy, true), "{error}");
    let error = posted(&fetcher(&cert, 0), server(&cert, going_away)).await.expect_err("no retry");
    assert_eq!((error.code(), error.is_transient()), (Code::EmptyReply, true), "{error}");
}

/// RFC 9113 §7: IIS, for example, sends HTTP_1_1_REQUIRED for resources that need a login of the connection.
#[tokio::test]
async fn request_that_requires_http1_is_sent_over_http1() {
    let cert = ServerCert::good().expect("a certificate");
    let address = server(&cert, |_, stream| {
        if let Some(id) = request(stream) {
            frame(stream, RST_STREAM, 0, id, &13_u32.to_be_bytes());
        }
        request(stream);
    });
    let response = fetcher(&cert, 0).fetch(Request::new(&url(address)).expect("a URL")).await;
    let response = response.expect("a response over HTTP/1.1");
    assert_eq!(response.meta.protocol, Some("HTTP/1.1"));
    let Content::Body(body) = response.content else { panic!("no body") };
    assert_eq!(body.collect(1 << 20).await.expect("the body"), b"by HTTP/1.1");
}

/// Reads a request, then ends the TLS session and the connection in order.
fn closing(_: usize, stream: &mut Tls) {
    request(stream);
    close(stream);
}

fn close(stream: &mut Tls) {
    stream.conn.send_close_notify();
    let _ = stream.flush();
}

/// As over HTTP/1.1. The server may have processed a POST.
#[tokio::test]
async fn clean_close_before_the_response_is_an_empty_reply_and_retried_unless_it_is_a_post() {
    let cert = ServerCert::good().expect("a certificate");
    let error = fetched(&fetcher(&cert, 0), server(&cert, closing)).await.expect_err("no response");
    assert_eq!((error.code(), error.is_transient()), (Code::EmptyReply, true), "{error}");
    assert!(error.to_string().contains("the connection was closed"), "{error}");
    let play: fn(usize, &mut Tls) =
        |number, stream| if number == 0 { closing(number, stream) } else { answered(number, stream) };
    assert_eq!(fetched(&fetcher(&cert, 1), server(&cert, play)).await.expect("a retry"), b"half of it");
    let error = posted(&fetcher(&cert, 1), server(&cert, play)).await.expect_err("no retry");
    assert_eq!(error.code(), Code::EmptyReply, "{error}");
}

#[tokio::test]
async fn clean_close_within_the_body_is_reported_as_a_closed_connection() {
    let cert = ServerCert::good().expect("a certificate");
    let address = server(&cert, |_, stream| {
        half(stream, 0);
        close(stream);
    });
    let error = fetched(&fetcher(&cert, 0), address).await.expect_err("it was cut");
    assert_eq!(error.code(), Code::Truncated, "{error}");
    assert!(error.to_string().contains("the connection was closed before the end of the body"), "{error}");
}

/// Over a connection that has served a request, another connection is used at once, without a retry of the caller.
#[tokio::test]
async fn request_above_goaway_is_sent_on_another_connection() {
    let cert = ServerCert::good().expect("a certificate");
    let address = server(&cert, |number, stream| {
        half(stream, END_STREAM);
        if number == 0 {
            going_away(number, stream);
        }
        request(stream);
    });
    let fetcher = fetcher(&cert, 0);
    assert_eq!(fetched(&fetcher, address).await.expect("the first"), b"half of it");
    assert_eq!(posted(&fetcher, address).await.expect("the second, elsewhere"), b"half of it");
}

/// RFC 9113 §7: the server gives up the stream of a request that it may have processed, as if it closed the connection.
#[tokio::test]
async fn get_is_sent_again_after_a_reset_before_the_response() {
    let cert = ServerCert::good().expect("a certificate");
    let cases: [(Play, Code); 5] = [
        (|number, stream| reset_first(number, stream, 0), Code::EmptyReply),
        (|number, stream| reset_first(number, stream, 2), Code::EmptyReply),
        (|number, stream| reset_first(number, stream, 8), Code::EmptyReply),
        (|number, stream| reset_first(number, stream, 11), Code::Busy),
        (|number, stream| reset_first(number, stream, 1), Code::PeerMisbehaved),
    ];
    for (play, code) in cases {
        let error = fetched(&fetcher(&cert, 0), server(&cert, play)).await.expect_err("no retry");
        let is_transient = code != Code::PeerMisbehaved;
        assert_eq!((error.code(), error.is_transient()), (code, is_transient), "{error}");
        let retried = fetched(&fetcher(&cert, 1), server(&cert, play)).await;
        assert_eq!(retried.ok().as_deref(), is_transient.then_some(&b"half of it"[..]), "{code:?}");
        let error = posted(&fetcher(&cert, 1), server(&cert, play)).await.expect_err("no second POST");
        assert_eq!((error.code(), error.is_transient()), (code, false), "{error}");
    }
}

/// Resets the stream of the first request, with this error code, and answers the second one, also on another
/// connection.
fn reset_first(number: usize, stream: &mut Tls, code: u32) {
    if number == 0
        && let Some(id) = request(stream)
    {
        frame(stream, RST_STREAM, 0, id, &code.to_be_bytes());
    }
    half(stream, END_STREAM);
    request(stream);
}

/// Another reset says nothing about whether the server processed a POST.
#[tokio::test]
async fn post_is_not_sent_again_after_an_internal_error() {
    let cert = ServerCert::good().expect("a certificate");
    let address = server(&cert, |number, stream| {
        if number > 0 {
            half(stream, END_STREAM);
        } else if let Some(id) = request(stream) {
            frame(stream, RST_STREAM, 0, id, &2_u32.to_be_bytes());
        }
        request(stream);
    });
    assert!(posted(&fetcher(&cert, 1), address).await.is_err());
}

/// Sends `count` responses with status 103, then the response.
fn interim(stream: &mut Tls, count: usize) {
    let id = request(stream).unwrap_or(1);
    for _ in 0..count {
        frame(stream, HEADERS, END_HEADERS, id, b"\x08\x03103");
    }
    frame(stream, HEADERS, END_HEADERS, id, STATUS_200);
    frame(stream, DATA, END_STREAM, id, b"all of it");
    request(stream);
}

#[tokio::test]
async fn more_than_32_interim_responses_fail() {
    let cert = ServerCert::good().expect("a certificate");
    let few = server(&cert, |_, stream| interim(stream, 32));
    assert_eq!(fetched(&fetcher(&cert, 0), few).await.expect("32 are allowed"), b"all of it");
    let many = server(&cert, |_, stream| interim(stream, 33));
    let error = fetched(&fetcher(&cert, 0), many).await.expect_err("33 are too many");
    assert_eq!(error.code(), Code::LimitReached, "{error}");
}

/// Sends a response with `count` header fields `x: y`.
fn with_fields(stream: &mut Tls, count: usize) {
    let id = request(stream).unwrap_or(1);
    // Literal fields without indexing (RFC 7541 §6.2.2).
    let block = [STATUS_200, &b"\x00\x01x\x01y".repeat(count)].concat();
    frame(stream, HEADERS, END_HEADERS, id, &block);
    frame(stream, DATA, END_STREAM, id, b"all of it");
    request(stream);
}

#[tokio::test]
async fn more_than_512_header_fields_fail() {
    let cert = ServerCert::good().expect("a certificate");
    let few = server(&cert, |_, stream| with_fields(stream, 512));
    assert_eq!(fetched(&fetcher(&cert, 0), few).await.expect("512 are allowed"), b"all of it");
    let many = server(&cert, |_, stream| with_fields(stream, 513));
    let error = fetched(&fetcher(&cert, 0), many).await.expect_err("513 are too many");
    assert_eq!(error.code(), Code::LimitReached, "{error}");
}

/// Answers the first request with a page and this status.
fn send_page(stream: &mut Tls, status: &[u8]) {
    let id = request(stream).unwrap_or(1);
    frame(stream, HEADERS, END_HEADERS, id, status);
    frame(stream, DATA, END_STREAM, id, b"no object");
    request(stream);
}

/// RFC 9110 §15: a status from 600 counts as 5xx.
#[tokio::test]
async fn status_above_599_is_a_server_error() {
    let cert = ServerCert::good().expect("a certificate");
    let servers: [fn(usize, &mut Tls); 2] =
        [|_, stream| send_page(stream, b"\x08\x03600"), |_, stream| send_page(stream, b"\x08\x03999")];
    for play in servers {
        let error = fetched(&fetcher(&cert, 0), server(&cert, play)).await.expect_err("it is no success");
        assert_eq!(error.code(), Code::HttpError, "{error}");
    }
}

/// RFC 9113 §8.6: HTTP/2 has no status 101, neither before the response nor as its end.
#[tokio::test]
async fn status_101_is_rejected() {
    let cert = ServerCert::good().expect("a certificate");
    let servers: [fn(usize, &mut Tls); 2] = [
        |_, stream| {
            let id = request(stream).unwrap_or(1);
            frame(stream, HEADERS, END_HEADERS, id, b"\x08\x03101");
            frame(stream, HEADERS, END_HEADERS, id, STATUS_200);
            frame(stream, DATA, END_STREAM, id, b"all of it");
            request(stream);
        },
        |_, stream| {
            let id = request(stream).unwrap_or(1);
            frame(stream, HEADERS, END_HEADERS | END_STREAM, id, b"\x08\x03101");
            request(stream);
        },
    ];
    for play in servers {
        let error = fetched(&fetcher(&cert, 0), server(&cert, play)).await.expect_err("it is not allowed");
        assert_eq!(error.code(), Code::PeerMisbehaved, "{error}");
        assert!(error.to_string().contains("101"), "{error}");
    }
}

#[tokio::test]
async fn interim_response_that_ends_the_stream_is_rejected() {
    let cert = ServerCert::good().expect("a certificate");
    let address = server(&cert, |_, stream| {
        let id = request(stream).unwrap_or(1);
        frame(stream, HEADERS, END_HEADERS | END_STREAM, id, b"\x08\x03103");
        request(stream);
    });
    assert!(fetched(&fetcher(&cert, 0), address).await.is_err());
}

/// Sends a response, and `block` as its trailers.
fn with_trailers(stream: &mut Tls, block: &[u8]) {
    let id = request(stream).unwrap_or(1);
    frame(stream, HEADERS, END_HEADERS, id, STATUS_200);
    frame(stream, DATA, 0, id, b"all of it");
    frame(stream, HEADERS, END_HEADERS | END_STREAM, id, block);
    request(stream);
}

/// RFC 9113 §8.1: a response whose trailers contain a pseudo-header field is malformed.
#[tokio::test]
async fn trailers_with_a_pseudo_header_field_are_rejected() {
    let cert = ServerCert::good().expect("a certificate");
    let regular = server(&cert, |_, stream| with_trailers(stream, b"\x00\x01x\x01y"));
    assert_eq!(fetched(&fetcher(&cert, 0), regular).await.expect("it is allowed"), b"all of it");
    let servers: [fn(usize, &mut Tls); 3] = [
        |_, stream| with_trailers(stream, STATUS_200),
        |_, stream| with_trailers(stream, b"\x00\x07:status\x03200"),
        |_, stream| with_trailers(stream, b"\x82"),
    ];
    for play in servers {
        let error = fetched(&fetcher(&cert, 0), server(&cert, play)).await.expect_err("it is malformed");
        assert_eq!(error.code(), Code::PeerMisbehaved, "{error}");
    }
}

#[tokio::test]
async fn content_of_a_204_response_is_rejected() {
    let cert = ServerCert::good().expect("a certificate");
    let empty = server(&cert, |_, stream| {
        let id = request(stream).unwrap_or(1);
        frame(stream, HEADERS, END_HEADERS, id, &[0x89]);
        frame(stream, DATA, END_STREAM, id, b"");
        request(stream);
    });
    assert_eq!(fetched(&fetcher(&cert, 0), empty).await.expect("no content"), b"");
    let full = server(&cert, |_, stream| {
        let id = request(stream).unwrap_or(1);
        frame(stream, HEADERS, END_HEADERS, id, &[0x89]);
        frame(stream, DATA, END_STREAM, id, b"content");
        request(stream);
    });
    let error = fetched(&fetcher(&cert, 0), full).await.expect_err("204 has no content");
    assert_eq!(error.code(), Code::PeerMisbehaved, "{error}");
}

/// Bytes of DATA that the servers of the window tests have sent.
static SENT: AtomicUsize = AtomicUsize::new(0);

/// docs/spec/faults.md, rule N8: 16 bodies that are not read occupy at most 16 MiB.
#[tokio::test]
async fn unread_bodies_are_bounded_by_small_windows() {
    let cert = ServerCert::good().expect("a certificate");
    let fetcher = fetcher(&cert, 0);
    let mut responses = Vec::new();
    for _ in 0..16 {
        let address = server(&cert, |_, stream| send_within_windows(stream, 1 << 25, &SENT));
        responses.push(fetcher.get(&url(address)).await.expect("a response"));
    }
    let mut before = usize::MAX;
    while before != SENT.load(Ordering::SeqCst) {
        before = SENT.load(Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    assert!(before > 0 && before <= 16 << 20, "{before} bytes");
}

/// The window grows while the body is read.
#[tokio::test]
async fn large_body_is_read_completely() {
    let cert = ServerCert::good().expect("a certificate");
    let address = server(&cert, |_, stream| send_within_windows(stream, 1 << 22, &SENT));
    let response = fetcher(&cert, 0).get(&url(address)).await.expect("a response");
    let Content::Body(body) = response.content else { panic!("a body") };
    assert_eq!(body.collect(1 << 23).await.expect("the body").len(), 1 << 22);
}
