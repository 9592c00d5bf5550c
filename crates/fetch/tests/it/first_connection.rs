//! The first connection to an https server. Parallel requests wait for it, because they share it if the server speaks
//! HTTP/2, but not if it is slow or fails.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::channel;
use std::time::Duration;

use fetch_url::{Code, Fetcher, Policy, Retry, Trust};
use fetch_url_tests::ServerCert;
use rustls::{ServerConnection, StreamOwned};
use tokio::task::JoinSet;

/// Longer than every wait that the tests expect.
const LONG: Duration = Duration::from_secs(20);

fn fetcher(trust: Trust) -> Fetcher {
    let mut policy = Policy::default().connect_timeout(LONG);
    policy.retry = Retry::never();
    Fetcher::builder().policy(policy).trust(trust).build()
}

fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("https://localhost:{}/x", listener.local_addr().expect("an address").port());
    (listener, url)
}

fn serve(cert: &ServerCert, stream: TcpStream) {
    let config = cert.server_config().expect("a configuration");
    let mut stream = StreamOwned::new(ServerConnection::new(config).expect("a connection"), stream);
    let _ = stream.read(&mut [0; 4096]);
    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\ncontent");
    let _ = stream.flush();
}

#[tokio::test(flavor = "multi_thread")]
async fn request_opens_a_connection_of_its_own_if_the_first_one_is_slow() {
    let cert = ServerCert::good().expect("a certificate");
    let (listener, url) = listen();
    let fetcher = fetcher(Trust::Authorities(cert.ca_pem().as_bytes().to_vec()));
    let (accepted, first_accepted) = channel();
    std::thread::spawn(move || {
        let slow = listener.accept();
        let _ = accepted.send(());
        listener.incoming().flatten().for_each(|stream| serve(&cert, stream));
        drop(slow);
    });
    let mut slow = JoinSet::new();
    slow.spawn({
        let (fetcher, url) = (fetcher.clone(), url.clone());
        async move { fetcher.get(url).await.map(|_| ()) }
    });
    #[allow(clippy::disallowed_methods, reason = "a test may panic if no thread can be started")]
    let waited = tokio::task::spawn_blocking(move || first_accepted.recv());
    waited.await.expect("a thread").expect("a connection");
    let text = fetcher.get(&url).await.expect("a response").text().await.expect("text");
    assert_eq!(text, "content");
    assert!(slow.try_join_next().is_none(), "the first handshake still waits");
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_requests_connect_at_the_same_time_after_the_first_handshake_failed() {
    const REQUESTS: usize = 6;
    let (listener, url) = listen();
    std::thread::spawn(move || {
        let reject = |mut stream: TcpStream| {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        };
        let mut streams = listener.incoming().flatten();
        streams.next().into_iter().for_each(reject);
        // No handshake ends before all requests have connected.
        let waiting: Vec<TcpStream> = streams.take(REQUESTS - 1).collect();
        waiting.into_iter().for_each(reject);
    });
    let fetcher = fetcher(Trust::AnyCertificate);
    let mut requests = JoinSet::new();
    for _ in 0..REQUESTS {
        let (fetcher, url) = (fetcher.clone(), url.clone());
        requests.spawn(async move { fetcher.get(url).await.expect_err("not TLS").code() });
    }
    assert_eq!(requests.join_all().await, [Code::TlsFailed; REQUESTS]);
}
