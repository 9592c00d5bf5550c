//! [`Url`]: one variant per family of schemes.

use std::cmp::Ordering;
use std::fmt;
use std::num::NonZeroU16;

use crate::authority::PasswordDisplay;
use crate::scheme_table::{Scheme, UNKNOWN_SCHEME, find_scheme};
use crate::schemes::{
    FileUrl, FtpUrl, GopherUrl, HttpUrl, MailtoUrl, NewsUrl, NntpUrl, OtherUrl, ProsperoUrl, TelnetUrl,
    WaisUrl,
};
use crate::{Authority, Component, Host, HostPort, UserInfo};

/// A URL, with one variant per family of schemes (RFC 1738 §3).
///
/// Display prints the canonical text, **including the password**: parsing that text returns an equal URL. For messages
/// and logs use [`Url::redacted`]. Debug masks passwords.
///
/// Equality ignores the case of the host, and a dot at its end. The order is the order of the canonical texts, with the
/// host in lower case and without that dot. Nothing else is normalised: `http://h`, `http://h/` and `http://h:80/` are
/// three different URLs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Url<'a> {
    /// `file` (RFC 1738 §3.10).
    File(FileUrl<'a>),
    /// `ftp` (RFC 1738 §3.2) and `ftps`.
    Ftp(FtpUrl<'a>),
    /// `gopher` (RFC 1738 §3.4) and `gophers`.
    Gopher(GopherUrl<'a>),
    /// `http` (RFC 1738 §3.3) and `https`.
    Http(HttpUrl<'a>),
    /// `mailto` (RFC 1738 §3.5).
    Mailto(MailtoUrl<'a>),
    /// `news` (RFC 1738 §3.6) and `snews`.
    News(NewsUrl<'a>),
    /// `nntp` (RFC 1738 §3.7) and `nntps`.
    Nntp(NntpUrl<'a>),
    /// Every other scheme (RFC 1738 §4 and §5 `otherurl`).
    Other(OtherUrl<'a>),
    /// `prospero` (RFC 1738 §3.11).
    Prospero(ProsperoUrl<'a>),
    /// `telnet` (RFC 1738 §3.8).
    Telnet(TelnetUrl<'a>),
    /// `wais` (RFC 1738 §3.9).
    Wais(WaisUrl<'a>),
}

impl Url<'_> {
    /// Returns the name of the scheme in lower case, without the colon.
    pub fn scheme_name(&self) -> &str {
        match self {
            Self::Other(url) => url.scheme_name(),
            _ => self.scheme().name,
        }
    }

    /// Returns the scheme's row in the table: its default port, security and status. All unknown schemes share one row
    /// with an empty name.
    pub fn scheme(&self) -> &'static Scheme {
        let named = |name| find_scheme(name).unwrap_or(UNKNOWN_SCHEME);
        match self {
            Self::File(_) => named("file"),
            Self::Ftp(url) => url.scheme(),
            Self::Gopher(url) => url.scheme(),
            Self::Http(url) => url.scheme(),
            Self::Mailto(_) => named("mailto"),
            Self::News(url) => url.scheme(),
            Self::Nntp(url) => url.scheme(),
            Self::Other(url) => url.scheme(),
            Self::Prospero(_) => named("prospero"),
            Self::Telnet(_) => named("telnet"),
            Self::Wais(_) => named("wais"),
        }
    }

    /// Returns the host, if the URL names one.
    pub fn host(&self) -> Option<Host<'_>> {
        match self {
            Self::File(url) => url.host().cloned(),
            Self::Other(url) => url.authority().map(|authority| authority.host_port.host.into_owned()),
            _ => self.host_port().map(|host_port| host_port.host().clone()),
        }
    }

    /// Returns the port: the one that was written, or the default port of the scheme. `None` if there is neither.
    pub fn port(&self) -> Option<u16> {
        let written = match self {
            Self::Other(url) => url.authority().and_then(|authority| authority.host_port.port()),
            _ => self.host_port().and_then(HostPort::port),
        };
        written.map(NonZeroU16::get).or(self.scheme().default_port)
    }

    /// Returns `true` if both URLs have the same origin: equal scheme, host and port.
    ///
    /// Host names are compared without regard to ASCII case and to a dot at the end; the port is the default port of the
    /// scheme if none was written. Two URLs of one scheme without a host, such as `file:///a` and `file:///b`, have the
    /// same origin.
    pub fn same_origin(&self, other: &Url<'_>) -> bool {
        self.scheme_name() == other.scheme_name()
            && self.host() == other.host()
            && self.port() == other.port()
    }

    /// Returns the user name and password of an FTP, HTTP or Telnet URL, if it contains an `@`. URLs of other families
    /// have none; see [`OtherUrl::authority`] for unknown schemes.
    pub const fn user_info(&self) -> Option<&UserInfo<'_>> {
        match self.authority() {
            Some(authority) => authority.user_info(),
            None => None,
        }
    }

    /// Returns the URL with its user name and password replaced by `user_info`, or removed if it is `None`. Only FTP and
    /// HTTP URLs change.
    #[must_use]
    pub fn with_user_info(self, user_info: Option<&UserInfo<'_>>) -> Url<'static> {
        let mut url = self.into_owned();
        let authority = match &mut url {
            Url::Ftp(url) => url.authority_mut(),
            Url::Http(url) => url.authority_mut(),
            _ => return url,
        };
        authority.user_info = user_info.cloned().map(UserInfo::into_owned);
        url
    }

    /// Returns the authority of the families that allow user information.
    const fn authority(&self) -> Option<&Authority<'_>> {
        match self {
            Self::Ftp(url) => Some(url.authority()),
            Self::Http(url) => Some(url.authority()),
            Self::Telnet(url) => Some(url.authority()),
            _ => None,
        }
    }

    /// Returns host and port; `None` for `file` and unknown schemes.
    fn host_port(&self) -> Option<&HostPort<'_>> {
        match self {
            Self::File(_) | Self::Mailto(_) | Self::Other(_) => None,
            Self::Ftp(_) | Self::Http(_) | Self::Telnet(_) => self.authority().map(Authority::host_port),
            Self::Gopher(url) => Some(url.host_port()),
            Self::News(url) => url.server(),
            Self::Nntp(url) => url.server(),
            Self::Prospero(url) => Some(url.host_port()),
            Self::Wais(url) => Some(url.host_port()),
        }
    }

    /// Returns the components of the URL in text order, each as it was written and with the rule that defines it, for
    /// display. The first one is the scheme. A password is `***`.
    pub fn components(&self) -> Vec<Component> {
        let rule = "RFC 1738 §2.1: determines how the rest is interpreted";
        let mut components = vec![Component::new("scheme", self.scheme_name(), rule)];
        match self {
            Self::File(url) => url.push_components(&mut components),
            Self::Ftp(url) => url.push_components(&mut components),
            Self::Gopher(url) => url.push_components(&mut components),
            Self::Http(url) => url.push_components(&mut components),
            Self::Mailto(url) => url.push_components(&mut components),
            Self::News(url) => url.push_components(&mut components),
            Self::Nntp(url) => url.push_components(&mut components),
            Self::Other(url) => url.push_components(&mut components),
            Self::Prospero(url) => url.push_components(&mut components),
            Self::Telnet(url) => url.push_components(&mut components),
            Self::Wais(url) => url.push_components(&mut components),
        }
        components
    }

    /// Returns the text with `***` in place of the password, for messages, logs and reports.
    pub fn redacted(&self) -> impl fmt::Display + '_ {
        Redacted(self, PasswordDisplay::Mask)
    }

    /// Returns the text without the password and its colon, for another program that fetches the URL.
    pub fn without_password(&self) -> impl fmt::Display + '_ {
        Redacted(self, PasswordDisplay::Omit)
    }

    /// Returns the same URL with owned text, independent of the parsed text.
    pub fn into_owned(self) -> Url<'static> {
        match self {
            Self::File(url) => Url::File(url.into_owned()),
            Self::Ftp(url) => Url::Ftp(url.into_owned()),
            Self::Gopher(url) => Url::Gopher(url.into_owned()),
            Self::Http(url) => Url::Http(url.into_owned()),
            Self::Mailto(url) => Url::Mailto(url.into_owned()),
            Self::News(url) => Url::News(url.into_owned()),
            Self::Nntp(url) => Url::Nntp(url.into_owned()),
            Self::Other(url) => Url::Other(url.into_owned()),
            Self::Prospero(url) => Url::Prospero(url.into_owned()),
            Self::Telnet(url) => Url::Telnet(url.into_owned()),
            Self::Wais(url) => Url::Wais(url.into_owned()),
        }
    }

    /// Writes the canonical text.
    fn write(&self, f: &mut fmt::Formatter<'_>, passwords: PasswordDisplay) -> fmt::Result {
        match self {
            Self::File(url) => url.write(f),
            Self::Ftp(url) => url.write(f, passwords),
            Self::Gopher(url) => url.write(f),
            Self::Http(url) => url.write(f, passwords),
            Self::Mailto(url) => url.write(f),
            Self::News(url) => url.write(f),
            Self::Nntp(url) => url.write(f),
            Self::Other(url) => url.write(f, passwords),
            Self::Prospero(url) => url.write(f),
            Self::Telnet(url) => url.write(f, passwords),
            Self::Wais(url) => url.write(f),
        }
    }

    /// Returns the canonical text with the host name in lower case and without a dot at its end: equal for equal URLs.
    fn sort_key(&self) -> String {
        let mut text = self.to_string();
        let host = match self {
            Self::File(url) => url.host(),
            _ => self.host_port().map(HostPort::host),
        };
        if let Some(Host::Name(name)) = host {
            let start =
                text.find("//").map_or(0, |slashes| slashes + 2) + self.user_info().map_or(0, written_length);
            let end = start + name.len();
            text[start..end].make_ascii_lowercase();
            if name.ends_with('.') {
                text.remove(end - 1);
            }
        }
        text
    }
}

/// Returns the length of `user[:password]@`, in bytes.
fn written_length(user_info: &UserInfo<'_>) -> usize {
    let password = user_info.password().map_or(0, |password| 1 + password.expose().as_str().len());
    user_info.user().as_str().len() + password + 1
}

impl fmt::Display for Url<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, PasswordDisplay::Show)
    }
}

impl Ord for Url<'_> {
    /// Compares the canonical texts, with the host in lower case. The texts are built for each comparison.
    fn cmp(&self, other: &Self) -> Ordering {
        // The text of a news URL is ambiguous: "//h/" is a server, or, in RFC 1738 §3.6, the start of a message-id.
        let has_server = |url: &Self| url.host_port().is_some();
        self.sort_key().cmp(&other.sort_key()).then_with(|| has_server(self).cmp(&has_server(other)))
    }
}

impl PartialOrd for Url<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Prints a URL with its password masked or omitted.
struct Redacted<'u>(&'u Url<'u>, PasswordDisplay);

impl fmt::Display for Redacted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(f, self.1)
    }
}
