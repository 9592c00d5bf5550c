//! Writes the bytes of an object into the cache. All functions may block.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use super::blocks::{BLOCK_SIZE, file_size};
use super::entry::Entry;
use super::files::{private, remove_file};
use super::store::Store;

/// The number of bytes by which the reservation of an object grows. It grows as the bytes arrive: an object that is only
/// announced removes no other one.
const STEP: u64 = 1 << 20;

/// A body that is being written. Dropping it removes it.
#[derive(Debug)]
pub(super) struct BodyWriter {
    store: Arc<Store>,
    file: File,
    path: PathBuf,
    name: String,
    length: u64,
    /// The number of bytes that are reserved, which is the size of the file.
    reserved: u64,
    /// The size of the file if the object has the announced number of bytes; the maximum if none is announced.
    announced: u64,
    checksums: Vec<u8>,
    is_published: bool,
}

impl BodyWriter {
    pub(super) fn create(store: Arc<Store>, announced: Option<u64>) -> io::Result<Self> {
        let name = format!("{:016x}.body", store.new_id());
        let path = store.path(&name);
        if announced.is_some_and(|length| !store.can_hold(file_size(length))) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let announced = announced.map_or(u64::MAX, file_size);
        let reserved = announced.min(STEP);
        let create = || {
            let file = private().create_new(true).open(&path)?;
            file.lock().and_then(|()| file.set_len(reserved)).inspect_err(|_| {
                remove_file(&path);
            })?;
            Ok(file)
        };
        // Under the lock of the cache no other process sees the file before it is locked.
        let file = store.reserve(reserved, create)?;
        Ok(Self {
            store,
            file,
            path,
            name,
            length: 0,
            reserved,
            announced,
            checksums: Vec::new(),
            is_published: false,
        })
    }

    /// Appends a block. Only the last one may be shorter than [`BLOCK_SIZE`].
    pub(super) fn write_block(&mut self, block: &[u8]) -> io::Result<()> {
        let length = self.length + block.len() as u64;
        let needed = file_size(length).saturating_sub(self.reserved);
        if needed > 0 {
            let step = needed.max(STEP.min(self.announced.saturating_sub(self.reserved)));
            self.store.reserve(step, || self.file.set_len(self.reserved + step))?;
            self.reserved += step;
        }
        self.file.write_all(block)?;
        self.length = length;
        self.checksums.extend_from_slice(&crc32fast::hash(block).to_be_bytes());
        Ok(())
    }

    /// Completes the body and stores it as `entry`, which gets its name, length and checksum.
    pub(super) fn publish(mut self, mut entry: Entry) -> io::Result<()> {
        debug_assert!(self.checksums.len() as u64 / 4 == self.length.div_ceil(BLOCK_SIZE as u64));
        self.file.write_all(&self.checksums)?;
        let size = file_size(self.length);
        self.file.set_len(size)?;
        self.store.release(self.reserved.saturating_sub(size));
        self.reserved = size;
        entry.checksum = crc32fast::hash(&self.checksums);
        entry.length = self.length;
        entry.body.clone_from(&self.name);
        self.store.publish(&entry)?;
        self.is_published = true;
        Ok(())
    }
}

impl Drop for BodyWriter {
    fn drop(&mut self) {
        if !self.is_published {
            remove_file(&self.path);
            self.store.release(self.reserved);
        }
    }
}
