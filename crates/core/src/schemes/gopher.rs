//! `gopher://host:port/<gtype><selector>%09<search>%09<gopher+_string>` (RFC 1738 §3.4).

use std::fmt;

use crate::escape::sets;
use crate::part::host_parts;
use crate::reader::{Reader, Rule, whole};
use crate::scheme_table::Scheme;
use crate::{Escaped, HostPort, ParseError, Parsed, Part, Url};

const PATH: Rule = Rule::new(sets::XCHAR);
/// The encoded tab between selector, search and Gopher+ string (§3.4.5).
const TAB: &str = "%09";

/// An item on a Gopher server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GopherUrl<'a> {
    scheme: &'static Scheme,
    at: HostPort<'a>,
    path: Option<Escaped<'a>>,
}

impl<'a> GopherUrl<'a> {
    #[inline]
    pub(crate) fn parse(reader: &mut Reader<'a>, scheme: &'static Scheme) -> Result<Parsed<'a>, ParseError> {
        reader.slashes()?;
        let at = reader.host_port(sets::SLASH_ONLY)?;
        let path = if reader.eat(b'/') { Some(reader.component(PATH, sets::NONE)?) } else { None };
        whole!(reader, Url::Gopher(Self { scheme, at, path }))
    }

    /// `gopher` or `gophers`.
    pub const fn scheme(&self) -> &'static Scheme {
        self.scheme
    }

    /// Host and port.
    pub const fn at(&self) -> &HostPort<'a> {
        &self.at
    }

    /// The type of the item: `1`, a menu, when none is written (§3.4.1). May be written `%hh`.
    pub fn gtype(&self) -> u8 {
        let gtype = Escaped::borrowed(self.gtype_text());
        gtype.decode().first().copied().unwrap_or(b'1')
    }

    /// What is sent to the server, up to the first `%09`; any octet may stand in it (§3.4.2).
    pub fn selector(&self) -> Escaped<'_> {
        self.fields().0
    }

    /// The search words behind the first `%09` (§3.4.5).
    pub fn search(&self) -> Option<Escaped<'_>> {
        self.fields().1
    }

    /// The Gopher+ string behind the second `%09` (§3.4.7); a third one is part of it.
    pub fn plus(&self) -> Option<Escaped<'_>> {
        self.fields().2
    }

    fn path_text(&self) -> &str {
        self.path.as_ref().map_or("", Escaped::as_str)
    }

    /// The first character of the path, or the escape in its place.
    fn gtype_text(&self) -> &str {
        let path = self.path_text();
        let length = if path.starts_with('%') { 3 } else { path.len().min(1) };
        &path[..length]
    }

    fn fields(&self) -> (Escaped<'_>, Option<Escaped<'_>>, Option<Escaped<'_>>) {
        let text = &self.path_text()[self.gtype_text().len()..];
        let Some((selector, rest)) = split_tab(text) else { return (Escaped::borrowed(text), None, None) };
        let (search, plus) = match split_tab(rest) {
            Some((search, plus)) => (search, Some(Escaped::borrowed(plus))),
            None => (rest, None),
        };
        (Escaped::borrowed(selector), Some(Escaped::borrowed(search)), plus)
    }

    pub(crate) fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.name, self.at)?;
        match &self.path {
            Some(path) => write!(f, "/{path}"),
            None => Ok(()),
        }
    }

    pub(crate) fn parts(&self, parts: &mut Vec<Part>) {
        host_parts(&self.at, parts);
        if self.path_text().is_empty() {
            return;
        }
        parts.push(Part::new(
            "gtype",
            self.gtype_text(),
            "RFC 1738 §3.4.1: one character, the type of the item",
        ));
        let (selector, search, plus) = self.fields();
        parts.push(Part::new("selector", selector, "RFC 1738 §3.4.2: decoded once and sent as it is"));
        if let Some(search) = search {
            parts.push(Part::new(
                "search",
                search,
                "RFC 1738 §3.4.5: behind the first %09, the words for a search engine",
            ));
        }
        if let Some(plus) = plus {
            parts.push(Part::new(
                "plus",
                plus,
                "RFC 1738 §3.4.7: behind the second %09, what Gopher+ is asked for",
            ));
        }
    }

    pub(crate) fn into_owned(self) -> GopherUrl<'static> {
        GopherUrl { scheme: self.scheme, at: self.at.into_owned(), path: self.path.map(Escaped::into_owned) }
    }
}

/// The two sides of the first encoded tab.
fn split_tab(text: &str) -> Option<(&str, &str)> {
    text.split_once(TAB)
}
