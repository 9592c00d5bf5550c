//! Splits a line into words, and returns the rest of the line as a name.

/// The rest of a line whose first words have been taken. Clone it to look ahead.
#[derive(Clone, Debug)]
pub(super) struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    pub(super) const fn new(line: &'a [u8]) -> Self {
        Self(line)
    }

    /// Takes the next word and the blanks before it.
    pub(super) fn next_word(&mut self) -> Option<&'a [u8]> {
        let (_, rest) = self.0.split_at_checked(self.leading_blanks())?;
        let length = rest.iter().position(is_blank).unwrap_or(rest.len());
        let (word, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        (!word.is_empty()).then_some(word)
    }

    /// Returns the number of blanks before the next word.
    pub(super) fn leading_blanks(&self) -> usize {
        self.0.iter().take_while(|byte| is_blank(byte)).count()
    }

    /// Returns the rest of the line after one blank: a name, which may itself start with blanks.
    pub(super) fn name_after_blank(&self) -> Option<&'a [u8]> {
        self.name_after_blanks(1)
    }

    /// Returns the rest of the line after at least one and at most `max` blanks.
    pub(super) fn name_after_blanks(&self, max: usize) -> Option<&'a [u8]> {
        let blanks = self.leading_blanks();
        let (_, name) = self.0.split_at_checked(blanks.min(max))?;
        (blanks > 0 && !name.is_empty()).then_some(name)
    }
}

const fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Parses a word of decimal digits.
pub(super) fn parse_number(word: &[u8]) -> Option<u64> {
    let push = |number: u64, byte: &u8| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    };
    if word.is_empty() { None } else { word.iter().try_fold(0, push) }
}

/// Parses a word of `min` to `max` decimal digits.
pub(super) fn parse_digits(word: &[u8], min: usize, max: usize) -> Option<i64> {
    let fits = (min..=max).contains(&word.len());
    fits.then(|| parse_number(word)).flatten().and_then(|number| i64::try_from(number).ok())
}
