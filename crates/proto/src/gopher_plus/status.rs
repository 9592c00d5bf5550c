//! Parses the status line before a response body ("Gopher+" §2.3).

/// Maximum length of a status line in bytes, without its line end.
pub const MAX_STATUS_BYTES: usize = SIGN + MAX_DIGITS + BLANK;

const SIGN: usize = 1;
/// 19 digits always fit into 64 bits.
const MAX_DIGITS: usize = 19;
const BLANK: usize = 1;

/// How the end of a body is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "the protocol has exactly these three")]
pub enum Framing {
    /// The body has this many bytes.
    Length(u64),
    /// The body ends with a line of one dot (`-1`).
    Dot,
    /// The body ends with the connection (`-2`).
    End,
}

/// A parsed Gopher+ status line ("Gopher+" §2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_structs, reason = "the status line has no other fields")]
pub struct Status {
    /// `true` if the body is an error response.
    pub is_error: bool,
    /// The framing of the body.
    pub framing: Framing,
}

/// Parses a status line without its line end. Returns `None` if it is not one: then the server does not support
/// Gopher+, and the line belongs to the body.
pub fn status(line: &[u8]) -> Option<Status> {
    let line = line.strip_suffix(b" ").unwrap_or(line);
    let (is_error, count) = match line.split_first()? {
        (b'+', count) => (false, count),
        (b'-', count) => (true, count),
        _ => return None,
    };
    let framing = match count {
        b"-1" => Framing::Dot,
        b"-2" => Framing::End,
        digits => Framing::Length(length(digits)?),
    };
    Some(Status { is_error, framing })
}

/// Parses a body length in bytes.
pub(super) fn length(digits: &[u8]) -> Option<u64> {
    let is_length = (1..=MAX_DIGITS).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    is_length.then(|| digits.iter().fold(0, |length, digit| length * 10 + u64::from(digit - b'0')))
}
