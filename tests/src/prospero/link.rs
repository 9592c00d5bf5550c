//! A link, which is an entry of a Prospero directory.

use crate::prospero::attribute::ProsperoAttribute;
use crate::prospero::host::{Addresses, ProsperoHost};
use crate::prospero::token::join_quoted;

/// A link. Its target is on the same server unless [`on_host`](Self::on_host) sets another.
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
    /// A link with this target type, such as `OBJECT` or `NULL`.
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

    /// A link to a file.
    #[must_use]
    pub fn file(name: impl Into<Vec<u8>>, hsoname: impl Into<Vec<u8>>) -> Self {
        Self::new("FILE", name, hsoname)
    }

    /// A link to a directory.
    #[must_use]
    pub fn directory(name: impl Into<Vec<u8>>, hsoname: impl Into<Vec<u8>>) -> Self {
        Self::new("DIRECTORY", name, hsoname)
    }

    /// A link to an object of another service on this host. It needs an access method.
    #[must_use]
    pub fn external(name: impl Into<Vec<u8>>, host: &str, hsoname: impl Into<Vec<u8>>) -> Self {
        Self::new("EXTERNAL", name, hsoname).on_host(ProsperoHost::named(host))
    }

    /// A link to a name in another virtual system.
    #[must_use]
    pub fn symbolic(name: impl Into<Vec<u8>>, system: &str, path: impl Into<Vec<u8>>) -> Self {
        let link = Self::new("SYMBOLIC", name, path).on_host(ProsperoHost::named(system));
        Self { host_type: "VIRTUAL-SYSTEM", ..link }
    }

    /// Sets the server of the target.
    #[must_use]
    pub fn on_host(self, host: ProsperoHost) -> Self {
        Self { host, ..self }
    }

    /// Sets the version of the target.
    #[must_use]
    pub fn version(self, version: u32) -> Self {
        Self { version, ..self }
    }

    /// Makes it a union link: the links of the target belong to this directory. It is part of every response.
    #[must_use]
    pub fn union(self) -> Self {
        Self { is_union: true, ..self }
    }

    /// Adds an access method, token by token. An empty token means the value of the link.
    #[must_use]
    pub fn access_method(self, tokens: &[&str]) -> Self {
        self.attribute(ProsperoAttribute::access_method(tokens).precedence("CACHED"))
    }

    /// Adds an attribute.
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

    /// Returns `true` if components of a path may follow it.
    pub(crate) fn can_have_components(&self) -> bool {
        self.is_directory() || self.target == "SYMBOLIC"
    }

    /// Returns the line of the link and those of its attributes: unless `sends_all`, only of its access methods. Two
    /// spaces follow `LINK`, as in dirsrv.
    pub(crate) fn lines(&self, addresses: &Addresses, sends_all: bool) -> Vec<u8> {
        let kind = if self.is_union { "U" } else { "L" };
        let (host, version) = (addresses.text(&self.host), self.version.to_string());
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
        let mut lines = [b"LINK  ".as_slice(), &join_quoted(tokens), b"\n"].concat();
        let sent = self.attributes.iter().filter(|attribute| sends_all || attribute.is_access_method());
        lines.extend(sent.flat_map(ProsperoAttribute::line));
        lines
    }
}
