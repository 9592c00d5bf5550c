//! The tunnel of a CONNECT request (RFC 9110 §9.3.6).

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use fetch_url::driver::ServerStream;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, copy_bidirectional_with_sizes};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::memory::MemoryPermit;

/// The size of the buffer of each direction, in bytes.
const BUFFER_SIZE: usize = 16 * 1024;
/// The maximum time without a relayed byte, in either direction.
const IDLE_TIMEOUT: Duration = Duration::from_secs(600);

/// A tunnel that starts when the answer to its CONNECT request is sent.
#[derive(Debug)]
pub(crate) struct Tunnel {
    pub(crate) client: OnUpgrade,
    pub(crate) server: ServerStream,
    /// Held until the tunnel ends.
    pub(crate) memory: MemoryPermit,
}

/// The place where a handler leaves the tunnel for the task of its connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct TunnelSlot(Arc<Mutex<Option<Tunnel>>>);

impl TunnelSlot {
    pub(crate) fn put(&self, tunnel: Tunnel) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(tunnel);
    }

    pub(crate) fn take(&self) -> Option<Tunnel> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Tunnel {
    /// Relays bytes until both sides have ended, one of them fails, or no byte was relayed for [`IDLE_TIMEOUT`]; after the
    /// end of one side, for `half_closed_timeout`.
    pub(crate) async fn run(self, half_closed_timeout: Duration) {
        let Self { client, server, memory: _memory } = self;
        let Ok(client) = client.await else { return };
        relay(TokioIo::new(client), server, half_closed_timeout).await;
    }
}

/// Relays bytes between `client` and `server` as [`Tunnel::run`] does.
async fn relay<C, S>(client: C, server: S, half_closed_timeout: Duration)
where
    C: AsyncRead + AsyncWrite + Unpin,
    S: AsyncRead + AsyncWrite + Unpin,
{
    let activity = Activity::new();
    let mut client = WatchedStream { stream: client, activity: &activity };
    let mut server = WatchedStream { stream: server, activity: &activity };
    let copy = copy_bidirectional_with_sizes(&mut client, &mut server, BUFFER_SIZE, BUFFER_SIZE);
    // A lost connection ends the tunnel, as it would without one.
    tokio::select! {
        _ = copy => {}
        () = activity.idle(half_closed_timeout) => {}
    }
}

/// The time of the last byte of a tunnel, in either direction.
struct Activity {
    last: Mutex<Instant>,
    is_half_closed: AtomicBool,
    half_closed: Notify,
}

impl Activity {
    fn new() -> Self {
        let last = Mutex::new(Instant::now());
        Self { last, is_half_closed: AtomicBool::new(false), half_closed: Notify::new() }
    }

    fn restart(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Records that one side has sent its last byte.
    fn end_side(&self) {
        self.restart();
        self.is_half_closed.store(true, Ordering::Relaxed);
        self.half_closed.notify_one();
    }

    /// Returns the time until which a byte must be relayed.
    fn deadline(&self, half_closed_timeout: Duration) -> Instant {
        let is_half_closed = self.is_half_closed.load(Ordering::Relaxed);
        let limit = if is_half_closed { half_closed_timeout } else { IDLE_TIMEOUT };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) + limit
    }

    /// Waits until the tunnel was idle for too long.
    async fn idle(&self, half_closed_timeout: Duration) {
        loop {
            let deadline = self.deadline(half_closed_timeout);
            if deadline <= Instant::now() {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep_until(deadline) => {}
                () = self.half_closed.notified() => {}
            }
        }
    }
}

/// A side of a tunnel whose bytes are noted in the common [`Activity`].
struct WatchedStream<'t, S> {
    stream: S,
    activity: &'t Activity,
}

impl<S: AsyncRead + Unpin> AsyncRead for WatchedStream<'_, S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(cx, buffer))?;
        if buffer.filled().len() > before {
            this.activity.restart();
        } else {
            this.activity.end_side();
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WatchedStream<'_, S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = ready!(Pin::new(&mut this.stream).poll_write(cx, bytes))?;
        this.activity.restart();
        Poll::Ready(Ok(written))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    const SHORT: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn idle_tunnel_ends_and_each_direction_counts() {
        let ((mut client, near), (far, mut server)) = (duplex(64), duplex(64));
        let relayed = async {
            for to_server in [false, true, false, false, false] {
                tokio::time::sleep(IDLE_TIMEOUT - Duration::from_secs(1)).await;
                let (from, to) =
                    if to_server { (&mut client, &mut server) } else { (&mut server, &mut client) };
                from.write_all(b"x").await.expect("sent");
                assert_eq!(to.read_u8().await.expect("received"), b'x');
            }
            Instant::now()
        };
        let ((), last) = tokio::join!(relay(near, far, SHORT), relayed);
        assert_eq!(last.elapsed().as_secs(), IDLE_TIMEOUT.as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn half_closed_tunnel_ends_after_a_shorter_time() {
        let ((mut client, near), (far, mut server)) = (duplex(64), duplex(64));
        let relayed = async {
            client.shutdown().await.expect("closed");
            assert_eq!(server.read(&mut [0]).await.expect("the end"), 0);
            // The answer of the server may take longer than the limit.
            for _ in 0..3 {
                tokio::time::sleep(SHORT - Duration::from_secs(1)).await;
                server.write_all(b"x").await.expect("sent");
                assert_eq!(client.read_u8().await.expect("received"), b'x');
            }
            Instant::now()
        };
        let ((), last) = tokio::join!(relay(near, far, SHORT), relayed);
        assert_eq!(last.elapsed().as_secs(), SHORT.as_secs());
    }
}
