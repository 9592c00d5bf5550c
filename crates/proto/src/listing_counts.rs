//! Texts that state which of the entries or pages are shown, such as `1-50 of 120`, or that entries are missing, such as
//! `Too many files`.

use std::borrow::Cow;

/// The number of bytes of the longest known word, `directories`.
const MAX_WORD_BYTES: usize = 11;

/// A word of the text of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Word {
    #[default]
    Other,
    All,
    Complete,
    /// `directory`, `folder`.
    Directory,
    /// `files`, `entries`.
    Entries,
    /// `error`, `cannot`.
    Failure,
    First,
    In,
    Limited,
    /// `listing`, `list`.
    Listing,
    Many,
    More,
    Not,
    Number(u64),
    /// `of`, `/`.
    Of,
    /// `page`.
    Page,
    /// `partial`, `incomplete`, `truncated`.
    Partial,
    /// `reading`, `open`.
    Read,
    /// `showing`, `only`.
    Shown,
    /// `-`, `to`.
    To,
    Too,
    Total,
    Which,
}

/// Reads the texts of an index page, or the information lines of a menu, and compares their counts.
#[derive(Debug, Default)]
pub struct ListingCounts {
    /// The last words.
    words: [Word; 5],
    are_partial: bool,
    /// The largest total that is stated.
    total: u64,
}

impl ListingCounts {
    /// Returns `true` if the text read so far states that not all entries or pages are shown:
    ///
    /// - `1-50 of 120`, but not `1-50 of 50`;
    /// - `Page 1 of 3`, `page 1/3`, but not `Page 1 of 1`;
    /// - `showing 50 of 120`, `50 of 120 files`;
    /// - the same in some other languages: `Seite 1 von 3`, `2 sur 5 fichiers`;
    /// - `showing only the first 50`, `70 more files`, `and 3 more`, `listing not complete`, `of which only 50 are displayed` (Caddy);
    /// - `partial listing`, `listing limited to 50`, `limited to 50 entries`, `too many files`, `not all files`;
    /// - `error reading directory`, `cannot open the directory`;
    /// - a total that is larger than the number of `entries` of the listing: `Total: 120 files`, `120 files in total`.
    pub const fn are_partial(&self, entries: u64) -> bool {
        self.are_partial || self.total > entries
    }

    /// Reads a text, whose end also ends a word.
    pub fn read(&mut self, text: &str) {
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
                // No text ends with another word.
                if word != Word::Other {
                    self.are_partial |= are_partial(self.words);
                    self.total = self.total.max(stated_total(self.words));
                }
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
        b"the" | b"is" | b"are" | b"was" | b"were" | b"been" | b"while" => return None,
        b"of" | b"von" | b"sur" | b"de" | b"di" | b"van" => Word::Of,
        b"complete" => Word::Complete,
        b"to" | b"through" => Word::To,
        b"page" | b"pages" | b"seite" | b"pagina" | b"strona" => Word::Page,
        b"showing" | b"shown" | b"show" | b"shows" | b"display" | b"displaying" | b"displayed" | b"only" => {
            Word::Shown
        }
        b"first" | b"last" => Word::First,
        b"more" => Word::More,
        b"which" => Word::Which,
        b"files" | b"entries" | b"items" | b"objects" | b"results" | b"directories" | b"folders"
        | b"rows" | b"dateien" | b"fichiers" | b"archivos" | b"ficheros" | b"arquivos" | b"elementi"
        | b"elementos" | b"bestanden" => Word::Entries,
        b"total" => Word::Total,
        b"in" => Word::In,
        b"listing" | b"list" => Word::Listing,
        b"limited" => Word::Limited,
        b"partial" | b"incomplete" | b"truncated" => Word::Partial,
        b"too" => Word::Too,
        b"many" => Word::Many,
        b"not" => Word::Not,
        b"all" => Word::All,
        b"error" | b"failed" | b"failure" | b"cannot" | b"unable" => Word::Failure,
        b"read" | b"reading" | b"open" | b"opening" | b"access" | b"accessing" | b"scan" | b"scanning" => {
            Word::Read
        }
        b"directory" | b"folder" => Word::Directory,
        _ => Word::Other,
    })
}

/// Returns `true` if the last words state that not all entries or pages are shown.
const fn are_partial(words: [Word; 5]) -> bool {
    use Word::{
        All, Complete, Directory, Entries, Failure, First, Limited, Listing, Many, More, Not, Number, Of,
        Page, Partial, Read, Shown, To, Too, Which,
    };
    match words {
        [Number(first), To, Number(last), Of, Number(all)] => first > 1 || last != all,
        [_, Page, Number(page), Of, Number(pages)] => page > 1 || pages > 1,
        [_, Shown | Listing, Number(shown), Of, Number(all)]
        | [_, Number(shown), Of, Number(all), Entries] => shown != all,
        [_, _, Shown | Listing, First, Number(_)]
        | [_, _, _, Number(_), More]
        | [_, _, _, More, Entries]
        | [_, _, Listing, Not, Complete]
        | [_, _, Of, Which, Shown]
        | [_, _, _, Listing, Limited | Partial]
        | [_, _, _, Partial, Listing]
        | [_, Limited, To, Number(_), Entries]
        | [Limited, To, First, Number(_), Entries]
        | [_, _, Too, Many, Entries]
        | [_, _, Not, All, Entries]
        | [_, _, Entries, Not, Shown]
        | [_, _, Failure | Not, Read | Listing, Directory | Entries]
        | [_, Failure, To, Read | Listing, Directory | Entries] => true,
        _ => false,
    }
}

/// Returns the number of entries that the last words state as the total, 0 if they state none.
const fn stated_total(words: [Word; 5]) -> u64 {
    use Word::{Entries, In, Number, Of, Total};
    match words {
        [_, _, Total, Number(total), Entries]
        | [_, Total, Of, Number(total), Entries]
        | [Total, Number(_), Entries, Number(total), Entries]
        | [_, _, Total, Entries, Number(total)]
        | [_, _, Number(total), Entries, Total]
        | [_, Number(total), Entries, In, Total] => total,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_partial(text: &str) -> bool {
        let mut counts = ListingCounts::default();
        counts.read(text);
        counts.are_partial(10)
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
            "\u{2026} and 3 more",
            "There are more files",
            "Listing not complete",
            "2 von 5 Dateien",
            "2 sur 5 fichiers",
            "Seite 1 von 3",
            "Page 1 sur 3",
            "3 files (of which only 2 are displayed)",
            "Showing first 500 entries",
            "Listing limited to 1000 entries",
            "Output is limited to the first 1000 files.",
            "The listing is truncated.",
            "Partial listing",
            "Too many files to display.",
            "Not all files are shown",
            "5 files not shown",
            "Error reading directory",
            "Error while listing the directory",
            "Failed to open folder /d",
            "could not read the directory",
            "Total: 11 files",
            "Total files: 1,200",
            "Total of 11 entries",
            "Total: 2 directories, 11 files",
            "11 files in total",
            "11 items total",
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
            "Total: 10 files, 4096 bytes",
            "Total: 2 directories, 8 files, 12 KB",
            "10 files in total",
            "total 4096",
            "an archive of 120 files",
            "a list of all files that the program reads from the directory",
            "The rate is limited to 5 MB",
            "12/1/1994 12:34 PM 5",
            "-rw-r--r-- root root Dec 01 1994 2440 B",
        ] {
            assert!(!is_partial(text), "{text}");
        }
    }
}
