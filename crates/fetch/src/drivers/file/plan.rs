//! The local path of a `file:` URL, and the requested operation. No I/O.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use fetch_url_core::{FileUrl, Host, Url};
use fetch_url_proto::{ForbiddenSet, text};

use super::options::SpecialFiles;
use super::root::FileRoot;
use crate::{ByteRange, Error, Request, Resume, Want};

/// A request for one local file or directory.
#[derive(Clone, Debug)]
pub(super) struct FilePlan {
    pub(super) url: Url<'static>,
    pub(super) path: PathBuf,
    pub(super) want: Want,
    pub(super) range: Option<ByteRange>,
    pub(super) resume: Option<Resume>,
    /// The directory that the path must not leave.
    pub(super) root: Option<FileRoot>,
    /// FIFOs and devices may be read.
    pub(super) allows_special: bool,
}

impl FilePlan {
    pub(super) fn new(request: &Request) -> Result<Self, Error> {
        let Url::File(url) = request.url() else {
            return Err(Error::unsupported("the file driver supports file URLs only"));
        };
        check_host_is_local(url)?;
        Ok(Self {
            url: request.url().clone(),
            path: local_path(url)?,
            want: request.want(),
            range: request.wanted_range(),
            resume: request.resume().cloned(),
            root: request.extra::<FileRoot>().cloned(),
            allows_special: request.extra::<SpecialFiles>().is_some(),
        })
    }
}

impl fmt::Display for FilePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.want == Want::Head { "stat" } else { "open" };
        write!(f, "{verb} {}", text::sanitise(self.path.as_os_str().as_encoded_bytes()))
    }
}

/// Refuses a URL that names another host with `Code::Unsupported`: its path must not be opened on this machine.
fn check_host_is_local(url: &FileUrl<'_>) -> Result<(), Error> {
    let is_local = match url.host() {
        None => true,
        Some(Host::Name(name)) => name.strip_suffix('.').unwrap_or(name).eq_ignore_ascii_case("localhost"),
        Some(_) => false,
    };
    if is_local {
        return Ok(());
    }
    let host = url.host().map(ToString::to_string).unwrap_or_default();
    let detail = format!("the file is on {host}, and RFC 1738 §3.10 defines no protocol to retrieve it");
    Err(Error::unsupported(detail)
        .with_hint(format!("if {host} serves the file by ftp or http, use an ftp: or http: URL")))
}

/// Returns the path of the URL. Each segment is decoded separately, so that `%2F` cannot add a directory.
fn local_path(url: &FileUrl<'_>) -> Result<PathBuf, Error> {
    let mut bytes = Vec::new();
    for segment in url.path().split('/') {
        bytes.push(b'/');
        bytes.extend_from_slice(ForbiddenSet::FILE_NAME.check("path", &segment.decode())?);
    }
    Ok(PathBuf::from(OsString::from_vec(bytes)))
}

/// Returns the `file:` URL of a local path.
pub(super) fn file_url(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    let unescaped = fetch_url_core::charset::FPATH;
    format!("file://{}", fetch_url_core::PercentEncoded::encode(bytes, unescaped))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    fn plan(text: &str) -> Result<FilePlan, Error> {
        FilePlan::new(&Request::new(text)?)
    }

    #[test]
    fn local_urls_map_to_decoded_paths() {
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
            assert_eq!(plan(url).expect("the URL is local").path, PathBuf::from(path), "{url}");
        }
    }

    #[test]
    fn other_hosts_and_encoded_slashes_are_refused() {
        for (url, code) in [
            ("file://host.example/etc/motd", Code::Unsupported),
            ("file://127.0.0.1/etc/motd", Code::Unsupported),
            ("file:///a%2Fb", Code::ForbiddenByte),
            ("file:///a%00b", Code::ForbiddenByte),
        ] {
            assert_eq!(plan(url).expect_err("the URL is refused").code(), code, "{url}");
        }
    }
}
