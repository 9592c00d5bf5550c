//! A link: one entry of a Prospero directory.

use crate::prospero::attribute::ProsperoAttribute;
use crate::prospero::place::{Places, ProsperoHost};
use crate::prospero::token::joined;

/// A link. Its hsoname is of the same server unless [`on`](Self::on) says otherwise.
#[derive(Clone, Debug)]
pub struct ProsperoLink {
    target: String,
    pub(crate) name: Vec<u8>,
    host_type: &'static str,
    pub(crate) host: ProsperoHost,
    pub(crate) hsoname: Vec<u8>,
    pub(crate) version: u32,
    is_union: bool,
    attributes: Vec<ProsperoAttribute>,
}

impl ProsperoLink {
    /// A link to this kind of thing, such as `OBJECT` or `NULL`.
    #[must_use]
    pub fn new(target: &str, name: impl Into<Vec<u8>>, hsoname: impl Into<Vec<u8>>) -> Self {
        Self {
            target: target.to_owned(),
            name: name.into(),
            host_type: "INTERNET-D",
            host: ProsperoHost::Here,
            hsoname: hsoname.into(),
            version: 0,
            is_union: false,
            attributes: Vec::new(),
        }
    }

    /// To a file.
    #[must_use]
    pub fn file(name: impl Into<Vec<u8>>, hsoname: impl Into<Vec<u8>>) -> Self {
        Self::new("FILE", name, hsoname)
    }

    /// To a directory.
    #[must_use]
    pub fn directory(name: impl Into<Vec<u8>>, hsoname: impl Into<Vec<u8>>) -> Self {
        Self::new("DIRECTORY", name, hsoname)
    }

    /// To what another service has, on this host; an access method has to follow.
    #[must_use]
    pub fn external(name: impl Into<Vec<u8>>, host: &str, hsoname: impl Into<Vec<u8>>) -> Self {
        Self::new("EXTERNAL", name, hsoname).on(ProsperoHost::named(host))
    }

    /// To a name in another virtual system.
    #[must_use]
    pub fn symbolic(name: impl Into<Vec<u8>>, system: &str, path: impl Into<Vec<u8>>) -> Self {
        let link = Self::new("SYMBOLIC", name, path).on(ProsperoHost::named(system));
        Self { host_type: "VIRTUAL-SYSTEM", ..link }
    }

    /// The server whose hsoname it is.
    #[must_use]
    pub fn on(self, host: ProsperoHost) -> Self {
        Self { host, ..self }
    }

    /// This version of the object.
    #[must_use]
    pub fn version(self, version: u32) -> Self {
        Self { version, ..self }
    }

    /// A union link: what it leads to belongs into this directory. It comes with every look-up.
    #[must_use]
    pub fn union(self) -> Self {
        Self { is_union: true, ..self }
    }

    /// A way to the octets, token by token. An empty token stands for that of the link.
    #[must_use]
    pub fn access(self, tokens: &[&str]) -> Self {
        self.attribute(ProsperoAttribute::access(tokens).precedence("CACHED"))
    }

    /// One more attribute.
    #[must_use]
    pub fn attribute(mut self, attribute: ProsperoAttribute) -> Self {
        self.attributes.push(attribute);
        self
    }

    pub(crate) fn is_union(&self) -> bool {
        self.is_union
    }

    pub(crate) fn is_directory(&self) -> bool {
        self.target.starts_with("DIRECTORY")
    }

    /// Whether components may follow it, elsewhere.
    pub(crate) fn leads_on(&self) -> bool {
        self.is_directory() || self.target == "SYMBOLIC"
    }

    /// The line and those of its attributes. There are two blanks behind `LINK`.
    pub(crate) fn lines(&self, places: &Places) -> Vec<u8> {
        let kind = if self.is_union { "U" } else { "L" };
        let (host, version) = (places.host(&self.host), self.version.to_string());
        let tokens = [
            kind.as_bytes(),
            self.target.as_bytes(),
            &self.name,
            self.host_type.as_bytes(),
            &host,
            b"ASCII",
            &self.hsoname,
            version.as_bytes(),
        ];
        let mut lines = [b"LINK  ".as_slice(), &joined(tokens), b"\n"].concat();
        lines.extend(self.attributes.iter().flat_map(ProsperoAttribute::line));
        lines
    }
}
