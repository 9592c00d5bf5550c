//! [`Parsed`]: the result of parsing.

use crate::{Note, Url};

/// The result of parsing: the URL, the notes about its text, and the fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed<'a> {
    /// The URL.
    pub url: Url<'a>,
    /// The deviations from RFC 1738 that the parser accepted or corrected; empty for a URL without any.
    pub notes: Vec<Note>,
    /// The text after `#`, as it was written. It is not part of the URL and is never sent (RFC 1738 §2.2).
    pub fragment: Option<&'a str>,
}

impl Parsed<'_> {
    /// Returns the URL and the notes with owned text, independent of the parsed text. The fragment is dropped.
    pub fn into_owned(self) -> Parsed<'static> {
        Parsed { url: self.url.into_owned(), notes: self.notes, fragment: None }
    }
}
