//! Who is asked: host, port, user and password (RFC 1738 §3.1).

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU16;

use crate::escape::sets;
use crate::reader::Reader;
use crate::{Dialect, Escaped, ParseError};

/// A host: a name, or an address written as RFC 1738 or RFC 2732 writes it.
///
/// Names are compared without regard to case and to one dot at the end.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_enums, reason = "a host is one of these three")]
pub enum Host<'a> {
    /// A fully qualified domain name, as it was written.
    Name(Cow<'a, str>),
    /// Four decimal groups.
    V4(Ipv4Addr),
    /// In square brackets.
    V6(Ipv6Addr),
}

impl Host<'_> {
    /// The same host without a borrow.
    pub fn into_owned(self) -> Host<'static> {
        match self {
            Self::Name(name) => Host::Name(Cow::Owned(name.into_owned())),
            Self::V4(address) => Host::V4(address),
            Self::V6(address) => Host::V6(address),
        }
    }

    fn comparable(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name.strip_suffix('.').unwrap_or(name)),
            Self::V4(_) | Self::V6(_) => None,
        }
    }
}

impl PartialEq for Host<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::V4(one), Self::V4(two)) => one == two,
            (Self::V6(one), Self::V6(two)) => one == two,
            (one, two) => match (one.comparable(), two.comparable()) {
                (Some(one), Some(two)) => one.eq_ignore_ascii_case(two),
                _ => false,
            },
        }
    }
}

impl Eq for Host<'_> {}

impl Hash for Host<'_> {
    /// What is the same has the same.
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::V4(address) => address.hash(state),
            Self::V6(address) => address.hash(state),
            Self::Name(_) => {
                let octets = self.comparable().unwrap_or_default().bytes();
                octets.for_each(|octet| state.write_u8(octet.to_ascii_lowercase()));
            }
        }
    }
}

impl fmt::Display for Host<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::V4(address) => address.fmt(f),
            Self::V6(address) => write!(f, "[{address}]"),
        }
    }
}

/// A host and, when one was written, a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPort<'a> {
    pub(crate) host: Host<'a>,
    pub(crate) port: Option<NonZeroU16>,
}

impl HostPort<'static> {
    /// Reads `host` or `host:port`, as they stand in a URL.
    ///
    /// # Errors
    /// It is no such thing.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut reader = Reader::new(text, Dialect::Lenient);
        let at = reader.host_port(sets::NONE)?.into_owned();
        reader.finish()?;
        Ok(at)
    }
}

impl<'a> HostPort<'a> {
    /// The host.
    pub const fn host(&self) -> &Host<'a> {
        &self.host
    }

    /// The port that was written.
    pub const fn port(&self) -> Option<NonZeroU16> {
        self.port
    }

    /// The same without a borrow.
    pub fn into_owned(self) -> HostPort<'static> {
        HostPort { host: self.host.into_owned(), port: self.port }
    }
}

impl fmt::Display for HostPort<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.host.fmt(f)?;
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

/// A password: Debug and Display print nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret<'a>(Escaped<'a>);

impl<'a> Secret<'a> {
    pub(crate) const fn new(text: Escaped<'a>) -> Self {
        Self(text)
    }

    /// The password itself. Only for the command that needs it.
    pub const fn expose(&self) -> &Escaped<'a> {
        &self.0
    }

    /// The same without a borrow.
    pub fn into_owned(self) -> Secret<'static> {
        Secret(self.0.into_owned())
    }
}

impl fmt::Debug for Secret<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

impl fmt::Display for Secret<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// `[user[:password]@]host[:port]` (§3.1). Empty is not absent: `ftp://@h/` has an empty user,
/// `ftp://h/` has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login<'a> {
    pub(crate) user: Option<Escaped<'a>>,
    pub(crate) password: Option<Secret<'a>>,
    pub(crate) at: HostPort<'a>,
}

impl<'a> Login<'a> {
    /// The user name, if one was written.
    pub const fn user(&self) -> Option<&Escaped<'a>> {
        self.user.as_ref()
    }

    /// The password, if one was written.
    pub const fn password(&self) -> Option<&Secret<'a>> {
        self.password.as_ref()
    }

    /// Host and port.
    pub const fn at(&self) -> &HostPort<'a> {
        &self.at
    }

    /// The same without a borrow.
    pub fn into_owned(self) -> Login<'static> {
        Login {
            user: self.user.map(Escaped::into_owned),
            password: self.password.map(Secret::into_owned),
            at: self.at.into_owned(),
        }
    }

    pub(crate) fn print(&self, f: &mut fmt::Formatter<'_>, passwords: Passwords) -> fmt::Result {
        if let Some(user) = &self.user {
            write!(f, "{user}")?;
            match (&self.password, passwords) {
                (Some(password), Passwords::Shown) => write!(f, ":{}", password.expose())?,
                (Some(password), Passwords::Hidden) => write!(f, ":{password}")?,
                (Some(_), Passwords::Dropped) => {}
                (None, _) => {}
            }
            f.write_str("@")?;
        }
        write!(f, "{}", self.at)
    }
}

/// Whether a URL is printed for a machine or for eyes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passwords {
    Shown,
    /// As `***`.
    Hidden,
    Dropped,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_compare_without_case_and_final_dot() {
        let name = |text: &'static str| Host::Name(Cow::Borrowed(text));
        assert_eq!(name("Example.COM"), name("example.com."));
        assert_ne!(name("example.com"), name("example.org"));
        assert_ne!(name("localhost"), Host::V4(Ipv4Addr::LOCALHOST));
    }

    #[test]
    fn a_secret_prints_nothing() {
        let secret = Secret::new(Escaped::borrowed("canary"));
        assert!(!format!("{secret} {secret:?}").contains("canary"));
    }
}
