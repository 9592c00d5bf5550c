//! Parses a menu line by line (RFC 1436 §3.8).

use bytes::Bytes;

use super::MenuItem;
use crate::text::LineReader;
use crate::{RecvBuffer, WireError};

/// Maximum length of a menu line in bytes.
const MAX_LINE_BYTES: usize = 64 * 1024;
/// The final line of a menu. If another line follows, the dot is an ordinary line.
const DOT: &[u8] = b".";

/// An incremental menu parser (RFC 1436 §3.8). Every line is returned, invalid ones as items with a `fault`.
#[derive(Debug)]
pub struct MenuReader {
    lines: LineReader,
    /// The last line was a single dot.
    has_dot: bool,
    /// The line after a single dot, which shows that the dot did not end the menu.
    line_after_dot: Option<Bytes>,
    /// The type of the last item that was not a `+` item.
    base: u8,
}

impl Default for MenuReader {
    fn default() -> Self {
        let lines = LineReader::new("a menu line", "bytes in a menu line", MAX_LINE_BYTES);
        Self { lines, has_dot: false, line_after_dot: None, base: b'1' }
    }
}

impl MenuReader {
    /// Creates a parser at the start of a menu.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the next item, or `None` if more data is needed or the input has ended.
    ///
    /// # Errors
    /// [`WireError`] if a line is longer than 64 KiB, or the connection was lost within a line.
    pub fn read(&mut self, buffer: &mut RecvBuffer) -> Result<Option<MenuItem>, WireError> {
        loop {
            let line = match self.line_after_dot.take() {
                Some(line) => line,
                None => match self.lines.read_line_or_rest(buffer)? {
                    Some(line) => line,
                    None => return Ok(None),
                },
            };
            let is_dot = line == DOT;
            if std::mem::replace(&mut self.has_dot, is_dot) {
                self.line_after_dot = (!is_dot).then_some(line);
                return Ok(Some(self.item(&Bytes::from_static(DOT))));
            }
            if !is_dot {
                return Ok(Some(self.item(&line)));
            }
        }
    }

    /// Returns `true` if the last line was the final dot of the menu.
    pub const fn has_final_dot(&self) -> bool {
        self.has_dot
    }

    fn item(&mut self, line: &Bytes) -> MenuItem {
        let mut item = MenuItem::parse(line);
        match item.gtype {
            b'+' => item.primary_gtype = self.base,
            b'i' => {}
            gtype => self.base = gtype,
        }
        item
    }
}
