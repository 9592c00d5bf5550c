//! The line before every body: whether it is one, and where it ends ("Gopher+" §2.3).

/// The longest line that can be a status line, without its line end.
pub const STATUS_OCTETS: usize = SIGN + MOST_DIGITS + BLANK;

const SIGN: usize = 1;
/// Any 19 digits fit into 64 bits.
const MOST_DIGITS: usize = 19;
const BLANK: usize = 1;

/// Where a body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "Gopher+ has these three")]
pub enum Framing {
    /// After so many octets.
    Length(u64),
    /// With a line of one dot: `-1`.
    Dot,
    /// With the connection: `-2`.
    End,
}

/// What a status line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_structs, reason = "the line holds nothing else")]
pub struct Status {
    /// Whether what follows is a refusal and not what was asked for.
    pub is_error: bool,
    /// Where what follows ends.
    pub framing: Framing,
}

/// What a line without its line end says; none if it is no status line: then the server knows no
/// Gopher+, and the line is already part of the body.
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

/// A number of octets.
pub(super) fn length(digits: &[u8]) -> Option<u64> {
    let is_length = (1..=MOST_DIGITS).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    is_length.then(|| digits.iter().fold(0, |length, digit| length * 10 + u64::from(digit - b'0')))
}
