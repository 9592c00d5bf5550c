//! Texts that state which of the entries or pages are shown, such as `1-50 of 120`.

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
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            let is_number = letter.is_ascii_digit();
            let length = match letter {
                letter if is_number || letter.is_alphabetic() => rest
                    .find(
                        |next: char| if is_number { !is_digit_or_comma(next) } else { !next.is_alphabetic() },
                    )
                    .unwrap_or(rest.len()),
                letter => letter.len_utf8(),
            };
            let (word, next) = rest.split_at(length);
            rest = next;
            if let Some(word) = parse_word(word) {
                self.words.rotate_left(1);
                self.words[4] = word;
                self.are_partial |= are_partial(self.words);
            }
        }
    }
}

const fn is_digit_or_comma(letter: char) -> bool {
    letter.is_ascii_digit() || letter == ','
}

/// Returns the kind of a word, a number or a character between two words, or `None` if it is ignored.
fn parse_word(text: &str) -> Option<Word> {
    if text.starts_with(|letter: char| letter.is_ascii_digit()) {
        // Commas separate thousands.
        return Some(text.replace(',', "").parse().map_or(Word::Other, Word::Number));
    }
    let is = |known: &str| text.eq_ignore_ascii_case(known);
    let is_one_of = |known: &[&str]| known.iter().any(|known| is(known));
    Some(match text {
        "/" => Word::Of,
        "-" | "\u{2013}" | "\u{2014}" => Word::To,
        text if !text.starts_with(char::is_alphabetic) || is("the") => return None,
        _ if is_one_of(&["of"]) => Word::Of,
        _ if is_one_of(&["to", "through"]) => Word::To,
        _ if is_one_of(&["page", "pages"]) => Word::Page,
        _ if is_one_of(&[
            "showing",
            "shown",
            "show",
            "shows",
            "displaying",
            "displayed",
            "listing",
            "only",
        ]) =>
        {
            Word::Shown
        }
        _ if is_one_of(&["first", "last"]) => Word::First,
        _ if is("more") => Word::More,
        _ if is("which") => Word::Which,
        _ if is_one_of(&[
            "files",
            "entries",
            "items",
            "objects",
            "results",
            "directories",
            "folders",
            "rows",
        ]) =>
        {
            Word::Entries
        }
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
