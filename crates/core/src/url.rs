//! [`Url`]: one variant per family of schemes, and its canonical text.

use std::fmt;

use crate::host::Passwords;
use crate::part::Part;
use crate::scheme_table::Scheme;
use crate::schemes::{
    FileUrl, FtpUrl, GopherUrl, HttpUrl, MailtoUrl, NewsUrl, NntpUrl, OtherUrl, ProsperoUrl, TelnetUrl,
    WaisUrl,
};
use crate::{Host, HostPort, Login, scheme};

/// A URL, by the family of its scheme.
///
/// Display prints the canonical text, password included: reading it again gives the same URL.
/// [`Url::redacted`] is for eyes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each is the scheme of its name")]
pub enum Url<'a> {
    File(FileUrl<'a>),
    Ftp(FtpUrl<'a>),
    Gopher(GopherUrl<'a>),
    Http(HttpUrl<'a>),
    Mailto(MailtoUrl<'a>),
    News(NewsUrl<'a>),
    Nntp(NntpUrl<'a>),
    Other(OtherUrl<'a>),
    Prospero(ProsperoUrl<'a>),
    Telnet(TelnetUrl<'a>),
    Wais(WaisUrl<'a>),
}

impl Url<'_> {
    /// The scheme, in lower case.
    pub fn scheme_name(&self) -> &str {
        match self {
            Self::Other(url) => url.name(),
            _ => self.scheme().name,
        }
    }

    /// The scheme's row in the table.
    pub fn scheme(&self) -> &'static Scheme {
        let named = |name| scheme(name).unwrap_or(crate::scheme_table::UNNAMED);
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

    /// The host, where the URL names one.
    pub fn host(&self) -> Option<Host<'_>> {
        match self {
            Self::File(url) => url.host().cloned(),
            Self::Other(url) => url.login().map(|login| login.at.host.into_owned()),
            _ => self.host_port().map(|at| at.host().clone()),
        }
    }

    /// The port: the one written, else the scheme's own.
    pub fn port(&self) -> Option<u16> {
        let written = match self {
            Self::Other(url) => url.login().and_then(|login| login.at.port()),
            _ => self.host_port().and_then(HostPort::port),
        };
        written.map(std::num::NonZero::get).or(self.scheme().default_port)
    }

    /// User and password, where the scheme has them.
    pub const fn login(&self) -> Option<&Login<'_>> {
        match self {
            Self::Ftp(url) => Some(url.login()),
            Self::Http(url) => Some(url.login()),
            Self::Telnet(url) => Some(url.login()),
            _ => None,
        }
    }

    /// The same on this news server, where it names none: news URLs (RFC 5538 §2.1), nntp's form of 1993, and the
    /// message-id of a `mid` URL (RFC 1738 §4, RFC 2392), since articles have them, too.
    #[must_use]
    pub fn on_news_server(mut self, at: &HostPort<'static>) -> Self {
        if let Self::Other(url) = &self
            && let Some(article) = url.as_article(at)
        {
            return Self::News(article);
        }
        let server = match &mut self {
            Self::News(url) => url.server_mut(),
            Self::Nntp(url) => url.server_mut(),
            _ => return self,
        };
        server.get_or_insert_with(|| at.clone());
        self
    }

    /// The same URL with the user and the password of `login`, or with none: FTP and HTTP have them.
    #[must_use]
    pub fn with_login(self, login: Option<&Login<'_>>) -> Url<'static> {
        let mut url = self.into_owned();
        let own = match &mut url {
            Url::Ftp(url) => url.login_mut(),
            Url::Http(url) => url.login_mut(),
            _ => return url,
        };
        let login = login.cloned().map(Login::into_owned);
        (own.user, own.password) = login.map_or((None, None), |login| (login.user, login.password));
        url
    }

    fn host_port(&self) -> Option<&HostPort<'_>> {
        match self {
            Self::File(_) | Self::Mailto(_) | Self::Other(_) => None,
            Self::Ftp(_) | Self::Http(_) | Self::Telnet(_) => self.login().map(Login::at),
            Self::Gopher(url) => Some(url.at()),
            Self::News(url) => url.server(),
            Self::Nntp(url) => url.server(),
            Self::Prospero(url) => Some(url.at()),
            Self::Wais(url) => Some(url.at()),
        }
    }

    /// The parts as they were written, each with the rule that names it. Passwords are `***`.
    pub fn parts(&self) -> Vec<Part> {
        let mut parts =
            vec![Part::new("scheme", self.scheme_name(), "RFC 1738 §2.1: how the rest is to be read")];
        match self {
            Self::File(url) => url.parts(&mut parts),
            Self::Ftp(url) => url.parts(&mut parts),
            Self::Gopher(url) => url.parts(&mut parts),
            Self::Http(url) => url.parts(&mut parts),
            Self::Mailto(url) => url.parts(&mut parts),
            Self::News(url) => url.parts(&mut parts),
            Self::Nntp(url) => url.parts(&mut parts),
            Self::Other(url) => url.parts(&mut parts),
            Self::Prospero(url) => url.parts(&mut parts),
            Self::Telnet(url) => url.parts(&mut parts),
            Self::Wais(url) => url.parts(&mut parts),
        }
        parts
    }

    /// The text with `***` in the place of a password: for messages, logs and reports.
    pub fn redacted(&self) -> impl fmt::Display + '_ {
        Redacted(self, Passwords::Hidden)
    }

    /// The text without a password: for others who are to fetch it.
    pub fn without_password(&self) -> impl fmt::Display + '_ {
        Redacted(self, Passwords::Dropped)
    }

    /// The same URL without a borrow.
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

    fn print(&self, f: &mut fmt::Formatter<'_>, passwords: Passwords) -> fmt::Result {
        match self {
            Self::File(url) => url.print(f),
            Self::Ftp(url) => url.print(f, passwords),
            Self::Gopher(url) => url.print(f),
            Self::Http(url) => url.print(f, passwords),
            Self::Mailto(url) => url.print(f),
            Self::News(url) => url.print(f),
            Self::Nntp(url) => url.print(f),
            Self::Other(url) => url.print(f, passwords),
            Self::Prospero(url) => url.print(f),
            Self::Telnet(url) => url.print(f, passwords),
            Self::Wais(url) => url.print(f),
        }
    }
}

impl fmt::Display for Url<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.print(f, Passwords::Shown)
    }
}

struct Redacted<'u>(&'u Url<'u>, Passwords);

impl fmt::Display for Redacted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.print(f, self.1)
    }
}
