//! Serialises objects that parallel transfers write to one FIFO, device or open descriptor.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;

use fetch_url::internal::HostPermit;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// Device and inode of a stream.
type StreamId = (u64, u64);

/// The locks on streams other than standard output. A transfer holds the lock of its stream from its request to its end.
#[derive(Default)]
pub(super) struct StreamLocks {
    mutexes: RefCell<HashMap<StreamId, Arc<Mutex<()>>>>,
}

impl StreamLocks {
    /// Locks the stream at `path`. The permit is released while the transfer waits, as for standard output. Returns `None`
    /// for `/dev/null`, where objects cannot mix, and for a stream that cannot be identified.
    pub(super) async fn lock(&self, path: &Path, permit: Option<&HostPermit>) -> Option<OwnedMutexGuard<()>> {
        let mutex = self.mutexes.borrow_mut().entry(stream_id(path)?).or_default().clone();
        Some(match (mutex.clone().try_lock_owned(), permit) {
            (Ok(guard), _) => guard,
            (Err(_), Some(permit)) => permit.released_while(mutex.lock_owned()).await,
            (Err(_), None) => mutex.lock_owned().await,
        })
    }
}

fn stream_id(path: &Path) -> Option<StreamId> {
    let stream = fs::metadata(path).ok()?;
    let is_null =
        fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == stream.rdev() && null.rdev() != 0);
    (!is_null).then(|| (stream.dev(), stream.ino()))
}
