//! The diagnostics of a WAIS server, sent instead of records or with them.

/// A diagnostic record.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WaisDiagnostic {
    code: [u8; 2],
    message: Vec<u8>,
    /// It belongs to one record instead of the whole search.
    is_surrogate: bool,
}

impl WaisDiagnostic {
    /// A diagnostic of a whole search.
    pub fn new(code: [u8; 2], message: impl Into<Vec<u8>>) -> Self {
        Self { code, message: message.into(), is_surrogate: false }
    }

    /// Makes it a diagnostic of one record.
    #[must_use]
    pub fn surrogate(self) -> Self {
        Self { is_surrogate: true, ..self }
    }

    /// The diagnostic `SF` for a range beyond the end of a document.
    #[must_use]
    pub fn out_of_range() -> Self {
        Self::new(*b"SF", "Request out of range").surrogate()
    }

    /// Returns the encoded diagnostic: tag, length (two bytes), code, message, flag, and a terminator that the
    /// length does not include.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let length = u16::try_from(3 + self.message.len()).unwrap_or(u16::MAX);
        let start = [b"\x1c".as_slice(), &length.to_be_bytes(), &self.code];
        [&start.concat(), self.message.as_slice(), &[self.is_surrogate.into(), 0x1d]].concat()
    }
}
