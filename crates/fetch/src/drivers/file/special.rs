//! Body of a FIFO or device. A read may block forever, so each read runs on a blocking thread, which the idle timeout
//! or a signal can abandon.

use std::fs::File;
use std::future::Future;
use std::io::{self, Read as _};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::{ByteSource, Code, Error, Phase};

/// Maximum number of bytes of one read.
const CHUNK_BYTES: usize = 64 * 1024;

/// The bytes of a FIFO or device, in chunks of at most 64 KiB.
pub(super) struct SpecialFileSource(ReadState);

enum ReadState {
    Ended,
    Idle(File),
    Reading(JoinHandle<io::Result<(File, Bytes)>>),
}

impl SpecialFileSource {
    pub(super) const fn new(file: File) -> Self {
        Self(ReadState::Idle(file))
    }

    /// Takes the result of a read. An empty chunk is the end of the file.
    fn finish_read(&mut self, result: io::Result<(File, Bytes)>) -> Option<Result<Bytes, Error>> {
        match result {
            Ok((_, chunk)) if chunk.is_empty() => None,
            Ok((file, chunk)) => {
                self.0 = ReadState::Idle(file);
                Some(Ok(chunk))
            }
            Err(error) => Some(Err(Error::io(Code::Truncated, Phase::Body, "reading the file", error))),
        }
    }
}

impl ByteSource for SpecialFileSource {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        loop {
            match std::mem::replace(&mut self.0, ReadState::Ended) {
                ReadState::Ended => return Poll::Ready(None),
                ReadState::Idle(file) => {
                    self.0 = ReadState::Reading(spawn_blocking(move || read_chunk(file)));
                }
                ReadState::Reading(mut handle) => {
                    let Poll::Ready(joined) = Pin::new(&mut handle).poll(cx) else {
                        self.0 = ReadState::Reading(handle);
                        return Poll::Pending;
                    };
                    let result = joined.unwrap_or_else(|error| Err(io::Error::other(error)));
                    return Poll::Ready(self.finish_read(result));
                }
            }
        }
    }
}

fn read_chunk(mut file: File) -> io::Result<(File, Bytes)> {
    let mut chunk = vec![0; CHUNK_BYTES];
    let count = file.read(&mut chunk)?;
    chunk.truncate(count);
    Ok((file, chunk.into()))
}
