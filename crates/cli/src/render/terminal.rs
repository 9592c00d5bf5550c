//! Output of an object to a terminal: text is sanitised, binary data is refused.

use std::io::{self, IsTerminal as _, Write};

use fetch_url::Meta;
use fetch_url::url::Url;
use fetch_url_proto::text::sanitise;

/// Writes sanitised text to the terminal. Text of a server cannot move the cursor or change colours.
#[derive(Debug, Default)]
pub(crate) struct TerminalWriter {
    /// The first bytes of an incomplete UTF-8 character.
    incomplete: Vec<u8>,
}

impl Write for TerminalWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.contains(&0) {
            let detail =
                "binary data is not printed to the terminal; save it with -o FILE, or print it with -o -";
            return Err(io::Error::new(io::ErrorKind::InvalidData, detail));
        }
        let mut text = std::mem::take(&mut self.incomplete);
        text.extend_from_slice(bytes);
        self.incomplete = text.split_off(complete_length(&text));
        io::stdout().write_all(sanitise_text(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.incomplete);
        io::stdout().write_all(sanitise_text(&rest).as_bytes())?;
        io::stdout().flush()
    }
}

/// Returns the number of columns of the terminal that is standard output, 0 if it is unknown, or `None` if standard output
/// is not a terminal.
pub(super) fn stdout_columns() -> Option<usize> {
    let stdout = io::stdout();
    let columns = || rustix::termios::tcgetwinsize(&stdout).map_or(0, |size| usize::from(size.ws_col));
    stdout.is_terminal().then(columns)
}

/// Returns the length of `text` without an incomplete character at its end, which has at most three bytes.
fn complete_length(text: &[u8]) -> usize {
    match text.utf8_chunks().last() {
        Some(last) if !last.invalid().is_empty() && last.invalid().len() < 4 => {
            let start = text.len() - last.invalid().len();
            if is_start_of_character(last.invalid()) { start } else { text.len() }
        }
        _ => text.len(),
    }
}

/// Returns `true` if more bytes could complete a UTF-8 character.
fn is_start_of_character(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

/// Sanitises text: line ends and tabs are kept, other control characters and invalid bytes become `\xHH`.
pub(crate) fn sanitise_text(text: &[u8]) -> String {
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let (body, end) = match line {
            [body @ .., b'\r', b'\n'] | [body @ .., b'\n'] => (body, "\n"),
            body => (body, ""),
        };
        shown.push_str(&sanitise_keeping_tabs(body));
        shown.push_str(end);
    }
    shown
}

/// Returns the sanitised value of a header field. TAB is white space in fields of HTTP (RFC 9110 §5.5) and is kept there.
pub(super) fn field_text(meta: &Meta, value: &[u8]) -> String {
    if matches!(meta.url, Url::Http(_)) { sanitise_keeping_tabs(value) } else { sanitise(value) }
}

/// Returns the value of a header field for a file or a pipe. Of HTTP, the bytes are those of the server, and only ASCII
/// control characters except TAB become `\xHH`, so that the field is one line. Of other protocols, it is sanitised.
pub(super) fn field_bytes(meta: &Meta, value: &[u8]) -> Vec<u8> {
    if !matches!(meta.url, Url::Http(_)) {
        return sanitise(value).into_bytes();
    }
    let mut shown = Vec::with_capacity(value.len());
    for &byte in value {
        match byte.is_ascii_control() && byte != b'\t' {
            true => shown.extend(sanitise(&[byte]).bytes()),
            false => shown.push(byte),
        }
    }
    shown
}

/// Sanitises one line: tabs are kept, other control characters and invalid bytes become `\xHH`.
fn sanitise_keeping_tabs(line: &[u8]) -> String {
    let cells: Vec<String> = line.split(|&byte| byte == b'\t').map(sanitise).collect();
    cells.join("\t")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_and_invalid_bytes_are_escaped() {
        assert_eq!(sanitise_text(b"a\tb\r\nc\x1b[2Jd\n"), "a\tb\nc\\x1B[2Jd\n");
        assert_eq!(sanitise_text(b"caf\xe9"), "caf\\xE9");
    }

    #[test]
    fn incomplete_character_is_not_counted() {
        let text = "caf\u{e9}".as_bytes();
        assert_eq!(complete_length(text), 5);
        assert_eq!(complete_length(&text[..4]), 3);
        assert_eq!(complete_length(b"a\xff"), 2);
    }

    #[test]
    fn nul_byte_is_refused_as_binary() {
        assert!(TerminalWriter::default().write(b"a\0b").is_err());
    }
}
