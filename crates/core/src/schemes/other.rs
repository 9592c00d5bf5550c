//! Every other scheme: reserved names (RFC 1738 §4), `x-` schemes, and schemes that users of the library define (§5
//! `otherurl`).

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use crate::authority::PasswordDisplay;
use crate::password_span::mask_password_span;
use crate::percent_encoding::sets;
use crate::reader::{ComponentRule, Reader};
use crate::scheme_table::Scheme;
use crate::{
    Authority, Component, Dialect, Note, NoteKind, ParseError, ParseErrorKind as Kind, PercentEncoded,
};

const SCHEME_SPECIFIC: ComponentRule = ComponentRule::new(sets::XCHAR);

/// A URL whose scheme has no type of its own: reserved (RFC 1738 §4), experimental or unknown. Debug masks passwords.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct OtherUrl<'a> {
    scheme: &'static Scheme,
    name: Cow<'a, str>,
    scheme_specific: PercentEncoded<'a>,
}

impl<'a> OtherUrl<'a> {
    #[inline]
    pub(crate) fn parse<T>(
        reader: &mut Reader<'a>,
        name: Range<usize>,
        scheme: &'static Scheme,
        wrap: impl FnOnce(Self, Vec<Note>) -> T,
    ) -> Result<T, ParseError> {
        let start = reader.position();
        let written = reader.slice(name);
        let is_lower = !written.bytes().any(|byte| byte.is_ascii_uppercase());
        let name = if is_lower { Cow::Borrowed(written) } else { Cow::Owned(written.to_ascii_lowercase()) };
        let scheme_specific = reader.read_component(SCHEME_SPECIFIC, sets::EMPTY)?;
        if reader.is_cern1993() {
            check_1993(reader, &name, scheme_specific.as_str(), start)?;
        }
        reader.expect_end()?;
        Ok(wrap(Self { scheme, name, scheme_specific }, reader.take_notes()))
    }

    /// Returns the row of a reserved scheme in the table of schemes, or the row with an empty name for all others.
    pub const fn scheme(&self) -> &'static Scheme {
        self.scheme
    }

    /// Returns the name of the scheme in lower case, without the colon.
    pub fn scheme_name(&self) -> &str {
        &self.name
    }

    /// Returns the text after the colon, which only the scheme can interpret (RFC 1738 §2.1).
    pub const fn scheme_specific_part(&self) -> &PercentEncoded<'a> {
        &self.scheme_specific
    }

    /// Returns `true` if the name of the scheme starts with `x-`, which RFC 1738 §4 reserves for experiments.
    pub fn is_experimental(&self) -> bool {
        self.name.starts_with("x-")
    }

    /// Returns the authority, if the text after the colon starts with `//` and a valid one (RFC 1738 §5
    /// `ip-schemepart`).
    pub fn authority(&self) -> Option<Authority<'_>> {
        let mut reader = Reader::new(self.scheme_specific.as_str(), Dialect::Lenient);
        reader.expect_slashes().ok()?;
        reader.read_authority(sets::SLASH_OR_QUESTION).ok()
    }

    /// Returns the text after the slash that ends the authority; `None` without `//` or without that slash.
    pub fn path(&self) -> Option<PercentEncoded<'_>> {
        let after = self.scheme_specific.as_str().strip_prefix("//")?;
        after.split_once('/').map(|(_, path)| PercentEncoded::borrowed(path))
    }

    pub(crate) fn write(&self, f: &mut fmt::Formatter<'_>, passwords: PasswordDisplay) -> fmt::Result {
        write!(f, "{}:", self.name)?;
        match passwords {
            PasswordDisplay::Show => write!(f, "{}", self.scheme_specific),
            PasswordDisplay::Mask => f.write_str(&self.masked()),
            PasswordDisplay::Omit => f.write_str(&self.without_password()),
        }
    }

    /// Returns the text after the colon without the password of `//user:password@`. Other text is returned unchanged.
    fn without_password(&self) -> String {
        let text = self.scheme_specific.as_str();
        let authority_end =
            text.strip_prefix("//").map(|rest| 2 + rest.find(['/', '?']).unwrap_or(rest.len()));
        let at_sign = authority_end.and_then(|end| text[..end].rfind('@'));
        let colon = at_sign.and_then(|at_sign| text[2..at_sign].find(':')).map(|colon| colon + 2);
        match (colon, at_sign) {
            (Some(colon), Some(at_sign)) => format!("{}{}", &text[..colon], &text[at_sign..]),
            _ => text.to_owned(),
        }
    }

    /// Returns the text after the colon with everything masked that may be a password. In `user:password@host` the user
    /// name is read as an unknown scheme, so without `//` all text before the `@` is masked.
    fn masked(&self) -> String {
        let text = self.scheme_specific.as_str();
        match text.rfind('@').filter(|_| self.scheme.name.is_empty() && !text.starts_with('/')) {
            Some(at_sign) => format!("***{}", &text[at_sign..]),
            None => mask_password_span(text),
        }
    }

    pub(crate) fn push_components(&self, components: &mut Vec<Component>) {
        let rule = "RFC 1738 §2.1: only the scheme can interpret it";
        components.push(Component::new("rest", self.masked(), rule));
    }

    /// Returns the same URL with owned text, independent of the parsed text.
    pub fn into_owned(self) -> OtherUrl<'static> {
        OtherUrl {
            scheme: self.scheme,
            name: Cow::Owned(self.name.into_owned()),
            scheme_specific: self.scheme_specific.into_owned(),
        }
    }
}

impl fmt::Debug for OtherUrl<'_> {
    /// Masks everything that may be a password, since the place of the password is unknown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OtherUrl({}:{:?})", self.name, self.masked())
    }
}

/// Checks `mid:addr-spec`, `cid:content-identifier` and `afs://cellname/path` by the 1993 BNF.
#[cold]
fn check_1993(reader: &mut Reader<'_>, name: &str, text: &str, start: usize) -> Result<(), ParseError> {
    let is_valid = match name {
        "mid" => {
            text.split_once('@').is_some_and(|(unique, domain)| !unique.is_empty() && !domain.is_empty())
        }
        "cid" => !text.is_empty(),
        "afs" => text
            .strip_prefix("//")
            .and_then(|rest| rest.split_once('/'))
            .is_some_and(|(cell, _)| !cell.is_empty()),
        _ => return Ok(()),
    };
    if !is_valid {
        return Err(reader.error_since(start, Kind::Incomplete));
    }
    reader.note(NoteKind::Historic, start..reader.position());
    Ok(())
}
