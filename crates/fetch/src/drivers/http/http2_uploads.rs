//! The request body that is being sent over an HTTP/2 connection: when it is written, and whether the server has declined
//! it. hyper does not name the stream of a body, so a connection sends one body at a time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::http2_frames::{DATA, END_STREAM, HEADERS, RST_STREAM};
use super::upload::UploadProgress;

/// The error code of a server that needs no more of the request (RFC 9113 §8.1).
const NO_ERROR: [u8; 4] = [0; 4];
/// The length in bytes of the connection preface of the client (RFC 9113 §3.4).
const PREFACE: usize = 24;

/// The state of the body. The connection and its stream share it.
#[derive(Clone)]
pub(super) struct Http2Uploads {
    current: Arc<Mutex<Option<CurrentUpload>>>,
    /// One permit.
    permits: Arc<Semaphore>,
}

/// The body that is being sent, or the last one that was sent.
struct CurrentUpload {
    progress: UploadProgress,
    stream: BodyStream,
}

/// The stream of a body.
enum BodyStream {
    /// The header fields of the request were not written yet.
    Unknown,
    Open {
        stream: u32,
        /// The response is complete.
        is_answered: bool,
    },
    /// END_STREAM or RST_STREAM was written.
    Closed,
}

impl Default for Http2Uploads {
    fn default() -> Self {
        Self { current: Arc::default(), permits: Arc::new(Semaphore::new(1)) }
    }
}

impl Http2Uploads {
    /// Returns the permit to send the next body, or `None` while the permit of another body exists.
    pub(super) fn permit(&self) -> Option<OwnedSemaphorePermit> {
        self.permits.clone().try_acquire_owned().ok()
    }

    /// Begins with the body of a request that is about to be sent.
    pub(super) fn begin(&self, progress: &UploadProgress) {
        *self.lock() = Some(CurrentUpload { progress: progress.clone(), stream: BodyStream::Unknown });
    }

    /// Records that the connection has written the bytes of its buffer.
    pub(super) fn record_flush(&self) {
        self.lock().iter().for_each(|current| current.progress.mark_flushed());
    }

    /// Records that the connection has ended.
    pub(super) fn record_end(&self) {
        self.lock().iter().for_each(|current| current.progress.mark_lost());
    }

    /// Records a frame that was written.
    fn record_frame(&self, kind: u8, flags: u8, id: u32) {
        let mut current = self.lock();
        let Some(CurrentUpload { stream, .. }) = &mut *current else { return };
        match (kind, &*stream) {
            (HEADERS, BodyStream::Unknown) if flags & END_STREAM == 0 => {
                *stream = BodyStream::Open { stream: id, is_answered: false };
            }
            (DATA | HEADERS, BodyStream::Open { stream: own, .. })
                if *own == id && flags & END_STREAM != 0 =>
            {
                *stream = BodyStream::Closed;
            }
            (RST_STREAM, BodyStream::Open { stream: own, .. }) if *own == id => *stream = BodyStream::Closed,
            _ => {}
        }
    }

    /// Records the end of the response on the stream `id`.
    pub(super) fn record_response_end(&self, id: u32) {
        if let Some(CurrentUpload { stream: BodyStream::Open { stream, is_answered }, .. }) =
            &mut *self.lock()
            && *stream == id
        {
            *is_answered = true;
        }
    }

    /// Records that the server has reset the stream `id`. After a complete response and without an error, the server
    /// declines the rest of the body (RFC 9113 §8.1).
    pub(super) fn record_reset(&self, id: u32, code: &[u8]) {
        if let Some(CurrentUpload { progress, stream: BodyStream::Open { stream, is_answered: true } }) =
            &*self.lock()
            && *stream == id
            && code == NO_ERROR
        {
            progress.mark_declined();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<CurrentUpload>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the headers of the frames that are written.
pub(super) struct SentFrames {
    head: [u8; 9],
    /// Bytes of `head` that were written.
    written: usize,
    /// Bytes to skip before the next header.
    skipped: usize,
}

impl Default for SentFrames {
    fn default() -> Self {
        Self { head: [0; 9], written: 0, skipped: PREFACE }
    }
}

impl SentFrames {
    /// Reads `bytes`, and records the frames that begin in them.
    pub(super) fn record(&mut self, mut bytes: &[u8], uploads: &Http2Uploads) {
        while !bytes.is_empty() {
            let (skipped, rest) = bytes.split_at(self.skipped.min(bytes.len()));
            self.skipped -= skipped.len();
            let (head, rest) = rest.split_at(rest.len().min(self.head.len() - self.written));
            self.head[self.written..self.written + head.len()].copy_from_slice(head);
            self.written += head.len();
            bytes = rest;
            if self.written == self.head.len() {
                let [a, b, c, kind, flags, stream @ ..] = self.head;
                (self.written, self.skipped) = (0, u32::from_be_bytes([0, a, b, c]) as usize);
                uploads.record_frame(kind, flags, u32::from_be_bytes(stream));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, stream: u8, length: u8) -> Vec<u8> {
        [&[0, 0, length, kind, flags, 0, 0, 0, stream], &vec![b'x'; length.into()][..]].concat()
    }

    /// Returns `true` if the body on stream 1 is declined after `sent` was written in pieces of `length` bytes.
    fn is_declined(sent: &[u8], length: usize, is_answered: bool, code: &[u8]) -> bool {
        let (uploads, mut frames) = (Http2Uploads::default(), SentFrames::default());
        let upload = UploadProgress::begin();
        uploads.begin(&upload);
        sent.chunks(length).for_each(|piece| frames.record(piece, &uploads));
        if is_answered {
            uploads.record_response_end(1);
        }
        uploads.record_reset(1, code);
        upload.is_declined()
    }

    #[test]
    fn body_is_declined_by_a_reset_without_error_after_the_response() {
        let begun = [vec![b'P'; PREFACE], frame(HEADERS, 4, 1, 30), frame(DATA, 0, 1, 100)].concat();
        let ended = [&begun[..], &frame(DATA, END_STREAM, 1, 3)].concat();
        let cancelled = [&begun[..], &frame(RST_STREAM, 0, 1, 4)].concat();
        // A request without a body, before and after this one.
        let parallel =
            [&begun[..PREFACE], &frame(HEADERS, 5, 3, 9), &begun[PREFACE..], &frame(HEADERS, 5, 5, 9)]
                .concat();
        for length in 1..50 {
            assert!(is_declined(&begun, length, true, &NO_ERROR));
            assert!(!is_declined(&begun, length, false, &NO_ERROR), "the response is incomplete");
            assert!(!is_declined(&begun, length, true, &[0, 0, 0, 2]), "an error");
            assert!(!is_declined(&ended, length, true, &NO_ERROR), "nothing was left to send");
            assert!(!is_declined(&cancelled, length, true, &NO_ERROR), "the client has reset the stream");
            assert!(is_declined(&parallel, length, true, &NO_ERROR));
        }
    }
    #[test]
    fn one_body_is_sent_at_a_time() {
        let uploads = Http2Uploads::default();
        let permit = uploads.permit().expect("the first permit");
        assert!(uploads.permit().is_none());
        drop(permit);
        assert!(uploads.permit().is_some());
    }
}
