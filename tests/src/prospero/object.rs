//! An object of a Prospero server: a file, a directory, or an object that has only attributes.

use crate::prospero::attribute::ProsperoAttribute;
use crate::prospero::host::ProsperoHost;
use crate::prospero::link::ProsperoLink;

/// An object that a client can request by its hsoname.
#[derive(Clone, Debug)]
pub struct ProsperoObject {
    pub(crate) kind: Kind,
    /// Attributes that are part of every response.
    pub(crate) stored: Vec<ProsperoAttribute>,
    intrinsic_access_methods: Vec<ProsperoAttribute>,
    size: Option<Vec<u8>>,
    modified: String,
    owner: String,
    group: String,
    modes: Option<String>,
}

/// The kind of an object.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    AttributesOnly,
    Directory(Vec<ProsperoLink>),
    File(Vec<u8>),
    Forwarded(ProsperoHost, Vec<u8>, u32),
}

/// The names of requested attributes.
#[derive(Clone, Debug)]
pub(crate) struct AttributeQuery {
    names: Vec<String>,
}

/// Kinds.
impl ProsperoObject {
    /// A file. Owner and group are `root`. Its access methods are `PROSPERO-CONTENTS` and `LOCAL`.
    pub fn file(bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(Kind::File(bytes.into()))
    }

    /// A directory.
    #[must_use]
    pub fn directory(links: impl IntoIterator<Item = ProsperoLink>) -> Self {
        Self::new(Kind::Directory(links.into_iter().collect()))
    }

    /// An object with only the attributes that are added to it.
    #[must_use]
    pub fn attributes_only() -> Self {
        Self::new(Kind::AttributesOnly)
    }

    /// An object that has moved.
    pub fn forwarded(host: ProsperoHost, hsoname: impl Into<Vec<u8>>) -> Self {
        Self::new(Kind::Forwarded(host, hsoname.into(), 0))
    }

    fn new(kind: Kind) -> Self {
        let own = |method: &str| {
            ProsperoAttribute::intrinsic("ACCESS-METHOD", &[method.as_bytes(), b"", b"", b"", b""])
        };
        Self {
            kind,
            stored: Vec::new(),
            intrinsic_access_methods: vec![own("PROSPERO-CONTENTS"), own("LOCAL")],
            size: None,
            modified: "20261120235539Z".to_owned(),
            owner: "root".to_owned(),
            group: "root".to_owned(),
            modes: None,
        }
    }
}

/// Attributes.
impl ProsperoObject {
    /// Adds an access method, token by token, before the intrinsic ones.
    #[must_use]
    pub fn access_method(self, tokens: &[&str]) -> Self {
        self.attribute(ProsperoAttribute::access_method(tokens))
    }

    /// Adds an attribute, which is part of every response.
    #[must_use]
    pub fn attribute(mut self, attribute: ProsperoAttribute) -> Self {
        self.stored.push(attribute);
        self
    }

    /// Adds a description.
    #[must_use]
    pub fn description(self, words: &str) -> Self {
        self.attribute(ProsperoAttribute::new("DESCRIPTION", &[words.as_bytes()]))
    }

    /// Replaces the two intrinsic access methods of a file, token by token.
    #[must_use]
    pub fn intrinsic_access_methods(mut self, methods: &[&[&str]]) -> Self {
        let own = |tokens: &&[&str]| {
            let tokens: Vec<&[u8]> = tokens.iter().map(|token| token.as_bytes()).collect();
            ProsperoAttribute::intrinsic("ACCESS-METHOD", &tokens)
        };
        self.intrinsic_access_methods = methods.iter().map(own).collect();
        self
    }

    /// Sets the reported size, such as `26 bytes`.
    #[must_use]
    pub fn size(mut self, token: impl Into<Vec<u8>>) -> Self {
        self.size = Some(token.into());
        self
    }

    /// Sets the modification time: `YYYYMMDDhhmmssZ`.
    #[must_use]
    pub fn modified(mut self, time: &str) -> Self {
        time.clone_into(&mut self.modified);
        self
    }

    /// Sets owner and group.
    #[must_use]
    pub fn owned_by(mut self, owner: &str, group: &str) -> Self {
        (self.owner, self.group) = (owner.to_owned(), group.to_owned());
        self
    }

    /// Sets the modes, such as `-rw-r--r--`.
    #[must_use]
    pub fn modes(mut self, modes: &str) -> Self {
        self.modes = Some(modes.to_owned());
        self
    }
}

impl AttributeQuery {
    /// Parses names that are separated by `+`.
    pub(crate) fn new(names: &[u8]) -> Self {
        let names = String::from_utf8_lossy(names).to_uppercase();
        Self { names: names.split('+').map(str::to_owned).collect() }
    }

    fn contains(&self, name: &str) -> bool {
        self.names.iter().any(|it| it == name || it.starts_with('#') && name != "CONTENTS")
    }

    fn is_only(&self, name: &str) -> bool {
        self.names == [name]
    }
}

/// Responses, as measured with dirsrv.
impl ProsperoObject {
    /// Returns the lines of the requested attributes and of the stored ones. Returns `None` if dirsrv reports
    /// NOT-FOUND: for a file without stored attributes, if only access methods are requested.
    pub(crate) fn attributes(&self, query: &AttributeQuery) -> Option<Vec<u8>> {
        let is_bare = matches!(self.kind, Kind::File(_)) && self.stored.is_empty();
        if is_bare && query.is_only("ACCESS-METHOD") {
            return None;
        }
        let intrinsic =
            self.intrinsic().filter(|(name, _)| query.contains(name)).map(|(_, attribute)| attribute);
        let methods = if self.has_methods(query) { self.intrinsic_access_methods.as_slice() } else { &[] };
        let all = self.stored.iter().cloned().chain(intrinsic).chain(methods.iter().cloned());
        let contents = self.contents().filter(|_| query.contains("CONTENTS"));
        Some(all.chain(contents).flat_map(|attribute| attribute.line()).collect())
    }

    /// Returns `true` if the response contains access methods. For a directory, dirsrv sends them if the size is
    /// requested, too, although they are wrong.
    fn has_methods(&self, query: &AttributeQuery) -> bool {
        let is_requested = query.contains("ACCESS-METHOD");
        match self.kind {
            Kind::Directory(_) => is_requested && query.contains("SIZE"),
            Kind::AttributesOnly | Kind::Forwarded(..) => false,
            Kind::File(_) => is_requested,
        }
    }

    /// Returns the attributes from the file system, by name.
    fn intrinsic(&self) -> impl Iterator<Item = (&'static str, ProsperoAttribute)> {
        let (length, modes) = match &self.kind {
            Kind::File(bytes) => (bytes.len(), "-rw-r--r--"),
            _ => (4096, "drwxr-xr-x"),
        };
        let size = self.size.clone().unwrap_or_else(|| format!("{length} bytes").into_bytes());
        let modes = self.modes.as_deref().unwrap_or(modes);
        let rows = [
            ("SIZE", size.as_slice()),
            ("NATIVE-OWNER", self.owner.as_bytes()),
            ("NATIVE-GROUP", self.group.as_bytes()),
            ("LAST-MODIFIED", self.modified.as_bytes()),
            ("UNIX-MODES", modes.as_bytes()),
        ];
        let rows = rows.map(|(name, value)| (name, ProsperoAttribute::intrinsic(name, &[value])));
        let is_in_file_system = matches!(self.kind, Kind::File(_) | Kind::Directory(_));
        rows.into_iter().filter(move |_| is_in_file_system)
    }

    fn contents(&self) -> Option<ProsperoAttribute> {
        match &self.kind {
            Kind::File(bytes) => Some(ProsperoAttribute::intrinsic("CONTENTS", &[b"DATA", bytes])),
            _ => None,
        }
    }
}
