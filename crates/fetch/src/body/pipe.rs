//! Receives a large body through a pipe: the kernel moves its bytes from the connection into the pipe.

use std::io;
use std::task::{Context, Poll, ready};

use super::{Body, Source, Tail};
use crate::kernel_pipe::KernelPipe;
use crate::{Code, Error, Phase};

/// The number of bytes that must have been received, and the number of bytes that must be left, for a pipe to be used:
/// for fewer bytes, the additional system calls are not worth it.
const MIN_PIPED: u64 = 256 * 1024;

impl Body {
    /// Returns `true` if much has been received and much may follow, without a rate limit.
    pub(crate) fn is_large(&self) -> bool {
        self.received >= MIN_PIPED && self.max_left() >= MIN_PIPED && !self.is_rate_limited()
    }

    /// Returns `true` if a rate limit or a minimum rate is set.
    pub(crate) fn is_rate_limited(&self) -> bool {
        self.limits.as_ref().is_some_and(|body_limits| body_limits.is_rate_limited())
    }

    /// Records the last bytes before the current position, after the caller has taken bytes from the pipe.
    pub(crate) fn set_tail(&mut self, bytes: &[u8]) {
        self.tail = Tail::default();
        self.tail.remember(bytes);
    }

    /// Moves the next bytes into `pipe` and returns their number. Returns `Pending` if none were moved, because none have
    /// arrived, the connection has ended or the source does not allow it; the source must be polled then.
    pub(super) fn poll_pipe(
        &mut self,
        cx: &mut Context<'_>,
        pipe: Option<&mut KernelPipe>,
    ) -> Poll<Result<usize, Error>> {
        let most = self.max_left();
        let (Some(pipe), Source::Stream(source)) = (pipe, &self.source) else { return Poll::Pending };
        let connection = source.direct_connection().filter(|_| most > 0 && pipe.is_supported());
        let Some(connection) = connection else { return Poll::Pending };
        ready!(connection.poll_read_ready(cx)).map_err(connection_error)?;
        match pipe.fill_from(connection, most) {
            Ok(0) => Poll::Pending,
            // The kernel does not move every byte that can be read, such as those after an urgent one. So the source
            // decides whether the connection has none.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
            moved => Poll::Ready(moved.map_err(connection_error)),
        }
    }

    /// Returns the maximum number of bytes that may follow without an error.
    fn max_left(&self) -> u64 {
        let left = |end: Option<u64>| end.map_or(u64::MAX, |end| end.saturating_sub(self.received));
        left(self.expected).min(left(self.max_size))
    }
}

fn connection_error(error: io::Error) -> Error {
    Error::io(Code::Truncated, Phase::Body, "the connection", error)
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::future::Future as _;
    use std::io::Write as _;
    use std::net::TcpListener;
    use std::os::fd::AsRawFd as _;
    use std::pin::{Pin, pin};
    use std::sync::{Arc, Weak};
    use std::time::Duration;

    use bytes::{Bytes, BytesMut};
    use nix::sys::socket::{MsgFlags, send};
    use tokio::io::AsyncReadExt as _;
    use tokio::net::TcpStream;

    use super::*;
    use crate::body::{ByteSource, Chunk, InterruptPosition, ResumeFuture, Resumer};
    use crate::{Code, Proof};

    const SIZE: usize = 3 * MIN_PIPED as usize;

    /// A connection whose bytes are those of the body.
    struct Direct(TcpStream);

    impl ByteSource for Direct {
        fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
            let mut buffer = BytesMut::with_capacity(MIN_PIPED as usize);
            let read = ready!(pin!(self.0.read_buf(&mut buffer)).poll(cx)).map_err(connection_error);
            Poll::Ready(read.map(|count| (count > 0).then(|| buffer.freeze())).transpose())
        }

        fn direct_connection(&self) -> Option<&TcpStream> {
            Some(&self.0)
        }
    }

    /// Returns a body of which `sent` bytes arrive, and then the end of the connection.
    fn body(sent: usize, expected: Option<u64>) -> Body {
        let (stream, mut peer) = connection();
        std::thread::spawn(move || peer.write_all(&vec![b'x'; sent]).expect("sent"));
        Body::from_source(Direct(stream), expected, Proof::Assumed("a test"))
    }

    /// Returns both ends of a connection.
    fn connection() -> (TcpStream, std::net::TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let stream = std::net::TcpStream::connect(listener.local_addr().expect("an address"));
        let stream = stream.expect("a connection");
        stream.set_nonblocking(true).expect("a mode");
        let (peer, _) = listener.accept().expect("a connection");
        (TcpStream::from_std(stream).expect("a connection"), peer)
    }

    /// Reads the body to its end. Returns the numbers of bytes that were read and that were moved into a pipe, and the
    /// error.
    async fn read(mut body: Body) -> (usize, usize, Option<Code>) {
        let (mut read, mut moved) = (0, 0);
        let mut pipe = KernelPipe::new().expect("a pipe");
        let mut file = tempfile::tempfile().expect("a file");
        loop {
            let usable = if body.is_large() { Some(&mut pipe) } else { None };
            match body.next_chunk(usable).await {
                Ok(Some(Chunk::Bytes(bytes))) => read += bytes.len(),
                Ok(Some(Chunk::InPipe(count))) => {
                    pipe.drain_to(&mut file).expect("moved");
                    moved += count;
                }
                Ok(_) => return (read, moved, None),
                Err(error) => return (read, moved, Some(error.code())),
            }
        }
    }

    #[tokio::test]
    async fn pipe_receives_the_middle_of_a_large_body() {
        for expected in [Some(SIZE as u64), None] {
            let (read, moved, error) = read(body(SIZE, expected)).await;
            assert_eq!((read + moved, error), (SIZE, None));
            assert!(moved > 0 && read >= MIN_PIPED as usize, "{read} read, {moved} moved");
        }
    }

    #[tokio::test]
    async fn pipe_is_not_used_for_a_small_body() {
        let size = 2 * MIN_PIPED - 1;
        let (read, moved, error) = read(body(size as usize, Some(size))).await;
        assert_eq!((read, moved, error), (size as usize, 0, None));
    }

    #[tokio::test]
    async fn urgent_byte_does_not_stop_the_body() {
        let (stream, mut peer) = connection();
        let peer = std::thread::spawn(move || {
            peer.write_all(&vec![b'x'; SIZE]).expect("sent");
            send(peer.as_raw_fd(), b"!", MsgFlags::MSG_OOB).expect("sent");
            peer.write_all(&vec![b'x'; SIZE]).expect("sent");
        });
        // From an urgent byte on, `splice` moves nothing.
        let reading = read(Body::from_source(Direct(stream), None, Proof::Assumed("a test")));
        let (read, moved, error) =
            tokio::time::timeout(Duration::from_secs(20), reading).await.expect("bytes");
        assert_eq!((read + moved, error), (2 * SIZE, None));
        peer.join().expect("sent");
    }

    /// A source whose connections are open until it is dropped.
    struct Broken {
        _connections: Arc<()>,
    }

    impl ByteSource for Broken {
        fn poll_chunk(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
            Poll::Ready(Some(Err(connection_error(io::ErrorKind::ConnectionReset.into()))))
        }
    }

    /// Expects that the source has been dropped.
    struct AfterClose(Weak<()>);

    impl Resumer for AfterClose {
        fn resume(self: Box<Self>, error: Error, _: InterruptPosition, _: bool) -> ResumeFuture {
            assert!(self.0.upgrade().is_none(), "the connections of the failed source are open");
            Box::pin(async { (self as Box<dyn Resumer>, Err(error)) })
        }
    }

    #[tokio::test]
    async fn failed_source_is_closed_before_the_body_is_resumed() {
        let open = Arc::new(());
        let resumer = Box::new(AfterClose(Arc::downgrade(&open)));
        let mut body = Body::from_source(Broken { _connections: open }, None, Proof::Assumed("a test"))
            .resumed_by(resumer);
        for _ in 0..2 {
            assert_eq!(body.chunk().await.expect_err("broken").code(), Code::Truncated);
        }
    }

    #[tokio::test]
    async fn wrong_length_is_an_error_although_a_pipe_is_used() {
        let (_, moved, error) = read(body(SIZE, Some(SIZE as u64 - 1))).await;
        assert_eq!(error, Some(Code::PeerMisbehaved));
        assert!(moved > 0);
        let (read, moved, error) = read(body(SIZE, Some(SIZE as u64 + 1))).await;
        assert_eq!((read + moved, error), (SIZE, Some(Code::Truncated)));
    }
}
