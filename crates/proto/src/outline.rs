//! What a URL would make the client send, worked out without a connection.

use std::fmt;

use fetch_url_core::Url;

use crate::{ForbiddenOctet, ftp, gopher, http, nntp, prospero, text, wais};

/// The requests of one URL, in order, as octets without their line ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    requests: Vec<Vec<u8>>,
}

impl Outline {
    /// The requests, in order.
    pub fn requests(&self) -> impl Iterator<Item = &[u8]> {
        self.requests.iter().map(Vec::as_slice)
    }

    pub(crate) fn say(&mut self, words: &[&[u8]]) {
        self.requests.push(words.concat());
    }
}

impl fmt::Display for Outline {
    /// The requests with ` | ` between them; octets outside printable ASCII as `\xHH`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, request) in self.requests().enumerate() {
            let separator = if index == 0 { "" } else { " | " };
            write!(f, "{separator}{}", text::escaped(request))?;
        }
        Ok(())
    }
}

/// The requests that `url` stands for; none for a URL that names no exchange (telnet, mailto,
/// file, and schemes without an access method).
///
/// # Errors
/// A decoded octet that would change the protocol: nothing may be sent.
pub fn outline(url: &Url<'_>) -> Result<Outline, ForbiddenOctet> {
    let mut outline = Outline::default();
    match url {
        Url::Ftp(url) => ftp::requests(url, &mut outline)?,
        Url::Gopher(url) => gopher::requests(url, &mut outline)?,
        Url::Http(url) => http::requests(url, &mut outline),
        Url::News(url) => nntp::news_requests(url, &mut outline)?,
        Url::Nntp(url) => nntp::requests(url, &mut outline)?,
        Url::Prospero(url) => prospero::requests(url, &mut outline)?,
        Url::Wais(url) => wais::requests(url, &mut outline)?,
        Url::File(url) => forbid_in_path(url)?,
        Url::Mailto(url) => forbid(&url.address(), "address", crate::Octets::LINE)?,
        Url::Telnet(url) => forbid_in_login(url)?,
        _ => {}
    }
    Ok(outline)
}

fn forbid(
    part: &fetch_url_core::Escaped<'_>,
    name: &'static str,
    octets: crate::Octets,
) -> Result<(), ForbiddenOctet> {
    octets.check(name, &part.decode()).map(drop)
}

/// A decoded slash or NUL would name another file.
fn forbid_in_path(url: &fetch_url_core::FileUrl<'_>) -> Result<(), ForbiddenOctet> {
    url.path().split('/').try_for_each(|segment| forbid(&segment, "path", crate::Octets::FILE_NAME))
}

fn forbid_in_login(url: &fetch_url_core::TelnetUrl<'_>) -> Result<(), ForbiddenOctet> {
    if let Some(user) = url.login().user() {
        forbid(user, "user", crate::Octets::TELNET)?;
    }
    match url.login().password() {
        Some(password) => forbid(password.expose(), "password", crate::Octets::TELNET),
        None => Ok(()),
    }
}
