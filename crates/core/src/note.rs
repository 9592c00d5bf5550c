//! What the parser tolerated or changed: findings beside the result, never in its place.

use std::fmt;
use std::ops::Range;

/// Something about the text that RFC 1738 does not say, or says otherwise, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    kind: NoteKind,
    span: Range<usize>,
}

impl Note {
    pub(crate) const fn new(kind: NoteKind, span: Range<usize>) -> Self {
        Self { kind, span }
    }

    /// What was found.
    pub const fn kind(&self) -> NoteKind {
        self.kind
    }

    /// Where it stands, in octets of the text that was parsed.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    pub(crate) const fn extend_to(&mut self, end: usize) {
        self.span.end = end;
    }
}

macro_rules! notes {
    ($($(#[$doc:meta])* $name:ident = $word:literal, $text:literal;)*) => {
        /// The kinds of [`Note`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum NoteKind { $($(#[$doc])* $name,)* }

        impl NoteKind {
            /// A stable word for machines.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }

        impl fmt::Display for NoteKind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$name => $text,)* })
            }
        }
    };
}

notes! {
    /// `nntp://h/group/100-200`.
    ArticleRange = "article_range", "a range of articles is an extension: RFC 1738 §3.7 has one number";
    /// `://host:/`.
    EmptyPort = "empty_port", "no port after the colon: the default port is used";
    /// A character that must be written `%hh` was written so on the caller's behalf.
    Encoded = "encoded", "unsafe or reserved here: written as %hh (RFC 1738 §2.2)";
    /// Everything from `#` on is kept aside.
    Fragment = "fragment", "a fragment is not part of a URL: kept aside, never sent (RFC 1738 §2.2)";
    /// A group name that does not begin with a letter, or holds escapes.
    GroupName = "group_name", "not a group name by RFC 1738 §3.6, but such groups exist";
    /// A form that only the BNF of November 1993 has.
    Historic = "historic", "a form of the 1993 BNF, from before RFC 1738";
    /// A host name became its xn-- form.
    Idn = "idn", "the host name was turned into its xn-- form (UTS 46)";
    /// `[::1]`.
    Ipv6Literal = "ipv6_literal", "IPv6 literals came after RFC 1738 (RFC 2732)";
    /// `mailto:` with `?header=value`.
    MailtoHeaders = "mailto_headers", "header fields are RFC 6068's, not RFC 1738's";
    /// A message-id whose right side is no host name.
    MessageIdDomain = "message_id_domain", "the part after @ is no host name, but such message-ids exist";
    /// `news://server/…`.
    NewsServer = "news_server", "a server in a news URL is RFC 5538's: RFC 1738 §3.6 has none";
    /// A number was written with zeros in front.
    LeadingZeros = "leading_zeros", "zeros in front of a number were dropped";
    /// `http://host?search`.
    QueryWithoutSlash = "query_without_slash", "a \"/\" belongs between the host and the \"?\" (RFC 1738 §3.3)";
    /// `HTTP:` instead of `http:`.
    SchemeCase = "scheme_case", "the scheme was written in lower case (RFC 1738 §2.1)";
    /// `file:/path`.
    SingleSlash = "single_slash", "\"file:/path\" is RFC 8089's short form of \"file:///path\"";
    /// Characters such as `~` that RFC 1738 calls unsafe and later practice leaves alone.
    Tolerated = "tolerated", "not allowed here by RFC 1738, left as it is (RFC 3986 allows it)";
    /// `example.com.`
    TrailingDot = "trailing_dot", "a dot at the end of the host name";
    /// `;TYPE=A`.
    TypecodeCase = "typecode_case", "the typecode was written in lower case";
    /// `my_host`.
    UnderscoreHost = "underscore_host", "an underscore is not allowed in host names (RFC 1123)";
    /// `URL:http://…`.
    UrlPrefix = "url_prefix", "\"URL:\" is a label, not part of the URL (RFC 1738 appendix)";
    /// `user:password@` in http.
    UserInHttp = "user_in_http", "RFC 1738 §3.3 allows no user name or password in http";
    /// `comp.*`.
    Wildmat = "wildmat", "a pattern of group names is an extension (RFC 3977 §4)";
    /// `<http://…>`.
    Wrapper = "wrapper", "the angle brackets around the URL were dropped (RFC 1738 appendix)";
}
