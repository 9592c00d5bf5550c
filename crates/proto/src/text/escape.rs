//! Escapes untrusted bytes so that they are safe to print on a terminal and in a log.

use std::fmt::Write as _;

/// Returns `bytes` as text that cannot control a terminal, for messages and listings.
///
/// Valid UTF-8 is kept. Control characters (including TAB and line ends), bidirectional overrides, invisible characters
/// and bytes that are not UTF-8 are escaped as `\xHH` or `\u{…}`.
pub fn sanitise(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        chunk.valid().chars().for_each(|character| push_character(&mut text, character));
        chunk.invalid().iter().for_each(|&byte| push_escaped(&mut text, byte));
    }
    text
}

/// Returns `bytes` as ASCII text from which the exact bytes can be recovered, for wire traces.
pub fn escape_non_ascii(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            b'\t' => text.push_str("\\t"),
            b'\\' => text.push_str("\\\\"),
            b' '..=b'~' => text.push(byte as char),
            _ => push_escaped(&mut text, byte),
        }
    }
    text
}

fn push_escaped(text: &mut String, byte: u8) {
    // Writing into a String cannot fail.
    let _ = write!(text, "\\x{byte:02X}");
}

fn push_character(text: &mut String, character: char) {
    match character {
        '\0'..='\x1f' | '\x7f' => push_escaped(text, character as u8),
        _ if is_deceptive(character) => {
            let _ = write!(text, "\\u{{{:x}}}", u32::from(character));
        }
        _ => text.push(character),
    }
}

/// Returns `true` for C1 controls and for characters that reorder or hide the text around them.
const fn is_deceptive(character: char) -> bool {
    matches!(character,
        '\u{80}'..='\u{9f}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_and_bidi_characters_are_escaped() {
        assert_eq!(sanitise(b"\x1b[31mred\r\n\xff"), "\\x1B[31mred\\x0D\\x0A\\xFF");
        assert_eq!(sanitise("caf\u{e9} \u{202e}x\u{9b}".as_bytes()), "caf\u{e9} \\u{202e}x\\u{9b}");
        assert_eq!(escape_non_ascii(b"a\tb\\c\xe9"), "a\\tb\\\\c\\xE9");
    }
}
