//! Text: the line ends of the wire become those of this machine (RFC 959 §3.1.1.1).

use bytes::{Bytes, BytesMut};
use memchr::memchr;

/// Turns CRLF into LF, however the octets are cut; a CR that no LF follows stays.
#[derive(Debug, Default)]
pub(crate) struct LocalLines {
    /// A CR came last, and what follows it is not known.
    holds_cr: bool,
}

impl LocalLines {
    /// The next octets.
    pub(crate) fn turn(&mut self, octets: Bytes) -> Bytes {
        if cfg!(windows) || (!self.holds_cr && memchr(b'\r', &octets).is_none()) {
            return octets;
        }
        let mut turned = BytesMut::with_capacity(octets.len() + 1);
        let mut rest = &octets[..];
        if std::mem::take(&mut self.holds_cr) && rest.first().is_some_and(|&first| first != b'\n') {
            turned.extend_from_slice(b"\r");
        }
        while let Some(at) = memchr(b'\r', rest) {
            turned.extend_from_slice(&rest[..at]);
            rest = &rest[at + 1..];
            match rest.first() {
                None => self.holds_cr = true,
                Some(b'\n') => {}
                Some(_) => turned.extend_from_slice(b"\r"),
            }
        }
        turned.extend_from_slice(rest);
        turned.freeze()
    }

    /// What was held back, when there is nothing more.
    pub(crate) fn end(&mut self) -> Option<Bytes> {
        std::mem::take(&mut self.holds_cr).then_some(Bytes::from_static(b"\r"))
    }
}

#[cfg(all(test, not(windows)))]
mod tests {
    use super::*;

    fn turned(text: &str, cut: usize) -> String {
        let (mut lines, mut all) = (LocalLines::default(), Vec::new());
        for part in text.as_bytes().chunks(cut.max(1)) {
            all.extend_from_slice(&lines.turn(Bytes::copy_from_slice(part)));
        }
        all.extend(lines.end().unwrap_or_default());
        String::from_utf8_lossy(&all).into_owned()
    }

    #[test]
    fn however_it_is_cut() {
        for (wire, local) in [
            ("a\r\nb\r\n", "a\nb\n"),
            ("a\rb", "a\rb"),
            ("a\nb", "a\nb"),
            ("a\r\r\nb", "a\r\nb"),
            ("\r\n\r\n", "\n\n"),
            ("a\r", "a\r"),
            ("\r\r", "\r\r"),
            ("", ""),
        ] {
            for cut in 1..=wire.len().max(1) {
                assert_eq!(turned(wire, cut), local, "{wire:?} in pieces of {cut}");
            }
        }
    }
}
