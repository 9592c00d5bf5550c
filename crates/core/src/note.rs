//! [`Note`]: a deviation from RFC 1738 that the parser accepted.

use std::fmt;
use std::ops::Range;

/// A deviation from RFC 1738 that the parser accepted or corrected, and its place in the text.
///
/// Notes do not change the result: a caller may show them or ignore them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Note {
    kind: NoteKind,
    span: Range<usize>,
}

impl Note {
    pub(crate) const fn new(kind: NoteKind, span: Range<usize>) -> Self {
        Self { kind, span }
    }

    /// Returns the kind of deviation.
    pub const fn kind(&self) -> NoteKind {
        self.kind
    }

    /// Returns the byte range of the deviation within the parsed text.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    pub(crate) const fn extend_to(&mut self, end: usize) {
        self.span.end = end;
    }
}

macro_rules! notes {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $message:literal;)*) => {
        /// The kind of a [`Note`]. Display prints it as a message.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum NoteKind { $($(#[$doc])* $name,)* }

        impl NoteKind {
            /// Returns the stable identifier for programs, in snake case, such as `empty_port`.
            pub const fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }
        }

        impl fmt::Display for NoteKind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$name => $message,)* })
            }
        }
    };
}

notes! {
    /// A range of articles: `nntp://h/group/100-200`.
    ArticleRange = "article_range", "a range of articles is an extension: RFC 1738 §3.7 allows one number";
    /// A colon without a port: `http://h:/`.
    EmptyPort = "empty_port", "no port after the colon: the default port is used";
    /// A character that must be percent-encoded was written as it is; the parser encoded it.
    Encoded = "encoded", "unsafe or reserved here: percent-encoded as %hh (RFC 1738 §2.2)";
    /// A fragment: the text after `#`, returned in [`Parsed::fragment`](crate::Parsed::fragment).
    Fragment = "fragment", "a fragment is not part of the URL and is never sent (RFC 1738 §2.2)";
    /// A newsgroup name that starts with a character other than a letter, or contains escapes.
    GroupName = "group_name", "not a group name by RFC 1738 §3.6, but such groups exist";
    /// A form that only the BNF of November 1993 has, such as `;type=AN` or `nntp:group/1`.
    Historic = "historic", "a form of the 1993 BNF, from before RFC 1738";
    /// A non-ASCII host name, converted to its `xn--` form (feature `idn`).
    Idn = "idn", "the host name was converted to its xn-- form (UTS 46)";
    /// An IPv6 address in square brackets: `[::1]`.
    Ipv6Literal = "ipv6_literal", "IPv6 addresses in brackets are from RFC 2732, after RFC 1738";
    /// Header fields in a mailto URL: `?subject=x`.
    MailtoHeaders = "mailto_headers", "header fields are defined in RFC 6068, not in RFC 1738";
    /// A message-id whose part after the `@` is not a host name.
    MessageIdDomain = "message_id_domain", "the part after @ is not a host name, but such message-ids exist";
    /// A server in a news URL: `news://server/…`.
    NewsServer = "news_server", "a server in a news URL is defined in RFC 5538, not in RFC 1738 §3.6";
    /// A number with leading zeros.
    LeadingZeros = "leading_zeros", "the leading zeros of a number were dropped";
    /// A query without a path: `http://host?search`.
    QueryWithoutSlash = "query_without_slash", "a \"/\" is missing between the host and the \"?\" (RFC 1738 §3.3)";
    /// A `?` in a user name or password: `ftp://a?@h/`. By RFC 3986 §3.2 the host is `a`.
    QuestionMarkInLogin = "question_mark_in_login", "part of the login (RFC 1738 §5); by RFC 3986 §3.2 the host ends before it: write %3F";
    /// A scheme with upper-case letters: `HTTP:`.
    SchemeCase = "scheme_case", "the scheme was converted to lower case (RFC 1738 §2.1)";
    /// A file URL with one slash: `file:/path`.
    SingleSlash = "single_slash", "\"file:/path\" is RFC 8089's short form of \"file:///path\"";
    /// A character that RFC 1738 calls unsafe and RFC 3986 allows, such as `~`; left as it is.
    Tolerated = "tolerated", "not allowed here by RFC 1738, left as it is (RFC 3986 allows it)";
    /// A host name that ends in a dot: `example.com.`.
    TrailingDot = "trailing_dot", "the host name ends in a dot";
    /// A typecode in upper case: `;TYPE=A`.
    TypecodeCase = "typecode_case", "the typecode was converted to its usual form";
    /// A host name with an underscore: `my_host`.
    UnderscoreHost = "underscore_host", "an underscore is not allowed in host names (RFC 1123)";
    /// The label `URL:` in front of the URL.
    UrlPrefix = "url_prefix", "\"URL:\" is a label, not part of the URL (RFC 1738 appendix)";
    /// User information in an HTTP URL: `http://user:password@h/`.
    UserInHttp = "user_in_http", "RFC 1738 §3.3 allows no user name or password in http";
    /// A pattern of newsgroup names: `comp.*`.
    Wildmat = "wildmat", "a pattern of group names is an extension (RFC 3977 §4)";
    /// Angle brackets around the URL: `<http://…>`.
    Wrapper = "wrapper", "the angle brackets around the URL were dropped (RFC 1738 appendix)";
}
