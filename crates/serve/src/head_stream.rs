//! The stream between the socket of a client and hyper. It reads each request head itself and gives hyper a short head
//! of its own.
//!
//! hyper parses a request target into `http::Uri`, which reads `news:comp.lang.rust` as an authority and loses bytes
//! of other targets. This stream keeps the head as the client sent it. No request that is served has a body, so a head
//! begins where the one before it ended, and hyper never sees a byte that the client chose: the two parsers cannot
//! disagree about where a request ends.

use std::collections::VecDeque;
use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes, BytesMut};
use http::StatusCode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

use crate::options::ServeLimits;
use crate::request_head::{HeadFault, RequestHead};

/// The size of a read from the socket, in bytes.
const READ_SIZE: usize = 8 * 1024;

/// The result of reading one head.
pub(crate) type ReadHead = Result<RequestHead, HeadFault>;

/// The heads that the stream has read and the handler has not taken yet, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct HeadQueue {
    heads: Arc<Mutex<VecDeque<ReadHead>>>,
    answers: Arc<Answers>,
}

/// The answers of a connection that are under way.
#[derive(Debug, Default)]
struct Answers {
    /// The number of heads whose answers are not finished.
    unfinished: AtomicUsize,
    /// The connection must end by a reset, which tells the client that the content is incomplete.
    needs_reset: AtomicBool,
}

/// Counts a request as unanswered until it is dropped with the answer.
#[derive(Debug)]
pub(crate) struct UnansweredGuard(Arc<Answers>);

impl UnansweredGuard {
    /// Ends the connection by a reset.
    pub(crate) fn reset_connection(&self) {
        self.0.needs_reset.store(true, Ordering::Relaxed);
    }
}

impl Drop for UnansweredGuard {
    fn drop(&mut self) {
        self.0.unfinished.fetch_sub(1, Ordering::Relaxed);
    }
}

impl HeadQueue {
    /// Returns the head of the request that hyper has just passed to the handler, and the guard for its answer.
    pub(crate) fn take(&self) -> Option<(ReadHead, UnansweredGuard)> {
        let head = self.heads.lock().unwrap_or_else(PoisonError::into_inner).pop_front()?;
        Some((head, UnansweredGuard(self.answers.clone())))
    }

    fn push(&self, head: ReadHead) {
        self.answers.unfinished.fetch_add(1, Ordering::Relaxed);
        self.heads.lock().unwrap_or_else(PoisonError::into_inner).push_back(head);
    }

    fn is_answering(&self) -> bool {
        self.answers.unfinished.load(Ordering::Relaxed) > 0
    }
}

/// The source of the bytes for the next read of hyper.
#[derive(Debug)]
enum ReadState {
    /// The next head, which is read from the socket.
    Head,
    /// The rest of a head for hyper.
    Canonical(Bytes, Box<Self>),
    /// No further request: received bytes are dropped until the client closes the connection.
    Discard,
    /// The bytes of the client: the tunnel of a CONNECT request, which has its own time limits.
    Tunnel,
}

/// A connection to a client.
#[derive(Debug)]
pub(crate) struct HeadStream {
    stream: TcpStream,
    heads: HeadQueue,
    received: BytesMut,
    /// A line has arrived since the last attempt to parse a head.
    has_new_line: bool,
    state: ReadState,
    limits: ServeLimits,
    read_timer: Pin<Box<Sleep>>,
    /// The end of the idle time, which empty lines before a head do not extend.
    idle_until: Instant,
    /// The timer runs for a head of which bytes have arrived.
    has_begun: bool,
    write_timer: Option<Pin<Box<Sleep>>>,
}

impl HeadStream {
    /// Creates the stream over `stream`. The handler takes the heads from `heads`.
    pub(crate) fn new(stream: TcpStream, heads: HeadQueue, limits: ServeLimits) -> Self {
        let idle_until = Instant::now() + limits.idle_timeout;
        Self {
            stream,
            heads,
            received: BytesMut::new(),
            has_new_line: false,
            state: ReadState::Head,
            limits,
            read_timer: Box::pin(tokio::time::sleep_until(idle_until)),
            idle_until,
            has_begun: false,
            write_timer: None,
        }
    }

    /// Records `head` for the handler and prepares its canonical form for hyper.
    fn accept(&mut self, head: ReadHead) {
        let next = match &head {
            Ok(head) if head.method == "CONNECT" => ReadState::Tunnel,
            Ok(_) => ReadState::Head,
            Err(_) => ReadState::Discard,
        };
        let canonical = match &head {
            Ok(head) => head.canonical(),
            Err(_) => b"GET / HTTP/1.1\r\nhost: h.invalid\r\nconnection: close\r\n\r\n".to_vec(),
        };
        self.heads.push(head);
        self.state = ReadState::Canonical(canonical.into(), Box::new(next));
        self.has_begun = false;
    }

    /// Parses the received bytes. Returns `true` if a head is complete or refused.
    fn parse_received(&mut self) -> bool {
        let max = self.limits.max_header_size;
        if !std::mem::take(&mut self.has_new_line) && self.received.len() <= max {
            return false;
        }
        // Empty lines before a request are ignored (RFC 9112 §2.2).
        while self.received.starts_with(b"\r\n") {
            self.received.advance(2);
        }
        match RequestHead::parse(&self.received) {
            Ok(Some((head, length))) if length <= max => {
                self.received.advance(length);
                // The next head may have arrived with this one.
                self.has_new_line = true;
                self.accept(Ok(head));
            }
            Ok(None) if self.received.len() <= max => return false,
            Ok(_) => self.accept(Err(HeadFault::new(
                StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                format!("the request head is larger than {max} bytes"),
            ))),
            Err(fault) => self.accept(Err(fault)),
        }
        true
    }

    /// Reads from the socket into `received`. Returns `false` at the end of the stream.
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        let mut space = [0; READ_SIZE];
        let mut buffer = ReadBuf::new(&mut space);
        ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer))?;
        self.received.extend_from_slice(buffer.filled());
        self.has_new_line |= buffer.filled().contains(&b'\n');
        Poll::Ready(Ok(!buffer.filled().is_empty()))
    }

    /// Reads until a head is complete. Returns `false` if the connection ends instead.
    fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        loop {
            if self.parse_received() {
                return Poll::Ready(Ok(true));
            }
            let has_bytes = !self.received.is_empty();
            if std::mem::replace(&mut self.has_begun, has_bytes) != has_bytes {
                let begun = Instant::now() + self.limits.header_timeout;
                self.read_timer.as_mut().reset(if has_bytes { begun } else { self.idle_until });
            }
            match self.poll_receive(cx)? {
                Poll::Ready(true) => {}
                Poll::Ready(false) => return Poll::Ready(Ok(false)),
                Poll::Pending => {
                    ready!(self.read_timer.as_mut().poll(cx));
                    if self.heads.is_answering() {
                        // The client waits, not the server. The timer must stay armed: hyper does not read again
                        // when the answer ends.
                        self.restart_idle_timer();
                        continue;
                    }
                    if !has_bytes {
                        return Poll::Ready(Ok(false));
                    }
                    let detail = "the request head did not arrive in time";
                    self.accept(Err(HeadFault::new(StatusCode::REQUEST_TIMEOUT, detail)));
                    return Poll::Ready(Ok(true));
                }
            }
        }
    }

    /// Starts the idle time again, for the next head of a connection.
    fn restart_idle_timer(&mut self) {
        self.idle_until = Instant::now() + self.limits.idle_timeout;
        self.read_timer.as_mut().reset(self.idle_until);
    }

    fn poll_tunnel(&mut self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if !self.received.is_empty() {
            let length = self.received.len().min(buffer.remaining());
            buffer.put_slice(&self.received.split_to(length));
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }

    /// Fails if a write made no progress during the idle timeout.
    fn watch_write<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.write_timer = None;
            return written;
        }
        let limit = self.limits.idle_timeout;
        let timer = self.write_timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        timer.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl Drop for HeadStream {
    fn drop(&mut self) {
        if self.heads.answers.needs_reset.load(Ordering::Relaxed) {
            // Without it, the connection ends as after a complete answer.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for HeadStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            match &mut this.state {
                ReadState::Head => {
                    if !ready!(this.poll_head(cx))? {
                        return Poll::Ready(Ok(()));
                    }
                }
                ReadState::Canonical(bytes, next) => {
                    let length = bytes.len().min(buffer.remaining());
                    buffer.put_slice(&bytes.split_to(length));
                    if bytes.is_empty() {
                        this.state = std::mem::replace(next, ReadState::Discard);
                        this.restart_idle_timer();
                    }
                    return Poll::Ready(Ok(()));
                }
                ReadState::Discard => {
                    if !ready!(this.poll_receive(cx))? {
                        return Poll::Ready(Ok(()));
                    }
                    this.received.clear();
                }
                ReadState::Tunnel => return this.poll_tunnel(cx, buffer),
            }
        }
    }
}

impl AsyncWrite for HeadStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.restart_idle_timer();
        this.watch_write(cx, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(cx, slices);
        this.restart_idle_timer();
        this.watch_write(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
