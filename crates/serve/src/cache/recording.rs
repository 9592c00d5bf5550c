//! A body that is written into the cache while it is sent.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use fetch_url::driver::ByteSource;
use fetch_url::internal::{Task, run_on_thread};
use fetch_url::{Body, Error, Proof};

use super::Cache;
use super::blocks::BLOCK_SIZE;
use super::entry::Entry;
use super::writer::BodyWriter;

/// A body whose bytes are also stored. A failure of the cache does not change what is sent.
pub(super) struct Recording {
    body: Body,
    cache: Arc<Cache>,
    entry: Entry,
    /// The bytes that are not written yet: less than a block.
    block: Vec<u8>,
    state: State,
    has_ended: bool,
}

#[derive(Debug)]
enum State {
    Ready(BodyWriter),
    /// The block is written, and the next chunk waits for it.
    Writing(Task<io::Result<BodyWriter>>),
    /// The end of the body waits for the entry.
    Publishing(Task<io::Result<()>>),
    /// Nothing is stored any more.
    Off,
}

impl Recording {
    /// Returns `body`, which is stored as `entry` when it is complete.
    pub(super) fn body(cache: &Arc<Cache>, writer: BodyWriter, entry: Entry, body: Body) -> Body {
        let (expected, proof) = (body.expected(), body.proof());
        let state = State::Ready(writer);
        let block = Vec::with_capacity(BLOCK_SIZE);
        Body::from_source(
            Self { body, cache: cache.clone(), entry, block, state, has_ended: false },
            expected,
            proof,
        )
    }

    /// Waits for the writer. Afterwards it is ready or off.
    fn poll_writer(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let result = match &mut self.state {
            State::Writing(writing) => match ready!(Pin::new(writing).poll(cx)).map_err(io::Error::other) {
                Ok(Ok(writer)) => Ok(State::Ready(writer)),
                Ok(Err(error)) | Err(error) => Err(error),
            },
            State::Publishing(publishing) => {
                match ready!(Pin::new(publishing).poll(cx)).map_err(io::Error::other) {
                    Ok(Ok(())) => Ok(State::Off),
                    Ok(Err(error)) | Err(error) => Err(error),
                }
            }
            State::Ready(_) | State::Off => return Poll::Ready(()),
        };
        self.state = result.unwrap_or_else(|error| {
            self.cache.note(&self.entry.key, &error);
            State::Off
        });
        Poll::Ready(())
    }

    /// Adds bytes, and starts to write the first full block.
    fn record(&mut self, bytes: &[u8]) {
        if matches!(self.state, State::Off) {
            return;
        }
        self.block.extend_from_slice(bytes);
        self.write_full_block();
    }

    fn write_full_block(&mut self) {
        if self.block.len() < BLOCK_SIZE {
            return;
        }
        match std::mem::replace(&mut self.state, State::Off) {
            State::Ready(mut writer) => {
                let rest = self.block.split_off(self.block.len() / BLOCK_SIZE * BLOCK_SIZE);
                let blocks = std::mem::replace(&mut self.block, rest);
                self.state = State::Writing(run_on_thread(move || {
                    blocks.chunks(BLOCK_SIZE).try_for_each(|block| writer.write_block(block))?;
                    Ok(writer)
                }));
            }
            other => self.state = other,
        }
    }

    /// Stores the complete body.
    fn publish(&mut self) {
        let State::Ready(mut writer) = std::mem::replace(&mut self.state, State::Off) else { return };
        // An object that may be incomplete is not kept.
        if !matches!(self.body.proof(), Proof::Proven(_)) {
            return;
        }
        let (block, entry) = (std::mem::take(&mut self.block), self.entry.clone());
        self.state = State::Publishing(run_on_thread(move || {
            if !block.is_empty() {
                writer.write_block(&block)?;
            }
            writer.publish(entry)
        }));
    }
}

impl ByteSource for Recording {
    fn poll_chunk(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let this = self.get_mut();
        loop {
            ready!(this.poll_writer(cx));
            if this.has_ended {
                return Poll::Ready(None);
            }
            match ready!(ByteSource::poll_chunk(Pin::new(&mut this.body), cx)) {
                Some(Ok(bytes)) => {
                    this.record(&bytes);
                    return Poll::Ready(Some(Ok(bytes)));
                }
                Some(Err(error)) => {
                    this.state = State::Off;
                    return Poll::Ready(Some(Err(error)));
                }
                None => {
                    this.has_ended = true;
                    this.publish();
                }
            }
        }
    }
}
