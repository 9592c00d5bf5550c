//! `news:group`, `news:unique@host`, `news:*` (RFC 1738 §3.6, RFC 5538).

use std::fmt;

use crate::escape::sets;
use crate::part::host_parts;
use crate::reader::{Reader, Rule, whole};
use crate::scheme_table::Scheme;
use crate::{Escaped, HostPort, NoteKind, ParseError, ParseErrorKind as Kind, Parsed, Part, Url};

const GROUP: Rule = Rule::new(sets::GROUP);
const PATTERN: Rule = Rule::new(sets::GROUP_PATTERN);
const ARTICLE: Rule = Rule::new(sets::ARTICLE);
const DOMAIN: Rule = Rule::new(sets::UCHAR).keeping(sets::TILDE_AND_BRACKETS);

/// A newsgroup, an article, or all groups, on whatever server the reader uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewsUrl<'a> {
    scheme: &'static Scheme,
    server: Option<HostPort<'a>>,
    part: NewsPart<'a>,
}

/// What a news URL names.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NewsPart<'a> {
    /// `*`: all groups there are.
    All,
    /// A message-id without its angle brackets: `unique@host`.
    Article(Escaped<'a>),
    /// A group; leniently a pattern of groups.
    Group(Escaped<'a>),
}

impl<'a> NewsUrl<'a> {
    #[inline]
    pub(crate) fn parse(reader: &mut Reader<'a>, scheme: &'static Scheme) -> Result<Parsed<'a>, ParseError> {
        let start = reader.at();
        let mut server = None;
        if reader.is_lenient() && reader.rest().starts_with(b"//") {
            reader.slashes()?;
            server = Some(reader.host_port(sets::SLASH_ONLY)?);
            reader.note(NoteKind::NewsServer, start..reader.at());
            if !reader.eat(b'/') {
                return Err(reader.fault_here(Kind::Incomplete));
            }
        }
        let part = NewsPart::parse(reader)?;
        whole!(reader, Url::News(Self { scheme, server, part }))
    }

    /// `news` or `snews`.
    pub const fn scheme(&self) -> &'static Scheme {
        self.scheme
    }

    /// The server, which only RFC 5538 lets a news URL name.
    pub const fn server(&self) -> Option<&HostPort<'a>> {
        self.server.as_ref()
    }

    pub(crate) const fn server_mut(&mut self) -> &mut Option<HostPort<'a>> {
        &mut self.server
    }

    /// What is named.
    pub const fn part(&self) -> &NewsPart<'a> {
        &self.part
    }

    pub(crate) fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.scheme.name)?;
        if let Some(server) = &self.server {
            write!(f, "//{server}/")?;
        }
        match &self.part {
            NewsPart::All => f.write_str("*"),
            NewsPart::Article(text) | NewsPart::Group(text) => write!(f, "{text}"),
        }
    }

    pub(crate) fn parts(&self, parts: &mut Vec<Part>) {
        if let Some(server) = &self.server {
            host_parts(server, parts);
        }
        parts.push(match &self.part {
            NewsPart::All => Part::new("all", "*", "RFC 1738 §3.6: all newsgroups there are"),
            NewsPart::Article(id) => {
                Part::new("article", id, "RFC 1738 §3.6: a message-id without its angle brackets")
            }
            NewsPart::Group(group) => {
                Part::new("group", group, "RFC 1738 §3.6: a period-delimited hierarchical name")
            }
        });
    }

    pub(crate) fn into_owned(self) -> NewsUrl<'static> {
        let part = match self.part {
            NewsPart::All => NewsPart::All,
            NewsPart::Article(id) => NewsPart::Article(id.into_owned()),
            NewsPart::Group(group) => NewsPart::Group(group.into_owned()),
        };
        NewsUrl { scheme: self.scheme, server: self.server.map(HostPort::into_owned), part }
    }
}

impl<'a> NewsPart<'a> {
    #[inline]
    fn parse(reader: &mut Reader<'a>) -> Result<Self, ParseError> {
        let rest = reader.rest();
        if rest == b"*" {
            reader.skip(1);
            return Ok(Self::All);
        }
        if rest.contains(&b'@') {
            return article(reader).map(Self::Article);
        }
        group(reader, sets::NONE).map(Self::Group)
    }
}

/// `unique@host`: the local part may hold almost anything, an escape too.
fn article<'a>(reader: &mut Reader<'a>) -> Result<Escaped<'a>, ParseError> {
    let start = reader.at();
    let unique = reader.component(ARTICLE, sets::AT_SIGN)?;
    if unique.is_empty() {
        return Err(reader.fault_here(Kind::BadMessageId));
    }
    reader.skip(1);
    let domain_start = reader.at();
    if is_domain(reader.rest()) {
        reader.skip(reader.rest().len());
        return Ok(joined(reader, start, &unique, reader.slice(domain_start..reader.at())));
    }
    let domain = reader.component(DOMAIN, sets::NONE)?;
    if !reader.is_lenient() || domain.is_empty() {
        return Err(reader.bad_span(start, Kind::BadMessageId));
    }
    reader.note(NoteKind::MessageIdDomain, domain_start..reader.at());
    Ok(joined(reader, start, &unique, domain.as_str()))
}

/// Both sides as they stand in the text; anew when one of them had to be changed.
fn joined<'a>(reader: &Reader<'a>, start: usize, unique: &Escaped<'_>, domain: &str) -> Escaped<'a> {
    let text = reader.slice(start..reader.at());
    if text.len() == unique.as_str().len() + 1 + domain.len() {
        Escaped::borrowed(text)
    } else {
        Escaped::owned(format!("{unique}@{domain}"))
    }
}

/// §5 `host`: names and numbers alike, checked by the reader's own rule.
fn is_domain(octets: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(octets) else { return false };
    let mut reader = Reader::new(text, crate::Dialect::Rfc1738);
    reader.host_port(sets::NONE).is_ok_and(|at| at.port().is_none()) && reader.finish().is_ok()
}

/// §5 `group`, up to an octet of `stop`: a letter, then letters, digits and `-.+_`.
#[inline(always)]
pub(super) fn group<'a>(reader: &mut Reader<'a>, stop: crate::CharSet) -> Result<Escaped<'a>, ParseError> {
    let octets = reader.rest();
    let end = sets::GROUP.plain_run(octets, 0);
    let is_plain = octets.first().is_some_and(u8::is_ascii_alphabetic);
    if is_plain && octets.get(end).is_none_or(|&octet| stop.contains(octet)) {
        reader.skip(end);
        return Ok(Escaped::borrowed(reader.slice(reader.at() - end..reader.at())));
    }
    odd_group(reader, stop)
}

/// A pattern of groups, a group that begins with a digit, or none at all.
#[cold]
fn odd_group<'a>(reader: &mut Reader<'a>, stop: crate::CharSet) -> Result<Escaped<'a>, ParseError> {
    let start = reader.at();
    let rule = if reader.is_lenient() { PATTERN } else { GROUP };
    let group = reader.component(rule, stop)?;
    if group.is_empty() {
        return Err(reader.fault_here(Kind::BadGroup));
    }
    if group.as_str().contains('*') {
        reader.note(NoteKind::Wildmat, start..reader.at());
    } else if reader.is_lenient() {
        reader.note(NoteKind::GroupName, start..reader.at());
    } else {
        return Err(reader.bad_span(start, Kind::BadGroup));
    }
    Ok(group)
}
