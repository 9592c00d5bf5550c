//! `gopher://host:port/<gtype><selector>%09<search>%09<gopher+_string>` (RFC 1738 §3.4).

use std::fmt;

use crate::component::push_host_port;
use crate::percent_encoding::sets;
use crate::reader::{ComponentRule, Reader};
use crate::scheme_table::Scheme;
use crate::{Component, HostPort, Note, ParseError, PercentEncoded};

const PATH: ComponentRule = ComponentRule::new(sets::XCHAR);
/// The encoded tab between selector, search and Gopher+ string (§3.4.5).
const TAB: &str = "%09";

/// A `gopher` or `gophers` URL: an item on a Gopher server (RFC 1738 §3.4).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GopherUrl<'a> {
    scheme: &'static Scheme,
    host_port: HostPort<'a>,
    path: Option<PercentEncoded<'a>>,
}

/// Selector, search string and Gopher+ string.
type Fields<'u> = (PercentEncoded<'u>, Option<PercentEncoded<'u>>, Option<PercentEncoded<'u>>);

impl<'a> GopherUrl<'a> {
    #[inline]
    pub(crate) fn parse<T>(
        reader: &mut Reader<'a>,
        scheme: &'static Scheme,
        wrap: impl FnOnce(Self, Vec<Note>) -> T,
    ) -> Result<T, ParseError> {
        reader.expect_slashes()?;
        let host_port = reader.read_host_port(sets::SLASH_ONLY)?;
        let path = if reader.eat(b'/') { Some(reader.read_component(PATH, sets::EMPTY)?) } else { None };
        reader.expect_end()?;
        Ok(wrap(Self { scheme, host_port, path }, reader.take_notes()))
    }

    /// Returns the row of `gopher` or `gophers` in the table of schemes.
    pub const fn scheme(&self) -> &'static Scheme {
        self.scheme
    }

    /// Returns host and port.
    pub const fn host_port(&self) -> &HostPort<'a> {
        &self.host_port
    }

    /// Returns the decoded item type: one byte, `1` (a menu) if the path is empty (§3.4.1).
    pub fn gtype(&self) -> u8 {
        let gtype = PercentEncoded::borrowed(self.gtype_text());
        gtype.decode().first().copied().unwrap_or(b'1')
    }

    /// Returns the selector: decoded, the bytes that are sent to the server (§3.4.2). It ends at the first `%09`.
    pub fn selector(&self) -> PercentEncoded<'_> {
        self.split_fields().0
    }

    /// Returns the search string between the first and the second `%09`, for a search engine (§3.4.5).
    pub fn search(&self) -> Option<PercentEncoded<'_>> {
        self.split_fields().1
    }

    /// Returns the Gopher+ string after the second `%09` (§3.4.7). It may contain further `%09`.
    pub fn gopher_plus(&self) -> Option<PercentEncoded<'_>> {
        self.split_fields().2
    }

    fn path_text(&self) -> &str {
        self.path.as_ref().map_or("", PercentEncoded::as_str)
    }

    /// Returns the first character of the path, or the escape in its place.
    fn gtype_text(&self) -> &str {
        let path = self.path_text();
        let length = if path.starts_with('%') { 3 } else { path.len().min(1) };
        &path[..length]
    }

    fn split_fields(&self) -> Fields<'_> {
        let text = &self.path_text()[self.gtype_text().len()..];
        let Some((selector, rest)) = text.split_once(TAB) else {
            return (PercentEncoded::borrowed(text), None, None);
        };
        let (search, gopher_plus) = match rest.split_once(TAB) {
            Some((search, gopher_plus)) => (search, Some(PercentEncoded::borrowed(gopher_plus))),
            None => (rest, None),
        };
        (PercentEncoded::borrowed(selector), Some(PercentEncoded::borrowed(search)), gopher_plus)
    }

    pub(crate) fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.name, self.host_port)?;
        match &self.path {
            Some(path) => write!(f, "/{path}"),
            None => Ok(()),
        }
    }

    pub(crate) fn push_components(&self, components: &mut Vec<Component>) {
        push_host_port(&self.host_port, components);
        if self.path_text().is_empty() {
            return;
        }
        let rule = "RFC 1738 §3.4.1: one character, the type of the item";
        components.push(Component::new("gtype", self.gtype_text(), rule));
        let (selector, search, gopher_plus) = self.split_fields();
        let rule = "RFC 1738 §3.4.2: decoded once and sent as it is";
        components.push(Component::new("selector", selector, rule));
        if let Some(search) = search {
            let rule = "RFC 1738 §3.4.5: after the first %09, the words for a search engine";
            components.push(Component::new("search", search, rule));
        }
        if let Some(gopher_plus) = gopher_plus {
            let rule = "RFC 1738 §3.4.7: after the second %09, the Gopher+ string";
            components.push(Component::new("plus", gopher_plus, rule));
        }
    }

    /// Returns the same URL with owned text, independent of the parsed text.
    pub fn into_owned(self) -> GopherUrl<'static> {
        GopherUrl {
            scheme: self.scheme,
            host_port: self.host_port.into_owned(),
            path: self.path.map(PercentEncoded::into_owned),
        }
    }
}
