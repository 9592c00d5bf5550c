//! Every other scheme (RFC 1738 §4 and §5 `otherurl`): reserved names, `x-` schemes, schemes that
//! a user of the library brings.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use crate::escape::sets;
use crate::host::Passwords;
use crate::reader::{Reader, Rule, whole};
use crate::scheme_table::Scheme;
use crate::{
    Dialect, Escaped, HostPort, Login, NewsPart, NewsUrl, NoteKind, ParseError, ParseErrorKind as Kind,
    Parsed, Part, Url, parse,
};

const REST: Rule = Rule::new(sets::XCHAR);

/// A URL of a scheme that is not one of ours.
#[derive(Clone, PartialEq, Eq)]
pub struct OtherUrl<'a> {
    scheme: &'static Scheme,
    name: Cow<'a, str>,
    rest: Escaped<'a>,
}

impl<'a> OtherUrl<'a> {
    #[inline]
    pub(crate) fn parse(
        reader: &mut Reader<'a>,
        name: Range<usize>,
        scheme: &'static Scheme,
    ) -> Result<Parsed<'a>, ParseError> {
        let start = reader.at();
        let written = reader.slice(name);
        let is_lower = !written.bytes().any(|octet| octet.is_ascii_uppercase());
        let name = if is_lower { Cow::Borrowed(written) } else { Cow::Owned(written.to_ascii_lowercase()) };
        let rest = reader.component(REST, sets::NONE)?;
        if reader.is_1993() {
            check_1993(reader, &name, rest.as_str(), start)?;
        }
        whole!(reader, Url::Other(Self { scheme, name, rest }))
    }

    /// The row of a reserved name; the nameless row for all others.
    pub const fn scheme(&self) -> &'static Scheme {
        self.scheme
    }

    /// The scheme, in lower case.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Everything after the colon.
    pub const fn rest(&self) -> &Escaped<'a> {
        &self.rest
    }

    /// The article of the message-id that a `mid` URL names; what names a part of it (RFC 2392) is left out.
    pub(crate) fn as_article(&self, at: &HostPort<'static>) -> Option<NewsUrl<'static>> {
        let id = self.rest.as_str().split('/').next().filter(|_| self.name == "mid")?;
        // Many write the @ escaped; in a news URL it stands as it is (RFC 1738 §5).
        let id = if id.contains('@') { id.to_owned() } else { id.replacen("%40", "@", 1) };
        match parse(&format!("news://{at}/{id}")).ok()?.into_owned().url {
            Url::News(url) if matches!(url.part(), NewsPart::Article(_)) => Some(url),
            _ => None,
        }
    }

    /// Whether the scheme is experimental: §4 keeps names that begin with `x-` for that.
    pub fn is_experimental(&self) -> bool {
        self.name.starts_with("x-")
    }

    /// User, password, host and port, where the rest is written as §5 `ip-schemepart`.
    pub fn login(&self) -> Option<Login<'_>> {
        let mut reader = Reader::new(self.rest.as_str(), Dialect::Lenient);
        reader.slashes().ok()?;
        reader.login(sets::SLASH_OR_QUESTION).ok()
    }

    /// What stands after the slash that follows the host, where there is a host.
    pub fn path(&self) -> Option<Escaped<'_>> {
        let after = self.rest.as_str().strip_prefix("//")?;
        after.split_once('/').map(|(_, path)| Escaped::borrowed(path))
    }

    pub(crate) fn print(&self, f: &mut fmt::Formatter<'_>, passwords: Passwords) -> fmt::Result {
        write!(f, "{}:", self.name)?;
        match passwords {
            Passwords::Shown => write!(f, "{}", self.rest),
            Passwords::Hidden => f.write_str(&self.hidden()),
            Passwords::Dropped => f.write_str(&self.without_password()),
        }
    }

    /// The rest without the password of `//user:password@`; what is opaque is left alone.
    fn without_password(&self) -> String {
        let rest = self.rest.as_str();
        let host = rest.strip_prefix("//").map(|rest| 2 + rest.find(['/', '?']).unwrap_or(rest.len()));
        let at = host.and_then(|end| rest[..end].rfind('@'));
        let colon = at.and_then(|at| rest[2..at].find(':')).map(|colon| colon + 2);
        match (colon, at) {
            (Some(colon), Some(at)) => format!("{}{}", &rest[..colon], &rest[at..]),
            _ => rest.to_owned(),
        }
    }

    /// The rest without what may be a password. `user:password@host` reads as a scheme that nobody
    /// knows: then all before the `@` may be one.
    fn hidden(&self) -> String {
        let rest = self.rest.as_str();
        match rest.rfind('@').filter(|_| self.scheme.name.is_empty() && !rest.starts_with('/')) {
            Some(at) => format!("***{}", &rest[at..]),
            None => crate::mask_password(rest),
        }
    }

    pub(crate) fn parts(&self, parts: &mut Vec<Part>) {
        parts.push(Part::new("rest", self.hidden(), "RFC 1738 §2.1: what only the scheme can interpret"));
    }

    pub(crate) fn into_owned(self) -> OtherUrl<'static> {
        OtherUrl {
            scheme: self.scheme,
            name: Cow::Owned(self.name.into_owned()),
            rest: self.rest.into_owned(),
        }
    }
}

impl fmt::Debug for OtherUrl<'_> {
    /// Nobody knows where such a scheme keeps its passwords: what looks like one is hidden.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OtherUrl({}:{:?})", self.name, self.hidden())
    }
}

/// `mid:addr-spec`, `cid:content-identifier` and `afs://cellname/path` of the 1993 BNF.
#[cold]
fn check_1993(reader: &mut Reader<'_>, name: &str, rest: &str, start: usize) -> Result<(), ParseError> {
    let is_right = match name {
        "mid" => {
            rest.split_once('@').is_some_and(|(unique, domain)| !unique.is_empty() && !domain.is_empty())
        }
        "cid" => !rest.is_empty(),
        "afs" => rest
            .strip_prefix("//")
            .and_then(|rest| rest.split_once('/'))
            .is_some_and(|(cell, _)| !cell.is_empty()),
        _ => return Ok(()),
    };
    if !is_right {
        return Err(reader.bad_span(start, Kind::Incomplete));
    }
    reader.note(NoteKind::Historic, start..reader.at());
    Ok(())
}
