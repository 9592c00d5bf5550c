//! Errors of a netrc file.

/// The reason why a netrc file is rejected. It contains only a line number, because the file contains passwords.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NetrcError {
    /// A keyword has no value: the next word is a keyword.
    #[error("line {0}: a keyword without a value (a value that is a keyword needs quotes)")]
    MissingValue(usize),
    /// A value precedes the first `machine`.
    #[error("line {0}: a value before the first machine")]
    MissingMachine(usize),
    /// The file is larger than 1 MiB.
    #[error("larger than 1 MiB")]
    TooLarge,
    /// An entry has the same keyword twice.
    #[error("line {0}: a second value for the same keyword and machine")]
    DuplicateKeyword(usize),
    /// A quoted word has no closing quote on its line.
    #[error("line {0}: a quoted word without its closing quote")]
    UnclosedQuote(usize),
    /// A word that is not a keyword stands where a keyword is expected.
    #[error("line {0}: an unknown keyword (a value with a space needs quotes)")]
    UnknownKeyword(usize),
    /// A word has 64 KiB or more.
    #[error("line {0}: a word of 64 KiB or more")]
    WordTooLong(usize),
}
