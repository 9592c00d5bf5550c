//! Octets that may not go out: decoded, they would change the protocol (RFC 1738 §6).

use std::fmt;

/// A set of octets that a protocol cannot carry in an argument.
#[derive(Clone, Copy, Debug)]
pub struct Octets(&'static [u8]);

impl Octets {
    /// CR, LF and NUL: in every protocol of ours.
    pub const LINE: Self = Self(b"\r\n\0");
    /// And TAB: between the fields of a Gopher request.
    pub const GOPHER: Self = Self(b"\r\n\0\t");
    /// And space and angle brackets: in NNTP's arguments (RFC 3977 §9.8).
    pub const NNTP: Self = Self(b"\r\n\0\t <>");
    /// And a colon: in the user of a Basic login (RFC 7617 §2).
    pub const BASIC_USER: Self = Self(b"\r\n\0:");
    /// And IAC: in what is typed over Telnet (RFC 854).
    pub const TELNET: Self = Self(b"\r\n\0\xff");
    /// `/` and NUL: in a name of a file.
    pub const FILE_NAME: Self = Self(b"/\0");

    /// The octets of a part, when none of them is forbidden.
    ///
    /// # Errors
    /// The first forbidden octet.
    pub fn check<'o>(self, part: &'static str, octets: &'o [u8]) -> Result<&'o [u8], ForbiddenOctet> {
        match octets.iter().find(|octet| self.0.contains(octet)) {
            Some(&octet) => Err(ForbiddenOctet { part, octet }),
            None => Ok(octets),
        }
    }
}

/// A decoded octet would change the protocol: nothing was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForbiddenOctet {
    /// The part of the URL.
    pub part: &'static str,
    /// The octet.
    pub octet: u8,
}

impl fmt::Display for ForbiddenOctet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.octet {
            0 => "NUL",
            b'\t' => "TAB",
            b'\n' => "LF",
            b'\r' => "CR",
            b' ' => "space",
            b'/' => "/",
            b':' => "a colon",
            b'<' | b'>' => "an angle bracket",
            _ => "this octet",
        };
        write!(f, "%{:02X} ({name}) in the {} would change what is sent", self.octet, self.part)
    }
}

impl std::error::Error for ForbiddenOctet {}
