//! What a person sees: the octets that went to a terminal, played on a screen of some columns.

#![allow(dead_code, reason = "each test file uses its own part")]

/// A screen that only grows: lines never leave it at the top.
#[derive(Debug, Default)]
pub(crate) struct Glass {
    columns: usize,
    rows: Vec<Vec<char>>,
    row: usize,
    column: usize,
    /// Whether a line was longer than the screen is wide.
    pub(crate) has_wrapped: bool,
    /// Whether the cursor can be seen.
    pub(crate) hides_cursor: bool,
    /// Every screen that stood there when the cursor went back to a line's start, as text.
    pub(crate) frames: Vec<String>,
}

impl Glass {
    /// The screen after these octets.
    pub(crate) fn after(octets: &[u8], columns: usize) -> Self {
        let mut glass = Self { columns, rows: vec![Vec::new()], ..Self::default() };
        let text = String::from_utf8_lossy(octets).into_owned();
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
                    glass.obey(&numbers, letter);
                }
                '\r' => {
                    glass.keep();
                    glass.column = 0;
                }
                '\n' => glass.down(1),
                '\x1b' | '\x07' => {}
                other => glass.print(other),
            }
        }
        glass.keep();
        glass
    }

    /// All of it, without blanks at the ends of lines and without empty lines.
    pub(crate) fn text(&self) -> String {
        let lines = self.rows.iter().map(|row| row.iter().collect::<String>().trim_end().to_owned());
        lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    }

    /// The most lines that were there at once.
    pub(crate) fn most_lines(&self) -> usize {
        self.frames.iter().map(|frame| frame.lines().count()).max().unwrap_or(0)
    }

    fn keep(&mut self) {
        let text = self.text();
        if self.frames.last() != Some(&text) {
            self.frames.push(text);
        }
    }

    fn obey(&mut self, numbers: &str, letter: char) {
        let count: usize = numbers.parse().unwrap_or(if matches!(letter, 'J' | 'K') { 0 } else { 1 });
        match (letter, count) {
            ('A', _) => self.row = self.row.saturating_sub(count),
            ('B', _) => self.down(count),
            ('C', _) => self.column = (self.column + count).min(self.columns - 1),
            ('D', _) => self.column = self.column.saturating_sub(count),
            ('G', _) => self.column = count - 1,
            ('K', 0) => self.rows[self.row].truncate(self.column),
            ('K', _) => {
                self.keep();
                self.rows[self.row].clear();
            }
            ('J', _) => {
                self.rows[self.row].truncate(self.column);
                self.rows.truncate(self.row + 1);
            }
            ('h' | 'l', _) if numbers == "?25" => self.hides_cursor = letter == 'l',
            _ => {}
        }
    }

    fn down(&mut self, count: usize) {
        self.row += count;
        while self.rows.len() <= self.row {
            self.rows.push(Vec::new());
        }
    }

    /// A line that is just full does not wrap before the next character comes.
    fn print(&mut self, character: char) {
        if self.column >= self.columns {
            self.has_wrapped = true;
            self.down(1);
            self.column = 0;
        }
        let row = &mut self.rows[self.row];
        while row.len() <= self.column {
            row.push(' ');
        }
        row[self.column] = character;
        self.column += 1;
    }
}
