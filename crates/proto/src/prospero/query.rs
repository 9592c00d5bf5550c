//! Builds the lines of a request.

use fetch_url_core::ProsperoUrl;

use crate::{ForbiddenByte, ForbiddenSet};

/// The version number that stands for the newest version.
const NEWEST_VERSION: &[u8] = b"0";

/// The name and version of an object on a server. Validated: both can be sent in a request line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectId {
    name: Vec<u8>,
    version: Vec<u8>,
}

impl ObjectId {
    /// Returns the object that a URL names (RFC 4157).
    ///
    /// # Errors
    /// [`ForbiddenByte`] if its name, version or one of its fields contains CR, LF or NUL.
    pub fn from_url(url: &ProsperoUrl<'_>) -> Result<Self, ForbiddenByte> {
        let name = ForbiddenSet::LINE.check("object name", &url.hsoname().decode())?.to_vec();
        for (field, value) in url.fields() {
            ForbiddenSet::LINE.check("field", &field.decode())?;
            ForbiddenSet::LINE.check("field", &value.decode())?;
        }
        let version = url.version().filter(|version| !version.is_empty());
        let version =
            version.map_or_else(|| NEWEST_VERSION.to_vec(), |version| version.decode().into_owned());
        ForbiddenSet::LINE.check("version", &version)?;
        Ok(Self { name, version })
    }

    /// Returns the decoded name.
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// Returns the decoded version.
    pub fn version(&self) -> &[u8] {
        &self.version
    }
}

/// A query about an object. A server does not separate the answers to several queries, so each request contains
/// one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Query {
    /// All attributes.
    All,
    /// The attributes with these names.
    Attributes(Vec<String>),
    /// The contents.
    Contents,
    /// The entries of a directory, with their attributes.
    Links,
    /// The access methods and whether the object is a directory. This is the only query that servers answer
    /// reliably for both.
    AccessMethods,
}

impl Query {
    /// Returns the lines of the request, without line ends.
    pub fn lines(&self, object: &ObjectId) -> Vec<Vec<u8>> {
        let mut lines = vec![b"VERSION 5".to_vec(), b"AUTHENTICATE '' UNAUTHENTICATED anonymous".to_vec()];
        let name = quoted(&object.name);
        let version = token(&object.version);
        let attributes = match self {
            Self::All => "#ALL".to_owned(),
            Self::Attributes(names) => names.join("+"),
            Self::Contents => "CONTENTS".to_owned(),
            Self::Links => {
                let version =
                    if version == NEWEST_VERSION { Vec::new() } else { [b" ", &version[..]].concat() };
                lines.push([b"DIRECTORY ASCII ", &name[..], &version].concat());
                lines.push(b"LIST ATTRIBUTES COMPONENTS".to_vec());
                return lines;
            }
            Self::AccessMethods => "ACCESS-METHOD+UNIX-MODES".to_owned(),
        };
        lines.push([b"GET-OBJECT-INFO ", attributes.as_bytes(), b" ASCII ", &name, b" ", &version].concat());
        lines
    }

    /// Returns the request as text, with line ends.
    pub fn text(&self, object: &ObjectId) -> Vec<u8> {
        let mut text = self.lines(object).join(&b'\n');
        text.push(b'\n');
        text
    }
}

/// Returns the token, quoted if it contains anything but letters, digits and `.-_`.
fn token(bytes: &[u8]) -> Vec<u8> {
    let needs_no_quotes = |byte: &u8| byte.is_ascii_alphanumeric() || b".-_".contains(byte);
    let is_bare = !bytes.is_empty() && bytes.iter().all(needs_no_quotes);
    if is_bare { bytes.to_vec() } else { quoted(bytes) }
}

/// Returns the token in apostrophes, with those inside it doubled.
fn quoted(token: &[u8]) -> Vec<u8> {
    let inside = token.split(|&byte| byte == b'\'').collect::<Vec<_>>().join(&b"''"[..]);
    [b"'", &inside[..], b"'"].concat()
}
