//! Access methods of objects, and the URLs that they stand for.

use fetch_url_core::{HostPort, PercentEncoded, Url, WaisResource, charset, parse};

use super::object::{Attribute, ObjectName};
use super::query::ObjectId;
use super::tokens::keyword;
use crate::untrusted::safe_url;
use crate::{check_sendable, wais};

/// One method to access the contents of an object (attribute ACCESS-METHOD).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AccessMethod {
    /// The name of the method, such as `AFTP`.
    pub method: String,
    /// The host and name to access.
    pub object: ObjectName,
    /// Additional arguments of the method.
    pub extra: Vec<Vec<u8>>,
}

/// The resolved form of an access method.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResolvedAccess {
    /// Retrieve the contents over Prospero.
    Contents,
    /// A local file on the server's machine.
    Local(Vec<u8>),
    /// An interactive session, as a `telnet:` or `tn3270:` URL.
    Session(String),
    /// An unsupported or incomplete method.
    Unknown,
    /// Retrieve this URL.
    Url(String),
}

impl AccessMethod {
    /// Parses the values of an ACCESS-METHOD attribute. Empty values default to those of the object. Returns
    /// `None` if there are too few values.
    pub(super) fn from_attribute(attribute: &Attribute, own: &ObjectName) -> Option<Self> {
        let [method, host_type, host, _, name, extra @ ..] = attribute.values.as_slice() else { return None };
        let or_own = |value: &Vec<u8>, own: &Vec<u8>| {
            if value.is_empty() { own.clone() } else { value.clone() }
        };
        let object = ObjectName {
            host_type: or_own(host_type, &own.host_type),
            host: or_own(host, &own.host),
            name: or_own(name, &own.name),
            version: own.version.clone(),
        };
        let extra = extra.to_vec();
        Some(Self { method: keyword(method), object, extra })
    }

    /// Resolves the method to a URL or to another form of access. Invalid URLs give `Unknown`.
    pub fn resolve(&self) -> ResolvedAccess {
        let url = match self.method.as_str() {
            "AFTP" => self.ftp(""),
            "FTP" => self.ftp("%2F"),
            "GOPHER" => self.gopher(),
            "LOCAL" => return ResolvedAccess::Local(self.object.name.clone()),
            "PROSPERO-CONTENTS" => return ResolvedAccess::Contents,
            "TELNET" => {
                return self.session("telnet").map_or(ResolvedAccess::Unknown, ResolvedAccess::Session);
            }
            "TN3270" => {
                return self.session("tn3270").map_or(ResolvedAccess::Unknown, ResolvedAccess::Session);
            }
            "URL" => {
                return safe_url(&self.object.name).map_or(ResolvedAccess::Unknown, ResolvedAccess::Url);
            }
            "WAIS" => self.wais(),
            _ => None,
        };
        url.and_then(|url| parseable_url(&url)).map_or(ResolvedAccess::Unknown, ResolvedAccess::Url)
    }

    /// Returns the URL of the method, if it has one.
    pub(super) fn url(&self) -> Option<String> {
        match self.resolve() {
            ResolvedAccess::Url(url) | ResolvedAccess::Session(url) => Some(url),
            ResolvedAccess::Contents => self.object.url(),
            _ => None,
        }
    }

    fn extra(&self) -> String {
        self.extra.first().map(|extra| keyword(extra)).unwrap_or_default()
    }

    /// Returns an `ftp:` URL. `root` is the prefix for the root directory; anonymous logins begin there.
    fn ftp(&self, root: &str) -> Option<String> {
        let segments = self.object.name.split(|&byte| byte == b'/').filter(|segment| !segment.is_empty());
        let segments: Vec<_> =
            segments.map(|segment| PercentEncoded::encode(segment, charset::FSEGMENT).to_string()).collect();
        let typecode = match self.extra().as_str() {
            "BINARY" => ";type=i",
            "TEXT" => ";type=a",
            // A directory is not a file.
            "DIRECTORY" => return None,
            _ => "",
        };
        Some(format!("ftp://{}/{root}{}{typecode}", self.object.host_port()?, segments.join("/")))
    }

    /// Returns a `gopher:` URL. The type is an argument, or the first character of the name.
    fn gopher(&self) -> Option<String> {
        let name = self.object.name.as_slice();
        let (gtype, selector) = match self.extra.first().map_or(&b""[..], |extra| extra) {
            [] => name.split_first().map(|(gtype, selector)| (*gtype, selector))?,
            [gtype] => (*gtype, name),
            _ if self.extra() == "BINARY" => (b'9', name),
            _ if self.extra() == "TEXT" => (b'0', name),
            _ => return None,
        };
        let gtype = PercentEncoded::encode(&[gtype], charset::FSEGMENT);
        let selector = PercentEncoded::encode(selector, charset::FPATH);
        Some(format!("gopher://{}/{gtype}{selector}", self.object.host_port()?))
    }

    /// Returns a `wais:` URL for a name of the form `WAIS-GW/host(port)/type/database/id` or `WAIS/OBJECT/`
    /// and document id components.
    fn wais(&self) -> Option<String> {
        let name = self.object.name.as_slice();
        if let Some(locator) = name.strip_prefix(b"WAIS/OBJECT/") {
            return wais_of_locator(locator, &self.object);
        }
        let mut parts = name.strip_prefix(b"WAIS-GW/")?.splitn(4, |&byte| byte == b'/');
        let (host, wtype, database, id) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        // A raw identifier begins with a tag, which is a control character; one that begins with `%` is
        // percent-encoded.
        let is_escaped = id.starts_with(b"%");
        let id = if is_escaped { std::str::from_utf8(id).ok()?.to_owned() } else { encoded(id) };
        wais_url(&host_port(host)?, database, wtype, &id)
    }

    fn session(&self, scheme: &str) -> Option<String> {
        parseable_url(&format!("{scheme}://{}/", self.object.host_port()?))
    }
}

/// The tags of document identifier components in use.
const TAGS: std::ops::RangeInclusive<u8> = 1..=10;

/// Builds the URL for `1=host:port;2=database;3=id;`, the components of RFC 1738's draft of 1993.
fn wais_of_locator(locator: &[u8], object: &ObjectName) -> Option<String> {
    let mut written = String::new();
    let (mut host, mut database) = (object.host_port(), None);
    for part in locator.split(|&byte| byte == b';').filter(|part| !part.is_empty()) {
        let at = part.iter().position(|&byte| byte == b'=')?;
        let (tag, value) = (std::str::from_utf8(&part[..at]).ok()?, &part[at + 1..]);
        match tag.parse().ok().filter(|tag| TAGS.contains(tag))? {
            1 => host = Some(host_port(value)?),
            2 => database = Some(value),
            _ => {}
        }
        written.push_str(&format!("{tag}={};", encoded(value)));
    }
    // The type is missing. Every server supports TEXT.
    wais_url(&host?, database?, b"TEXT", &written)
}

/// Returns the URL in the form of RFC 1738, with a percent-encoded identifier.
fn wais_url(host_port: &str, database: &[u8], wtype: &[u8], wpath: &str) -> Option<String> {
    let start = format!("wais://{host_port}/{}/{}", encoded(database), encoded(wtype));
    let text = format!("{start}/{wpath}");
    let Url::Wais(url) = parse(&text).ok()?.url else { return None };
    let WaisResource::Document { wpath, .. } = url.resource() else { return None };
    Some(format!("{start}/{}", encoded(&wais::document_id(wpath))))
}

fn encoded(bytes: &[u8]) -> String {
    PercentEncoded::encode(bytes, charset::UCHAR).to_string()
}

impl ObjectName {
    /// Returns host and port in URL form, or `None` for a host that is not an Internet host.
    fn host_port(&self) -> Option<String> {
        host_port(&self.host).filter(|_| self.host_type.to_ascii_uppercase().starts_with(b"INTERNET"))
    }

    /// Returns the `prospero:` URL of the object (RFC 4157), or `None` if its host or name cannot be written
    /// as a URL.
    pub fn url(&self) -> Option<String> {
        let name = PercentEncoded::encode(&self.name, charset::FPATH);
        let version = match self.version.as_slice() {
            b"" | b"0" => String::new(),
            version => format!(";VERSION={}", PercentEncoded::encode(version, charset::FIELD)),
        };
        let text = parseable_url(&format!("prospero://{}/{name}{version}", self.host_port()?))?;
        // A name that would be parsed differently, for example with a NUL, has no URL.
        let Url::Prospero(url) = parse(&text).ok()?.url else { return None };
        let is_same = ObjectId::from_url(&url).is_ok_and(|id| id.name() == self.name);
        is_same.then_some(text)
    }

    /// Returns the name of the entry `rest` below this directory.
    pub(super) fn joined(mut self, rest: &[Vec<u8>]) -> Self {
        for part in rest {
            self.name.push(b'/');
            self.name.extend_from_slice(part);
        }
        self
    }
}

/// Converts `host(port)` to URL form.
fn host_port(host: &[u8]) -> Option<String> {
    // Non-ASCII hosts are rejected: they could be mistaken for another name.
    let text = std::str::from_utf8(host).ok().filter(|text| text.is_ascii())?;
    let host_port = match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        Some((host, port)) => format!("{host}:{port}"),
        None => text.to_owned(),
    };
    HostPort::parse(&host_port).ok().map(|host_port| host_port.to_string())
}

/// Returns the normalised text if it is a URL that may be requested.
fn parseable_url(text: &str) -> Option<String> {
    let url = parse(text).ok()?.url;
    check_sendable(&url).is_ok().then(|| url.to_string())
}
