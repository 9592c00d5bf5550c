//! `prospero://host:port/hsoname;field=value` (RFC 1738 §3.11, RFC 4157).

use std::fmt;

use crate::component::push_host_port;
use crate::percent_encoding::sets;
use crate::reader::{ComponentRule, Reader};
use crate::{Component, HostPort, Note, NoteKind, ParseError, ParseErrorKind as Kind, PercentEncoded};

const NAME: ComponentRule = ComponentRule::new(sets::FPATH);
const FIELD: ComponentRule = ComponentRule::new(sets::FIELD);
/// The encoded NUL in front of a version (1993 BNF).
const NUL: &str = "%00";

/// A `prospero` URL: an object named by a Prospero directory server (RFC 1738 §3.11).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProsperoUrl<'a> {
    host_port: HostPort<'a>,
    path: PercentEncoded<'a>,
    fields: PercentEncoded<'a>,
}

impl<'a> ProsperoUrl<'a> {
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
        let start = reader.position();
        let path = reader.read_component(NAME, sets::SEMICOLON_ONLY)?;
        let has_escape = path.as_str().as_bytes().contains(&b'%');
        if let Some(nul) = has_escape.then(|| path.as_str().find(NUL)).flatten() {
            let digits = &path.as_str()[nul + NUL.len()..];
            if reader.is_cern1993() && !digits.starts_with(|digit: char| digit.is_ascii_digit()) {
                return Err(reader.error_since(start, Kind::BadField));
            }
            reader.note(NoteKind::Historic, start..reader.position());
        }
        let fields = read_fields(reader)?;
        reader.expect_end()?;
        Ok(wrap(Self { host_port, path, fields }, reader.take_notes()))
    }

    /// Returns host and port.
    pub const fn host_port(&self) -> &HostPort<'a> {
        &self.host_port
    }

    /// Returns the host-specific object name, without the slash that follows the host. In `prospero://h//a` it is `/a`.
    pub fn hsoname(&self) -> PercentEncoded<'_> {
        let path = self.path.as_str();
        PercentEncoded::borrowed(path.split_once(NUL).map_or(path, |(name, _)| name))
    }

    /// Returns the version of the object: the text after `%00` (1993 BNF), or the value of the field `VERSION` or
    /// `OBJECT-VERSION` (RFC 4157).
    pub fn version(&self) -> Option<PercentEncoded<'_>> {
        if let Some((_, version)) = self.path.as_str().split_once(NUL) {
            let end = version.find(NUL).unwrap_or(version.len());
            return Some(PercentEncoded::borrowed(&version[..end]));
        }
        let is_version = |(name, _): &(&str, &str)| is_version_field(name);
        self.field_pairs().find(is_version).map(|(_, value)| PercentEncoded::borrowed(value))
    }

    /// Returns the fields other than the version, as name and value in text order: attributes of the object.
    pub fn attributes(&self) -> impl Iterator<Item = (PercentEncoded<'_>, PercentEncoded<'_>)> {
        self.fields().filter(|(name, _)| !is_version_field(name.as_str()))
    }

    /// Returns all fields, as name and value in text order (§3.11 `fieldspec`).
    pub fn fields(&self) -> impl Iterator<Item = (PercentEncoded<'_>, PercentEncoded<'_>)> {
        self.field_pairs()
            .map(|(name, value)| (PercentEncoded::borrowed(name), PercentEncoded::borrowed(value)))
    }

    fn field_pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields.as_str().split(';').filter_map(|field| field.split_once('='))
    }

    pub(crate) fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "prospero://{}/{}{}", self.host_port, self.path, self.fields)
    }

    pub(crate) fn push_components(&self, components: &mut Vec<Component>) {
        push_host_port(&self.host_port, components);
        let rule = "RFC 1738 §3.11: the host-specific object name, opaque";
        components.push(Component::new("hsoname", self.hsoname(), rule));
        if let Some(version) = self.version() {
            let rule = "RFC 4157: the version of the object; 0 is the newest";
            components.push(Component::new("version", version, rule));
        }
        let rule = "RFC 1738 §3.11: an attribute that identifies the object";
        for (name, value) in self.field_pairs() {
            components.push(Component::new("field", format_args!("{name}={value}"), rule));
        }
    }

    /// Returns the same URL with owned text, independent of the parsed text.
    pub fn into_owned(self) -> ProsperoUrl<'static> {
        ProsperoUrl {
            host_port: self.host_port.into_owned(),
            path: self.path.into_owned(),
            fields: self.fields.into_owned(),
        }
    }
}

fn is_version_field(name: &str) -> bool {
    ["OBJECT-VERSION", "VERSION"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Reads `*( ";" fieldname "=" fieldvalue )` and returns it as one text.
#[inline]
fn read_fields<'a>(reader: &mut Reader<'a>) -> Result<PercentEncoded<'a>, ParseError> {
    let start = reader.position();
    let mut rewritten = String::new();
    let mut is_changed = false;
    while reader.eat(b';') {
        let field = reader.position();
        let name = reader.read_component(FIELD, sets::EQUALS_OR_SEMICOLON)?;
        if !reader.eat(b'=') {
            return Err(reader.error_since(field, Kind::BadField));
        }
        let value = reader.read_component(FIELD, sets::SEMICOLON_ONLY)?;
        let length = name.as_str().len() + 1 + value.as_str().len();
        if !is_changed && length == reader.position() - field {
            continue;
        }
        if !is_changed {
            rewritten.push_str(reader.slice(start..field - 1));
            is_changed = true;
        }
        rewritten.push_str(&format!(";{name}={value}"));
    }
    let written = reader.slice(start..reader.position());
    Ok(if is_changed { PercentEncoded::owned(rewritten) } else { PercentEncoded::borrowed(written) })
}
