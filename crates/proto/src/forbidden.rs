//! Bytes that must not be sent inside an argument, because they would inject a command (RFC 1738 §6).

use std::fmt;

/// The bytes that one protocol does not allow inside an argument.
#[derive(Clone, Copy, Debug)]
pub struct ForbiddenSet(&'static [u8]);

impl ForbiddenSet {
    /// CR, LF and NUL, which no line protocol allows.
    pub const LINE: Self = Self(b"\r\n\0");
    /// [`Self::LINE`] and TAB, which separates the fields of a Gopher request.
    pub const GOPHER: Self = Self(b"\r\n\0\t");
    /// [`Self::LINE`], TAB, space and angle brackets, for NNTP arguments (RFC 3977 §9.8).
    pub const NNTP: Self = Self(b"\r\n\0\t <>");
    /// [`Self::LINE`] and the colon, for the user name of HTTP Basic authentication (RFC 7617 §2).
    pub const BASIC_USER: Self = Self(b"\r\n\0:");
    /// [`Self::LINE`] and IAC (0xFF), for text typed over Telnet (RFC 854).
    pub const TELNET: Self = Self(b"\r\n\0\xff");
    /// `/` and NUL, which the name of a file cannot contain.
    pub const FILE_NAME: Self = Self(b"/\0");

    /// Returns `bytes` unchanged if none of them is in this set. `part` names the part of the URL for the error.
    ///
    /// # Errors
    /// The first byte of `bytes` that is in this set.
    pub fn check<'b>(self, part: &'static str, bytes: &'b [u8]) -> Result<&'b [u8], ForbiddenByte> {
        match bytes.iter().find(|byte| self.0.contains(byte)) {
            Some(&byte) => Err(ForbiddenByte { part, byte }),
            None => Ok(bytes),
        }
    }
}

/// The error for a URL whose percent-decoded part contains a byte that would inject a command. Nothing was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForbiddenByte {
    /// The part of the URL, such as `path`.
    pub part: &'static str,
    /// The byte.
    pub byte: u8,
}

impl fmt::Display for ForbiddenByte {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.byte {
            0 => "NUL",
            b'\t' => "TAB",
            b'\n' => "LF",
            b'\r' => "CR",
            b' ' => "space",
            b'/' => "/",
            b':' => "a colon",
            b'<' | b'>' => "an angle bracket",
            _ => "this byte",
        };
        write!(f, "%{:02X} ({name}) in the {} would inject a command", self.byte, self.part)
    }
}

impl std::error::Error for ForbiddenByte {}
