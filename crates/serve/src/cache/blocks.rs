//! The file with the bytes of a stored object: the bytes, then the checksum of each block of 64 KiB.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use fetch_url::driver::ByteSource;
use fetch_url::internal::{Task, run_on_thread};
use fetch_url::{Code, Error, Phase};

use super::entry::Entry;
use super::store::Store;

/// The number of bytes that one checksum covers.
pub(super) const BLOCK_SIZE: usize = 64 * 1024;
/// The size of a checksum in bytes.
const CHECKSUM_SIZE: u64 = 4;
/// Objects up to this number of bytes are checked before the first byte is sent.
const MAX_CHECKED_FIRST: u64 = 1 << 20;

/// Returns the size of the file for `length` bytes.
pub(super) const fn file_size(length: u64) -> u64 {
    length.saturating_add(length.div_ceil(BLOCK_SIZE as u64) * CHECKSUM_SIZE)
}

/// An open file whose checksums are read.
#[derive(Debug)]
pub(super) struct BlockFile {
    file: File,
    length: u64,
    checksums: Vec<u8>,
}

impl BlockFile {
    /// Reads the checksums at the end of `file`, and the blocks of a small object.
    ///
    /// # Errors
    /// `InvalidData` if the file is damaged.
    pub(super) fn open(mut file: File, entry: &Entry) -> io::Result<Self> {
        if file.metadata()?.len() != file_size(entry.length) {
            return Err(damaged());
        }
        file.seek(SeekFrom::Start(entry.length))?;
        let mut checksums = Vec::new();
        file.read_to_end(&mut checksums)?;
        if crc32fast::hash(&checksums) != entry.checksum {
            return Err(damaged());
        }
        let mut this = Self { file, length: entry.length, checksums };
        if entry.length <= MAX_CHECKED_FIRST {
            let blocks = entry.length.div_ceil(BLOCK_SIZE as u64);
            (0..blocks).try_for_each(|number| this.read_block(number).map(drop))?;
        }
        Ok(this)
    }

    /// Reads a block and compares its checksum.
    fn read_block(&mut self, number: u64) -> io::Result<Bytes> {
        let start = number * BLOCK_SIZE as u64;
        let size = (self.length - start).min(BLOCK_SIZE as u64);
        self.file.seek(SeekFrom::Start(start))?;
        let mut block = vec![0; usize::try_from(size).map_err(|_| damaged())?];
        self.file.read_exact(&mut block)?;
        let at = usize::try_from(number * CHECKSUM_SIZE).map_err(|_| damaged())?;
        let expected = self.checksums.get(at..at + 4).ok_or_else(damaged)?;
        if crc32fast::hash(&block).to_be_bytes() != expected {
            return Err(damaged());
        }
        Ok(block.into())
    }
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the stored object is damaged")
}

/// Reads the bytes of a stored object on threads, one block at a time.
#[derive(Debug)]
pub(super) struct StoredSource {
    state: State,
    position: u64,
    end: u64,
    /// The place from which a damaged object is removed.
    origin: (Arc<Store>, String),
}

#[derive(Debug)]
enum State {
    Ready(BlockFile),
    Reading(Task<(BlockFile, io::Result<Bytes>)>),
    Failed,
}

impl StoredSource {
    /// Creates a source of the bytes from `first` to before `end`. A damaged object `key` is removed from `store`.
    pub(super) const fn new(file: BlockFile, first: u64, end: u64, store: Arc<Store>, key: String) -> Self {
        Self { state: State::Ready(file), position: first, end, origin: (store, key) }
    }

    fn fail(&mut self, error: &io::Error) -> Error {
        self.state = State::Failed;
        let (store, key) = &self.origin;
        store.remove(key);
        Error::new(Code::Internal, Phase::Body, format!("the cache: {error}"))
    }

    /// Returns the part of the block at the position that is wanted.
    fn cut(&mut self, block: &Bytes) -> Bytes {
        let skipped = self.position % BLOCK_SIZE as u64;
        let wanted = (block.len() as u64 - skipped).min(self.end - self.position);
        self.position += wanted;
        let range = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        block.slice(range(skipped)..range(skipped + wanted))
    }
}

impl ByteSource for StoredSource {
    fn poll_chunk(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let this = self.get_mut();
        loop {
            match std::mem::replace(&mut this.state, State::Failed) {
                State::Ready(_) if this.position >= this.end => return Poll::Ready(None),
                State::Ready(mut file) => {
                    let number = this.position / BLOCK_SIZE as u64;
                    this.state = State::Reading(run_on_thread(move || {
                        let block = file.read_block(number);
                        (file, block)
                    }));
                }
                State::Reading(mut reading) => {
                    let read = Pin::new(&mut reading).poll(cx);
                    if read.is_pending() {
                        this.state = State::Reading(reading);
                    }
                    return Poll::Ready(Some(match ready!(read) {
                        Ok((file, Ok(block))) => {
                            this.state = State::Ready(file);
                            Ok(this.cut(&block))
                        }
                        Ok((_, Err(error))) => Err(this.fail(&error)),
                        Err(error) => Err(this.fail(&error.into())),
                    }));
                }
                State::Failed => return Poll::Ready(None),
            }
        }
    }
}
