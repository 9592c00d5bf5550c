//! Replies that consist of the code alone.

use bytes::BytesMut;

/// Adds the space that RFC 959 §4.2 requires after a code without text, for a reader that ends a reply only at a code
/// and a space. [`ReplyReader`](super::ReplyReader) needs no space.
///
/// A line of three digits in a multi-line reply with another code is text, and stays as it is.
#[derive(Debug, Default)]
pub struct BareCodes {
    /// The first bytes of a line that may be a code alone.
    line_start: Vec<u8>,
    /// The rest of the current line is passed on.
    is_text: bool,
    /// The code of the multi-line reply that has begun.
    open_code: Option<[u8; 3]>,
}

impl BareCodes {
    /// Appends the received `bytes` to `out`, with the missing spaces. At most four bytes are held back until the bytes
    /// after them arrive.
    pub fn push(&mut self, bytes: &[u8], out: &mut BytesMut) {
        for &byte in bytes {
            if self.is_text {
                out.extend_from_slice(&[byte]);
                self.is_text = byte != b'\n';
            } else {
                self.line_start.push(byte);
                self.check_line_start(out);
            }
        }
    }

    /// Appends the bytes that are held back, at the end of the connection.
    pub fn finish(&mut self, out: &mut BytesMut) {
        out.extend_from_slice(&self.line_start);
        self.line_start.clear();
    }

    /// Decides what the line is, as soon as its first bytes show that.
    fn check_line_start(&mut self, out: &mut BytesMut) {
        let is_start_of_code = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_digit);
        match *self.line_start.as_slice() {
            [a, b, c, ref rest @ ..] if is_start_of_code(&[a, b, c]) => {
                let code = [a, b, c];
                match *rest {
                    [] | [b'\r'] => return,
                    [b'\n'] | [b'\r', b'\n'] if self.open_code.is_none_or(|open_code| open_code == code) => {
                        self.line_start.insert(code.len(), b' ');
                        self.open_code = None;
                    }
                    [b' '] if self.open_code == Some(code) => self.open_code = None,
                    [b'-'] if self.open_code.is_none() => self.open_code = Some(code),
                    _ => {}
                }
            }
            ref start if start.len() < 3 && is_start_of_code(start) => return,
            _ => {}
        }
        self.is_text = !self.line_start.ends_with(b"\n");
        self.finish(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spaced(pieces: &[&[u8]]) -> BytesMut {
        let (mut codes, mut out) = (BareCodes::default(), BytesMut::new());
        pieces.iter().for_each(|piece| codes.push(piece, &mut out));
        codes.finish(&mut out);
        out
    }

    #[test]
    fn space_follows_a_code_without_text_at_every_split() {
        for (received, expected) in [
            ("331\r\n230\n226 ok\r\n", "331 \r\n230 \n226 ok\r\n"),
            ("220-a\r\n331\r\n220\r\n331\r\n", "220-a\r\n331\r\n220 \r\n331 \r\n"),
            ("220-a\r\n220-b\r\n220 c\r\n331\r\n", "220-a\r\n220-b\r\n220 c\r\n331 \r\n"),
            ("220-a\r\n331-b\r\n331 c\r\n331\r\n220 d\r\n", "220-a\r\n331-b\r\n331 c\r\n331\r\n220 d\r\n"),
            ("331\r\r\n22\r\n2200\r\n\r\nab", "331\r\r\n22\r\n2200\r\n\r\nab"),
            ("226", "226"),
            ("226\r", "226\r"),
        ] {
            assert_eq!(spaced(&[received.as_bytes()]), expected, "{received:?}");
            for at in 0..received.len() {
                let (first, rest) = received.as_bytes().split_at(at);
                assert_eq!(spaced(&[first, rest]), expected, "{received:?} {at}");
            }
        }
    }
}
