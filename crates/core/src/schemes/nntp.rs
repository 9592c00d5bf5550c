//! `nntp://host:port/group/number` (RFC 1738 §3.7, RFC 5538).

use std::fmt;

use super::news::read_group;
use crate::component::push_host_port;
use crate::percent_encoding::sets;
use crate::reader::{Reader, parse_decimal};
use crate::scheme_table::Scheme;
use crate::{Component, HostPort, Note, NoteKind, ParseError, ParseErrorKind as Kind, PercentEncoded};

/// An `nntp` or `nntps` URL: a newsgroup, or articles of it, on a named server (RFC 1738 §3.7).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NntpUrl<'a> {
    scheme: &'static Scheme,
    server: Option<HostPort<'a>>,
    group: PercentEncoded<'a>,
    articles: Option<ArticleNumbers>,
}

/// The article number of an NNTP URL or, in the lenient dialect, a range of numbers: `first-last`, both included.
/// Numbers are at most [`ArticleNumbers::MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArticleNumbers {
    /// The first number.
    pub first: u64,
    /// The last number; equal to `first` for a single article, never smaller.
    pub last: u64,
}

impl<'a> NntpUrl<'a> {
    #[inline]
    pub(crate) fn parse<T>(
        reader: &mut Reader<'a>,
        scheme: &'static Scheme,
        build: impl FnOnce(Self, Vec<Note>) -> T,
    ) -> Result<T, ParseError> {
        let server = if has_no_server(reader) {
            reader.note(NoteKind::Historic, reader.position()..reader.position());
            None
        } else {
            reader.expect_slashes()?;
            let server = reader.read_host_port(sets::SLASH_ONLY)?;
            if !reader.eat(b'/') {
                return Err(reader.error_here(Kind::Incomplete));
            }
            Some(server)
        };
        let group = read_group(reader, sets::SLASH_ONLY)?;
        let articles = if reader.eat(b'/') { Some(ArticleNumbers::parse(reader)?) } else { None };
        if articles.is_none() && server.is_none() {
            return Err(reader.error_here(Kind::Incomplete));
        }
        reader.expect_end()?;
        Ok(build(Self { scheme, server, group, articles }, reader.take_notes()))
    }

    /// Returns the row of `nntp` or `nntps` in the table of schemes.
    pub const fn scheme(&self) -> &'static Scheme {
        self.scheme
    }

    /// Returns the server. Only the form of 1993, `nntp:group/number`, has none.
    pub const fn server(&self) -> Option<&HostPort<'a>> {
        self.server.as_ref()
    }

    pub(crate) const fn server_mut(&mut self) -> &mut Option<HostPort<'a>> {
        &mut self.server
    }

    /// Returns the name of the newsgroup.
    pub const fn group(&self) -> &PercentEncoded<'a> {
        &self.group
    }

    /// Returns the article numbers; `None` if the URL names the newsgroup itself.
    pub const fn articles(&self) -> Option<ArticleNumbers> {
        self.articles
    }

    pub(crate) fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.scheme.name)?;
        if let Some(server) = &self.server {
            write!(f, "//{server}/")?;
        }
        write!(f, "{}", self.group)?;
        match self.articles {
            Some(articles) => write!(f, "/{articles}"),
            None => Ok(()),
        }
    }

    pub(crate) fn push_components(&self, components: &mut Vec<Component>) {
        if let Some(server) = &self.server {
            push_host_port(server, components);
        }
        components.push(Component::new("group", &self.group, "RFC 1738 §3.7: the newsgroup"));
        if let Some(articles) = self.articles {
            let rule = "RFC 1738 §3.7: the number of the article within the group";
            components.push(Component::new("article", articles, rule));
        }
    }

    /// Returns the same URL with owned text, independent of the parsed text.
    pub fn into_owned(self) -> NntpUrl<'static> {
        NntpUrl {
            scheme: self.scheme,
            server: self.server.map(HostPort::into_owned),
            group: self.group.into_owned(),
            articles: self.articles,
        }
    }
}

/// Returns `true` if the URL has the form of the 1993 BNF, `nntp:group/number`, in which the user configures the server.
/// The lenient dialect accepts it as well.
fn has_no_server(reader: &Reader<'_>) -> bool {
    let text = reader.remaining();
    let is_article = || {
        let slash = text.iter().position(|&byte| byte == b'/');
        slash.is_some_and(|slash| slash > 0 && text.get(slash + 1).is_some_and(u8::is_ascii_digit))
    };
    !text.starts_with(b"//") && (reader.is_cern1993() || (reader.is_lenient() && is_article()))
}

impl ArticleNumbers {
    /// The largest article number: 16 digits (`article-number` in RFC 3977 §9.8). Servers of large groups
    /// exceed the limit of 2147483647 in RFC 3977 §6.
    pub const MAX: u64 = 9_999_999_999_999_999;

    /// Reads the rest of the text: `number` or, in the lenient dialect, `first-last`.
    #[inline]
    fn parse(reader: &mut Reader<'_>) -> Result<Self, ParseError> {
        let start = reader.position();
        let text = reader.remaining();
        reader.advance(text.len());
        let mut ends = text.splitn(2, |&byte| byte == b'-');
        let first_digits = ends.next().unwrap_or_default();
        let last_digits = ends.next();
        let number = |digits| parse_decimal(digits).filter(|&number| number <= Self::MAX);
        let error = |reader: &Reader<'_>| reader.error_since(start, Kind::BadArticleNumber);
        let Some(first) = number(first_digits) else { return Err(error(reader)) };
        let Some(last) = last_digits.map_or(Some(first), number) else { return Err(error(reader)) };
        if last < first || (last_digits.is_some() && !reader.is_lenient()) {
            return Err(error(reader));
        }
        if last_digits.is_some() {
            reader.note(NoteKind::ArticleRange, start..reader.position());
        }
        let has_leading_zero = |digits: &&[u8]| digits.len() > 1 && digits[0] == b'0';
        if [first_digits, last_digits.unwrap_or_default()].iter().any(has_leading_zero) {
            reader.note(NoteKind::LeadingZeros, start..reader.position());
        }
        Ok(Self { first, last })
    }
}

impl fmt::Display for ArticleNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last { self.first.fmt(f) } else { write!(f, "{}-{}", self.first, self.last) }
    }
}
