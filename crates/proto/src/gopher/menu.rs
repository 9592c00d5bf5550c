//! A menu, line by line (RFC 1436 §3.8).

use bytes::Bytes;

use super::MenuItem;
use crate::text::LineReader;
use crate::{Inbox, WireError};

/// The longest line of a menu.
const LINE_OCTETS: usize = 64 * 1024;
/// What ends a menu, where nothing follows it.
const DOT: &[u8] = b".";

/// Reads items as they arrive; no line is lost, whatever it is.
#[derive(Debug)]
pub struct MenuReader {
    lines: LineReader,
    /// The last line was a dot.
    has_dot: bool,
    /// What came behind a dot, which therefore was no end.
    held: Option<Bytes>,
    /// The type of the last item that was no mirror.
    base: u8,
}

impl Default for MenuReader {
    fn default() -> Self {
        let lines = LineReader::new("a menu line", "the length of a menu line", LINE_OCTETS);
        Self { lines, has_dot: false, held: None, base: b'1' }
    }
}

impl MenuReader {
    /// At the start of a menu.
    pub fn new() -> Self {
        Self::default()
    }

    /// The next item; none when more octets are needed, or at the end of the input.
    ///
    /// # Errors
    /// A line is too long, or the connection was lost within one.
    pub fn read(&mut self, inbox: &mut Inbox) -> Result<Option<MenuItem>, WireError> {
        loop {
            let line = match self.held.take() {
                Some(line) => line,
                None => match self.lines.read_any(inbox)? {
                    Some(line) => line,
                    None => return Ok(None),
                },
            };
            let is_dot = line == DOT;
            if std::mem::replace(&mut self.has_dot, is_dot) {
                self.held = (!is_dot).then_some(line);
                return Ok(Some(self.item(&Bytes::from_static(DOT))));
            }
            if !is_dot {
                return Ok(Some(self.item(&line)));
            }
        }
    }

    /// Whether the last line was the dot that ends a menu.
    pub const fn has_final_dot(&self) -> bool {
        self.has_dot
    }

    fn item(&mut self, line: &Bytes) -> MenuItem {
        let mut item = MenuItem::parse(line);
        match item.gtype {
            b'+' => item.base = self.base,
            b'i' => {}
            gtype => self.base = gtype,
        }
        item
    }
}
