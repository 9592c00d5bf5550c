//! Why a text is not a URL, and where.

use std::fmt;
use std::ops::Range;

/// The text is not a URL: what is wrong, and the octets where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    kind: ParseErrorKind,
    span: Range<usize>,
}

impl ParseError {
    pub(crate) const fn new(kind: ParseErrorKind, span: Range<usize>) -> Self {
        Self { kind, span }
    }

    /// What is wrong.
    pub const fn kind(&self) -> ParseErrorKind {
        self.kind
    }

    /// The octets at fault, within the text that was parsed; empty at the end of the text.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// What the writer of the URL may have meant.
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
    ($($(#[$doc:meta])* $name:ident = $word:literal, $text:literal $(, $hint:literal)?;)*) => {
        /// The kinds of [`ParseError`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ParseErrorKind { $($(#[$doc])* $name,)* }

        impl ParseErrorKind {
            /// A stable word for machines.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            #[allow(unused_mut, unused_assignments, reason = "not every row has a hint")]
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
                f.write_str(match self { $(Self::$name => $text,)* })
            }
        }
    };
}

kinds! {
    /// `0x7f.1`, `2130706433`, `127.1`: numbers that some programs take for an address.
    AmbiguousAddress = "ambiguous_address", "neither a host name nor four decimal groups from 0 to 255",
        "write an IPv4 address as four decimal numbers without leading zeros";
    /// `\`.
    Backslash = "backslash", "a backslash is not a slash", "write %5C if the backslash is meant";
    /// An article number that is no number, or too large.
    BadArticleNumber = "bad_article_number", "not an article number";
    /// `%zz`.
    BadEscape = "bad_escape", "\"%\" must be followed by two hexadecimal digits",
        "write %25 for a percent sign";
    /// A `;` in a prospero URL that begins no `;name=value`.
    BadField = "bad_field", "a field must be written \";name=value\"";
    /// Not a newsgroup name.
    BadGroup = "bad_group", "not a newsgroup name";
    /// Not a host name.
    BadHost = "bad_host", "not a host name";
    /// A message-id without a host.
    BadMessageId = "bad_message_id", "not a message-id: it must be written unique@host";
    /// Not a port number.
    BadPort = "bad_port", "a port is a number from 1 to 65535";
    /// Not a scheme name.
    BadScheme = "bad_scheme", "not a scheme name";
    /// `;type=x`.
    BadTypecode = "bad_typecode", "the typecode of an ftp URL is a, i or d",
        "write %3B for a semicolon that belongs to the name";
    /// A raw control octet.
    ControlOctet = "control_octet", "a control character cannot stand in a URL";
    /// No text at all.
    Empty = "empty", "there is no URL";
    /// No `@host`, no `/`, no group: something required is not there.
    Incomplete = "incomplete", "the URL ends before it is complete";
    /// Nothing between `//` and the path.
    MissingHost = "missing_host", "there is no host";
    /// No scheme in front.
    MissingScheme = "missing_scheme", "there is no scheme", "a URL begins with its scheme, such as http:// or ftp://";
    /// No `//` after the scheme.
    MissingSlashes = "missing_slashes", "\"//\" and a host must follow the scheme";
    /// A host name with letters outside ASCII that has no xn-- form here.
    NonAsciiHost = "non_ascii_host", "a host name outside ASCII has no valid xn-- form",
        "write the host name in its xn-- form";
    /// A character that may not stand unescaped in this part.
    NotAllowed = "not_allowed", "this character may not stand here unescaped";
    /// A space.
    Space = "space", "a space cannot stand in a URL", "write %20 for a space";
    /// More than [`crate::MAX_LENGTH`] octets.
    TooLong = "too_long", "a URL of more than 65536 octets is refused";
    /// `<http://…` without `>`.
    UnclosedWrapper = "unclosed_wrapper", "the \"<\" in front has no \">\" at the end";
    /// Text behind the end of the URL.
    Unexpected = "unexpected", "nothing may follow here";
    /// `user@` where the scheme has no user.
    UserNotAllowed = "user_not_allowed", "this scheme has no user name or password";
}
