//! Errors of a netrc file.

/// Why a netrc file is rejected. It holds nothing of the file but a line number, since the file holds passwords.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NetrcError {
    /// A keyword has no value: the next word is a keyword.
    #[error("line {0}: a keyword without a value (a value that is a keyword needs quotes)")]
    MissingValue(usize),
    /// A login or a password before the first machine.
    #[error("line {0}: a value before the first machine")]
    NoMachine(usize),
    /// The file is larger than 1 MiB.
    #[error("larger than 1 MiB")]
    TooLarge,
    /// An entry has the same keyword twice.
    #[error("line {0}: a second value for the same keyword and machine")]
    Twice(usize),
    /// A quoted word that does not end on its line.
    #[error("line {0}: a quoted word without its closing quote")]
    Unclosed(usize),
    /// A word that is not a keyword, where a keyword is expected.
    #[error("line {0}: an unknown keyword (a value with a space needs quotes)")]
    UnknownWord(usize),
    /// A word of 64 KiB or more.
    #[error("line {0}: a word of 64 KiB or more")]
    WordTooLong(usize),
}
