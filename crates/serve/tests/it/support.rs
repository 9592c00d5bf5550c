//! A running server, and a client that sends bytes and reads the answer.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use fetch_url::Policy;
use fetch_url_serve::{LogSink, ServeOptions, Server};
use tokio::sync::oneshot;

/// The maximum wait for an answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// The value of `Accept` that browsers send.
pub(crate) const BROWSER: &str = "Accept: text/html,*/*";

/// A server of the crate under test. It stops when dropped.
pub(crate) struct TestServer {
    pub(crate) addr: SocketAddr,
    /// The addresses of all listeners, of which `addr` is the first.
    pub(crate) addresses: Vec<SocketAddr>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The options of most tests: a free port, private targets are allowed, no retries.
pub(crate) fn options() -> ServeOptions {
    let mut options = public_options();
    options.policy.network.allow_private = true;
    options
}

/// The options without the permission for private targets.
pub(crate) fn public_options() -> ServeOptions {
    let mut options = ServeOptions::default();
    options.listen = vec![SocketAddr::from(([127, 0, 0, 1], 0))];
    options.policy = Policy::default().max_retries(0);
    options
}

impl TestServer {
    pub(crate) fn start() -> Self {
        Self::with(options())
    }

    pub(crate) fn with(options: ServeOptions) -> Self {
        let (stop, stopped) = oneshot::channel::<()>();
        let (sender, receiver) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let server = Server::bind(options).await.expect("a free port");
                sender.send(server.addresses().to_vec()).expect("the test waits");
                server.run(async { drop(stopped.await) }).await;
            });
        });
        let addresses = receiver.recv().expect("the server starts");
        Self { addr: addresses[0], addresses, stop: Some(stop), thread: Some(thread) }
    }

    /// Stops the server and waits for its end.
    pub(crate) fn stop(mut self) {
        self.end();
    }

    /// Tells the server to stop, without waiting.
    pub(crate) fn begin_stop(&mut self) {
        drop(self.stop.take());
    }

    fn end(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the server does not panic");
        }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.addr).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream.set_write_timeout(Some(PATIENCE)).expect("a timeout");
        stream
    }

    /// Sends `head`, which may have any bytes, and reads until the server closes the connection.
    pub(crate) fn raw(&self, head: &[u8]) -> Reply {
        let mut stream = self.connect();
        // The server may close the connection before it has read everything.
        let _ = stream.write_all(head);
        Reply::read(stream)
    }

    /// Sends a request for `target` with `Host` and further fields.
    pub(crate) fn get(&self, target: &str, fields: &[&str]) -> Reply {
        self.request("GET", target, fields)
    }

    pub(crate) fn request(&self, method: &str, target: &str, fields: &[&str]) -> Reply {
        let fields: String = fields.iter().map(|field| format!("{field}\r\n")).collect();
        let host = self.addr;
        self.raw(
            format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\n{fields}Connection: close\r\n\r\n")
                .as_bytes(),
        )
    }

    /// Sends a request as a browser does.
    pub(crate) fn page(&self, target: &str) -> Reply {
        self.get(target, &[BROWSER, "Sec-Fetch-Site: none"])
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.end();
    }
}

/// Connects from `source`, an address of this computer.
#[allow(clippy::disallowed_methods, reason = "a client of the test, not the program")]
pub(crate) fn connect_from(source: [u8; 4], server: &TestServer) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
        socket.bind(SocketAddr::from((source, 0))).expect("an address of this computer");
        socket.connect(server.addr).await.expect("it listens").into_std().expect("a socket")
    });
    stream.set_nonblocking(false).expect("a blocking socket");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// The content ended as announced.
    pub(crate) is_complete: bool,
}

impl Reply {
    pub(crate) fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        // A reset after the answer does not matter.
        let _ = stream.read_to_end(&mut bytes);
        Self::parse(&bytes)
    }

    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        let Some(end) = end else {
            return Self { status: 0, head: String::new(), body: bytes.to_vec(), is_complete: false };
        };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let mut reply = Self { status, head, body: bytes[end + 4..].to_vec(), is_complete: true };
        if reply.field("transfer-encoding").is_some() {
            (reply.body, reply.is_complete) = dechunk(&reply.body);
        } else if let Some(length) = reply.field("content-length") {
            reply.is_complete = length.parse() == Ok(reply.body.len());
        }
        reply
    }

    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (other, value) = line.split_once(':')?;
            other.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Checks that the content has these texts.
    #[track_caller]
    pub(crate) fn assert_shows(&self, texts: &[&str]) {
        let text = self.text();
        for expected in texts {
            let content = text.split_once("<main").map_or(text.as_str(), |(_, content)| content);
            assert!(text.contains(expected), "{expected:?} is missing in {}:\n{content}", self.head);
        }
    }

    /// Returns the member of a problem document.
    pub(crate) fn problem(&self, member: &str) -> String {
        assert_eq!(self.field("content-type"), Some("application/problem+json"), "{self:?}");
        let problem: serde_json::Value = serde_json::from_slice(&self.body).expect("JSON");
        problem[member].as_str().map_or_else(|| problem[member].to_string(), str::to_owned)
    }
}

/// Returns the content of chunks, and whether the last one arrived.
fn dechunk(mut bytes: &[u8]) -> (Vec<u8>, bool) {
    let mut content = Vec::new();
    loop {
        let Some(end) = bytes.windows(2).position(|window| window == b"\r\n") else {
            return (content, false);
        };
        let Ok(size) = usize::from_str_radix(&String::from_utf8_lossy(&bytes[..end]), 16) else {
            return (content, false);
        };
        if size == 0 {
            return (content, true);
        }
        let Some(chunk) = bytes.get(end + 2..end + 2 + size) else { return (content, false) };
        content.extend_from_slice(chunk);
        bytes = bytes.get(end + 4 + size..).unwrap_or_default();
    }
}

/// A sink for logs whose text a test can read.
#[derive(Clone, Default)]
pub(crate) struct LogText(Arc<Mutex<Vec<u8>>>);

impl LogText {
    pub(crate) fn sink(&self) -> LogSink {
        LogSink::new(self.clone())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().expect("no panic")).into_owned()
    }

    /// Waits until the log has `text`.
    pub(crate) fn wait_for(&self, text: &str) -> String {
        for _ in 0..300 {
            let now = self.text();
            if now.contains(text) {
                return now;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("{text:?} is missing in the log:\n{}", self.text());
    }
}

impl std::io::Write for LogText {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no panic").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
