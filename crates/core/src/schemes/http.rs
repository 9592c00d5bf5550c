//! `http://host:port/path?query` (RFC 1738 §3.3).
//!
//! `PATH_1993` belongs to the draft BNF of November 1993 that preceded RFC 1738 (`Dialect::Cern1993`).

use std::fmt;

use crate::authority::PasswordDisplay;
use crate::component::push_authority;
use crate::percent_encoding::sets;
use crate::reader::{ComponentRule, Reader};
use crate::scheme_table::Scheme;
use crate::{Authority, Component, Note, NoteKind, ParseError, ParseErrorKind as Kind, PercentEncoded};

const PATH: ComponentRule = ComponentRule::new(sets::HPATH);
const QUERY: ComponentRule = ComponentRule::new(sets::HSEGMENT).tolerating(sets::RFC3986_QUERY);
const PATH_1993: ComponentRule = ComponentRule::new(sets::PATH_1993);
const QUERY_1993: ComponentRule = ComponentRule::new(sets::SEARCH_1993);

/// An `http` or `https` URL: a resource on an HTTP server (RFC 1738 §3.3).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HttpUrl<'a> {
    scheme: &'static Scheme,
    authority: Authority<'a>,
    path: Option<PercentEncoded<'a>>,
    query: Option<PercentEncoded<'a>>,
}

impl<'a> HttpUrl<'a> {
    #[inline]
    pub(crate) fn parse<T>(
        reader: &mut Reader<'a>,
        scheme: &'static Scheme,
        wrap: impl FnOnce(Self, Vec<Note>) -> T,
    ) -> Result<T, ParseError> {
        reader.expect_slashes()?;
        let (path_rule, query_rule) =
            if reader.is_cern1993() { (PATH_1993, QUERY_1993) } else { (PATH, QUERY) };
        let authority = read_authority(reader)?;
        let path = if reader.eat(b'/') {
            Some(reader.read_component(path_rule, sets::QUESTION_ONLY)?)
        } else {
            None
        };
        let question = reader.position();
        let query =
            if reader.eat(b'?') { Some(reader.read_component(query_rule, sets::EMPTY)?) } else { None };
        if path.is_some() || query.is_none() || reader.is_cern1993() {
            reader.expect_end()?;
            return Ok(wrap(Self { scheme, authority, path, query }, reader.take_notes()));
        }
        if !reader.is_lenient() {
            return Err(ParseError::new(Kind::Unexpected, question..question + 1));
        }
        reader.note(NoteKind::QueryWithoutSlash, question..question + 1);
        reader.expect_end()?;
        let path = Some(PercentEncoded::borrowed(""));
        Ok(wrap(Self { scheme, authority, path, query }, reader.take_notes()))
    }

    /// Returns the row of `http` or `https` in the table of schemes.
    pub const fn scheme(&self) -> &'static Scheme {
        self.scheme
    }

    /// Returns host and port, and the user information, which only the lenient dialect accepts.
    pub const fn authority(&self) -> &Authority<'a> {
        &self.authority
    }

    pub(crate) const fn authority_mut(&mut self) -> &mut Authority<'a> {
        &mut self.authority
    }

    /// Returns the path without the slash that follows the host. `None` and an empty path name the same resource (§3.3).
    pub const fn path(&self) -> Option<&PercentEncoded<'a>> {
        self.path.as_ref()
    }

    /// Returns the query after the `?`, which RFC 1738 calls the search part.
    pub const fn query(&self) -> Option<&PercentEncoded<'a>> {
        self.query.as_ref()
    }

    /// Returns `/path?query` as it was written: the origin form of the request target (RFC 9112 §3.2.1).
    pub fn origin_form(&self) -> String {
        let path = self.path.as_ref().map_or("", PercentEncoded::as_str);
        match &self.query {
            Some(query) => format!("/{path}?{query}"),
            None => format!("/{path}"),
        }
    }

    pub(crate) fn write(&self, f: &mut fmt::Formatter<'_>, passwords: PasswordDisplay) -> fmt::Result {
        f.write_str(self.scheme.name)?;
        f.write_str("://")?;
        self.authority.write(f, passwords)?;
        for (separator, part) in [("/", &self.path), ("?", &self.query)] {
            if let Some(part) = part {
                f.write_str(separator)?;
                f.write_str(part.as_str())?;
            }
        }
        Ok(())
    }

    pub(crate) fn push_components(&self, components: &mut Vec<Component>) {
        push_authority(&self.authority, components);
        if let Some(path) = &self.path {
            let rule = "RFC 1738 §3.3: sent as it is written, after a \"/\"";
            components.push(Component::new("path", path, rule));
        }
        if let Some(query) = &self.query {
            let rule = "RFC 1738 §3.3: the query, sent as it is written";
            components.push(Component::new("search", query, rule));
        }
    }

    /// Returns the same URL with owned text, independent of the parsed text.
    pub fn into_owned(self) -> HttpUrl<'static> {
        HttpUrl {
            scheme: self.scheme,
            authority: self.authority.into_owned(),
            path: self.path.map(PercentEncoded::into_owned),
            query: self.query.map(PercentEncoded::into_owned),
        }
    }
}

/// Reads the authority. User information, which §3.3 does not allow, is an error or, in the lenient dialect, a note.
#[inline]
fn read_authority<'a>(reader: &mut Reader<'a>) -> Result<Authority<'a>, ParseError> {
    let start = reader.position();
    let authority = reader.read_authority(sets::SLASH_OR_QUESTION)?;
    if authority.user_info.is_some() {
        if !reader.is_lenient() {
            return Err(ParseError::new(Kind::UserNotAllowed, start..reader.position()));
        }
        reader.note(NoteKind::UserInHttp, start..reader.position());
    }
    Ok(authority)
}
