//! What servers tell of objects and links.

use super::access::AccessMethod;
use super::line::keyword;
use crate::EntryKind;
use crate::ftp_list::time_val;

/// What an object is called, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObjectName {
    /// What kind of name the host's is: `INTERNET-D` as a rule.
    pub host_type: Vec<u8>,
    /// The host, with its port in parentheses where that is not the usual one.
    pub host: Vec<u8>,
    /// The name of the object there: `hsoname`.
    pub name: Vec<u8>,
    /// Which version of it; `0` is the newest.
    pub version: Vec<u8>,
}

impl ObjectName {
    /// The object of this name on a host of the Internet.
    pub fn new(host: impl Into<Vec<u8>>, name: impl Into<Vec<u8>>, version: impl Into<Vec<u8>>) -> Self {
        let host_type = b"INTERNET-D".to_vec();
        Self { host_type, host: host.into(), name: name.into(), version: version.into() }
    }
}

/// An attribute of an object, or of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attribute {
    /// Whose it is: `OBJECT`, `LINK`, `CACHED`, `REPLACEMENT`, `ADDITIONAL`.
    pub precedence: Vec<u8>,
    /// `FIELD`, `APPLICATION`, `INTRINSIC`.
    pub nature: Vec<u8>,
    /// Its name, such as `SIZE`.
    pub name: Vec<u8>,
    /// Its values.
    pub values: Vec<Vec<u8>>,
}

impl Attribute {
    /// Whether this is its name; upper and lower case are one.
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name.as_bytes())
    }

    /// Its values with a space between them.
    pub fn text(&self) -> Vec<u8> {
        self.values.join(&b' ')
    }
}

/// What is known of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObjectFacts {
    /// Its attributes, in the server's order.
    pub attributes: Vec<Attribute>,
}

impl ObjectFacts {
    /// The first attribute of this name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.is(name))
    }

    /// Its size in octets (`26 bytes`).
    pub fn size(&self) -> Option<u64> {
        let text = self.attribute("SIZE")?.text();
        let digits = text.iter().take_while(|octet| octet.is_ascii_digit()).count();
        let unit = text.get(digits..)?;
        let is_octets = unit.is_empty() || unit.eq_ignore_ascii_case(b" bytes");
        std::str::from_utf8(&text[..digits]).ok().filter(|_| is_octets)?.parse().ok()
    }

    /// When it was changed, in seconds since 1970 (`20261120235539Z`).
    pub fn modified(&self) -> Option<i64> {
        time_val(self.attribute("LAST-MODIFIED")?.text().strip_suffix(b"Z")?)
    }

    /// Whether its UNIX-MODES say that it is a directory; none without them.
    pub fn is_directory(&self) -> Option<bool> {
        Some(self.attribute("UNIX-MODES")?.text().starts_with(b"d"))
    }

    /// The ways to its octets, in the order that the server prefers. `own` is what the object is called itself: parts
    /// of a way that are left out are those of the object.
    pub fn methods(&self, own: &ObjectName) -> Vec<AccessMethod> {
        let methods = self.attributes.iter().filter(|attribute| attribute.is("ACCESS-METHOD"));
        methods.filter_map(|attribute| AccessMethod::of(attribute, own)).collect()
    }
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkFacts {
    /// What it points to: `DIRECTORY`, `FILE`, `OBJECT`, `EXTERNAL`, `SYMBOLIC`, …
    pub target: Vec<u8>,
    /// Its name.
    pub name: Vec<u8>,
    /// What the directory that it points to holds is held by this one, too.
    pub is_union: bool,
    /// What it points to.
    pub object: ObjectName,
    /// What is known of the link.
    pub facts: ObjectFacts,
}

impl LinkFacts {
    pub(super) fn kind(&self) -> EntryKind {
        match keyword(&self.target).as_str() {
            "DIRECTORY" | "DIRECTORY+FILE" => EntryKind::Directory,
            "FILE" => EntryKind::File,
            "EXTERNAL" | "SYMBOLIC" => EntryKind::Link,
            _ => EntryKind::Other,
        }
    }

    /// The URL that leads on: of the object, or, where it lies in another service, of the first way to it.
    pub fn url(&self) -> Option<String> {
        match keyword(&self.target).as_str() {
            "DIRECTORY" | "DIRECTORY+FILE" | "FILE" | "OBJECT" => self.object.url(),
            "EXTERNAL" => self.facts.methods(&self.object).iter().find_map(AccessMethod::url),
            _ => None,
        }
    }
}
