//! Detects the end of a text and removes dot-stuffing.
//!
//! RFC 1436 §3.2 ends a text with a line of one dot and doubles the dot at the start of a line. Servers may
//! follow it, send the final dot without doubling, or only close the connection. A text up to 1 MiB is buffered
//! until its end shows which variant the server uses.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use memchr::{memchr, memrchr};

use crate::text::DotBlockReader;
use crate::{Event, RecvBuffer, Step};

/// Maximum number of buffered bytes; a longer text is streamed, and only a final dot is removed.
const MAX_BUFFERED: usize = 1024 * 1024;
/// Length of LF, dot, CR, LF in bytes.
const TERMINATOR_LEN: usize = 4;

/// How a final dot and doubled dots in a text are handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "callers match all variants")]
pub enum DotStuffing {
    /// Detect from the text whether the server uses them.
    #[default]
    Detect,
    /// Leave the text unchanged.
    Raw,
    /// Always decode them as RFC 1436 §3.2 specifies.
    Rfc1436,
}

/// The last four bytes received.
#[derive(Debug, Default)]
pub(super) struct LastBytes {
    bytes: BytesMut,
    /// Earlier bytes were received and dropped.
    has_more: bool,
}

impl LastBytes {
    pub(super) fn remember(&mut self, bytes: &[u8]) {
        let skipped = bytes.len().saturating_sub(TERMINATOR_LEN);
        self.bytes.extend_from_slice(&bytes[skipped..]);
        let over = self.bytes.len().saturating_sub(TERMINATOR_LEN);
        let _ = self.bytes.split_to(over);
        self.has_more |= skipped + over > 0;
    }

    /// Returns `true` if the last bytes are a line of one dot.
    pub(super) fn is_terminator(&self) -> bool {
        final_dot_line(&self.bytes, !self.has_more).is_some()
    }
}

/// Returns `true` if the last line of `bytes` is one dot, after other lines.
pub(super) fn ends_with_terminator(bytes: &[u8]) -> bool {
    final_dot_line(bytes, false).is_some()
}

impl Decoder {
    fn rfc1436() -> Self {
        Self::Rfc1436(Box::new((DotBlockReader::new("a text").accepting_bare_lf(), RecvBuffer::new())))
    }
}

/// An incremental decoder for a text.
#[derive(Debug)]
pub(super) struct TextReader {
    decoder: Decoder,
    ready: VecDeque<Bytes>,
    /// A line of one dot has ended the text.
    is_terminated: bool,
    /// Gopher+ status `-1`: a line of one dot must end the text.
    must_be_terminated: bool,
    /// A text without a final dot contains a line of one dot, which may have ended it.
    has_inner_dot: bool,
}

#[derive(Debug)]
enum Decoder {
    /// Buffered until the end is known.
    Buffered(BytesMut),
    Raw(LastBytes),
    Rfc1436(Box<(DotBlockReader, RecvBuffer)>),
    /// Too long to be buffered; the last bytes may be the final dot.
    Streamed(BytesMut),
}

impl TextReader {
    pub(super) fn new(dots: DotStuffing, must_be_terminated: bool) -> Self {
        let decoder = match dots {
            DotStuffing::Detect => Decoder::Buffered(BytesMut::new()),
            DotStuffing::Raw => Decoder::Raw(LastBytes::default()),
            DotStuffing::Rfc1436 => Decoder::rfc1436(),
        };
        Self {
            decoder,
            ready: VecDeque::new(),
            is_terminated: false,
            must_be_terminated,
            has_inner_dot: false,
        }
    }

    /// Returns the next decoded bytes.
    pub(super) fn next(&mut self) -> Option<Bytes> {
        self.ready.pop_front()
    }

    /// Returns `true` if a line of one dot ended the text.
    pub(super) const fn is_terminated(&self) -> bool {
        self.is_terminated
    }

    /// Returns `true` if a text without a final dot contains a line of one dot, after which other bytes follow.
    pub(super) const fn has_inner_dot(&self) -> bool {
        self.has_inner_dot
    }

    /// Returns `true` if the text has ended and later bytes do not belong to it.
    pub(super) fn is_over(&self) -> bool {
        self.is_terminated && matches!(self.decoder, Decoder::Rfc1436(_)) && self.ready.is_empty()
    }

    /// Adds received bytes.
    pub(super) fn push(&mut self, bytes: Bytes) {
        match &mut self.decoder {
            Decoder::Buffered(buffered) => {
                buffered.extend_from_slice(&bytes);
                if buffered.len() > MAX_BUFFERED {
                    let all = std::mem::take(buffered).freeze();
                    // The complete lines of the first bytes decide, wherever the text was cut.
                    let first = &all[..MAX_BUFFERED];
                    let decided = memrchr(b'\n', first).map_or(0, |feed| feed + 1);
                    let is_stuffed = self.must_be_terminated && is_stuffed(&all[..decided]);
                    self.decoder =
                        if is_stuffed { Decoder::rfc1436() } else { Decoder::Streamed(BytesMut::new()) };
                    self.push(all);
                }
            }
            Decoder::Raw(tail) => {
                tail.remember(&bytes);
                self.ready.push_back(bytes);
            }
            Decoder::Streamed(tail) => {
                let decided = bytes.len().saturating_sub(TERMINATOR_LEN);
                if decided > 0 {
                    self.ready.push_back(std::mem::take(tail).freeze());
                    self.ready.push_back(bytes.slice(..decided));
                }
                tail.extend_from_slice(&bytes[decided..]);
                if let Some(over) = tail.len().checked_sub(TERMINATOR_LEN) {
                    self.ready.push_back(tail.split_to(over).freeze());
                }
            }
            Decoder::Rfc1436(reader) => {
                reader.1.push(&bytes);
                self.unstuff();
            }
        }
        self.ready.retain(|bytes| !bytes.is_empty());
    }

    /// Ends the input.
    pub(super) fn end(&mut self) {
        match &mut self.decoder {
            Decoder::Buffered(buffered) => {
                let text = std::mem::take(buffered).freeze();
                let terminator = final_dot_line(&text, true);
                self.is_terminated = terminator.is_some();
                self.has_inner_dot =
                    terminator.is_none() && lines(&text).any(|line| matches!(line, b".\r\n" | b".\n"));
                self.ready.push_back(
                    terminator.map_or_else(|| text.clone(), |start| unstuffed(&text.slice(..start))),
                );
            }
            Decoder::Raw(tail) => self.is_terminated = tail.is_terminator(),
            Decoder::Streamed(tail) => {
                let terminator = final_dot_line(tail, false);
                self.is_terminated = terminator.is_some();
                tail.truncate(terminator.unwrap_or(tail.len()));
                self.ready.push_back(std::mem::take(tail).freeze());
            }
            Decoder::Rfc1436(reader) => {
                reader.1.mark_closed();
                self.unstuff();
                if let (false, Decoder::Rfc1436(reader)) = (self.is_terminated, &mut self.decoder) {
                    self.ready.push_back(reader.1.take(usize::MAX));
                }
            }
        }
        self.ready.retain(|bytes| !bytes.is_empty());
    }

    fn unstuff(&mut self) {
        let Decoder::Rfc1436(reader) = &mut self.decoder else { return };
        let (block, buffer) = &mut **reader;
        while !self.is_terminated {
            match block.step(buffer) {
                Ok(Step::Emit(Event::Body(bytes))) => self.ready.push_back(bytes),
                Ok(Step::Done) => self.is_terminated = true,
                _ => return,
            }
        }
    }
}

/// Returns the offset of the final line of one dot in `text`. `is_line_start` is `true` if `text` begins at the
/// start of a line. A dot without a line end does not count: it may be the beginning of a truncated line.
fn final_dot_line(text: &[u8], is_line_start: bool) -> Option<usize> {
    let line = text.strip_suffix(b"\n")?;
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let before = line.strip_suffix(b".")?;
    (before.ends_with(b"\n") || (before.is_empty() && is_line_start)).then_some(before.len())
}

/// Returns the text without doubled dots if it is dot-stuffed.
fn unstuffed(text: &Bytes) -> Bytes {
    if !is_stuffed(text) {
        return text.clone();
    }
    let mut plain = BytesMut::with_capacity(text.len());
    lines(text).for_each(|line| plain.extend_from_slice(line.strip_prefix(b".").unwrap_or(line)));
    plain.freeze()
}

/// Returns `true` if at least one line begins with a dot, and all such lines begin with two.
fn is_stuffed(text: &[u8]) -> bool {
    let mut dotted = lines(text).filter(|line| line.starts_with(b".")).peekable();
    dotted.peek().is_some() && dotted.all(|line| line.starts_with(b".."))
}

/// Splits the text into lines with their line ends.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let length = memchr(b'\n', rest).map_or(rest.len(), |feed| feed + 1);
        let (line, behind) = rest.split_at(length);
        rest = behind;
        (!line.is_empty()).then_some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the text and whether a final dot ended it.
    fn run<'p>(mut reader: TextReader, pieces: impl IntoIterator<Item = &'p [u8]>) -> (Vec<u8>, bool) {
        let mut out = Vec::new();
        for piece in pieces {
            reader.push(Bytes::copy_from_slice(piece));
            out.extend(std::iter::from_fn(|| reader.next()).flatten());
        }
        reader.end();
        out.extend(std::iter::from_fn(|| reader.next()).flatten());
        (out, reader.is_terminated())
    }

    /// Reads the text in one piece and byte by byte; both results must be equal.
    fn read(dots: DotStuffing, text: &[u8]) -> (Vec<u8>, bool) {
        let reader = || TextReader::new(dots, false);
        let whole = run(reader(), [text]);
        assert_eq!(run(reader(), text.chunks(1)), whole, "byte by byte: {}", text.escape_ascii());
        for at in 0..text.len() {
            assert_eq!(run(reader(), [&text[..at], &text[at..]]), whole, "cut at {at}");
        }
        whole
    }

    #[test]
    fn dot_stuffing_is_detected() {
        for (text, expected, is_terminated) in [
            (&b""[..], &b""[..], false),
            (b"a\r\n", b"a\r\n", false),
            (b"a\r\n.\r\n", b"a\r\n", true),
            (b"a\n.\n", b"a\n", true),
            (b"a\r\n.", b"a\r\n.", false),
            (b"a\r\n.\r", b"a\r\n.\r", false),
            (b".\r\n", b"", true),
            (b".", b".", false),
            // No line end before the dot: it may be text.
            (b"no end of line.\r\n", b"no end of line.\r\n", false),
            // Dot-stuffed, as in RFC 1436.
            (b"..\r\n...\r\n..dot\r\nb\r\n.\r\n", b".\r\n..\r\n.dot\r\nb\r\n", true),
            // Not dot-stuffed, even with a final dot.
            (b"first\n.\n..\n.dot at start\n...\nlast\n", b"first\n.\n..\n.dot at start\n...\nlast\n", false),
            (b"..\r\n.one\r\n.\r\n", b"..\r\n.one\r\n", true),
            (b"a\r\n.\r\nb\r\n.\r\n", b"a\r\n.\r\nb\r\n", true),
            (b"a\r\n..\r\n", b"a\r\n..\r\n", false),
            (b"a\r\n.\r\n.\r\n", b"a\r\n.\r\n", true),
        ] {
            let (out, marked) = read(DotStuffing::Detect, text);
            assert_eq!(
                (out.as_slice(), marked),
                (expected, is_terminated),
                "{:?}",
                text.escape_ascii().to_string()
            );
        }
    }

    #[test]
    fn requested_decoding_is_applied() {
        for (dots, text, expected, is_terminated) in [
            (DotStuffing::Raw, &b"..a\r\n.\r\n"[..], &b"..a\r\n.\r\n"[..], true),
            (DotStuffing::Raw, b"..a\r\n", b"..a\r\n", false),
            (DotStuffing::Raw, b".\r\n", b".\r\n", true),
            (DotStuffing::Raw, b"a.\r\n", b"a.\r\n", false),
            (DotStuffing::Rfc1436, b"..a\r\n.b\r\n.\r\n", b".a\r\n.b\r\n", true),
            (DotStuffing::Rfc1436, b"a\r\n.\r\nbeyond", b"a\r\n", true),
            (DotStuffing::Rfc1436, b"..a\n..b\n.\nbeyond", b".a\n.b\n", true),
            (DotStuffing::Rfc1436, b"a\r\n.", b"a\r\n.", false),
            (DotStuffing::Rfc1436, b"a\r", b"a\r", false),
        ] {
            let (out, marked) = read(dots, text);
            assert_eq!(
                (out.as_slice(), marked),
                (expected, is_terminated),
                "{:?}",
                text.escape_ascii().to_string()
            );
        }
    }

    #[test]
    fn long_text_with_announced_terminator_is_unstuffed() {
        let text = b"..line\r\nother\r\n".repeat(MAX_BUFFERED / 8);
        // Split within a doubled dot, at the buffer limit.
        let at = MAX_BUFFERED / 15 * 15 + 16;
        let whole = [&text[..], b".\r\n"].concat();
        for pieces in [vec![&text[..at], &text[at..], b".\r\n"], vec![&whole]] {
            let (out, is_terminated) = run(TextReader::new(DotStuffing::Detect, true), pieces);
            assert!(is_terminated && out == b".line\r\nother\r\n".repeat(MAX_BUFFERED / 8));
        }
    }

    #[test]
    fn long_text_is_kept_except_for_its_final_dot() {
        let line = b"..a line of some length that begins with dots\r\n";
        let text = line.repeat(2 * MAX_BUFFERED / line.len());
        for (end, expected, is_terminated) in [
            (&b".\r\n"[..], &b""[..], true),
            (b".\n", b"", true),
            (b".", b".", false),
            (b"", b"", false),
            (b"x.\r\n", b"x.\r\n", false),
        ] {
            let whole = [&text, end].concat();
            let (out, marked) = run(TextReader::new(DotStuffing::Detect, false), whole.chunks(4099));
            assert!(out == [&text, expected].concat() && marked == is_terminated, "{end:?}");
        }
    }

    /// The first undoubled dot comes after the bytes that are buffered.
    #[test]
    fn long_text_is_decoded_alike_wherever_it_is_cut() {
        let mut text = b"..a\r\n".to_vec();
        text.extend(b"line of text that fills\r\n".repeat(MAX_BUFFERED / 25 + 10));
        text.extend(b".single\r\nmore text\r\n.\r\n");
        let decode = |size| run(TextReader::new(DotStuffing::Detect, true), text.chunks(size));
        let whole = decode(text.len());
        assert!(whole.0.starts_with(b".a\r\n") && whole.1, "{} bytes", whole.0.len());
        for size in [1000, 16 * 1024, 200_000, MAX_BUFFERED - 1, MAX_BUFFERED, MAX_BUFFERED + 1] {
            assert!(decode(size) == whole, "pieces of {size} bytes");
        }
    }
}
