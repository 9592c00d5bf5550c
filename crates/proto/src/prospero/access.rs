//! Ways to an object: access methods, and the URLs that they are.

use fetch_url_core::{Escaped, HostPort, Url, WaisPart, charset, parse};

use super::facts::{Attribute, ObjectName};
use super::line::keyword;
use super::question::ObjectId;
use crate::stranger::link_of_a_stranger;
use crate::{outline, wais};

/// One way to the octets of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AccessMethod {
    /// Its name, such as `AFTP`.
    pub method: String,
    /// Where.
    pub object: ObjectName,
    /// What the method needs besides.
    pub extra: Vec<Vec<u8>>,
}

/// What an access method comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Way {
    /// The octets come over Prospero itself.
    Contents,
    /// A file of the server's machine.
    Local(Vec<u8>),
    /// A session of a person with a program: its URL.
    Session(String),
    /// Nothing that is known here, or incomplete.
    Unknown,
    /// What this URL fetches.
    Url(String),
}

impl AccessMethod {
    /// What the values of an ACCESS-METHOD say; those that are empty are the object's own. None with too few of them.
    pub(super) fn of(attribute: &Attribute, own: &ObjectName) -> Option<Self> {
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

    /// What it comes to.
    pub fn way(&self) -> Way {
        let url = match self.method.as_str() {
            "AFTP" => self.ftp(""),
            "FTP" => self.ftp("%2F"),
            "GOPHER" => self.gopher(),
            "LOCAL" => return Way::Local(self.object.name.clone()),
            "PROSPERO-CONTENTS" => return Way::Contents,
            "TELNET" => return self.session("telnet").map_or(Way::Unknown, Way::Session),
            "TN3270" => return self.session("tn3270").map_or(Way::Unknown, Way::Session),
            "URL" => return link_of_a_stranger(&self.object.name).map_or(Way::Unknown, Way::Url),
            "WAIS" => self.wais(),
            _ => None,
        };
        url.and_then(|url| sound(&url)).map_or(Way::Unknown, Way::Url)
    }

    /// The URL that it comes to, where it does.
    pub(super) fn url(&self) -> Option<String> {
        match self.way() {
            Way::Url(url) | Way::Session(url) => Some(url),
            Way::Contents => self.object.url(),
            _ => None,
        }
    }

    fn extra(&self) -> String {
        self.extra.first().map(|extra| keyword(extra)).unwrap_or_default()
    }

    /// `root` stands for the root of a login's files; anonymous ones begin there.
    fn ftp(&self, root: &str) -> Option<String> {
        let segments = self.object.name.split(|&octet| octet == b'/').filter(|segment| !segment.is_empty());
        let segments: Vec<_> =
            segments.map(|segment| Escaped::encode(segment, charset::FSEGMENT).to_string()).collect();
        let typecode = match self.extra().as_str() {
            "BINARY" => ";type=i",
            "TEXT" => ";type=a",
            // It is no file.
            "DIRECTORY" => return None,
            _ => "",
        };
        Some(format!("ftp://{}/{root}{}{typecode}", self.object.place()?, segments.join("/")))
    }

    /// The type is told, or is the first character of the name.
    fn gopher(&self) -> Option<String> {
        let name = self.object.name.as_slice();
        let (gtype, selector) = match self.extra.first().map_or(&b""[..], |extra| extra) {
            [] => name.split_first().map(|(gtype, selector)| (*gtype, selector))?,
            [gtype] => (*gtype, name),
            _ if self.extra() == "BINARY" => (b'9', name),
            _ if self.extra() == "TEXT" => (b'0', name),
            _ => return None,
        };
        let gtype = Escaped::encode(&[gtype], charset::FSEGMENT);
        let selector = Escaped::encode(selector, charset::FPATH);
        Some(format!("gopher://{}/{gtype}{selector}", self.object.place()?))
    }

    /// `WAIS-GW/host(port)/type/database/id`, or `WAIS/OBJECT/` and the parts of an id.
    fn wais(&self) -> Option<String> {
        let name = self.object.name.as_slice();
        if let Some(locator) = name.strip_prefix(b"WAIS/OBJECT/") {
            return wais_of_locator(locator, &self.object);
        }
        let mut parts = name.strip_prefix(b"WAIS-GW/")?.splitn(4, |&octet| octet == b'/');
        let (host, wtype, database, id) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        // An id begins with a tag, which is no character: one that begins with an escape is escaped already.
        let is_escaped = id.starts_with(b"%");
        let id = if is_escaped { std::str::from_utf8(id).ok()?.to_owned() } else { encoded(id) };
        wais_url(&place(host)?, database, wtype, &id)
    }

    fn session(&self, scheme: &str) -> Option<String> {
        sound(&format!("{scheme}://{}/", self.object.place()?))
    }
}

/// Tags of the parts of a document's id; nobody uses more.
const TAGS: std::ops::RangeInclusive<u8> = 1..=10;

/// `1=host:port;2=database;3=id;`: the parts as RFC 1738's draft of 1993 had them.
fn wais_of_locator(locator: &[u8], object: &ObjectName) -> Option<String> {
    let mut written = String::new();
    let (mut host, mut database) = (object.place(), None);
    for part in locator.split(|&octet| octet == b';').filter(|part| !part.is_empty()) {
        let at = part.iter().position(|&octet| octet == b'=')?;
        let (tag, value) = (std::str::from_utf8(&part[..at]).ok()?, &part[at + 1..]);
        match tag.parse().ok().filter(|tag| TAGS.contains(tag))? {
            1 => host = Some(place(value)?),
            2 => database = Some(value),
            _ => {}
        }
        written.push_str(&format!("{tag}={};", encoded(value)));
    }
    // What type it has nobody tells; a text is what all servers have.
    wais_url(&host?, database?, b"TEXT", &written)
}

/// In RFC 1738's form: the octets of the id, escaped.
fn wais_url(place: &str, database: &[u8], wtype: &[u8], wpath: &str) -> Option<String> {
    let start = format!("wais://{place}/{}/{}", encoded(database), encoded(wtype));
    let text = format!("{start}/{wpath}");
    let Url::Wais(url) = parse(&text).ok()?.url else { return None };
    let WaisPart::Document { wpath, .. } = url.part() else { return None };
    Some(format!("{start}/{}", encoded(&wais::document_id(wpath))))
}

fn encoded(octets: &[u8]) -> String {
    Escaped::encode(octets, charset::UCHAR).to_string()
}

impl ObjectName {
    /// The host and port, as they stand in a URL; none for a host that is not of the Internet.
    fn place(&self) -> Option<String> {
        place(&self.host).filter(|_| self.host_type.to_ascii_uppercase().starts_with(b"INTERNET"))
    }

    /// The URL of the object itself.
    pub fn url(&self) -> Option<String> {
        let name = Escaped::encode(&self.name, charset::FPATH);
        let version = match self.version.as_slice() {
            b"" | b"0" => String::new(),
            version => format!(";VERSION={}", Escaped::encode(version, charset::FIELD)),
        };
        let text = sound(&format!("prospero://{}/{name}{version}", self.place()?))?;
        // A name that reads as another one, such as with a NUL, has no URL.
        let Url::Prospero(url) = parse(&text).ok()?.url else { return None };
        let is_same = ObjectId::of(&url).is_ok_and(|id| id.name() == self.name);
        is_same.then_some(text)
    }

    /// The same object's `rest`: what is to be looked up in a directory.
    pub(super) fn joined(mut self, rest: &[Vec<u8>]) -> Self {
        for part in rest {
            self.name.push(b'/');
            self.name.extend_from_slice(part);
        }
        self
    }
}

/// `host(port)`, as it stands in a URL.
fn place(host: &[u8]) -> Option<String> {
    // Only what cannot be taken for another name.
    let text = std::str::from_utf8(host).ok().filter(|text| text.is_ascii())?;
    let place = match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        Some((host, port)) => format!("{host}:{port}"),
        None => text.to_owned(),
    };
    HostPort::parse(&place).ok().map(|place| place.to_string())
}

/// What a server wrote, if it is a URL whose octets may go out.
fn sound(text: &str) -> Option<String> {
    let url = parse(text).ok()?.url;
    outline(&url).is_ok().then(|| url.to_string())
}
