//! `telnet://user:password@host:port/` (RFC 1738 §3.8, RFC 4248).

use std::fmt;

use crate::authority::PasswordDisplay;
use crate::component::push_authority;
use crate::percent_encoding::sets;
use crate::reader::Reader;
use crate::{Authority, Component, Note, ParseError};

/// A `telnet` URL: an interactive service. It names no data that could be retrieved; user name and password are only
/// advice for the user (RFC 1738 §3.8).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TelnetUrl<'a> {
    authority: Authority<'a>,
    has_slash: bool,
}

impl<'a> TelnetUrl<'a> {
    #[inline]
    pub(crate) fn parse<T>(
        reader: &mut Reader<'a>,
        wrap: impl FnOnce(Self, Vec<Note>) -> T,
    ) -> Result<T, ParseError> {
        reader.expect_slashes()?;
        let authority = reader.read_authority(sets::SLASH_ONLY)?;
        let has_slash = reader.eat(b'/');
        reader.expect_end()?;
        Ok(wrap(Self { authority, has_slash }, reader.take_notes()))
    }

    /// Returns user information, host and port.
    pub const fn authority(&self) -> &Authority<'a> {
        &self.authority
    }

    pub(crate) fn write(&self, f: &mut fmt::Formatter<'_>, passwords: PasswordDisplay) -> fmt::Result {
        f.write_str("telnet://")?;
        self.authority.write(f, passwords)?;
        f.write_str(if self.has_slash { "/" } else { "" })
    }

    pub(crate) fn push_components(&self, components: &mut Vec<Component>) {
        push_authority(&self.authority, components);
    }

    /// Returns the same URL with owned text, independent of the parsed text.
    pub fn into_owned(self) -> TelnetUrl<'static> {
        TelnetUrl { authority: self.authority.into_owned(), has_slash: self.has_slash }
    }
}
