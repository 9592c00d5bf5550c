//! Text of other servers for pages: decoded from its character set, without control characters.

use mail_parser::MessageParser;

/// Returns text of an unknown character set: UTF-8 if it is valid, otherwise ISO 8859-1. Control characters and those
/// that reorder the text around them become U+FFFD.
pub(crate) fn display_text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => clean(text.chars()),
        Err(_) => clean(bytes.iter().map(|byte| char::from(*byte))),
    }
}

/// Returns `characters` without those that control or reorder text.
pub(crate) fn clean(characters: impl Iterator<Item = char>) -> String {
    characters.map(|character| if is_deceptive(character) { '\u{fffd}' } else { character }).collect()
}

const fn is_deceptive(character: char) -> bool {
    matches!(character,
        '\0'..='\x08' | '\x0b'..='\x1f' | '\x7f'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

/// Returns `text`, or its beginning of at most `max_size` bytes and an ellipsis if it is longer.
pub(crate) fn shortened(mut text: String, max_size: usize) -> String {
    if text.len() > max_size {
        let end = (0..=max_size).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
        text.push('\u{2026}');
        text.shrink_to_fit();
    }
    text
}

/// Returns a Subject with its encoded words (RFC 2047) decoded.
pub(crate) fn subject_text(value: &[u8]) -> String {
    if !value.windows(2).any(|pair| pair == b"=?") {
        return display_text(value);
    }
    let header = [b"Subject: ", value, b"\r\n\r\n"].concat();
    let message = MessageParser::default().parse_headers(&header);
    let subject = message.as_ref().and_then(|message| message.subject());
    subject.map_or_else(|| display_text(value), |subject| clean(subject.chars()))
}

/// Returns the name of an author, or the address without a name.
pub(crate) fn author_text(value: &[u8]) -> String {
    if !value.is_ascii() {
        return display_text(value);
    }
    let header = [b"From: ", value, b"\r\n\r\n"].concat();
    let message = MessageParser::default().parse_headers(&header);
    let address = message.as_ref().and_then(|message| message.from()?.first());
    let name = address.and_then(|address| address.name().or_else(|| address.address()));
    name.map_or_else(|| display_text(value), |name| clean(name.chars()))
}

/// Returns a time as `1994-12-01 12:34`, in UTC.
pub(crate) fn time_text(seconds: i64) -> String {
    let (year, month, day, hour, minute, _) = fetch_url_proto::calendar::from_timestamp(seconds);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}")
}

/// Returns a size as `999 B`, `1.5 KiB` or `20 MiB`.
pub(crate) fn size_text(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut tenths = u128::from(bytes) * 10 / 1024;
    let mut unit = UNITS[0];
    for next in &UNITS[1..] {
        if tenths < 10_240 {
            break;
        }
        tenths /= 1024;
        unit = next;
    }
    if tenths < 100 {
        format!("{}.{} {unit}", tenths / 10, tenths % 10)
    } else {
        format!("{} {unit}", tenths / 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_at_a_character() {
        for (text, max_size, expected) in [
            ("abc", 3, "abc"),
            ("abcd", 3, "abc\u{2026}"),
            ("ab\u{e9}d", 3, "ab\u{2026}"),
            ("\u{e9}", 1, "\u{2026}"),
        ] {
            assert_eq!(shortened(text.to_owned(), max_size), expected);
        }
    }

    #[test]
    fn text_is_decoded_and_cleaned() {
        assert_eq!(display_text(b"caf\xe9"), "caf\u{e9}");
        assert_eq!(display_text("a\u{202e}b\x1b[2Jc\td".as_bytes()), "a\u{fffd}b\u{fffd}[2Jc\td");
        assert_eq!(subject_text(b"=?ISO-8859-1?Q?caf=E9?="), "caf\u{e9}");
        assert_eq!(subject_text(b"=?utf-8?Q?a=1Bb?="), "a\u{fffd}b");
        assert_eq!(author_text(b"\"A. B\" <a@b>"), "A. B");
        assert_eq!(author_text(b"a@b"), "a@b");
    }

    #[test]
    fn sizes_have_units() {
        for (bytes, expected) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            (20 << 20, "20 MiB"),
            (1 << 60, "1024 PiB"),
        ] {
            assert_eq!(size_text(bytes), expected);
        }
        assert_eq!(time_text(786_285_296), "1994-12-01 12:34");
    }
}
