//! `telnet://user:password@host:port/` (RFC 1738 §3.8, RFC 4248).

use std::fmt;

use crate::escape::sets;
use crate::host::Passwords;
use crate::part::login_parts;
use crate::reader::{Reader, whole};
use crate::{Login, ParseError, Parsed, Part, Url};

/// An interactive service. It names no data object; user and password are advice (§3.8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TelnetUrl<'a> {
    login: Login<'a>,
    has_slash: bool,
}

impl<'a> TelnetUrl<'a> {
    #[inline]
    pub(crate) fn parse(reader: &mut Reader<'a>) -> Result<Parsed<'a>, ParseError> {
        reader.slashes()?;
        let login = reader.login(sets::SLASH_ONLY)?;
        let has_slash = reader.eat(b'/');
        whole!(reader, Url::Telnet(Self { login, has_slash }))
    }

    /// Who asks whom.
    pub const fn login(&self) -> &Login<'a> {
        &self.login
    }

    pub(crate) fn print(&self, f: &mut fmt::Formatter<'_>, passwords: Passwords) -> fmt::Result {
        f.write_str("telnet://")?;
        self.login.print(f, passwords)?;
        f.write_str(if self.has_slash { "/" } else { "" })
    }

    pub(crate) fn parts(&self, parts: &mut Vec<Part>) {
        login_parts(&self.login, parts);
    }

    pub(crate) fn into_owned(self) -> TelnetUrl<'static> {
        TelnetUrl { login: self.login.into_owned(), has_slash: self.has_slash }
    }
}
