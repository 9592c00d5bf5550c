//! A word with short options, such as `-s`, `-su` or `-ume:secret`.

use std::sync::LazyLock;

use crate::flags;

/// The letters of the options that have a value.
static VALUE_LETTERS: LazyLock<String> = LazyLock::new(|| {
    let command = flags::command();
    let with_value = command.get_arguments().filter(|argument| argument.get_action().takes_values());
    with_value.filter_map(clap::Arg::get_short).collect()
});

/// The options of a word.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ShortOptions<'w> {
    /// The letters up to the first option that has a value.
    pub(super) letters: &'w str,
    /// The value in the same word; `=` before it is not part of it.
    pub(super) value: Option<&'w str>,
    /// The last letter is an option that has a value.
    pub(super) has_value: bool,
}

impl<'w> ShortOptions<'w> {
    /// Splits a word. Returns `None` for a long option, and for a word that is no option.
    pub(super) fn of(word: &'w str) -> Option<Self> {
        let text = word.strip_prefix('-').filter(|text| !text.starts_with('-'))?;
        let Some(last) = text.find(|letter| VALUE_LETTERS.contains(letter)) else {
            return Some(Self { letters: text, value: None, has_value: false });
        };
        let letter_length = text[last..].chars().next().map_or(0, char::len_utf8);
        let (letters, value) = text.split_at(last + letter_length);
        let value = (!value.is_empty()).then(|| value.strip_prefix('=').unwrap_or(value));
        Some(Self { letters, value, has_value: true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_is_split_after_the_first_option_that_has_a_value() {
        for (word, expected) in [
            ("-s", Some(("s", None, false))),
            ("-sL", Some(("sL", None, false))),
            ("-u", Some(("u", None, true))),
            ("-su", Some(("su", None, true))),
            ("-ume:secret", Some(("u", Some("me:secret"), true))),
            ("-sum=e", Some(("su", Some("m=e"), true))),
            ("-m=10", Some(("m", Some("10"), true))),
            ("-Kother", Some(("K", Some("other"), true))),
            ("-\u{e4}", Some(("\u{e4}", None, false))),
            ("-", Some(("", None, false))),
            ("--user", None),
            ("user", None),
        ] {
            let expected =
                expected.map(|(letters, value, has_value)| ShortOptions { letters, value, has_value });
            assert_eq!(ShortOptions::of(word), expected, "{word}");
        }
    }
}
