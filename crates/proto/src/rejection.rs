//! The answer of a server that has no such object or does not return it.

use bytes::Bytes;

use crate::gopher::MenuItem;

/// The number of bytes kept of a server's explanation.
const MAX_TEXT_BYTES: usize = 1024;

/// A server's answer that it has no such object, or does not return it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rejection {
    /// The rejected command, in protocols that send several for one object.
    pub command: Option<&'static str>,
    /// The reply code: NNTP's three digits (RFC 3977 §3.2), or Gopher+'s 1 (not available), 2 (try again later) and
    /// 3 (moved).
    pub code: Option<u32>,
    /// The server's explanation, without the code. It is not sanitised.
    pub text: Bytes,
    /// The new location of the item (Gopher+ code 3).
    pub moved_to: Option<MenuItem>,
}

impl Rejection {
    /// Creates a rejection from a server without reply codes; `text` is cut to 1024 bytes.
    pub(crate) fn from_text(mut text: Bytes) -> Self {
        text.truncate(MAX_TEXT_BYTES);
        Self { command: None, code: None, text, moved_to: None }
    }

    /// Creates a rejection of `command` from a reply.
    pub(crate) fn of_command(command: &'static str, code: u16, text: Bytes) -> Self {
        Self { command: Some(command), code: Some(u32::from(code)), ..Self::from_text(text) }
    }
}
