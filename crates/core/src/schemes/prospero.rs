//! `prospero://host:port/hsoname;field=value` (RFC 1738 §3.11, RFC 4157).

use std::fmt;

use crate::escape::sets;
use crate::part::host_parts;
use crate::reader::{Reader, Rule, whole};
use crate::{Escaped, HostPort, NoteKind, ParseError, ParseErrorKind as Kind, Parsed, Part, Url};

const NAME: Rule = Rule::new(sets::FPATH);
const FIELD: Rule = Rule::new(sets::FIELD);
/// The encoded NUL in front of a version (1993 BNF).
const NUL: &str = "%00";

/// An object named by a Prospero directory server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProsperoUrl<'a> {
    at: HostPort<'a>,
    path: Escaped<'a>,
    fields: Escaped<'a>,
}

impl<'a> ProsperoUrl<'a> {
    #[inline]
    pub(crate) fn parse(reader: &mut Reader<'a>) -> Result<Parsed<'a>, ParseError> {
        reader.slashes()?;
        let at = reader.host_port(sets::SLASH_ONLY)?;
        if !reader.eat(b'/') {
            return Err(reader.fault_here(Kind::Incomplete));
        }
        let start = reader.at();
        let path = reader.component(NAME, sets::SEMICOLON_ONLY)?;
        if let Some(nul) = path.as_str().as_bytes().contains(&b'%').then(|| path.as_str().find(NUL)).flatten()
        {
            let digits = &path.as_str()[nul + NUL.len()..];
            if reader.is_1993() && !digits.starts_with(|digit: char| digit.is_ascii_digit()) {
                return Err(reader.bad_span(start, Kind::BadField));
            }
            reader.note(NoteKind::Historic, start..reader.at());
        }
        let fields = read_fields(reader)?;
        whole!(reader, Url::Prospero(Self { at, path, fields }))
    }

    /// Host and port.
    pub const fn at(&self) -> &HostPort<'a> {
        &self.at
    }

    /// The host-specific object name: a slash in front belongs to it.
    pub fn hsoname(&self) -> Escaped<'_> {
        let path = self.path.as_str();
        Escaped::borrowed(path.split_once(NUL).map_or(path, |(name, _)| name))
    }

    /// The version: behind `%00` as in 1993, or the field OBJECT-VERSION or VERSION.
    pub fn version(&self) -> Option<Escaped<'_>> {
        if let Some((_, version)) = self.path.as_str().split_once(NUL) {
            let end = version.find(NUL).unwrap_or(version.len());
            return Some(Escaped::borrowed(&version[..end]));
        }
        self.raw_fields().find(|(name, _)| is_version(name)).map(|(_, value)| Escaped::borrowed(value))
    }

    /// The fields that are no version: attributes of the object, name and value, in order.
    pub fn attributes(&self) -> impl Iterator<Item = (Escaped<'_>, Escaped<'_>)> {
        self.fields().filter(|(name, _)| !is_version(name.as_str()))
    }

    /// The fields, name and value, in order.
    pub fn fields(&self) -> impl Iterator<Item = (Escaped<'_>, Escaped<'_>)> {
        self.raw_fields().map(|(name, value)| (Escaped::borrowed(name), Escaped::borrowed(value)))
    }

    fn raw_fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields.as_str().split(';').filter_map(|field| field.split_once('='))
    }

    pub(crate) fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "prospero://{}/{}{}", self.at, self.path, self.fields)
    }

    pub(crate) fn parts(&self, parts: &mut Vec<Part>) {
        host_parts(&self.at, parts);
        parts.push(Part::new(
            "hsoname",
            self.hsoname(),
            "RFC 1738 §3.11: the host-specific object name, opaque",
        ));
        if let Some(version) = self.version() {
            parts.push(Part::new("version", version, "RFC 4157: the version of the object; 0 is the newest"));
        }
        for (name, value) in self.raw_fields() {
            parts.push(Part::new(
                "field",
                format!("{name}={value}"),
                "RFC 1738 §3.11: an attribute that identifies the object",
            ));
        }
    }

    pub(crate) fn into_owned(self) -> ProsperoUrl<'static> {
        ProsperoUrl {
            at: self.at.into_owned(),
            path: self.path.into_owned(),
            fields: self.fields.into_owned(),
        }
    }
}

fn is_version(name: &str) -> bool {
    ["OBJECT-VERSION", "VERSION"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// `*( ";" fieldname "=" fieldvalue )`, kept as one text.
#[inline]
fn read_fields<'a>(reader: &mut Reader<'a>) -> Result<Escaped<'a>, ParseError> {
    let start = reader.at();
    let mut rewritten = String::new();
    let mut is_changed = false;
    while reader.eat(b';') {
        let field = reader.at();
        let name = reader.component(FIELD, sets::EQUALS_OR_SEMICOLON)?;
        if !reader.eat(b'=') {
            return Err(reader.bad_span(field, Kind::BadField));
        }
        let value = reader.component(FIELD, sets::SEMICOLON_ONLY)?;
        let length = name.as_str().len() + 1 + value.as_str().len();
        if !is_changed && length == reader.at() - field {
            continue;
        }
        if !is_changed {
            rewritten.push_str(reader.slice(start..field - 1));
            is_changed = true;
        }
        rewritten.push_str(&format!(";{name}={value}"));
    }
    Ok(if is_changed {
        Escaped::owned(rewritten)
    } else {
        Escaped::borrowed(reader.slice(start..reader.at()))
    })
}
