//! A line's words one after the other, and what follows them.

/// The rest of a line whose first words have been taken; a copy looks ahead.
#[derive(Clone, Debug)]
pub(super) struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    pub(super) const fn new(line: &'a [u8]) -> Self {
        Self(line)
    }

    /// The next word, whatever blanks stand before it.
    pub(super) fn word(&mut self) -> Option<&'a [u8]> {
        let (_, rest) = self.0.split_at_checked(self.gap())?;
        let length = rest.iter().position(is_blank).unwrap_or(rest.len());
        let (word, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        (!word.is_empty()).then_some(word)
    }

    /// How many blanks stand before the next word.
    pub(super) fn gap(&self) -> usize {
        self.0.iter().take_while(|octet| is_blank(octet)).count()
    }

    /// What follows one blank: a name, with the blanks that are its own.
    pub(super) fn name(&self) -> Option<&'a [u8]> {
        self.padded_name(1)
    }

    /// What follows at most `most` blanks, and at least one.
    pub(super) fn padded_name(&self, most: usize) -> Option<&'a [u8]> {
        let gap = self.gap();
        let (_, name) = self.0.split_at_checked(gap.min(most))?;
        (gap > 0 && !name.is_empty()).then_some(name)
    }
}

const fn is_blank(octet: &u8) -> bool {
    matches!(octet, b' ' | b'\t')
}

/// A word of digits.
pub(super) fn number(word: &[u8]) -> Option<u64> {
    let push = |number: u64, octet: &u8| {
        let digit = octet.is_ascii_digit().then(|| u64::from(octet - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    };
    if word.is_empty() { None } else { word.iter().try_fold(0, push) }
}

/// A word of at least `least` and at most `most` digits.
pub(super) fn digits(word: &[u8], least: usize, most: usize) -> Option<i64> {
    let fits = (least..=most).contains(&word.len());
    fits.then(|| number(word)).flatten().and_then(|number| i64::try_from(number).ok())
}
