//! An answer that is no object but one line of type `3`: how servers without Gopher+ say no to whoever
//! asks for a text or for octets.

use bytes::Bytes;
use memchr::memchr;

use super::MenuItem;
use crate::Inbox;

/// A longer line is no such answer.
const MOST: usize = 2048;

/// What the first octets of an answer are.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sniffed {
    /// The whole answer is the server's refusal, in these words.
    Refusal(Bytes),
    /// Not to be told yet.
    Need,
    /// The object.
    Object,
}

/// Looks at what has arrived.
pub(super) fn sniff(inbox: &Inbox) -> Sniffed {
    let octets = inbox.octets();
    if octets.first().is_some_and(|first| *first != b'3') || octets.len() > MOST {
        return Sniffed::Object;
    }
    let end = memchr(b'\n', octets);
    let line = &octets[..end.unwrap_or(octets.len())];
    let behind = end.map_or(&[][..], |end| &octets[end + 1..]);
    let may_be = end.is_none() || is_error_item(line);
    let ends_here = matches!(behind, b"" | b"." | b".\r" | b".\r\n" | b".\n");
    match (may_be && ends_here, inbox.is_ended()) {
        (true, false) => Sniffed::Need,
        (true, true) if !inbox.is_lost() && is_error_item(line) => Sniffed::Refusal(words(line)),
        _ => Sniffed::Object,
    }
}

fn is_error_item(line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let item = MenuItem::parse(&Bytes::copy_from_slice(line));
    // All its fields: a text of one line that begins with a 3 may have a TAB in it.
    item.gtype == b'3' && item.port != 0 && !item.host.is_empty()
}

fn words(line: &[u8]) -> Bytes {
    MenuItem::parse(&Bytes::copy_from_slice(line)).name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sniffed(octets: &[u8], is_ended: bool) -> Sniffed {
        let mut inbox = Inbox::new();
        inbox.push(octets);
        if is_ended {
            inbox.end();
        }
        sniff(&inbox)
    }

    #[test]
    fn one_error_line_and_nothing_else() {
        let line = b"3'/nope' does not exist\t\terror.host\t1\r\n";
        let refusal = Sniffed::Refusal(Bytes::from_static(b"'/nope' does not exist"));
        assert_eq!(sniffed(line, true), refusal);
        assert_eq!(sniffed(&[line, &b".\r\n"[..]].concat(), true), refusal);
        for at in 0..line.len() {
            assert_eq!(sniffed(&line[..at], false), Sniffed::Need, "cut at {at}");
        }
        for text in [
            &b"0x"[..],
            b"3",
            b"3 little pigs\r\n",
            b"3\tlittle\tpigs\r\n",
            b"3x\t\terror.host\t0\r\n",
            b"3x\t\terror.host\t1\r\nmore",
            b"3x\t\terror.host\t1\r\n..\r\n",
        ] {
            assert_eq!(sniffed(text, true), Sniffed::Object, "{}", text.escape_ascii());
        }
        assert_eq!(sniffed(b"3 little pigs\r\n", false), Sniffed::Object);
        assert_eq!(sniffed(&[b'3'; MOST + 1], false), Sniffed::Object);
        assert_eq!(sniffed(b"", false), Sniffed::Need);
        assert_eq!(sniffed(b"", true), Sniffed::Object);
    }
}
