//! `file://host/path` (RFC 1738 §3.10, RFC 8089).

use std::fmt;

use crate::escape::sets;
use crate::reader::{Reader, Rule, whole};
use crate::{Escaped, Host, NoteKind, ParseError, ParseErrorKind as Kind, Parsed, Part, Url};

const PATH: Rule = Rule::new(sets::FPATH);

/// A file on some host; without a host, or with `localhost`, on this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileUrl<'a> {
    host: Option<Host<'a>>,
    path: Escaped<'a>,
}

impl<'a> FileUrl<'a> {
    pub(crate) fn parse(reader: &mut Reader<'a>) -> Result<Parsed<'a>, ParseError> {
        let is_short =
            reader.is_lenient() && reader.peek() == Some(b'/') && !reader.rest().starts_with(b"//");
        let mut host = None;
        if is_short {
            let at = reader.at();
            reader.note(NoteKind::SingleSlash, at..at + 1);
        } else {
            reader.slashes()?;
            host = Self::host_part(reader)?;
        }
        if !reader.eat(b'/') {
            return Err(reader.fault_here(Kind::Incomplete));
        }
        let path = reader.component(PATH, sets::NONE)?;
        whole!(reader, Url::File(Self { host, path }))
    }

    fn host_part(reader: &mut Reader<'a>) -> Result<Option<Host<'a>>, ParseError> {
        if reader.peek().is_none_or(|octet| octet == b'/') {
            return Ok(None);
        }
        let start = reader.at();
        let at = reader.host_port(sets::SLASH_ONLY)?;
        if at.port().is_some() {
            return Err(reader.bad_span(start, Kind::BadHost));
        }
        Ok(Some(at.host))
    }

    /// The host that was written.
    pub const fn host(&self) -> Option<&Host<'a>> {
        self.host.as_ref()
    }

    /// What stands after the slash that follows the host. On a hierarchical file system the name is
    /// `/` and this, each segment decoded on its own.
    pub const fn path(&self) -> &Escaped<'a> {
        &self.path
    }

    pub(crate) fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("file://")?;
        if let Some(host) = &self.host {
            write!(f, "{host}")?;
        }
        write!(f, "/{}", self.path)
    }

    pub(crate) fn parts(&self, parts: &mut Vec<Part>) {
        if let Some(host) = &self.host {
            parts.push(Part::new(
                "host",
                host,
                "RFC 1738 §3.10: where the file is; empty or localhost is this machine",
            ));
        }
        parts.push(Part::new(
            "path",
            &self.path,
            "RFC 1738 §3.10: a hierarchical path, each segment decoded on its own",
        ));
    }

    pub(crate) fn into_owned(self) -> FileUrl<'static> {
        FileUrl { host: self.host.map(Host::into_owned), path: self.path.into_owned() }
    }
}
