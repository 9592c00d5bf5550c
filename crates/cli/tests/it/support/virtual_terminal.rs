//! A virtual terminal: interprets the bytes that fetch-url writes to a terminal and keeps the text on the screen.

#![allow(dead_code, reason = "each test file uses its own part")]

/// The second column of a wide character.
const SECOND_COLUMN: char = '\0';

/// A screen of a fixed width and unlimited height: it grows at the bottom and never scrolls.
#[derive(Debug, Default)]
pub(crate) struct VirtualTerminal {
    columns: usize,
    lines: Vec<Vec<char>>,
    line: usize,
    column: usize,
    /// `true` if at least one line was longer than the screen is wide.
    pub(crate) has_wrapped: bool,
    /// `true` while the cursor is hidden.
    pub(crate) is_cursor_hidden: bool,
    /// The text of the screen each time the cursor returned to the start of a line; consecutive duplicates are
    /// dropped.
    pub(crate) frames: Vec<String>,
}

impl VirtualTerminal {
    /// Returns the screen after `bytes` were written to it.
    pub(crate) fn render(bytes: &[u8], columns: usize) -> Self {
        let mut terminal = Self { columns, lines: vec![Vec::new()], ..Self::default() };
        let text = String::from_utf8_lossy(bytes).into_owned();
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '\x1b' if characters.peek() == Some(&'[') => {
                    characters.next();
                    let mut numbers = String::new();
                    let letter = loop {
                        match characters.next() {
                            Some(end @ '@'..='~') => break end,
                            Some(other) => numbers.push(other),
                            None => break ' ',
                        }
                    };
                    terminal.apply_escape_sequence(&numbers, letter);
                }
                '\r' => {
                    terminal.record_frame();
                    terminal.column = 0;
                }
                '\n' => terminal.move_down(1),
                '\x1b' | '\x07' => {}
                other => terminal.print_char(other),
            }
        }
        terminal.record_frame();
        terminal
    }

    /// Returns the text of the screen without trailing blanks and without empty lines.
    pub(crate) fn text(&self) -> String {
        let shown =
            |line: &Vec<char>| line.iter().filter(|&&shown| shown != SECOND_COLUMN).collect::<String>();
        let lines = self.lines.iter().map(|line| shown(line).trim_end().to_owned());
        lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    }

    /// Returns the largest number of lines that were on the screen at the same time.
    pub(crate) fn max_line_count(&self) -> usize {
        self.frames.iter().map(|frame| frame.lines().count()).max().unwrap_or(0)
    }

    fn record_frame(&mut self) {
        let text = self.text();
        if self.frames.last() != Some(&text) {
            self.frames.push(text);
        }
    }

    fn apply_escape_sequence(&mut self, numbers: &str, letter: char) {
        let count: usize = numbers.parse().unwrap_or(if matches!(letter, 'J' | 'K') { 0 } else { 1 });
        match (letter, count) {
            ('A', _) => self.line = self.line.saturating_sub(count),
            ('B', _) => self.move_down(count),
            ('C', _) => self.column = (self.column + count).min(self.columns - 1),
            ('D', _) => self.column = self.column.saturating_sub(count),
            ('G', _) => self.column = count - 1,
            ('K', 0) => self.lines[self.line].truncate(self.column),
            ('K', _) => {
                self.record_frame();
                self.lines[self.line].clear();
            }
            ('J', _) => {
                self.lines[self.line].truncate(self.column);
                self.lines.truncate(self.line + 1);
            }
            ('h' | 'l', _) if numbers == "?25" => self.is_cursor_hidden = letter == 'l',
            _ => {}
        }
    }

    fn move_down(&mut self, count: usize) {
        self.line += count;
        while self.lines.len() <= self.line {
            self.lines.push(Vec::new());
        }
    }

    /// Prints a character. A full line wraps only when the next character is printed, as on a real terminal.
    fn print_char(&mut self, character: char) {
        // A Chinese character, for example, has two columns.
        let width = textwrap::core::display_width(character.encode_utf8(&mut [0; 4]));
        if self.column + width > self.columns {
            self.has_wrapped = true;
            self.move_down(1);
            self.column = 0;
        }
        let line = &mut self.lines[self.line];
        while line.len() < self.column + width {
            line.push(' ');
        }
        line[self.column..self.column + width].fill(SECOND_COLUMN);
        if let Some(column) = line.get_mut(self.column).filter(|_| width > 0) {
            *column = character;
        }
        self.column += width;
    }
}
