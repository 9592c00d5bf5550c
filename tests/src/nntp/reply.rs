//! The reply to one command before rules change it, and dot-stuffing.

/// The reply to a command.
pub(crate) struct Reply<'a> {
    /// The status line with CR LF. Empty: no status line is sent.
    pub(crate) status: Vec<u8>,
    /// The multi-line data block in pieces, before dot-stuffing.
    pub(crate) block: Option<Box<dyn Iterator<Item = Vec<u8>> + 'a>>,
    pub(crate) next: Next,
}

/// The state of the connection after the reply.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Next {
    Close,
    Command,
    Deflate,
    Tls,
}

impl<'a> Reply<'a> {
    /// A status line. CR LF is added.
    pub(crate) fn line(text: impl AsRef<[u8]>) -> Self {
        Self { status: [text.as_ref(), b"\r\n"].concat(), block: None, next: Next::Command }
    }

    /// No reply; the connection is closed.
    pub(crate) fn close() -> Self {
        Self { status: Vec::new(), block: None, next: Next::Close }
    }

    pub(crate) fn with(self, blocks: impl Iterator<Item = Vec<u8>> + 'a) -> Self {
        Self { block: Some(Box::new(blocks)), ..self }
    }

    pub(crate) fn then(self, next: Next) -> Self {
        Self { next, ..self }
    }
}

/// Doubles the dot at the start of lines, over any number of pieces. Only CR LF ends a line.
pub(crate) struct DotStuffer {
    /// The last two bytes.
    last: [u8; 2],
}

impl DotStuffer {
    pub(crate) fn new() -> Self {
        Self { last: *b"\r\n" }
    }

    pub(crate) fn stuff(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut result = Vec::with_capacity(bytes.len() + 16);
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if line.starts_with(b".") && self.last == *b"\r\n" {
                result.push(b'.');
            }
            result.extend_from_slice(line);
            self.last = match line {
                [.., before, last] => [*before, *last],
                [last] => [self.last[1], *last],
                [] => self.last,
            };
        }
        result
    }

    /// Returns the end of the block: CR LF if the last line has none, and the terminating dot.
    pub(crate) fn end(&self, has_terminator: bool) -> &'static [u8] {
        match (self.last == *b"\r\n", has_terminator) {
            (true, true) => b".\r\n",
            (false, true) => b"\r\n.\r\n",
            (_, false) => b"",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dot_at_line_start_is_doubled() {
        let rows: [(&str, &str); 7] = [
            ("", "|.\r\n"),
            (".", "..|\r\n.\r\n"),
            (".\r\n..\r\n...", "..\r\n...\r\n....|\r\n.\r\n"),
            ("a.b\r\n.c\r\n", "a.b\r\n..c\r\n|.\r\n"),
            ("a\n.\nb\r.", "a\n.\nb\r.|\r\n.\r\n"),
            ("a\r\n\n.", "a\r\n\n.|\r\n.\r\n"),
            ("a\r", "a\r|\r\n.\r\n"),
        ];
        for (bytes, expected) in rows {
            let mut whole = DotStuffer::new();
            let sent = [&whole.stuff(bytes.as_bytes()), &b"|"[..], whole.end(true)].concat();
            assert_eq!(String::from_utf8(sent).unwrap(), expected, "{bytes:?}");
            let mut single = DotStuffer::new();
            let sent: Vec<u8> = bytes.bytes().flat_map(|byte| single.stuff(&[byte])).collect();
            assert_eq!([&sent, &b"|"[..], single.end(true)].concat(), expected.as_bytes(), "{bytes:?}");
            assert_eq!(single.end(false), b"");
        }
    }
}
