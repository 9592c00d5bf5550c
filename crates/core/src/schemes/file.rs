//! `file://host/path` (RFC 1738 §3.10, RFC 8089).

use std::fmt;

use crate::percent_encoding::sets;
use crate::reader::{ComponentRule, Reader};
use crate::{Component, Host, Note, NoteKind, ParseError, ParseErrorKind as Kind, PercentEncoded};

const PATH: ComponentRule = ComponentRule::new(sets::FPATH);

/// A `file` URL: a file on a host, or on the local machine if the host is missing or `localhost` (RFC 1738 §3.10).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileUrl<'a> {
    host: Option<Host<'a>>,
    path: PercentEncoded<'a>,
}

impl<'a> FileUrl<'a> {
    pub(crate) fn parse<T>(
        reader: &mut Reader<'a>,
        wrap: impl FnOnce(Self, Vec<Note>) -> T,
    ) -> Result<T, ParseError> {
        let has_one_slash =
            reader.is_lenient() && reader.peek() == Some(b'/') && !reader.remaining().starts_with(b"//");
        let mut host = None;
        if has_one_slash {
            let at = reader.position();
            reader.note(NoteKind::SingleSlash, at..at + 1);
        } else {
            reader.expect_slashes()?;
            host = read_host(reader)?;
        }
        if !reader.eat(b'/') {
            return Err(reader.error_here(Kind::Incomplete));
        }
        let path = reader.read_component(PATH, sets::EMPTY)?;
        reader.expect_end()?;
        Ok(wrap(Self { host, path }, reader.take_notes()))
    }

    /// Returns the host that was written, `localhost` included.
    pub const fn host(&self) -> Option<&Host<'a>> {
        self.host.as_ref()
    }

    /// Returns the path without the slash that follows the host. On a hierarchical file system the file name is `/` and
    /// this path, each segment decoded on its own.
    pub const fn path(&self) -> &PercentEncoded<'a> {
        &self.path
    }

    pub(crate) fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("file://")?;
        if let Some(host) = &self.host {
            write!(f, "{host}")?;
        }
        write!(f, "/{}", self.path)
    }

    pub(crate) fn push_components(&self, components: &mut Vec<Component>) {
        if let Some(host) = &self.host {
            let rule = "RFC 1738 §3.10: the host of the file; empty or localhost is this machine";
            components.push(Component::new("host", host, rule));
        }
        let rule = "RFC 1738 §3.10: a hierarchical path, each segment decoded on its own";
        components.push(Component::new("path", &self.path, rule));
    }

    /// Returns the same URL with owned text, independent of the parsed text.
    pub fn into_owned(self) -> FileUrl<'static> {
        FileUrl { host: self.host.map(Host::into_owned), path: self.path.into_owned() }
    }
}

/// Reads the host, which may be empty. A port is an error.
fn read_host<'a>(reader: &mut Reader<'a>) -> Result<Option<Host<'a>>, ParseError> {
    if reader.peek().is_none_or(|byte| byte == b'/') {
        return Ok(None);
    }
    let start = reader.position();
    let host_port = reader.read_host_port(sets::SLASH_ONLY)?;
    if host_port.port().is_some() {
        return Err(reader.error_since(start, Kind::BadHost));
    }
    Ok(Some(host_port.host))
}
