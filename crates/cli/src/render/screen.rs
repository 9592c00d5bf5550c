//! The terminal of a session: a server may write, colour and move about, as its programs do; it may not speak to the
//! terminal itself, which would answer it, rename windows or fill the clipboard.

use std::io::{self, Write};

use fetch_url::proto::text::printable;

/// The letters of control sequences (ECMA-48 §5.4) that only draw.
const DRAWING: &str = "@ABCDEFGHJKLMPSTXdfm";
/// A control sequence is no longer than this.
const SEQUENCE: usize = 64;
/// Nor is a string for the terminal: what is longer is text again.
const STRING: usize = 4096;

/// The colours that the terminal has by itself.
const RESET: &[u8] = b"\x1b[0m";

const ESCAPE: char = '\x1b';

/// Writes what a server says.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    /// The start of a character whose rest has not come.
    held: Vec<u8>,
    place: Place,
    /// Something may be left, such as a colour.
    has_drawn: bool,
}

impl Drop for Screen {
    fn drop(&mut self) {
        if self.has_drawn {
            let _ = io::stdout().write_all(RESET).and_then(|()| io::stdout().flush());
        }
    }
}

#[derive(Debug, Default)]
enum Place {
    #[default]
    Text,
    Escape,
    /// Between the bracket and the letter.
    Sequence(String),
    /// In a string for the terminal: so much of it has come.
    String(usize),
    StringEscape(usize),
}

impl Screen {
    /// What may be shown of `octets`.
    fn shown(&mut self, octets: &[u8]) -> String {
        self.held.extend_from_slice(octets);
        let held = std::mem::take(&mut self.held);
        let mut shown = String::new();
        let mut chunks = held.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            chunk.valid().chars().for_each(|character| self.take(character, &mut shown));
            let is_last = chunks.peek().is_none();
            let may_go_on =
                std::str::from_utf8(chunk.invalid()).is_err_and(|error| error.error_len().is_none());
            match chunk.invalid() {
                [] => {}
                start if is_last && may_go_on => self.held = start.to_vec(),
                _ => self.take(char::REPLACEMENT_CHARACTER, &mut shown),
            }
        }
        shown
    }

    fn take(&mut self, character: char, shown: &mut String) {
        self.place = match (std::mem::take(&mut self.place), character) {
            (Place::Text, ESCAPE) => Place::Escape,
            (Place::Text, _) => {
                show(character, shown);
                Place::Text
            }
            (Place::Escape, '[') => Place::Sequence(String::new()),
            (Place::Escape, ']' | 'P' | 'X' | '^' | '_') => Place::String(0),
            // What follows switches alphabets.
            (Place::Escape, ' '..='/') => Place::Escape,
            // Others are of one character: to save or reset.
            (Place::Escape, _) => Place::Text,
            (Place::Sequence(sequence), '@'..='~') => {
                let is_plain =
                    sequence.chars().all(|parameter| parameter.is_ascii_digit() || parameter == ';');
                // What has left the screen is the person's own.
                let is_past = character == 'J' && sequence == "3";
                if is_plain && !is_past && DRAWING.contains(character) {
                    self.has_drawn = true;
                    shown.push_str(&format!("{ESCAPE}[{sequence}{character}"));
                }
                Place::Text
            }
            (Place::Sequence(mut sequence), ' '..='?') if sequence.len() < SEQUENCE => {
                sequence.push(character);
                Place::Sequence(sequence)
            }
            (Place::Sequence(_), _) => Place::Text,
            (Place::String(_), '\x07') => Place::Text,
            (Place::String(length), ESCAPE) => Place::StringEscape(length),
            (Place::StringEscape(_), '\\') => Place::Text,
            (Place::String(length) | Place::StringEscape(length), _) if length < STRING => {
                Place::String(length + 1)
            }
            (Place::String(_) | Place::StringEscape(_), _) => Place::Text,
        };
    }
}

/// Line ends, tabs, bells and steps back stay; other controls are shown as such.
fn show(character: char, shown: &mut String) {
    match character {
        '\n' | '\r' | '\t' | '\x07' | '\x08' => shown.push(character),
        // Padding.
        '\0' => {}
        _ => shown.push_str(&printable(character.encode_utf8(&mut [0; 4]).as_bytes())),
    }
}

impl Write for Screen {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        let shown = self.shown(octets);
        io::stdout().write_all(shown.as_bytes())?;
        Ok(octets.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(octets: &[u8]) -> String {
        let (mut at_once, mut screen) = (Screen::default(), Screen::default());
        let whole = at_once.shown(octets);
        let one_by_one: String = octets.iter().map(|octet| screen.shown(&[*octet])).collect();
        (at_once.has_drawn, screen.has_drawn) = (false, false);
        assert_eq!(whole, one_by_one);
        whole
    }

    #[test]
    fn what_only_draws_is_shown() {
        assert_eq!(
            shown(b"\x1b[1;31mred\x1b[0m\r\n\x1b[2J\x1b[3;4H"),
            "\x1b[1;31mred\x1b[0m\r\n\x1b[2J\x1b[3;4H"
        );
        assert_eq!(shown("caf\u{e9}\x08\x07\t".as_bytes()), "caf\u{e9}\x08\x07\t");
    }

    #[test]
    fn what_speaks_to_the_terminal_is_not() {
        for (octets, expected) in [
            // Where are you, who are you, how are you, what is your title.
            (&b"a\x1b[6nb\x1b[cc\x1b[>0qd\x1b[21te"[..], "abcde"),
            (b"a\x1b]0;title\x07b\x1b]52;c;aGk=\x1b\\c", "abc"),
            (b"a\x1bP+q544e\x1b\\b\x1b[?2004hc", "abc"),
            (b"a\x1bcb\x01\x0e", "ab\\x01\\x0E"),
            (b"a\x1b(Bb\x1b[3Jc", "abc"),
            (b"\xc2\x9b6n", "\\u{9b}6n"),
            (b"caf\xe9 x", "caf\u{fffd} x"),
        ] {
            assert_eq!(shown(octets), expected, "{octets:?}");
        }
    }

    #[test]
    fn a_string_without_an_end_ends() {
        let endless = [&b"\x1b]"[..], &vec![b'x'; STRING + 1], b"text"].concat();
        assert!(shown(&endless).ends_with("text"));
    }
}
