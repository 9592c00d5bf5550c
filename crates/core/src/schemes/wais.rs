//! `wais://host:port/database`, `…?search`, `…/wtype/wpath` (RFC 1738 §3.9, RFC 4156).
//!
//! Names with `1993` belong to the draft BNF of November 1993 that preceded RFC 1738 (`Dialect::Cern1993`).

use std::fmt;

use crate::component::push_host_port;
use crate::percent_encoding::sets;
use crate::reader::{ComponentRule, Reader};
use crate::{Component, HostPort, Note, NoteKind, ParseError, ParseErrorKind as Kind, PercentEncoded};

const NAME: ComponentRule = ComponentRule::new(sets::UCHAR);
const SEARCH: ComponentRule = ComponentRule::new(sets::HSEGMENT).tolerating(sets::RFC3986_QUERY);
const WPATH: ComponentRule = ComponentRule::new(sets::UCHAR).tolerating(sets::WAIS_OPAQUE);
const NAME_1993: ComponentRule = ComponentRule::new(sets::XALPHAS_1993);
const WPATH_1993: ComponentRule = ComponentRule::new(sets::WPATH_1993);
const SEARCH_1993: ComponentRule = ComponentRule::new(sets::SEARCH_1993);

/// A `wais` URL: a database on a WAIS server, a search in it, or one of its documents (RFC 1738 §3.9).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WaisUrl<'a> {
    host_port: HostPort<'a>,
    database: PercentEncoded<'a>,
    resource: WaisResource<'a>,
}

/// The resource of a database that a WAIS URL names (RFC 1738 §3.9).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WaisResource<'a> {
    /// The database itself.
    Database,
    /// A document.
    Document {
        /// The type of the document, such as `TEXT`.
        wtype: PercentEncoded<'a>,
        /// The identifier of the document. Its decoded bytes are the identifier that the server returned in a search
        /// response.
        wpath: PercentEncoded<'a>,
    },
    /// A search in the database for these words.
    Search(PercentEncoded<'a>),
}

impl<'a> WaisUrl<'a> {
    #[inline]
    pub(crate) fn parse<T>(
        reader: &mut Reader<'a>,
        wrap: impl FnOnce(Self, Vec<Note>) -> T,
    ) -> Result<T, ParseError> {
        reader.expect_slashes()?;
        let host_port = reader.read_host_port(sets::SLASH_ONLY)?;
        if !reader.eat(b'/') {
            return Err(reader.error_here(Kind::Incomplete));
        }
        let name = if reader.is_cern1993() { NAME_1993 } else { NAME };
        let database = reader.read_component(name, sets::SLASH_OR_QUESTION)?;
        let resource = if reader.eat(b'?') {
            let rule = if reader.is_cern1993() { SEARCH_1993 } else { SEARCH };
            WaisResource::Search(reader.read_component(rule, sets::EMPTY)?)
        } else if reader.eat(b'/') {
            WaisResource::parse_document(reader, name)?
        } else {
            WaisResource::Database
        };
        reader.expect_end()?;
        Ok(wrap(Self { host_port, database, resource }, reader.take_notes()))
    }

    /// Returns host and port.
    pub const fn host_port(&self) -> &HostPort<'a> {
        &self.host_port
    }

    /// Returns the name of the database, which may be empty.
    pub const fn database(&self) -> &PercentEncoded<'a> {
        &self.database
    }

    /// Returns the database, search or document that the URL names.
    pub const fn resource(&self) -> &WaisResource<'a> {
        &self.resource
    }

    pub(crate) fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wais://{}/{}", self.host_port, self.database)?;
        match &self.resource {
            WaisResource::Database => Ok(()),
            WaisResource::Document { wtype, wpath } => write!(f, "/{wtype}/{wpath}"),
            WaisResource::Search(words) => write!(f, "?{words}"),
        }
    }

    pub(crate) fn push_components(&self, components: &mut Vec<Component>) {
        push_host_port(&self.host_port, components);
        components.push(Component::new(
            "database",
            &self.database,
            "RFC 1738 §3.9: the name of the database",
        ));
        match &self.resource {
            WaisResource::Database => {}
            WaisResource::Document { wtype, wpath } => {
                components.push(Component::new("wtype", wtype, "RFC 1738 §3.9: the type of the document"));
                let rule = "RFC 1738 §3.9: the identifier of the document, opaque";
                components.push(Component::new("wpath", wpath, rule));
            }
            WaisResource::Search(words) => {
                components.push(Component::new("search", words, "RFC 1738 §3.9: the words to search for"));
            }
        }
    }

    /// Returns the same URL with owned text, independent of the parsed text.
    pub fn into_owned(self) -> WaisUrl<'static> {
        let resource = match self.resource {
            WaisResource::Database => WaisResource::Database,
            WaisResource::Document { wtype, wpath } => {
                WaisResource::Document { wtype: wtype.into_owned(), wpath: wpath.into_owned() }
            }
            WaisResource::Search(words) => WaisResource::Search(words.into_owned()),
        };
        WaisUrl { host_port: self.host_port.into_owned(), database: self.database.into_owned(), resource }
    }
}

impl<'a> WaisResource<'a> {
    /// Reads `wtype/wpath`.
    fn parse_document(reader: &mut Reader<'a>, name: ComponentRule) -> Result<Self, ParseError> {
        let wtype = reader.read_component(name, sets::SLASH_ONLY)?;
        if !reader.eat(b'/') {
            return Err(reader.error_here(Kind::Incomplete));
        }
        let start = reader.position();
        let rule = if reader.is_cern1993() { WPATH_1993 } else { WPATH };
        let wpath = reader.read_component(rule, sets::EMPTY)?;
        if reader.is_cern1993() && !is_wpath_1993(wpath.as_str()) {
            return Err(reader.error_since(start, Kind::BadField));
        }
        if reader.is_cern1993() {
            reader.note(NoteKind::Historic, start..reader.position());
        }
        Ok(Self::Document { wtype, wpath })
    }
}

/// Returns `true` if the text is `digits = path ;`, once or repeated, as the draft of 1993 requires.
fn is_wpath_1993(text: &str) -> bool {
    let Some(components) = text.strip_suffix(';') else { return false };
    components.split(';').all(|component| {
        let tag = component.split_once('=').map_or("", |(tag, _)| tag);
        !tag.is_empty() && tag.bytes().all(|byte| byte.is_ascii_digit())
    })
}
