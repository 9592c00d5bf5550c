//! The attributes of objects and links.

use super::access::AccessMethod;
use super::object::{Attribute, ObjectName};
use super::tokens::keyword;
use crate::calendar::parse_time_val;

/// The attributes of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObjectMetadata {
    /// The attributes, in the order of the server.
    pub attributes: Vec<Attribute>,
}

impl ObjectMetadata {
    /// Returns the first attribute with this name; ASCII case is ignored.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.has_name(name))
    }

    /// Returns the size in bytes, from SIZE (`26 bytes`).
    pub fn size(&self) -> Option<u64> {
        let text = self.attribute("SIZE")?.text();
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let unit = text.get(digits..)?;
        let is_bytes = unit.is_empty() || unit.eq_ignore_ascii_case(b" bytes");
        std::str::from_utf8(&text[..digits]).ok().filter(|_| is_bytes)?.parse().ok()
    }

    /// Returns the modification time in seconds since 1970-01-01 UTC, from LAST-MODIFIED (`20261120235539Z`).
    pub fn modified(&self) -> Option<i64> {
        parse_time_val(self.attribute("LAST-MODIFIED")?.text().strip_suffix(b"Z")?)
    }

    /// Returns `true` if UNIX-MODES describes a directory, or `None` without that attribute.
    pub fn is_directory(&self) -> Option<bool> {
        Some(self.attribute("UNIX-MODES")?.text().starts_with(b"d"))
    }

    /// Returns the access methods in the server's order of preference. `own` is the object's own name; it
    /// supplies the parts that a method leaves empty.
    pub fn methods(&self, own: &ObjectName) -> Vec<AccessMethod> {
        let methods = self.attributes.iter().filter(|attribute| attribute.has_name("ACCESS-METHOD"));
        methods.filter_map(|attribute| AccessMethod::from_attribute(attribute, own)).collect()
    }
}

/// A directory entry (a Prospero link).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkDetails {
    /// The type of the target: `DIRECTORY`, `FILE`, `OBJECT`, `EXTERNAL`, `SYMBOLIC`, …
    pub target: Vec<u8>,
    /// The name of the entry.
    pub name: Vec<u8>,
    /// A union link: the entries of its target directory also belong to this directory.
    pub is_union: bool,
    /// The target.
    pub object: ObjectName,
    /// The attributes of the link.
    pub metadata: ObjectMetadata,
}

impl LinkDetails {
    /// Returns the URL of the target. For a target in another service it is the first access method with a
    /// URL.
    pub fn url(&self) -> Option<String> {
        match keyword(&self.target).as_str() {
            "DIRECTORY" | "DIRECTORY+FILE" | "FILE" | "OBJECT" => self.object.url(),
            "EXTERNAL" => self.metadata.methods(&self.object).iter().find_map(AccessMethod::url),
            _ => None,
        }
    }
}
