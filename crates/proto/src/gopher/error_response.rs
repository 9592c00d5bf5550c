//! Reads the body of a Gopher+ error response (Gopher+ §2.3).

use bytes::Bytes;
use memchr::memchr_iter;

use super::MenuItem;
use super::response_framing::{Chunk, ResponseFraming};
use crate::gopher_plus::ErrorResponse;
use crate::{RecvBuffer, Rejection};

/// Maximum number of bytes read of a refusal.
const MAX_REFUSAL_BYTES: usize = 16 * 1024;

/// A reader for the body of an error response.
#[derive(Debug)]
pub(super) struct ErrorResponseReader {
    frame: ResponseFraming,
    body: Vec<u8>,
}

impl ErrorResponseReader {
    pub(super) const fn new(frame: ResponseFraming) -> Self {
        Self { frame, body: Vec::new() }
    }

    /// Returns the refusal once enough of it was received. A truncated error response is still a refusal.
    pub(super) fn read(&mut self, buffer: &mut RecvBuffer) -> Option<Rejection> {
        while self.body.len() < MAX_REFUSAL_BYTES && self.dot_line().is_none() {
            match self.frame.next(buffer) {
                Ok(Chunk::Data(bytes)) => self.body.extend_from_slice(&bytes),
                Ok(Chunk::NeedMore) => return None,
                Ok(Chunk::End(_)) | Err(_) => break,
            }
            self.body.truncate(MAX_REFUSAL_BYTES);
        }
        Some(self.rejection())
    }

    /// Returns the position of the first line of one dot, if it ends the body. Bytes after it are ignored, so that the
    /// result does not depend on how many of them have arrived.
    fn dot_line(&self) -> Option<usize> {
        if self.frame != ResponseFraming::Dot {
            return None;
        }
        let is_dot_line = |start: &usize| {
            let line = &self.body[*start..];
            line.starts_with(b".\r\n") || line.starts_with(b".\n")
        };
        let starts = memchr_iter(b'\n', &self.body).map(|feed| feed + 1);
        std::iter::once(0).chain(starts).find(is_dot_line)
    }

    fn rejection(&self) -> Rejection {
        let refusal = ErrorResponse::parse(&self.body[..self.dot_line().unwrap_or(self.body.len())]);
        let moved_to = refusal.moved_to().map(|line| MenuItem::parse(&Bytes::copy_from_slice(line)));
        Rejection { command: None, code: refusal.code, text: refusal.words().into(), moved_to }
    }
}
