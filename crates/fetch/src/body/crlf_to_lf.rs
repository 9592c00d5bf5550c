//! Line ends of text transfers: CRLF becomes LF (RFC 959 §3.1.1.1).

use bytes::{Bytes, BytesMut};
use memchr::memchr;

/// Converts CRLF to LF in a stream of chunks. A CR without a following LF is kept.
#[derive(Debug, Default)]
pub(crate) struct CrlfToLf {
    /// The last byte was a CR that has not been returned yet.
    holds_cr: bool,
}

impl CrlfToLf {
    /// Converts the next chunk.
    pub(crate) fn convert(&mut self, bytes: Bytes) -> Bytes {
        if cfg!(windows) || (!self.holds_cr && memchr(b'\r', &bytes).is_none()) {
            return bytes;
        }
        let mut converted = BytesMut::with_capacity(bytes.len() + 1);
        let mut rest = &bytes[..];
        if std::mem::take(&mut self.holds_cr) && rest.first().is_some_and(|&first| first != b'\n') {
            converted.extend_from_slice(b"\r");
        }
        while let Some(at) = memchr(b'\r', rest) {
            converted.extend_from_slice(&rest[..at]);
            rest = &rest[at + 1..];
            match rest.first() {
                None => self.holds_cr = true,
                Some(b'\n') => {}
                Some(_) => converted.extend_from_slice(b"\r"),
            }
        }
        converted.extend_from_slice(rest);
        converted.freeze()
    }

    /// Returns a buffered CR at the end of the stream.
    pub(crate) fn finish(&mut self) -> Option<Bytes> {
        std::mem::take(&mut self.holds_cr).then_some(Bytes::from_static(b"\r"))
    }
}

#[cfg(all(test, not(windows)))]
mod tests {
    use super::*;

    fn converted(text: &str, cut: usize) -> String {
        let (mut lines, mut all) = (CrlfToLf::default(), Vec::new());
        for part in text.as_bytes().chunks(cut.max(1)) {
            all.extend_from_slice(&lines.convert(Bytes::copy_from_slice(part)));
        }
        all.extend(lines.finish().unwrap_or_default());
        String::from_utf8_lossy(&all).into_owned()
    }

    #[test]
    fn line_ends_are_converted_for_every_chunk_size() {
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
                assert_eq!(converted(wire, cut), local, "{wire:?} in chunks of {cut}");
            }
        }
    }
}
