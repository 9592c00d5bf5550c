//! The request bodies that are being sent over an HTTP/2 connection: when they are written, and whether the server has
//! declined one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::http2_frames::{DATA, END_STREAM, HEADERS, RST_STREAM};
use super::upload::UploadProgress;

/// The error code of a server that needs no more of the request (RFC 9113 §8.1).
const NO_ERROR: [u8; 4] = [0; 4];
/// The length in bytes of the text that a client sends first (RFC 9113 §3.4).
const PREFACE: usize = 24;

/// The state of the bodies. The connection and its stream share it.
#[derive(Clone, Default)]
pub(super) struct Http2Uploads(Arc<Mutex<OpenUploads>>);

#[derive(Default)]
struct OpenUploads {
    /// The progress of each body that is not sent yet.
    unsent: Vec<UploadProgress>,
    /// The streams on which END_STREAM was not written yet. The value is `true` if their response is complete.
    streams: HashMap<u32, bool>,
}

impl Http2Uploads {
    /// Adds the body of a request that is about to be sent.
    pub(super) fn add(&self, upload: &UploadProgress) {
        self.lock().unsent.push(upload.clone());
    }

    /// Records that the connection has written the bytes of its buffer.
    pub(super) fn record_flush(&self) {
        self.lock().unsent.retain(|upload| {
            upload.mark_flushed();
            !upload.is_finished()
        });
    }

    /// Records that the connection has ended.
    pub(super) fn record_end(&self) {
        self.lock().unsent.drain(..).for_each(|upload| upload.mark_lost());
    }

    /// Records a frame that was written.
    fn record_frame(&self, kind: u8, flags: u8, stream: u32) {
        match kind {
            RST_STREAM => drop(self.lock().streams.remove(&stream)),
            DATA | HEADERS if flags & END_STREAM != 0 => drop(self.lock().streams.remove(&stream)),
            HEADERS => drop(self.lock().streams.insert(stream, false)),
            _ => {}
        }
    }

    /// Records the end of the response on `stream`.
    pub(super) fn record_response_end(&self, stream: u32) {
        if let Some(is_answered) = self.lock().streams.get_mut(&stream) {
            *is_answered = true;
        }
    }

    /// Records that the server has reset `stream`. After a complete response and without an error, the server declines the
    /// rest of the body (RFC 9113 §8.1). hyper does not name the stream of a body, so this is certain for a single body only.
    pub(super) fn record_reset(&self, stream: u32, code: &[u8]) {
        let mut open = self.lock();
        let is_answered = open.streams.remove(&stream) == Some(true);
        if let [upload] = &open.unsent[..]
            && is_answered
            && code == NO_ERROR
            && open.streams.is_empty()
        {
            upload.mark_declined();
        }
    }

    fn lock(&self) -> MutexGuard<'_, OpenUploads> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Returns `true` if the only body on stream 1 is declined after `sent` was written in pieces of `length` bytes.
    fn is_declined(sent: &[u8], length: usize, is_answered: bool, code: &[u8]) -> bool {
        let (uploads, mut frames) = (Http2Uploads::default(), SentFrames::default());
        let upload = UploadProgress::begin();
        uploads.add(&upload);
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
        let parallel = [&begun[..], &frame(HEADERS, 4, 3, 9)].concat();
        for length in 1..50 {
            assert!(is_declined(&begun, length, true, &NO_ERROR));
            assert!(!is_declined(&begun, length, false, &NO_ERROR), "the response is incomplete");
            assert!(!is_declined(&begun, length, true, &[0, 0, 0, 2]), "an error");
            assert!(!is_declined(&ended, length, true, &NO_ERROR), "nothing was left to send");
            assert!(!is_declined(&parallel, length, true, &NO_ERROR), "it may be the other body");
        }
    }
}
