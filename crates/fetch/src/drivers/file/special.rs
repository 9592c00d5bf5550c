//! FIFOs and devices: a read can wait for ever, so each one happens off the runtime's thread, where
//! the idle guard and a signal can give it up.

use std::fs::File;
use std::future::Future;
use std::io::{self, Read as _};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::{ByteSource, Code, Error, Phase};

/// So much is read at once.
const CHUNK: usize = 64 * 1024;

/// Octets of a special file, as they come.
pub(super) struct Special(State);

enum State {
    Ended,
    Idle(File),
    Reading(JoinHandle<io::Result<(File, Bytes)>>),
}

impl Special {
    pub(super) const fn new(file: File) -> Self {
        Self(State::Idle(file))
    }
}

impl ByteSource for Special {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        loop {
            match std::mem::replace(&mut self.0, State::Ended) {
                State::Ended => return Poll::Ready(None),
                State::Idle(file) => self.0 = State::Reading(spawn_blocking(move || read(file))),
                State::Reading(mut handle) => {
                    let Poll::Ready(joined) = Pin::new(&mut handle).poll(cx) else {
                        self.0 = State::Reading(handle);
                        return Poll::Pending;
                    };
                    return Poll::Ready(
                        self.take(joined.unwrap_or_else(|error| Err(io::Error::other(error)))),
                    );
                }
            }
        }
    }
}

impl Special {
    fn take(&mut self, read: io::Result<(File, Bytes)>) -> Option<Result<Bytes, Error>> {
        match read {
            Ok((_, octets)) if octets.is_empty() => None,
            Ok((file, octets)) => {
                self.0 = State::Idle(file);
                Some(Ok(octets))
            }
            Err(error) => Some(Err(Error::io(Code::Truncated, Phase::Body, "reading the file", error))),
        }
    }
}

fn read(mut file: File) -> io::Result<(File, Bytes)> {
    let mut octets = vec![0; CHUNK];
    let count = file.read(&mut octets)?;
    octets.truncate(count);
    Ok((file, octets.into()))
}
