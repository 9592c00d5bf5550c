//! A peer's word that there is no answer.

use bytes::Bytes;

use crate::gopher::MenuItem;

/// So much of a refusal is told.
const WORDS_OCTETS: usize = 1024;

/// A peer's word that there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refused {
    /// The command that was refused, where there are several.
    pub asked: Option<&'static str>,
    /// The code of the answer: NNTP's three digits (RFC 3977 §3.2); Gopher+'s 1 not available, 2 try again
    /// later, 3 moved.
    pub code: Option<u32>,
    /// The server's words.
    pub words: Bytes,
    /// Where the item is now.
    pub moved_to: Option<MenuItem>,
}

impl Refused {
    /// By a server that has no codes.
    pub(crate) fn in_words(mut words: Bytes) -> Self {
        words.truncate(WORDS_OCTETS);
        Self { asked: None, code: None, words, moved_to: None }
    }

    /// By this answer to a command.
    pub(crate) fn by(asked: &'static str, code: u16, words: Bytes) -> Self {
        Self { asked: Some(asked), code: Some(u32::from(code)), ..Self::in_words(words) }
    }
}
