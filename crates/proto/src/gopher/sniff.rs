//! Detects plain Gopher responses that are a refusal: a single error line in place of a text or binary file.

use bytes::Bytes;
use memchr::memchr;

use super::MenuItem;
use crate::RecvBuffer;

/// Maximum length of a refusal in bytes.
const MAX_REFUSAL_BYTES: usize = 2048;

/// Index of the port among the fields of a menu line: type and name, selector, host, port.
const PORT_FIELD: usize = 3;

/// The result of checking the first bytes of a response.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Detection {
    /// The response is a refusal with this text.
    Refusal(Bytes),
    /// More data is needed.
    NeedMore,
    /// The response is the requested item.
    NotARefusal,
}

/// Checks the data received so far.
pub(super) fn sniff(buffer: &RecvBuffer) -> Detection {
    let bytes = buffer.bytes();
    if bytes.first().is_some_and(|first| !matches!(first, b'0' | b'3')) || bytes.len() > MAX_REFUSAL_BYTES {
        return Detection::NotARefusal;
    }
    let end = memchr(b'\n', bytes);
    let line = &bytes[..end.unwrap_or(bytes.len())];
    let behind = end.map_or(&[][..], |end| &bytes[end + 1..]);
    let may_be = end.is_none() || is_error_item(line);
    let ends_here = matches!(behind, b"" | b"." | b".\r" | b".\r\n" | b".\n");
    match (may_be && ends_here, buffer.is_ended()) {
        (true, false) => Detection::NeedMore,
        (true, true) if !buffer.is_lost() && is_error_item(line) => Detection::Refusal(words(line)),
        _ => Detection::NotARefusal,
    }
}

fn is_error_item(line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let item = MenuItem::parse(&Bytes::copy_from_slice(line));
    // A text of one line may begin with a 3 and contain TABs, but its fourth field is unlikely to be a number or empty.
    let port = line.split(|&byte| byte == b'\t').nth(PORT_FIELD);
    item.is_error() && item.fault.is_none() && port.is_some_and(|port| port.iter().all(u8::is_ascii_digit))
}

fn words(line: &[u8]) -> Bytes {
    MenuItem::parse(&Bytes::copy_from_slice(line)).name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sniffed(bytes: &[u8], is_ended: bool) -> Detection {
        let mut buffer = RecvBuffer::new();
        buffer.push(bytes);
        if is_ended {
            buffer.mark_closed();
        }
        sniff(&buffer)
    }

    #[test]
    fn only_a_single_error_line_is_a_refusal() {
        let line = b"3'/nope' does not exist\t\terror.host\t1\r\n";
        let refusal = Detection::Refusal(Bytes::from_static(b"'/nope' does not exist"));
        assert_eq!(sniffed(line, true), refusal);
        assert_eq!(sniffed(&[line, &b".\r\n"[..]].concat(), true), refusal);
        for at in 0..line.len() {
            assert_eq!(sniffed(&line[..at], false), Detection::NeedMore, "cut at {at}");
        }
        for line in [
            &b"0'/gone.txt' does not exist!!\t\terror.host\t1\r\n.\r\n"[..],
            b"0Too Many Users at this time, try again later\t\terror.host\t1\r\n",
            b"3not found\tfake\t(NULL)\t0\r\n",
            b"3not found\t\t\t\r\n",
        ] {
            assert!(matches!(sniffed(line, true), Detection::Refusal(_)), "{}", line.escape_ascii());
        }
        for text in [
            &b"0x"[..],
            b"0x\t\terror.host\t70\r\n",
            b"0x\t/x\th.example\t1\r\n",
            b"0x\t\terror.host\t1\r\nmore\r\n",
            b"3",
            b"3 little pigs\r\n",
            b"3\tlittle\tpigs\r\n",
            b"3\tlittle\tpigs\tate\r\n",
            b"3x\t\terror.host\t1\r\nmore",
            b"3x\t\terror.host\t1\r\n..\r\n",
        ] {
            assert_eq!(sniffed(text, true), Detection::NotARefusal, "{}", text.escape_ascii());
        }
        assert_eq!(sniffed(b"3 little pigs\r\n", false), Detection::NotARefusal);
        assert_eq!(sniffed(&[b'3'; MAX_REFUSAL_BYTES + 1], false), Detection::NotARefusal);
        assert_eq!(sniffed(b"", false), Detection::NeedMore);
        assert_eq!(sniffed(b"", true), Detection::NotARefusal);
    }
}
