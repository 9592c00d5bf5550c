//! What a news server answers to one command, before the rules have their say; and dot-stuffing.

/// The answer to one command.
pub(crate) struct Reply<'a> {
    /// With its end of line. Empty: says nothing.
    pub(crate) status: Vec<u8>,
    /// The octets of a multi-line block, not stuffed, in pieces.
    pub(crate) block: Option<Box<dyn Iterator<Item = Vec<u8>> + 'a>>,
    pub(crate) next: Next,
}

/// What follows the answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Next {
    Close,
    Command,
    Deflate,
    Tls,
}

impl<'a> Reply<'a> {
    /// One line, which has no end yet.
    pub(crate) fn line(text: impl AsRef<[u8]>) -> Self {
        Self { status: [text.as_ref(), b"\r\n"].concat(), block: None, next: Next::Command }
    }

    /// Nothing, and the end of the connection.
    pub(crate) fn nothing() -> Self {
        Self { status: Vec::new(), block: None, next: Next::Close }
    }

    pub(crate) fn with(self, blocks: impl Iterator<Item = Vec<u8>> + 'a) -> Self {
        Self { block: Some(Box::new(blocks)), ..self }
    }

    pub(crate) fn then(self, next: Next) -> Self {
        Self { next, ..self }
    }
}

/// Doubles the dots that begin a line, over any number of pieces. Only CR LF ends a line.
pub(crate) struct Stuffing {
    /// What was sent last, as far as it matters.
    last: [u8; 2],
}

impl Stuffing {
    pub(crate) fn new() -> Self {
        Self { last: *b"\r\n" }
    }

    pub(crate) fn stuffed(&mut self, octets: &[u8]) -> Vec<u8> {
        let mut result = Vec::with_capacity(octets.len() + 16);
        for line in octets.split_inclusive(|octet| *octet == b'\n') {
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

    /// What ends the last line, if it has no end, and then the block.
    pub(crate) fn end(&self, has_dot: bool) -> &'static [u8] {
        match (self.last == *b"\r\n", has_dot) {
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
    fn dots_are_doubled_at_the_beginning_of_lines() {
        let rows: [(&str, &str); 7] = [
            ("", "|.\r\n"),
            (".", "..|\r\n.\r\n"),
            (".\r\n..\r\n...", "..\r\n...\r\n....|\r\n.\r\n"),
            ("a.b\r\n.c\r\n", "a.b\r\n..c\r\n|.\r\n"),
            ("a\n.\nb\r.", "a\n.\nb\r.|\r\n.\r\n"),
            ("a\r\n\n.", "a\r\n\n.|\r\n.\r\n"),
            ("a\r", "a\r|\r\n.\r\n"),
        ];
        for (octets, expected) in rows {
            let mut whole = Stuffing::new();
            let sent = [&whole.stuffed(octets.as_bytes()), &b"|"[..], whole.end(true)].concat();
            assert_eq!(String::from_utf8(sent).unwrap(), expected, "{octets:?}");
            let mut single = Stuffing::new();
            let sent: Vec<u8> = octets.bytes().flat_map(|octet| single.stuffed(&[octet])).collect();
            assert_eq!([&sent, &b"|"[..], single.end(true)].concat(), expected.as_bytes(), "{octets:?}");
            assert_eq!(single.end(false), b"");
        }
    }
}
