//! Body of a FIFO, device or generated file, whose size is unknown. A read may have to wait forever, so each read runs
//! on a thread. It ends when the body is dropped, such as after the idle timeout, because a tokio runtime waits for its
//! blocking threads.

use std::fs::File;
use std::future::{Future, poll_fn};
use std::io::{self, ErrorKind, Read as _};
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::retry_on_intr;
use rustix::pipe::{PipeFlags, pipe_with};

use crate::blocking_threads::{self, Task};
use crate::{ByteSource, Code, Deadline, Error, Phase};

/// Maximum number of bytes of one read.
const CHUNK_BYTES: usize = 64 * 1024;

/// The bytes of a file of unknown size, in chunks of at most 64 KiB.
pub(super) struct SpecialFileSource {
    state: ReadState,
    /// The first bytes of the requested range, which are read before the body begins.
    first: Option<Bytes>,
    /// The number of bytes until the end of the requested range.
    left: u64,
    /// The end of a pipe that is closed when the source is dropped.
    _open_while_read: OwnedFd,
}

enum ReadState {
    Ended,
    Idle(Reader),
    Reading(Task<io::Result<(Reader, Bytes)>>),
}

/// Reads on a thread.
struct Reader {
    file: File,
    /// The other end of the pipe of the source.
    is_dropped: OwnedFd,
}

impl SpecialFileSource {
    /// Creates the body of `file`. If it is not in non-blocking mode, a read waits for ever if another process takes the bytes
    /// for which this one has waited.
    ///
    /// # Errors
    /// If the system cannot create a pipe.
    pub(super) fn new(file: File) -> io::Result<Self> {
        let (is_dropped, open_while_read) = pipe_with(PipeFlags::CLOEXEC)?;
        let state = ReadState::Idle(Reader { file, is_dropped });
        Ok(Self { state, first: None, left: u64::MAX, _open_while_read: open_while_read })
    }

    /// Reads and discards the bytes before offset `first`, and ends the source after offset `last`. The file is read in
    /// full chunks: some generated files return their content to the first read only.
    ///
    /// # Errors
    /// `Code::RangeRefused` if the file ends before the range; `Code::TimedOut` if no byte arrives for the idle timeout.
    pub(super) async fn start_at(
        &mut self,
        first: u64,
        last: Option<u64>,
        deadline: &Deadline,
    ) -> Result<(), Error> {
        let mut position = 0;
        loop {
            let read = async { poll_fn(|cx| self.poll_read(cx)).await.transpose() };
            let Some(mut chunk) = deadline.bound(Phase::Body, read).await? else {
                let detail = format!("the file has {position} bytes");
                return Err(Error::new(Code::RangeRefused, Phase::Request, detail));
            };
            let before = usize::try_from(first - position).unwrap_or(usize::MAX);
            if before < chunk.len() {
                self.first = Some(chunk.split_off(before));
                self.left = last.map_or(u64::MAX, |last| (last - first).saturating_add(1));
                return Ok(());
            }
            position += chunk.len() as u64;
        }
    }

    /// Reads the next chunk.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        loop {
            match std::mem::replace(&mut self.state, ReadState::Ended) {
                ReadState::Ended => return Poll::Ready(None),
                ReadState::Idle(reader) => {
                    let reading = blocking_threads::try_run(Phase::Body, move || read_chunk(reader))?;
                    self.state = ReadState::Reading(reading);
                }
                ReadState::Reading(mut handle) => {
                    let Poll::Ready(joined) = Pin::new(&mut handle).poll(cx) else {
                        self.state = ReadState::Reading(handle);
                        return Poll::Pending;
                    };
                    return Poll::Ready(self.finish_read(joined?));
                }
            }
        }
    }

    /// Takes the result of a read. An empty chunk is the end of the file.
    fn finish_read(&mut self, result: io::Result<(Reader, Bytes)>) -> Option<Result<Bytes, Error>> {
        match result {
            Ok((_, chunk)) if chunk.is_empty() => None,
            Ok((reader, chunk)) => {
                self.state = ReadState::Idle(reader);
                Some(Ok(chunk))
            }
            Err(error) => Some(Err(Error::io(Code::Truncated, Phase::Body, "reading the file", error))),
        }
    }
}

impl ByteSource for SpecialFileSource {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let first = self.first.take();
        let chunk = first.map_or_else(|| self.poll_read(cx), |first| Poll::Ready(Some(Ok(first))));
        chunk.map(|chunk| {
            let mut chunk = chunk?;
            if let Ok(bytes) = &mut chunk {
                bytes.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
                self.left -= bytes.len() as u64;
            }
            Some(chunk)
        })
    }
}

/// Waits for bytes and reads them. Fails with `ErrorKind::Interrupted` if the source is dropped meanwhile.
fn read_chunk(mut reader: Reader) -> io::Result<(Reader, Bytes)> {
    loop {
        let mut waited =
            [PollFd::new(&reader.file, PollFlags::IN), PollFd::new(&reader.is_dropped, PollFlags::IN)];
        retry_on_intr(|| poll(&mut waited, None))?;
        if !waited[1].revents().is_empty() {
            return Err(ErrorKind::Interrupted.into());
        }
        let mut chunk = vec![0; CHUNK_BYTES];
        match reader.file.read(&mut chunk) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            count => {
                chunk.truncate(count?);
                return Ok((reader, chunk.into()));
            }
        }
    }
}
