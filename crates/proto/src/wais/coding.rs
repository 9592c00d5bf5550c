//! Encodes and decodes tagged fields with compressed integers.

use crate::WireError;

/// Maximum length of an integer in bytes. [`MAX_INTEGER`] needs five; smaller integers may be padded to five.
const MAX_INTEGER_BYTES: usize = 5;
/// Maximum value of an integer.
const MAX_INTEGER: u64 = 1 << 31;

/// Appends a compressed integer: seven bits per byte, most significant first; the top bit is set in all bytes but
/// the last.
pub(super) fn push_integer(bytes: &mut Vec<u8>, value: usize) {
    push_septets(bytes, value, 0);
}

fn push_septets(bytes: &mut Vec<u8>, value: usize, more: u8) {
    if value >= 128 {
        push_septets(bytes, value >> 7, 128);
    }
    bytes.push((value & 127) as u8 | more);
}

/// Appends a tag, a length and the value.
pub(super) fn push_field(bytes: &mut Vec<u8>, tag: usize, value: &[u8]) {
    push_integer(bytes, tag);
    push_integer(bytes, value.len());
    bytes.extend_from_slice(value);
}

/// Appends a field with a big-endian number in its shortest form, at least one byte.
pub(super) fn push_number(bytes: &mut Vec<u8>, tag: usize, number: u32) {
    let long = number.to_be_bytes();
    let zeros = long.iter().take(3).take_while(|byte| **byte == 0).count();
    push_field(bytes, tag, long.get(zeros..).unwrap_or_default());
}

/// Reads tagged fields one after another.
#[derive(Clone, Debug)]
pub(super) struct Fields<'o> {
    rest: &'o [u8],
}

impl<'o> Fields<'o> {
    pub(super) const fn new(bytes: &'o [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) const fn rest(&self) -> &'o [u8] {
        self.rest
    }

    /// Returns the next tag, or `None` at the end.
    pub(super) fn tag(&mut self) -> Result<Option<u64>, WireError> {
        if self.rest.is_empty() { Ok(None) } else { self.integer().map(Some) }
    }

    /// Reads the length and the value after a tag. Returns the value.
    pub(super) fn value(&mut self) -> Result<&'o [u8], WireError> {
        let length = self.integer()?;
        self.take(usize::try_from(length).unwrap_or(usize::MAX))
    }

    /// Returns the next field, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<(u64, &'o [u8])>, WireError> {
        let Some(tag) = self.tag()? else { return Ok(None) };
        self.value().map(|value| Some((tag, value)))
    }

    /// Returns the next `count` bytes.
    pub(super) fn take(&mut self, count: usize) -> Result<&'o [u8], WireError> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or_else(truncated_error)?;
        self.rest = rest;
        Ok(taken)
    }

    fn integer(&mut self) -> Result<u64, WireError> {
        let mut value = 0;
        for _ in 0..MAX_INTEGER_BYTES {
            let byte = *self.take(1)?.first().ok_or_else(truncated_error)?;
            value = value << 7 | u64::from(byte & 127);
            if byte & 128 == 0 && value <= MAX_INTEGER {
                return Ok(value);
            }
        }
        Err(WireError::Unexpected { what: "a tag or a length in a WAIS response", got: Default::default() })
    }
}

/// Parses a big-endian number of one to four bytes. Returns `None` for other lengths.
pub(super) fn parse_big_endian(value: &[u8]) -> Option<u64> {
    let is_number = (1..=4).contains(&value.len());
    is_number.then(|| value.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// Returns the error for a truncated field.
pub(super) fn truncated_error() -> WireError {
    WireError::Unexpected { what: "a complete WAIS response", got: Default::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compressed_integers_are_written_and_read() {
        for (value, bytes) in [
            (0, &[0][..]),
            (1, &[1]),
            (99, &[0x63]),
            (127, &[0x7f]),
            (128, &[0x81, 0]),
            (150, &[0x81, 0x16]),
            (268, &[0x82, 0x0c]),
            (16383, &[0xff, 0x7f]),
            (16384, &[0x81, 0x80, 0]),
            (2_097_151, &[0xff, 0xff, 0x7f]),
            (2_097_152, &[0x81, 0x80, 0x80, 0]),
        ] {
            let mut written = Vec::new();
            push_integer(&mut written, value);
            assert_eq!(written, bytes);
            let mut fields = Fields::new(bytes);
            assert_eq!(fields.tag(), Ok(Some(value as u64)));
            assert_eq!(fields.rest(), b"");
        }
        assert_eq!(Fields::new(&[0x80, 0x80, 5]).tag(), Ok(Some(5)), "padding");
        for bad in [&[0x80][..], &[0xff; 5], &[0x80, 0x80, 0x80, 0x80, 0x80, 1], &[0x88, 0x80, 0x80, 0x80, 1]]
        {
            assert!(Fields::new(bad).tag().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn fields_have_their_announced_length() {
        let mut fields = Fields::new(b"\x6a\x03abc\x6f\x01\x01");
        assert_eq!(fields.next(), Ok(Some((106, &b"abc"[..]))));
        assert_eq!(fields.next(), Ok(Some((111, &b"\x01"[..]))));
        assert_eq!(fields.next(), Ok(None));
        assert!(Fields::new(b"\x6a\x04abc").next().is_err());
        assert!(Fields::new(b"\x6a").next().is_err());
    }

    #[test]
    fn numbers_of_one_to_four_bytes_are_parsed() {
        let mut bytes = Vec::new();
        push_number(&mut bytes, 118, 489);
        push_number(&mut bytes, 5, 100_000);
        push_number(&mut bytes, 119, 0);
        assert_eq!(bytes, b"\x76\x02\x01\xe9\x05\x03\x01\x86\xa0\x77\x01\x00");
        assert_eq!(parse_big_endian(b"\x01\xe9"), Some(489));
        assert_eq!(parse_big_endian(b""), None);
        assert_eq!(parse_big_endian(b"\0\0\0\0\0"), None);
    }
}
