//! Limits the length of the lines with chunk sizes in an HTTP/1.1 body (RFC 9112 §7.1): hyper accepts leading zeros and
//! blanks without a limit.

use memchr::memchr;

/// Maximum length in bytes of the line with the size of a chunk and its extensions. hyper accepts 16 KiB of extensions.
const MAX_SIZE_LINE: usize = 32 * 1024;

/// The error for a line with the size of a chunk that is longer than [`MAX_SIZE_LINE`].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SizeLineTooLong;

/// Follows the chunks of a body to check the length of each line with a size. hyper rejects bodies that are invalid in
/// other ways.
#[derive(Default)]
pub(super) struct ChunkSizes(State);

enum State {
    /// Within the line with the size.
    Size { length: usize, size: u64, has_digits_before: bool },
    /// Within the data of a chunk and the end of the line after them.
    Data(u64),
    /// After the last chunk, or after an invalid line.
    Ended,
}

impl Default for State {
    fn default() -> Self {
        Self::Size { length: 0, size: 0, has_digits_before: true }
    }
}

impl ChunkSizes {
    /// Reads the next bytes of the body.
    pub(super) fn read(&mut self, mut bytes: &[u8]) -> Result<(), SizeLineTooLong> {
        while !bytes.is_empty() {
            let read = match &mut self.0 {
                State::Ended => return Ok(()),
                State::Data(left) => {
                    let count = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                    *left -= count as u64;
                    if *left == 0 {
                        self.0 = State::default();
                    }
                    count
                }
                State::Size { .. } => self.read_size_line(bytes)?,
            };
            bytes = bytes.get(read..).unwrap_or_default();
        }
        Ok(())
    }

    /// Reads the line with the size, up to its end if it is in `bytes`. Returns the number of bytes that were read.
    fn read_size_line(&mut self, bytes: &[u8]) -> Result<usize, SizeLineTooLong> {
        let State::Size { length, size, has_digits_before } = &mut self.0 else { return Ok(0) };
        let end = memchr(b'\n', bytes);
        let line = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
        *length += line.len();
        if *length > MAX_SIZE_LINE {
            return Err(SizeLineTooLong);
        }
        for byte in line {
            let digit = char::from(*byte).to_digit(16).filter(|_| *has_digits_before);
            *has_digits_before = digit.is_some();
            let Some(digit) = digit else { break };
            *size = size.saturating_mul(16).saturating_add(u64::from(digit));
        }
        if end.is_some() {
            // CRLF follows the data. Size 0 is the last chunk, or a line that is no size.
            self.0 = if *size == 0 { State::Ended } else { State::Data(size.saturating_add(2)) };
        }
        Ok(line.len() + usize::from(end.is_some()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `body` in pieces of each length; the result is the same for all.
    fn read(body: &[u8]) -> Result<(), SizeLineTooLong> {
        let read = |length| {
            let mut sizes = ChunkSizes::default();
            body.chunks(length).try_for_each(|piece| sizes.read(piece))
        };
        let result = read(body.len());
        [1, 2, 3, 7, 1000].into_iter().for_each(|length| assert_eq!(read(length), result, "{length}"));
        result
    }

    #[test]
    fn size_line_over_its_limit_is_an_error_in_each_chunk() {
        let first = [&b"1A;x=y\r\n"[..], &[b'0'; 26], b"\r\n"].concat();
        for fill in [b"0", b" ", b"\t", b"x"] {
            for before in [&b""[..], &first, &first.repeat(3)] {
                let body = |count| [before, b"0", &fill.repeat(count)].concat();
                assert_eq!(read(&body(MAX_SIZE_LINE - 1)), Ok(()), "{fill:?}");
                assert_eq!(read(&body(MAX_SIZE_LINE)), Err(SizeLineTooLong), "{fill:?}");
            }
        }
    }

    #[test]
    fn data_and_trailers_are_no_size_lines() {
        let data = vec![b'0'; 0x12345];
        let body = [&b"012345\r\n"[..], &data, b"\r\n0\r\nTrailer: ", &data].concat();
        assert_eq!(read(&body), Ok(()));
        assert_eq!(read(&[&b"ffffffffffffffffff\r\n"[..], &data].concat()), Ok(()));
    }
}
