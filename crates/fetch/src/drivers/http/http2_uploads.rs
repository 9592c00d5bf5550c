//! The request bodies that are being sent over an HTTP/2 connection.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::upload::UploadProgress;

/// The progress of each body that is not sent yet. The connection and its stream share it.
#[derive(Clone, Default)]
pub(super) struct Http2Uploads(Arc<Mutex<Vec<UploadProgress>>>);

impl Http2Uploads {
    /// Adds the body of a request that is about to be sent.
    pub(super) fn add(&self, upload: &UploadProgress) {
        self.lock().push(upload.clone());
    }

    /// Records that the connection has written the bytes of its buffer.
    pub(super) fn record_flush(&self) {
        self.lock().retain(|upload| {
            upload.flush();
            !upload.is_finished()
        });
    }

    /// Records that the connection has ended.
    pub(super) fn record_end(&self) {
        self.lock().drain(..).for_each(|upload| upload.lose());
    }

    fn lock(&self) -> MutexGuard<'_, Vec<UploadProgress>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
