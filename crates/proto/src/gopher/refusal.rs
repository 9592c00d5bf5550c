//! Reads the body of a Gopher+ error response (Gopher+ §2.3).

use bytes::Bytes;

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
        while self.body.len() < MAX_REFUSAL_BYTES {
            match self.frame.next(buffer) {
                Ok(Chunk::Data(bytes)) => self.body.extend_from_slice(&bytes),
                Ok(Chunk::NeedMore) if self.frame != ResponseFraming::Dot || !self.has_final_dot_line() => {
                    return None;
                }
                Ok(Chunk::NeedMore | Chunk::End(_)) | Err(_) => break,
            }
        }
        Some(self.rejection())
    }

    /// Returns `true` if the body ends with a line of one dot.
    fn has_final_dot_line(&self) -> bool {
        self.body == b".\r\n" || self.body.ends_with(b"\n.\r\n") || self.body.ends_with(b"\n.\n")
    }

    fn rejection(&self) -> Rejection {
        let refusal = ErrorResponse::parse(self.body.strip_suffix(b".\r\n").unwrap_or(&self.body));
        let moved_to = refusal.moved_to().map(|line| MenuItem::parse(&Bytes::copy_from_slice(line)));
        Rejection { command: None, code: refusal.code, text: refusal.words().into(), moved_to }
    }
}
