//! Texts that state which of the entries or pages are shown, such as `1-50 of 120`.

use std::borrow::Cow;

/// The number of bytes of the longest known word, `directories`.
const MAX_WORD_BYTES: usize = 11;

/// A word of the text of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Word {
    #[default]
    Other,
    Number(u64),
    /// `page`.
    Page,
    /// `of`, `/`.
    Of,
    /// `-`, `to`.
    To,
    /// `files`, `entries`.
    Entries,
    /// `showing`, `only`.
    Shown,
    First,
    More,
    Which,
}

/// Reads the text of a page and compares its counts.
#[derive(Default)]
pub(super) struct PageCounts {
    /// The last words.
    words: [Word; 5],
    are_partial: bool,
}

impl PageCounts {
    /// Returns `true` if the text read so far states that not all entries or pages are shown:
    ///
    /// - `1-50 of 120`, but not `1-50 of 50`;
    /// - `Page 1 of 3`, `page 1/3`, but not `Page 1 of 1`;
    /// - `showing 50 of 120`, `50 of 120 files`;
    /// - `showing only the first 50`, `70 more files`, `of which only 50 are displayed` (Caddy).
    pub(super) const fn are_partial(&self) -> bool {
        self.are_partial
    }

    /// Reads a text, whose end also ends a word.
    pub(super) fn read(&mut self, text: &str) {
        let mut rest = text.trim_ascii_start();
        while let Some(letter) = rest.chars().next() {
            let length = match letter {
                '0'..='9' => length_of_start(rest, is_digit_or_comma),
                letter if letter.is_alphabetic() => length_of_start(rest, char::is_alphabetic),
                letter => letter.len_utf8(),
            };
            let (word, next) = rest.split_at(length);
            rest = next.trim_ascii_start();
            if let Some(word) = parse_word(word) {
                self.words.rotate_left(1);
                self.words[4] = word;
                self.are_partial |= are_partial(self.words);
            }
        }
    }
}

/// Returns the number of bytes at the start of `text` whose characters are of this kind.
fn length_of_start(text: &str, is_kind: impl Fn(char) -> bool) -> usize {
    text.find(|letter| !is_kind(letter)).unwrap_or(text.len())
}

const fn is_digit_or_comma(letter: char) -> bool {
    letter.is_ascii_digit() || letter == ','
}

/// Returns the kind of a word, a number or a character between two words, or `None` if it is ignored.
fn parse_word(text: &str) -> Option<Word> {
    if text.starts_with(|letter: char| letter.is_ascii_digit()) {
        // Commas separate thousands.
        let digits = if text.contains(',') { Cow::Owned(text.replace(',', "")) } else { Cow::Borrowed(text) };
        return Some(digits.parse().map_or(Word::Other, Word::Number));
    }
    match text {
        "/" => return Some(Word::Of),
        "-" | "\u{2013}" | "\u{2014}" => return Some(Word::To),
        text if !text.starts_with(char::is_alphabetic) => return None,
        _ => {}
    }
    let mut buffer = [0; MAX_WORD_BYTES];
    let Some(lower) = buffer.get_mut(..text.len()) else { return Some(Word::Other) };
    lower.copy_from_slice(text.as_bytes());
    lower.make_ascii_lowercase();
    Some(match &*lower {
        b"the" => return None,
        b"of" => Word::Of,
        b"to" | b"through" => Word::To,
        b"page" | b"pages" => Word::Page,
        b"showing" | b"shown" | b"show" | b"shows" | b"displaying" | b"displayed" | b"listing" | b"only" => {
            Word::Shown
        }
        b"first" | b"last" => Word::First,
        b"more" => Word::More,
        b"which" => Word::Which,
        b"files" | b"entries" | b"items" | b"objects" | b"results" | b"directories" | b"folders"
        | b"rows" => Word::Entries,
        _ => Word::Other,
    })
}

/// Returns `true` if the last words state that not all entries or pages are shown.
const fn are_partial(words: [Word; 5]) -> bool {
    use Word::{Entries, First, More, Number, Of, Page, Shown, To, Which};
    match words {
        [Number(first), To, Number(last), Of, Number(all)] => first > 1 || last != all,
        [_, Page, Number(page), Of, Number(pages)] => page > 1 || pages > 1,
        [_, Shown, Number(shown), Of, Number(all)] | [_, Number(shown), Of, Number(all), Entries] => {
            shown != all
        }
        [_, _, Shown, First, Number(_)] | [_, _, Number(_), More, Entries] | [_, _, Of, Which, Shown] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_partial(text: &str) -> bool {
        let mut counts = PageCounts::default();
        counts.read(text);
        counts.are_partial()
    }

    #[test]
    fn counts_of_a_part_of_the_entries_are_found() {
        for text in [
            "Showing 1-5 of 10",
            "1 \u{2013} 50 of 1,234",
            "Entries 51 to 100 of 100",
            "Page 1 of 2",
            "(page 2/2)",
            "5 of 10 files",
            "Showing 5 of 10",
            "showing only the first 100 files",
            "7 more files",
            "3 files (of which only 2 are displayed)",
        ] {
            assert!(is_partial(text), "{text}");
        }
        for text in [
            "1-10 of 10",
            "Page 1 of 1",
            "10 of 10 files",
            "disc 1 of 3",
            "01-Dec-1994 12:34 4096",
            "2026-09-01 10:00 5",
            "3 files, 12 KB",
            "12/1/1994 12:34 PM 5",
            "-rw-r--r-- root root Dec 01 1994 2440 B",
        ] {
            assert!(!is_partial(text), "{text}");
        }
    }
}
