//! Where a text ends, and what its dots mean.
//!
//! RFC 1436 §3.2 ends a text with a line of one dot and doubles the dot of a line that begins with one;
//! servers end it with the connection, with a dot and no doubling, or as the RFC says. A text of ordinary
//! size is held until its end shows which of these it is.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use memchr::{memchr, memrchr};

use crate::text::DotBlock;
use crate::{Event, Inbox, Step};

/// A longer text goes out as it comes, but for a final dot.
const HELD_OCTETS: usize = 1024 * 1024;
/// LF, dot, CR, LF.
const MARK_OCTETS: usize = 4;

/// How the dots of a text are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "these are the ways")]
pub enum Dots {
    /// By what the text shows.
    #[default]
    Evidence,
    /// Not at all: every octet as it came.
    Raw,
    /// As RFC 1436 says.
    Rfc1436,
}

/// The last octets that came.
#[derive(Debug, Default)]
pub(super) struct Tail {
    octets: BytesMut,
    /// Others came before them.
    has_more: bool,
}

impl Tail {
    pub(super) fn remember(&mut self, octets: &[u8]) {
        let skipped = octets.len().saturating_sub(MARK_OCTETS);
        self.octets.extend_from_slice(&octets[skipped..]);
        let over = self.octets.len().saturating_sub(MARK_OCTETS);
        let _ = self.octets.split_to(over);
        self.has_more |= skipped + over > 0;
    }

    /// Whether they are a line of one dot.
    pub(super) fn is_mark(&self) -> bool {
        mark(&self.octets, !self.has_more).is_some()
    }
}

impl Way {
    fn rfc1436() -> Self {
        Self::Rfc1436(Box::new((DotBlock::new("a text").taking_lf(), Inbox::new())))
    }
}

/// A text as it comes.
#[derive(Debug)]
pub(super) struct TextReader {
    way: Way,
    ready: VecDeque<Bytes>,
    is_marked: bool,
    /// By the server's own word a line of one dot ends it.
    must_be_marked: bool,
}

#[derive(Debug)]
enum Way {
    /// Held until it shows what it is.
    Held(BytesMut),
    Raw(Tail),
    Rfc1436(Box<(DotBlock, Inbox)>),
    /// Too long to be held; the last octets may be the mark.
    Streamed(BytesMut),
}

impl TextReader {
    pub(super) fn new(dots: Dots, must_be_marked: bool) -> Self {
        let way = match dots {
            Dots::Evidence => Way::Held(BytesMut::new()),
            Dots::Raw => Way::Raw(Tail::default()),
            Dots::Rfc1436 => Way::rfc1436(),
        };
        Self { way, ready: VecDeque::new(), is_marked: false, must_be_marked }
    }

    /// The next octets that are known to belong to the text.
    pub(super) fn next(&mut self) -> Option<Bytes> {
        self.ready.pop_front()
    }

    /// Whether a line of one dot ended it.
    pub(super) const fn is_marked(&self) -> bool {
        self.is_marked
    }

    /// Whether nothing that follows belongs to it.
    pub(super) fn is_over(&self) -> bool {
        self.is_marked && matches!(self.way, Way::Rfc1436(_)) && self.ready.is_empty()
    }

    /// More has arrived.
    pub(super) fn push(&mut self, octets: Bytes) {
        match &mut self.way {
            Way::Held(held) => {
                held.extend_from_slice(&octets);
                if held.len() > HELD_OCTETS {
                    let all = std::mem::take(held).freeze();
                    // The last line is not all here, or may be the mark.
                    let sure =
                        mark(&all, false).unwrap_or_else(|| memrchr(b'\n', &all).map_or(0, |feed| feed + 1));
                    let is_stuffed = self.must_be_marked && is_stuffed(&all[..sure]);
                    self.way = if is_stuffed { Way::rfc1436() } else { Way::Streamed(BytesMut::new()) };
                    self.push(all);
                }
            }
            Way::Raw(tail) => {
                tail.remember(&octets);
                self.ready.push_back(octets);
            }
            Way::Streamed(tail) => {
                let sure = octets.len().saturating_sub(MARK_OCTETS);
                if sure > 0 {
                    self.ready.push_back(std::mem::take(tail).freeze());
                    self.ready.push_back(octets.slice(..sure));
                }
                tail.extend_from_slice(&octets[sure..]);
                if let Some(over) = tail.len().checked_sub(MARK_OCTETS) {
                    self.ready.push_back(tail.split_to(over).freeze());
                }
            }
            Way::Rfc1436(reader) => {
                reader.1.push(&octets);
                self.unstuff();
            }
        }
        self.ready.retain(|octets| !octets.is_empty());
    }

    /// Nothing more will come.
    pub(super) fn end(&mut self) {
        match &mut self.way {
            Way::Held(held) => {
                let text = std::mem::take(held).freeze();
                let mark = mark(&text, true);
                self.is_marked = mark.is_some();
                self.ready
                    .push_back(mark.map_or_else(|| text.clone(), |mark| unstuffed(&text.slice(..mark))));
            }
            Way::Raw(tail) => self.is_marked = tail.is_mark(),
            Way::Streamed(tail) => {
                let mark = mark(tail, false);
                self.is_marked = mark.is_some();
                tail.truncate(mark.unwrap_or(tail.len()));
                self.ready.push_back(std::mem::take(tail).freeze());
            }
            Way::Rfc1436(reader) => {
                reader.1.end();
                self.unstuff();
                if let (false, Way::Rfc1436(reader)) = (self.is_marked, &mut self.way) {
                    self.ready.push_back(reader.1.take(usize::MAX));
                }
            }
        }
        self.ready.retain(|octets| !octets.is_empty());
    }

    fn unstuff(&mut self) {
        let Way::Rfc1436(reader) = &mut self.way else { return };
        let (block, inbox) = &mut **reader;
        while !self.is_marked {
            match block.step(inbox) {
                Ok(Step::Emit(Event::Body(octets))) => self.ready.push_back(octets),
                Ok(Step::Done) => self.is_marked = true,
                _ => return,
            }
        }
    }
}

/// Where the line of one dot begins that ends `text`; `is_whole` when no line can have begun before it. A dot
/// without its line end may be the beginning of a line that was cut.
fn mark(text: &[u8], is_whole: bool) -> Option<usize> {
    let line = text.strip_suffix(b"\n")?;
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let before = line.strip_suffix(b".")?;
    (before.ends_with(b"\n") || (before.is_empty() && is_whole)).then_some(before.len())
}

/// The text without its doubled dots, when it is stuffed.
fn unstuffed(text: &Bytes) -> Bytes {
    if !is_stuffed(text) {
        return text.clone();
    }
    let mut plain = BytesMut::with_capacity(text.len());
    lines(text).for_each(|line| plain.extend_from_slice(line.strip_prefix(b".").unwrap_or(line)));
    plain.freeze()
}

/// Whether some lines begin with a dot, and all of those with two.
fn is_stuffed(text: &[u8]) -> bool {
    let mut dotted = lines(text).filter(|line| line.starts_with(b".")).peekable();
    dotted.peek().is_some() && dotted.all(|line| line.starts_with(b".."))
}

/// The lines with their ends.
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

    /// The text, and whether a mark ended it.
    fn run<'p>(mut reader: TextReader, pieces: impl IntoIterator<Item = &'p [u8]>) -> (Vec<u8>, bool) {
        let mut out = Vec::new();
        for piece in pieces {
            reader.push(Bytes::copy_from_slice(piece));
            out.extend(std::iter::from_fn(|| reader.next()).flatten());
        }
        reader.end();
        out.extend(std::iter::from_fn(|| reader.next()).flatten());
        (out, reader.is_marked())
    }

    /// The same, whole and cut at every octet.
    fn read(dots: Dots, text: &[u8]) -> (Vec<u8>, bool) {
        let reader = || TextReader::new(dots, false);
        let whole = run(reader(), [text]);
        assert_eq!(run(reader(), text.chunks(1)), whole, "octet by octet: {}", text.escape_ascii());
        for at in 0..text.len() {
            assert_eq!(run(reader(), [&text[..at], &text[at..]]), whole, "cut at {at}");
        }
        whole
    }

    #[test]
    fn by_evidence() {
        for (text, expected, is_marked) in [
            (&b""[..], &b""[..], false),
            (b"a\r\n", b"a\r\n", false),
            (b"a\r\n.\r\n", b"a\r\n", true),
            (b"a\n.\n", b"a\n", true),
            (b"a\r\n.", b"a\r\n.", false),
            (b"a\r\n.\r", b"a\r\n.\r", false),
            (b".\r\n", b"", true),
            (b".", b".", false),
            // No break before it: nobody can tell.
            (b"no end of line.\r\n", b"no end of line.\r\n", false),
            // Stuffed, as RFC 1436 says.
            (b"..\r\n...\r\n..dot\r\nb\r\n.\r\n", b".\r\n..\r\n.dot\r\nb\r\n", true),
            // Not stuffed, whatever the dot at the end.
            (b"first\n.\n..\n.dot at start\n...\nlast\n", b"first\n.\n..\n.dot at start\n...\nlast\n", false),
            (b"..\r\n.one\r\n.\r\n", b"..\r\n.one\r\n", true),
            (b"a\r\n.\r\nb\r\n.\r\n", b"a\r\n.\r\nb\r\n", true),
            (b"a\r\n..\r\n", b"a\r\n..\r\n", false),
            (b"a\r\n.\r\n.\r\n", b"a\r\n.\r\n", true),
        ] {
            let (out, marked) = read(Dots::Evidence, text);
            assert_eq!(
                (out.as_slice(), marked),
                (expected, is_marked),
                "{:?}",
                text.escape_ascii().to_string()
            );
        }
    }

    #[test]
    fn by_the_callers_word() {
        for (dots, text, expected, is_marked) in [
            (Dots::Raw, &b"..a\r\n.\r\n"[..], &b"..a\r\n.\r\n"[..], true),
            (Dots::Raw, b"..a\r\n", b"..a\r\n", false),
            (Dots::Raw, b".\r\n", b".\r\n", true),
            (Dots::Raw, b"a.\r\n", b"a.\r\n", false),
            (Dots::Rfc1436, b"..a\r\n.b\r\n.\r\n", b".a\r\n.b\r\n", true),
            (Dots::Rfc1436, b"a\r\n.\r\nbeyond", b"a\r\n", true),
            (Dots::Rfc1436, b"..a\n..b\n.\nbeyond", b".a\n.b\n", true),
            (Dots::Rfc1436, b"a\r\n.", b"a\r\n.", false),
            (Dots::Rfc1436, b"a\r", b"a\r", false),
        ] {
            let (out, marked) = read(dots, text);
            assert_eq!(
                (out.as_slice(), marked),
                (expected, is_marked),
                "{:?}",
                text.escape_ascii().to_string()
            );
        }
    }

    #[test]
    fn a_long_text_whose_server_tells_of_its_dot_is_unstuffed() {
        let text = b"..line\r\nother\r\n".repeat(HELD_OCTETS / 8);
        // Cut within a doubled dot, where it is decided.
        let at = HELD_OCTETS / 15 * 15 + 16;
        let whole = [&text[..], b".\r\n"].concat();
        for pieces in [vec![&text[..at], &text[at..], b".\r\n"], vec![&whole]] {
            let (out, is_marked) = run(TextReader::new(Dots::Evidence, true), pieces);
            assert!(is_marked && out == b".line\r\nother\r\n".repeat(HELD_OCTETS / 8));
        }
    }

    #[test]
    fn a_long_text_loses_nothing_but_its_final_dot() {
        let line = b"..a line of some length that begins with dots\r\n";
        let text = line.repeat(2 * HELD_OCTETS / line.len());
        for (end, expected, is_marked) in [
            (&b".\r\n"[..], &b""[..], true),
            (b".\n", b"", true),
            (b".", b".", false),
            (b"", b"", false),
            (b"x.\r\n", b"x.\r\n", false),
        ] {
            let whole = [&text, end].concat();
            let (out, marked) = run(TextReader::new(Dots::Evidence, false), whole.chunks(4099));
            assert!(out == [&text, expected].concat() && marked == is_marked, "{end:?}");
        }
    }
}
