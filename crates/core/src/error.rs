//! [`ParseError`]: why a text is not a URL, and where.

use std::fmt;
use std::ops::Range;

/// The error of a text that is not a URL: the kind of fault and the bytes at fault.
///
/// Display prints the fault without the text itself, which may contain a password.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ParseError {
    kind: ParseErrorKind,
    span: Range<usize>,
}

impl ParseError {
    pub(crate) const fn new(kind: ParseErrorKind, span: Range<usize>) -> Self {
        Self { kind, span }
    }

    /// Returns the kind of fault.
    pub const fn kind(&self) -> ParseErrorKind {
        self.kind
    }

    /// Returns the byte range at fault within the parsed text. The range is empty if something is missing.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Returns advice on how to correct the text, for the kinds of fault that have an obvious correction.
    pub const fn hint(&self) -> Option<&'static str> {
        self.kind.hint()
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl std::error::Error for ParseError {}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $message:literal $(, $hint:literal)?;)*) => {
        /// The kind of fault of a [`ParseError`]. Display prints it as a message.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ParseErrorKind { $($(#[$doc])* $name,)* }

        impl ParseErrorKind {
            /// Returns the stable identifier for programs, in snake case, such as `bad_port`.
            pub const fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            #[allow(unused_mut, unused_assignments, reason = "some kinds have no hint")]
            const fn hint(self) -> Option<&'static str> {
                match self { $(Self::$name => {
                    let mut hint = None;
                    $(hint = Some($hint);)?
                    hint
                })* }
            }
        }

        impl fmt::Display for ParseErrorKind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$name => $message,)* })
            }
        }
    };
}

kinds! {
    /// Numbers in place of a host, such as `0x7f.1`, `2130706433` or `127.1`, which some programs read as an address.
    AmbiguousAddress = "ambiguous_address",
        "neither a host name nor an IPv4 address of four decimal numbers from 0 to 255",
        "write an IPv4 address as four decimal numbers without leading zeros";
    /// A backslash, which some programs read as a slash.
    Backslash = "backslash", "a backslash is not allowed in a URL", "write %5C for a backslash, or / for a slash";
    /// An article number that is not a number, is larger than [`ArticleNumbers::MAX`](crate::ArticleNumbers::MAX), or, as a range,
    /// is reversed.
    BadArticleNumber = "bad_article_number", "not an article number";
    /// A `%` without two hexadecimal digits, such as `%zz`.
    BadEscape = "bad_escape", "\"%\" must be followed by two hexadecimal digits",
        "write %25 for a percent sign";
    /// A `;` in a Prospero URL without `name=value` after it, or a malformed field of the 1993 BNF.
    BadField = "bad_field", "a field must be written \";name=value\"";
    /// Text that is not a newsgroup name.
    BadGroup = "bad_group", "not a newsgroup name";
    /// Text that is not a host name, or a port where the scheme has none.
    BadHost = "bad_host", "not a host name";
    /// A message-id that is not of the form `unique@host`.
    BadMessageId = "bad_message_id", "not a message-id: it must be written unique@host";
    /// A port that is not a number from 1 to 65535.
    BadPort = "bad_port", "a port is a number from 1 to 65535";
    /// Text before the first `:` that is not a scheme name.
    BadScheme = "bad_scheme", "not a scheme name";
    /// A typecode other than `a`, `i` and `d`, such as `;type=x`.
    BadTypecode = "bad_typecode", "the typecode of an FTP URL must be a, i or d",
        "write %3B for a semicolon that belongs to the file name";
    /// A control character: U+0000 to U+001F or U+007F to U+009F.
    ControlCharacter = "control_octet", "a control character is not allowed in a URL";
    /// A text without a URL.
    Empty = "empty", "the URL is empty";
    /// The text ends where the scheme requires more, such as a path, a group or an address.
    Incomplete = "incomplete", "the URL ends before it is complete";
    /// The host after `//` is missing.
    MissingHost = "missing_host", "the host is missing";
    /// The scheme is missing.
    MissingScheme = "missing_scheme", "the scheme is missing", "start the URL with a scheme, such as http:// or ftp://";
    /// The `//` after the scheme is missing.
    MissingSlashes = "missing_slashes", "\"//\" and a host must follow the scheme";
    /// A non-ASCII host name that has no valid `xn--` form, or any such name without the feature `idn`.
    NonAsciiHost = "non_ascii_host", "the host name is not ASCII and has no valid xn-- form",
        "write the host name in its xn-- form";
    /// A character that the grammar does not allow at this place without percent-encoding.
    NotAllowed = "not_allowed", "this character must be percent-encoded here";
    /// A space.
    Space = "space", "a space is not allowed in a URL", "write %20 for a space";
    /// A text longer than 65536 bytes (`MAX_LENGTH`).
    TooLong = "too_long", "a URL must not be longer than 65536 bytes";
    /// `<http://…` without the closing `>`.
    UnclosedWrapper = "unclosed_wrapper", "the \"<\" at the start has no \">\" at the end";
    /// Text after the end of the URL.
    Unexpected = "unexpected", "unexpected text after the end of the URL";
    /// User information (`user@`) in a scheme that has none.
    UserNotAllowed = "user_not_allowed", "this scheme has no user name or password";
}
