//! What a URL would make the client send, worked out without a connection.

use std::fmt;

use fetch_url_core::Url;

use crate::{ForbiddenOctet, Octets, ftp, gopher, http, nntp, prospero, text, wais};

/// The requests of one URL, in order, as octets without their line ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    words: Vec<u8>,
    is_aside: bool,
}

impl Outline {
    /// The requests that the URL itself stands for, in order.
    pub fn requests(&self) -> impl Iterator<Item = &[u8]> {
        self.steps.iter().filter(|step| !step.is_aside).map(|step| step.words.as_slice())
    }

    /// The requests and what goes with them: login, data connection. Passwords are not in it.
    pub fn dialogue(&self) -> impl Iterator<Item = &[u8]> {
        self.steps.iter().map(|step| step.words.as_slice())
    }

    /// A request that the URL stands for.
    pub(crate) fn say(&mut self, words: &[&[u8]]) {
        self.steps.push(Step { words: words.concat(), is_aside: false });
    }

    /// What goes with the requests.
    pub(crate) fn say_aside(&mut self, words: &[&[u8]]) {
        self.steps.push(Step { words: words.concat(), is_aside: true });
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
        Url::Mailto(url) => forbid_in_address(url)?,
        Url::Telnet(url) => forbid_in_login(url)?,
        _ => {}
    }
    Ok(outline)
}

fn forbid(
    part: &fetch_url_core::Escaped<'_>,
    name: &'static str,
    octets: Octets,
) -> Result<(), ForbiddenOctet> {
    octets.check(name, &part.decode()).map(drop)
}

/// A decoded slash or NUL would name another file.
fn forbid_in_path(url: &fetch_url_core::FileUrl<'_>) -> Result<(), ForbiddenOctet> {
    url.path().split('/').try_for_each(|segment| forbid(&segment, "path", Octets::FILE_NAME))
}

fn forbid_in_address(url: &fetch_url_core::MailtoUrl<'_>) -> Result<(), ForbiddenOctet> {
    forbid(&url.address(), "address", Octets::LINE)?;
    url.headers().map_or(Ok(()), |headers| forbid(&headers, "header fields", Octets::LINE))
}

fn forbid_in_login(url: &fetch_url_core::TelnetUrl<'_>) -> Result<(), ForbiddenOctet> {
    if let Some(user) = url.login().user() {
        forbid(user, "user", Octets::TELNET)?;
    }
    match url.login().password() {
        Some(password) => forbid(password.expose(), "password", Octets::TELNET),
        None => Ok(()),
    }
}
