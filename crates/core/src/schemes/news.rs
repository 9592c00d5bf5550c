//! `news:group`, `news:unique@host`, `news:*` (RFC 1738 §3.6, RFC 5538).

use std::fmt;

use crate::component::push_host_port;
use crate::percent_encoding::{CharSet, sets};
use crate::reader::{ComponentRule, Reader};
use crate::scheme_table::Scheme;
use crate::{
    Component, Dialect, HostPort, Note, NoteKind, ParseError, ParseErrorKind as Kind, PercentEncoded,
};

const GROUP: ComponentRule = ComponentRule::new(sets::GROUP);
const PATTERN: ComponentRule = ComponentRule::new(sets::GROUP_PATTERN);
const ARTICLE: ComponentRule = ComponentRule::new(sets::ARTICLE);
const DOMAIN: ComponentRule = ComponentRule::new(sets::UCHAR).tolerating(sets::TILDE_AND_BRACKETS);

/// A `news` or `snews` URL: a newsgroup, an article or all newsgroups, on the server that the user has configured or,
/// in the lenient dialect, on a named server (RFC 1738 §3.6, RFC 5538 §2).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NewsUrl<'a> {
    scheme: &'static Scheme,
    server: Option<HostPort<'a>>,
    resource: NewsResource<'a>,
}

/// The resource that a news URL names (RFC 1738 §5 `grouppart`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NewsResource<'a> {
    /// `*`: all newsgroups of the server.
    All,
    /// An article, named by its message-id without the angle brackets: `unique@host`.
    Article(PercentEncoded<'a>),
    /// A newsgroup. In the lenient dialect also a pattern of names, such as `comp.*`.
    Group(PercentEncoded<'a>),
}

impl<'a> NewsUrl<'a> {
    #[inline]
    pub(crate) fn parse<T>(
        reader: &mut Reader<'a>,
        scheme: &'static Scheme,
        wrap: impl FnOnce(Self, Vec<Note>) -> T,
    ) -> Result<T, ParseError> {
        let start = reader.position();
        let mut server = None;
        if reader.is_lenient() && reader.remaining().starts_with(b"//") {
            reader.expect_slashes()?;
            server = Some(reader.read_host_port(sets::SLASH_ONLY)?);
            reader.note(NoteKind::NewsServer, start..reader.position());
            if !reader.eat(b'/') {
                return Err(reader.error_here(Kind::Incomplete));
            }
        }
        let resource = NewsResource::parse(reader)?;
        reader.expect_end()?;
        Ok(wrap(Self { scheme, server, resource }, reader.take_notes()))
    }

    /// Returns the row of `news` or `snews` in the table of schemes.
    pub const fn scheme(&self) -> &'static Scheme {
        self.scheme
    }

    /// Returns the server, if the URL names one (RFC 5538 §2; RFC 1738 has none).
    pub const fn server(&self) -> Option<&HostPort<'a>> {
        self.server.as_ref()
    }

    pub(crate) const fn server_mut(&mut self) -> &mut Option<HostPort<'a>> {
        &mut self.server
    }

    /// Returns the newsgroup or article that the URL names.
    pub const fn resource(&self) -> &NewsResource<'a> {
        &self.resource
    }

    pub(crate) fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.scheme.name)?;
        if let Some(server) = &self.server {
            write!(f, "//{server}/")?;
        }
        match &self.resource {
            NewsResource::All => f.write_str("*"),
            NewsResource::Article(text) | NewsResource::Group(text) => write!(f, "{text}"),
        }
    }

    pub(crate) fn push_components(&self, components: &mut Vec<Component>) {
        if let Some(server) = &self.server {
            push_host_port(server, components);
        }
        components.push(match &self.resource {
            NewsResource::All => Component::new("all", "*", "RFC 1738 §3.6: all newsgroups of the server"),
            NewsResource::Article(id) => {
                Component::new("article", id, "RFC 1738 §3.6: a message-id without its angle brackets")
            }
            NewsResource::Group(group) => {
                Component::new("group", group, "RFC 1738 §3.6: a period-delimited hierarchical name")
            }
        });
    }

    /// Returns the same URL with owned text, independent of the parsed text.
    pub fn into_owned(self) -> NewsUrl<'static> {
        let resource = match self.resource {
            NewsResource::All => NewsResource::All,
            NewsResource::Article(id) => NewsResource::Article(id.into_owned()),
            NewsResource::Group(group) => NewsResource::Group(group.into_owned()),
        };
        NewsUrl { scheme: self.scheme, server: self.server.map(HostPort::into_owned), resource }
    }
}

impl<'a> NewsResource<'a> {
    #[inline]
    fn parse(reader: &mut Reader<'a>) -> Result<Self, ParseError> {
        let text = reader.remaining();
        if text == b"*" {
            reader.advance(1);
            return Ok(Self::All);
        }
        if text.contains(&b'@') {
            return read_message_id(reader).map(Self::Article);
        }
        read_group(reader, sets::EMPTY).map(Self::Group)
    }
}

/// Reads `unique@host`. The lenient dialect accepts a part after the `@` that is not a host name.
fn read_message_id<'a>(reader: &mut Reader<'a>) -> Result<PercentEncoded<'a>, ParseError> {
    let start = reader.position();
    let unique = reader.read_component(ARTICLE, sets::AT_SIGN)?;
    if unique.is_empty() {
        return Err(reader.error_here(Kind::BadMessageId));
    }
    reader.advance(1);
    let domain_start = reader.position();
    if is_host(reader.remaining()) {
        reader.advance(reader.remaining().len());
        return Ok(join_message_id(reader, start, &unique, reader.slice(domain_start..reader.position())));
    }
    let domain = reader.read_component(DOMAIN, sets::EMPTY)?;
    if !reader.is_lenient() || domain.is_empty() {
        return Err(reader.error_since(start, Kind::BadMessageId));
    }
    reader.note(NoteKind::MessageIdDomain, domain_start..reader.position());
    Ok(join_message_id(reader, start, &unique, domain.as_str()))
}

/// Returns `unique@domain`, borrowed from the text if neither part was changed.
fn join_message_id<'a>(
    reader: &Reader<'a>,
    start: usize,
    unique: &PercentEncoded<'_>,
    domain: &str,
) -> PercentEncoded<'a> {
    let text = reader.slice(start..reader.position());
    if text.len() == unique.as_str().len() + 1 + domain.len() {
        PercentEncoded::borrowed(text)
    } else {
        PercentEncoded::owned(format!("{unique}@{domain}"))
    }
}

/// Returns `true` if the text is a host name or an address by the strict grammar (§5 `host`).
fn is_host(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let mut reader = Reader::new(text, Dialect::Rfc1738);
    reader.read_host_port(sets::EMPTY).is_ok_and(|host_port| host_port.port().is_none())
        && reader.expect_end().is_ok()
}

/// Reads a newsgroup name up to a byte of `stop`: a letter, then letters, digits and `-.+_` (§5 `group`).
#[inline(always)]
pub(super) fn read_group<'a>(
    reader: &mut Reader<'a>,
    stop: CharSet,
) -> Result<PercentEncoded<'a>, ParseError> {
    let bytes = reader.remaining();
    let end = sets::GROUP.end_of_plain_run(bytes, 0);
    let is_regular = bytes.first().is_some_and(u8::is_ascii_alphabetic);
    if is_regular && bytes.get(end).is_none_or(|&byte| stop.contains(byte)) {
        reader.advance(end);
        return Ok(PercentEncoded::borrowed(reader.slice(reader.position() - end..reader.position())));
    }
    read_irregular_group(reader, stop)
}

/// Reads a pattern of newsgroup names or a name that starts with another character than a letter, if the dialect accepts
/// it.
#[cold]
fn read_irregular_group<'a>(
    reader: &mut Reader<'a>,
    stop: CharSet,
) -> Result<PercentEncoded<'a>, ParseError> {
    let start = reader.position();
    let rule = if reader.is_lenient() { PATTERN } else { GROUP };
    let group = reader.read_component(rule, stop)?;
    if group.is_empty() {
        return Err(reader.error_here(Kind::BadGroup));
    }
    if group.as_str().contains('*') {
        reader.note(NoteKind::Wildmat, start..reader.position());
    } else if reader.is_lenient() {
        reader.note(NoteKind::GroupName, start..reader.position());
    } else {
        return Err(reader.error_since(start, Kind::BadGroup));
    }
    Ok(group)
}
