//! `nntp://host:port/group/number` (RFC 1738 §3.7, RFC 5538).

use std::fmt;

use super::news::group;
use crate::escape::sets;
use crate::part::host_parts;
use crate::reader::{Reader, decimal, whole};
use crate::scheme_table::Scheme;
use crate::{Escaped, HostPort, NoteKind, ParseError, ParseErrorKind as Kind, Parsed, Part, Url};

/// The largest article number (RFC 3977 §6).
const MAX_NUMBER: u64 = 2_147_483_647;

/// An article, or a group, on a named server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NntpUrl<'a> {
    scheme: &'static Scheme,
    server: Option<HostPort<'a>>,
    group: Escaped<'a>,
    articles: Option<Articles>,
}

/// One article number, or leniently a range of them, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Articles {
    /// The first number.
    pub first: u64,
    /// The last number; the same as the first for one article.
    pub last: u64,
}

impl<'a> NntpUrl<'a> {
    #[inline]
    pub(crate) fn parse(reader: &mut Reader<'a>, scheme: &'static Scheme) -> Result<Parsed<'a>, ParseError> {
        let server = if has_form_of_1993(reader) {
            reader.note(NoteKind::Historic, reader.at()..reader.at());
            None
        } else {
            reader.slashes()?;
            let at = reader.host_port(sets::SLASH_ONLY)?;
            if !reader.eat(b'/') {
                return Err(reader.fault_here(Kind::Incomplete));
            }
            Some(at)
        };
        let group = group(reader, sets::SLASH_ONLY)?;
        let articles = if reader.eat(b'/') { Some(Articles::parse(reader)?) } else { None };
        if articles.is_none() && server.is_none() {
            return Err(reader.fault_here(Kind::Incomplete));
        }
        whole!(reader, Url::Nntp(Self { scheme, server, group, articles }))
    }

    /// `nntp` or `nntps`.
    pub const fn scheme(&self) -> &'static Scheme {
        self.scheme
    }

    /// The server; none only in the 1993 form.
    pub const fn server(&self) -> Option<&HostPort<'a>> {
        self.server.as_ref()
    }

    pub(crate) const fn server_mut(&mut self) -> &mut Option<HostPort<'a>> {
        &mut self.server
    }

    /// The group.
    pub const fn group(&self) -> &Escaped<'a> {
        &self.group
    }

    /// The article or articles; none names the group itself.
    pub const fn articles(&self) -> Option<Articles> {
        self.articles
    }

    pub(crate) fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

    pub(crate) fn parts(&self, parts: &mut Vec<Part>) {
        if let Some(server) = &self.server {
            host_parts(server, parts);
        }
        parts.push(Part::new("group", &self.group, "RFC 1738 §3.7: the newsgroup"));
        if let Some(articles) = self.articles {
            parts.push(Part::new(
                "article",
                articles,
                "RFC 1738 §3.7: the number of the article within the group",
            ));
        }
    }

    pub(crate) fn into_owned(self) -> NntpUrl<'static> {
        NntpUrl {
            scheme: self.scheme,
            server: self.server.map(HostPort::into_owned),
            group: self.group.into_owned(),
            articles: self.articles,
        }
    }
}

/// `nntp:group/123`, in the BNF of 1993, where the server was the reader's own affair; people wrote it since.
fn has_form_of_1993(reader: &Reader<'_>) -> bool {
    let rest = reader.rest();
    let is_article = || {
        let slash = rest.iter().position(|&octet| octet == b'/');
        slash.is_some_and(|slash| slash > 0 && rest.get(slash + 1).is_some_and(u8::is_ascii_digit))
    };
    !rest.starts_with(b"//") && (reader.is_1993() || (reader.is_lenient() && is_article()))
}

impl Articles {
    #[inline]
    fn parse(reader: &mut Reader<'_>) -> Result<Self, ParseError> {
        let start = reader.at();
        let text = reader.rest();
        reader.skip(text.len());
        let mut ends = text.splitn(2, |&octet| octet == b'-');
        let first = ends.next().unwrap_or_default();
        let last = ends.next();
        let number = |digits| decimal(digits).filter(|&number| number <= MAX_NUMBER);
        let bad = |reader: &Reader<'_>| reader.bad_span(start, Kind::BadArticleNumber);
        let Some(first_number) = number(first) else { return Err(bad(reader)) };
        let Some(last_number) = last.map_or(Some(first_number), number) else { return Err(bad(reader)) };
        if last_number < first_number || (last.is_some() && !reader.is_lenient()) {
            return Err(bad(reader));
        }
        if last.is_some() {
            reader.note(NoteKind::ArticleRange, start..reader.at());
        }
        if [first, last.unwrap_or_default()].iter().any(|digits| digits.len() > 1 && digits[0] == b'0') {
            reader.note(NoteKind::LeadingZeros, start..reader.at());
        }
        Ok(Self { first: first_number, last: last_number })
    }
}

impl fmt::Display for Articles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last { self.first.fmt(f) } else { write!(f, "{}-{}", self.first, self.last) }
    }
}
