//! Which file a URL names, and what is wanted of it. Pure.

use std::fmt;
use std::path::{Path, PathBuf};

use fetch_url_core::{FileUrl, Host, Url};
use fetch_url_proto::{Octets, text};

use crate::driver::RunFuture;
use crate::{ByteRange, Ctx, Error, Plan, Request, Resume, SpecialFiles, Want};

/// One file or directory.
#[derive(Clone, Debug)]
pub(super) struct FilePlan {
    pub(super) url: Url<'static>,
    pub(super) path: PathBuf,
    pub(super) want: Want,
    pub(super) range: Option<ByteRange>,
    pub(super) resume: Option<Resume>,
    pub(super) allows_special: bool,
}

impl FilePlan {
    pub(super) fn new(request: &Request) -> Result<Self, Error> {
        let Url::File(url) = request.url() else {
            return Err(Error::unsupported("the file driver reads file URLs only"));
        };
        check_host(url)?;
        Ok(Self {
            url: request.url().clone(),
            path: local_path(url)?,
            want: request.want(),
            range: request.wanted_range(),
            resume: request.resume().cloned(),
            allows_special: request.extra::<SpecialFiles>().is_some(),
        })
    }
}

impl Plan for FilePlan {
    fn run(self: Box<Self>, ctx: Ctx) -> RunFuture {
        Box::pin(super::io::run(*self, ctx.deadline))
    }
}

impl fmt::Display for FilePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.want == Want::Head { "stat" } else { "open" };
        write!(f, "{verb} {}", text::printable(self.path.as_os_str().as_encoded_bytes()))
    }
}

/// A file URL that names another host is never opened here, nor turned into something else.
fn check_host(url: &FileUrl<'_>) -> Result<(), Error> {
    let is_here = match url.host() {
        None => true,
        Some(Host::Name(name)) => name.strip_suffix('.').unwrap_or(name).eq_ignore_ascii_case("localhost"),
        Some(_) => false,
    };
    if is_here {
        return Ok(());
    }
    let host = url.host().map(ToString::to_string).unwrap_or_default();
    let detail = format!("the file is on {host}, and RFC 1738 §3.10 names no way to get it from there");
    Err(Error::unsupported(detail).with_hint("if that host serves it by ftp or http, use such a URL"))
}

/// The path: each segment decoded on its own, so that `%2F` can never make a directory.
fn local_path(url: &FileUrl<'_>) -> Result<PathBuf, Error> {
    let mut octets = Vec::new();
    for segment in url.path().split('/') {
        octets.push(b'/');
        octets.extend_from_slice(Octets::FILE_NAME.check("path", &segment.decode())?);
    }
    from_octets(octets)
}

#[cfg(unix)]
fn from_octets(octets: Vec<u8>) -> Result<PathBuf, Error> {
    use std::os::unix::ffi::OsStringExt as _;
    Ok(PathBuf::from(std::ffi::OsString::from_vec(octets)))
}

#[cfg(not(unix))]
fn from_octets(octets: Vec<u8>) -> Result<PathBuf, Error> {
    let text = String::from_utf8(octets).map_err(|_| Error::unsupported("the name is not UTF-8"))?;
    // "/C:/x" is drive C (RFC 8089 appendix D.2).
    let is_drive = text.as_bytes().get(2).is_some_and(|octet| matches!(octet, b':' | b'|'));
    Ok(PathBuf::from(if is_drive { text[1..].replacen('|', ":", 1) } else { text }))
}

/// The URL of a local path.
pub(super) fn url_of(path: &Path) -> String {
    let octets = path.as_os_str().as_encoded_bytes();
    let plain = fetch_url_core::charset::FPATH;
    format!("file://{}", fetch_url_core::Escaped::encode(octets, plain))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    fn plan(text: &str) -> Result<FilePlan, Error> {
        FilePlan::new(&Request::new(text)?)
    }

    #[test]
    fn paths() {
        for (url, path) in [
            ("file:///etc/motd", "/etc/motd"),
            ("file://localhost/etc/motd", "/etc/motd"),
            ("file://LOCALHOST/a%20b", "/a b"),
            ("file:/etc/motd", "/etc/motd"),
            ("file:///a//b/../c", "/a//b/../c"),
            ("file:////x", "//x"),
            ("file:///", "/"),
            ("file:///%252F", "/%2F"),
        ] {
            assert_eq!(plan(url).expect("it is local").path, PathBuf::from(path), "{url}");
        }
    }

    #[test]
    fn what_is_not_here_is_not_opened() {
        for (url, code) in [
            ("file://host.example/etc/motd", Code::Unsupported),
            ("file://127.0.0.1/etc/motd", Code::Unsupported),
            ("file:///a%2Fb", Code::ForbiddenOctet),
            ("file:///a%00b", Code::ForbiddenOctet),
        ] {
            assert_eq!(plan(url).expect_err("it is refused").code(), code, "{url}");
        }
    }
}
