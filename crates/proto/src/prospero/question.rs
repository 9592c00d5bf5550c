//! What a client asks: the lines of a request.

use fetch_url_core::ProsperoUrl;

use crate::{ForbiddenOctet, Octets, Outline};

/// The newest version of an object.
const NEWEST: &[u8] = b"0";

/// An object of one server: its name, and which version of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectId {
    name: Vec<u8>,
    version: Vec<u8>,
}

impl ObjectId {
    /// The object that a URL names.
    ///
    /// # Errors
    /// CR, LF or NUL in its name, its version or one of its fields.
    pub fn of(url: &ProsperoUrl<'_>) -> Result<Self, ForbiddenOctet> {
        let name = Octets::LINE.check("object name", &url.hsoname().decode())?.to_vec();
        for (field, value) in url.fields() {
            Octets::LINE.check("field", &field.decode())?;
            Octets::LINE.check("field", &value.decode())?;
        }
        let version = url.version().filter(|version| !version.is_empty());
        let version = version.map_or_else(|| NEWEST.to_vec(), |version| version.decode().into_owned());
        Octets::LINE.check("version", &version)?;
        Ok(Self { name, version })
    }

    /// Its name, decoded.
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// Its version, decoded.
    pub fn version(&self) -> &[u8] {
        &self.version
    }
}

/// A question about an object. Answers are joined without a mark, so each request asks one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Question {
    /// All that is known of it.
    All,
    /// These attributes.
    Attributes(Vec<String>),
    /// Its octets.
    Contents,
    /// What a directory holds.
    Links,
    /// The ways to it, and whether it is a directory: the one question that servers answer truly for both.
    Ways,
}

impl Question {
    /// The lines of the request, without their ends.
    pub fn lines(&self, object: &ObjectId) -> Vec<Vec<u8>> {
        let mut lines = vec![b"VERSION 5".to_vec(), b"AUTHENTICATE '' UNAUTHENTICATED anonymous".to_vec()];
        let name = quoted(&object.name);
        let version = token(&object.version);
        let wanted = match self {
            Self::All => "#ALL".to_owned(),
            Self::Attributes(names) => names.join("+"),
            Self::Contents => "CONTENTS".to_owned(),
            Self::Links => {
                let version = if version == NEWEST { Vec::new() } else { [b" ", &version[..]].concat() };
                lines.push([b"DIRECTORY ASCII ", &name[..], &version].concat());
                lines.push(b"LIST '' COMPONENTS".to_vec());
                return lines;
            }
            Self::Ways => "ACCESS-METHOD+UNIX-MODES".to_owned(),
        };
        lines.push([b"GET-OBJECT-INFO ", wanted.as_bytes(), b" ASCII ", &name, b" ", &version].concat());
        lines
    }

    /// The text of the request.
    pub fn text(&self, object: &ObjectId) -> Vec<u8> {
        let mut text = self.lines(object).join(&b'\n');
        text.push(b'\n');
        text
    }
}

/// The lines that a URL stands for.
pub(crate) fn requests(url: &ProsperoUrl<'_>, outline: &mut Outline) -> Result<(), ForbiddenOctet> {
    let object = ObjectId::of(url)?;
    Question::Ways.lines(&object).iter().for_each(|line| outline.say(&[line]));
    Ok(())
}

/// As it is where that cannot be mistaken, else between apostrophes.
fn token(octets: &[u8]) -> Vec<u8> {
    let is_plain = |octet: &u8| octet.is_ascii_alphanumeric() || b".-_".contains(octet);
    let can_stand = !octets.is_empty() && octets.iter().all(is_plain);
    if can_stand { octets.to_vec() } else { quoted(octets) }
}

/// Between apostrophes; one inside is written twice.
fn quoted(token: &[u8]) -> Vec<u8> {
    let inside = token.split(|&octet| octet == b'\'').collect::<Vec<_>>().join(&b"''"[..]);
    [b"'", &inside[..], b"'"].concat()
}
