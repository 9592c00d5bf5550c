//! Standard output when it is a terminal: text is made safe, binary is refused.

use std::io::{self, Write};

use fetch_url::proto::text::printable;

/// Writes text to the terminal. Octets of a server can move no cursor and change no colour there.
#[derive(Debug, Default)]
pub(crate) struct Terminal {
    /// The start of a character whose rest has not come.
    held: Vec<u8>,
}

impl Write for Terminal {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        if octets.contains(&0) {
            let detail = "binary data would upset the terminal; -o FILE saves it, -o - shows it all the same";
            return Err(io::Error::new(io::ErrorKind::InvalidData, detail));
        }
        let mut text = std::mem::take(&mut self.held);
        text.extend_from_slice(octets);
        self.held = text.split_off(whole_characters(&text));
        io::stdout().write_all(safe(&text).as_bytes())?;
        Ok(octets.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.held);
        io::stdout().write_all(safe(&rest).as_bytes())?;
        io::stdout().flush()
    }
}

/// How much of `text` is whole characters: at most three octets are held back.
fn whole_characters(text: &[u8]) -> usize {
    match text.utf8_chunks().last() {
        Some(last) if !last.invalid().is_empty() && last.invalid().len() < 4 => {
            let start = text.len() - last.invalid().len();
            if is_start_of_character(last.invalid()) { start } else { text.len() }
        }
        _ => text.len(),
    }
}

/// Whether more octets could make a character of these.
fn is_start_of_character(octets: &[u8]) -> bool {
    std::str::from_utf8(octets).is_err_and(|error| error.error_len().is_none())
}

/// Line ends and tabs stay, everything else that is no text is shown as `\xHH`.
fn safe(text: &[u8]) -> String {
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive(|&octet| octet == b'\n') {
        let (body, end) = match line {
            [body @ .., b'\r', b'\n'] | [body @ .., b'\n'] => (body, "\n"),
            body => (body, ""),
        };
        let cells: Vec<String> = body.split(|&octet| octet == b'\t').map(printable).collect();
        shown.push_str(&cells.join("\t"));
        shown.push_str(end);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_made_safe() {
        assert_eq!(safe(b"a\tb\r\nc\x1b[2Jd\n"), "a\tb\nc\\x1B[2Jd\n");
        assert_eq!(safe(b"caf\xe9"), "caf\\xE9");
    }

    #[test]
    fn a_character_in_two_pieces_is_one() {
        let text = "caf\u{e9}".as_bytes();
        assert_eq!(whole_characters(text), 5);
        assert_eq!(whole_characters(&text[..4]), 3);
        assert_eq!(whole_characters(b"a\xff"), 2);
    }

    #[test]
    fn binary_is_refused() {
        assert!(Terminal::default().write(b"a\0b").is_err());
    }
}
