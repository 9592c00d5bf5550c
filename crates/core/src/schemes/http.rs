//! `http://host:port/path?search` (RFC 1738 §3.3).

use std::fmt;

use crate::escape::sets;
use crate::host::Passwords;
use crate::part::login_parts;
use crate::reader::{Reader, Rule, whole};
use crate::scheme_table::Scheme;
use crate::{Escaped, Login, NoteKind, ParseError, ParseErrorKind as Kind, Parsed, Part, Url};

const PATH: Rule = Rule::new(sets::HPATH);
const SEARCH: Rule = Rule::new(sets::HSEGMENT).keeping(sets::RFC3986_QUERY);
const PATH_1993: Rule = Rule::new(sets::PATH_1993);
const SEARCH_1993: Rule = Rule::new(sets::SEARCH_1993);

/// A resource on an HTTP server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpUrl<'a> {
    scheme: &'static Scheme,
    login: Login<'a>,
    path: Option<Escaped<'a>>,
    search: Option<Escaped<'a>>,
}

impl<'a> HttpUrl<'a> {
    #[inline]
    pub(crate) fn parse(reader: &mut Reader<'a>, scheme: &'static Scheme) -> Result<Parsed<'a>, ParseError> {
        reader.slashes()?;
        let (path_rule, search_rule) =
            if reader.is_1993() { (PATH_1993, SEARCH_1993) } else { (PATH, SEARCH) };
        let login = Self::login_part(reader)?;
        let path =
            if reader.eat(b'/') { Some(reader.component(path_rule, sets::QUESTION_ONLY)?) } else { None };
        let question = reader.at();
        let search = if reader.eat(b'?') { Some(reader.component(search_rule, sets::NONE)?) } else { None };
        if path.is_some() || search.is_none() || reader.is_1993() {
            return whole!(reader, Url::Http(Self { scheme, login, path, search }));
        }
        if !reader.is_lenient() {
            return Err(ParseError::new(Kind::Unexpected, question..question + 1));
        }
        reader.note(NoteKind::QueryWithoutSlash, question..question + 1);
        whole!(reader, Url::Http(Self { scheme, login, path: Some(Escaped::borrowed("")), search }))
    }

    /// §3.3 allows no user: read all the same, to name it or to note it.
    #[inline]
    fn login_part(reader: &mut Reader<'a>) -> Result<Login<'a>, ParseError> {
        let start = reader.at();
        let login = reader.login(sets::SLASH_OR_QUESTION)?;
        if login.user.is_some() {
            if !reader.is_lenient() {
                return Err(ParseError::new(Kind::UserNotAllowed, start..reader.at()));
            }
            reader.note(NoteKind::UserInHttp, start..reader.at());
        }
        Ok(login)
    }

    /// `http` or `https`.
    pub const fn scheme(&self) -> &'static Scheme {
        self.scheme
    }

    /// Host and port; a user only when leniently read.
    pub const fn login(&self) -> &Login<'a> {
        &self.login
    }

    pub(crate) const fn login_mut(&mut self) -> &mut Login<'a> {
        &mut self.login
    }

    /// What stands after the slash that follows the host. None and empty mean the same (§3.3).
    pub const fn path(&self) -> Option<&Escaped<'a>> {
        self.path.as_ref()
    }

    /// What stands after the `?`.
    pub const fn search(&self) -> Option<&Escaped<'a>> {
        self.search.as_ref()
    }

    /// `/path?search` as the request line has it (RFC 9112 §3.2.1).
    pub fn origin_form(&self) -> String {
        let path = self.path.as_ref().map_or("", Escaped::as_str);
        match &self.search {
            Some(search) => format!("/{path}?{search}"),
            None => format!("/{path}"),
        }
    }

    pub(crate) fn print(&self, f: &mut fmt::Formatter<'_>, passwords: Passwords) -> fmt::Result {
        write!(f, "{}://", self.scheme.name)?;
        self.login.print(f, passwords)?;
        if let Some(path) = &self.path {
            write!(f, "/{path}")?;
        }
        match &self.search {
            Some(search) => write!(f, "?{search}"),
            None => Ok(()),
        }
    }

    pub(crate) fn parts(&self, parts: &mut Vec<Part>) {
        login_parts(&self.login, parts);
        if let Some(path) = &self.path {
            parts.push(Part::new("path", path, "RFC 1738 §3.3: sent as it is written, after a \"/\""));
        }
        if let Some(search) = &self.search {
            parts.push(Part::new("search", search, "RFC 1738 §3.3: the query, sent as it is written"));
        }
    }

    pub(crate) fn into_owned(self) -> HttpUrl<'static> {
        HttpUrl {
            scheme: self.scheme,
            login: self.login.into_owned(),
            path: self.path.map(Escaped::into_owned),
            search: self.search.map(Escaped::into_owned),
        }
    }
}
