//! The output filter of a telnet session. Escape sequences that draw, colour or move the cursor are passed on. Sequences
//! that make the terminal reply, change window titles or write to the clipboard are removed.

use std::io::{self, Write};

use fetch_url_proto::text::sanitise;

/// The final characters of the control sequences (ECMA-48 §5.4) that only draw.
const DRAWING_FINALS: &str = "@ABCDEFGHJKLMPSTXdfm";
/// Maximum length of a control sequence in characters.
const MAX_SEQUENCE: usize = 64;
/// Maximum length of a control string in characters; characters after it are treated as text.
const MAX_STRING: usize = 4096;

/// The sequence that restores the default colours.
const RESET_COLOURS: &[u8] = b"\x1b[0m";

const ESCAPE: char = '\x1b';

/// Writes the filtered output of a server to standard output.
#[derive(Debug, Default)]
pub(crate) struct SessionScreen {
    /// The first bytes of an incomplete UTF-8 character.
    incomplete: Vec<u8>,
    state: EscapeState,
    /// `true` if the output contained a control sequence, such as a colour change.
    has_drawn: bool,
}

impl Drop for SessionScreen {
    fn drop(&mut self) {
        if self.has_drawn {
            let _ = io::stdout().write_all(RESET_COLOURS).and_then(|()| io::stdout().flush());
        }
    }
}

/// The position within escape sequences.
#[derive(Debug, Default)]
enum EscapeState {
    #[default]
    Text,
    Escape,
    /// In a control sequence, after the bracket: its parameters.
    Sequence(String),
    /// In a control string: the number of characters so far.
    String(usize),
    StringEscape(usize),
}

impl SessionScreen {
    /// Returns the part of `bytes` that may be shown.
    fn filter_bytes(&mut self, bytes: &[u8]) -> String {
        self.incomplete.extend_from_slice(bytes);
        let bytes = std::mem::take(&mut self.incomplete);
        let mut shown = String::new();
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            chunk.valid().chars().for_each(|character| self.filter_char(character, &mut shown));
            let is_last = chunks.peek().is_none();
            let may_go_on =
                std::str::from_utf8(chunk.invalid()).is_err_and(|error| error.error_len().is_none());
            match chunk.invalid() {
                [] => {}
                start if is_last && may_go_on => self.incomplete = start.to_vec(),
                _ => self.filter_char(char::REPLACEMENT_CHARACTER, &mut shown),
            }
        }
        shown
    }

    /// Processes one character and appends it to `shown` if it may be shown.
    fn filter_char(&mut self, character: char, shown: &mut String) {
        self.state = match (std::mem::take(&mut self.state), character) {
            (EscapeState::Text, ESCAPE) => EscapeState::Escape,
            (EscapeState::Text, _) => {
                append_char(character, shown);
                EscapeState::Text
            }
            (EscapeState::Escape, '[') => EscapeState::Sequence(String::new()),
            (EscapeState::Escape, ']' | 'P' | 'X' | '^' | '_') => EscapeState::String(0),
            // Switches character sets; one more character follows.
            (EscapeState::Escape, ' '..='/') => EscapeState::Escape,
            // Other sequences have one character, such as save and reset.
            (EscapeState::Escape, _) => EscapeState::Text,
            (EscapeState::Sequence(sequence), '@'..='~') => {
                let is_plain =
                    sequence.chars().all(|parameter| parameter.is_ascii_digit() || parameter == ';');
                // `3J` would erase the scrollback buffer.
                let erases_scrollback = character == 'J' && sequence == "3";
                if is_plain && !erases_scrollback && DRAWING_FINALS.contains(character) {
                    self.has_drawn = true;
                    shown.push_str(&format!("{ESCAPE}[{sequence}{character}"));
                }
                EscapeState::Text
            }
            (EscapeState::Sequence(mut sequence), ' '..='?') if sequence.len() < MAX_SEQUENCE => {
                sequence.push(character);
                EscapeState::Sequence(sequence)
            }
            (EscapeState::Sequence(_), _) => EscapeState::Text,
            (EscapeState::String(_), '\x07') => EscapeState::Text,
            (EscapeState::String(length), ESCAPE) => EscapeState::StringEscape(length),
            (EscapeState::StringEscape(_), '\\') => EscapeState::Text,
            (EscapeState::String(length) | EscapeState::StringEscape(length), _) if length < MAX_STRING => {
                EscapeState::String(length + 1)
            }
            (EscapeState::String(_) | EscapeState::StringEscape(_), _) => EscapeState::Text,
        };
    }
}

/// Appends a character: line ends, tabs, bells and backspaces unchanged, other control characters escaped.
fn append_char(character: char, shown: &mut String) {
    match character {
        '\n' | '\r' | '\t' | '\x07' | '\x08' => shown.push(character),
        // NUL is padding.
        '\0' => {}
        _ => shown.push_str(&sanitise(character.encode_utf8(&mut [0; 4]).as_bytes())),
    }
}

impl Write for SessionScreen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let shown = self.filter_bytes(bytes);
        io::stdout().write_all(shown.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(bytes: &[u8]) -> String {
        let (mut at_once, mut screen) = (SessionScreen::default(), SessionScreen::default());
        let whole = at_once.filter_bytes(bytes);
        let one_by_one: String = bytes.iter().map(|byte| screen.filter_bytes(&[*byte])).collect();
        (at_once.has_drawn, screen.has_drawn) = (false, false);
        assert_eq!(whole, one_by_one);
        whole
    }

    #[test]
    fn drawing_sequences_are_kept() {
        assert_eq!(
            shown(b"\x1b[1;31mred\x1b[0m\r\n\x1b[2J\x1b[3;4H"),
            "\x1b[1;31mred\x1b[0m\r\n\x1b[2J\x1b[3;4H"
        );
        assert_eq!(shown("caf\u{e9}\x08\x07\t".as_bytes()), "caf\u{e9}\x08\x07\t");
    }

    #[test]
    fn other_escape_sequences_are_removed() {
        for (bytes, expected) in [
            // Requests for the cursor position, the terminal type, its version and its title.
            (&b"a\x1b[6nb\x1b[cc\x1b[>0qd\x1b[21te"[..], "abcde"),
            (b"a\x1b]0;title\x07b\x1b]52;c;aGk=\x1b\\c", "abc"),
            (b"a\x1bP+q544e\x1b\\b\x1b[?2004hc", "abc"),
            (b"a\x1bcb\x01\x0e", "ab\\x01\\x0E"),
            (b"a\x1b(Bb\x1b[3Jc", "abc"),
            (b"\xc2\x9b6n", "\\u{9b}6n"),
            (b"caf\xe9 x", "caf\u{fffd} x"),
        ] {
            assert_eq!(shown(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn unterminated_control_string_ends_at_its_limit() {
        let endless = [&b"\x1b]"[..], &vec![b'x'; MAX_STRING + 1], b"text"].concat();
        assert!(shown(&endless).ends_with("text"));
    }
}
