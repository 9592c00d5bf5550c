//! Reads a server's word that there is no answer (Gopher+ §2.3).

use bytes::Bytes;

use super::MenuItem;
use super::frame::{Chunk, Frame};
use crate::gopher_plus::Refusal;
use crate::{Inbox, Refused};

/// So much of a refusal is read.
const REFUSAL_OCTETS: usize = 16 * 1024;

/// Reads the body of an error.
#[derive(Debug)]
pub(super) struct RefusalReader {
    frame: Frame,
    body: Vec<u8>,
}

impl RefusalReader {
    pub(super) const fn new(frame: Frame) -> Self {
        Self { frame, body: Vec::new() }
    }

    /// The refusal, once enough of it is here; whatever is lost of it, it remains one.
    pub(super) fn read(&mut self, inbox: &mut Inbox) -> Option<Refused> {
        while self.body.len() < REFUSAL_OCTETS {
            match self.frame.next(inbox) {
                Ok(Chunk::Octets(octets)) => self.body.extend_from_slice(&octets),
                Ok(Chunk::Need) if self.frame != Frame::Dot || !self.is_marked() => return None,
                Ok(Chunk::Need | Chunk::End(_)) | Err(_) => break,
            }
        }
        Some(self.refused())
    }

    fn is_marked(&self) -> bool {
        self.body == b".\r\n" || self.body.ends_with(b"\n.\r\n") || self.body.ends_with(b"\n.\n")
    }

    fn refused(&self) -> Refused {
        let refusal = Refusal::parse(self.body.strip_suffix(b".\r\n").unwrap_or(&self.body));
        let moved_to = refusal.moved_to().map(|line| MenuItem::parse(&Bytes::copy_from_slice(line)));
        Refused { asked: None, code: refusal.code, words: refusal.words().into(), moved_to }
    }
}
