//! Octets from a peer on their way to a terminal, a log or a report.

use std::fmt::Write as _;

/// `octets` as text that can do nothing to a terminal: control characters (TAB and line ends too),
/// bidirectional overrides and octets that are not UTF-8 become `\xHH` or `\u{…}`.
pub fn printable(octets: &[u8]) -> String {
    let mut text = String::with_capacity(octets.len());
    for chunk in octets.utf8_chunks() {
        chunk.valid().chars().for_each(|character| push_character(&mut text, character));
        chunk.invalid().iter().for_each(|&octet| push_octet(&mut text, octet));
    }
    text
}

/// `octets` with everything outside printable ASCII as `\xHH`, TAB as `\t` and `\` doubled: exact,
/// for showing what goes over the wire.
pub fn escaped(octets: &[u8]) -> String {
    let mut text = String::with_capacity(octets.len());
    for &octet in octets {
        match octet {
            b'\t' => text.push_str("\\t"),
            b'\\' => text.push_str("\\\\"),
            b' '..=b'~' => text.push(octet as char),
            _ => push_octet(&mut text, octet),
        }
    }
    text
}

fn push_octet(text: &mut String, octet: u8) {
    // Writing into a String cannot fail.
    let _ = write!(text, "\\x{octet:02X}");
}

fn push_character(text: &mut String, character: char) {
    match character {
        '\0'..='\x1f' | '\x7f' => push_octet(text, character as u8),
        _ if is_deceptive(character) => {
            let _ = write!(text, "\\u{{{:x}}}", u32::from(character));
        }
        _ => text.push(character),
    }
}

/// C1 controls, and characters that reorder or hide what stands around them.
const fn is_deceptive(character: char) -> bool {
    matches!(character,
        '\u{80}'..='\u{9f}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal() {
        assert_eq!(printable(b"\x1b[31mred\r\n\xff"), "\\x1B[31mred\\x0D\\x0A\\xFF");
        assert_eq!(printable("caf\u{e9} \u{202e}x\u{9b}".as_bytes()), "caf\u{e9} \\u{202e}x\\u{9b}");
        assert_eq!(escaped(b"a\tb\\c\xe9"), "a\\tb\\\\c\\xE9");
    }
}
