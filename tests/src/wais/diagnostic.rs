//! What a WAIS server says when it has no answer, or beside one.

/// A diagnostic record.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WaisDiagnostic {
    code: [u8; 2],
    words: Vec<u8>,
    /// Whether it belongs to one record instead of the whole search.
    is_surrogate: bool,
}

impl WaisDiagnostic {
    /// Of a whole search.
    pub fn new(code: [u8; 2], words: impl Into<Vec<u8>>) -> Self {
        Self { code, words: words.into(), is_surrogate: false }
    }

    /// Of one record.
    #[must_use]
    pub fn surrogate(self) -> Self {
        Self { is_surrogate: true, ..self }
    }

    /// What ends a document whose length nobody told.
    #[must_use]
    pub fn out_of_range() -> Self {
        Self::new(*b"SF", "Request out of range").surrogate()
    }

    /// Tag, two octets of length, code, words, flag and a terminator that the length does not count.
    pub(crate) fn octets(&self) -> Vec<u8> {
        let length = u16::try_from(3 + self.words.len()).unwrap_or(u16::MAX);
        let start = [b"\x1c".as_slice(), &length.to_be_bytes(), &self.code];
        [&start.concat(), self.words.as_slice(), &[self.is_surrogate.into(), 0x1d]].concat()
    }
}
