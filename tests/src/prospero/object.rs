//! An object of a Prospero server: a file, a directory, or what only attributes tell of.

use crate::prospero::attribute::ProsperoAttribute;
use crate::prospero::link::ProsperoLink;
use crate::prospero::place::ProsperoHost;

/// What can be asked for under an hsoname.
#[derive(Clone, Debug)]
pub struct ProsperoObject {
    pub(crate) kind: Kind,
    /// Attributes that were given to it; they are told whatever is asked.
    pub(crate) stored: Vec<ProsperoAttribute>,
    methods: Vec<ProsperoAttribute>,
    size: Option<Vec<u8>>,
    modified: String,
    owner: String,
    group: String,
    modes: Option<String>,
}

/// What an object is.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Directory(Vec<ProsperoLink>),
    Elsewhere,
    File(Vec<u8>),
    Forwarded(ProsperoHost, Vec<u8>, u32),
}

/// A question about an object: names of attributes.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    names: Vec<String>,
}

/// Kinds.
impl ProsperoObject {
    /// A file. Owner and group are `root`, and it can be had as `PROSPERO-CONTENTS` and, says the server, `LOCAL`.
    pub fn file(octets: impl Into<Vec<u8>>) -> Self {
        Self::new(Kind::File(octets.into()))
    }

    /// A directory.
    #[must_use]
    pub fn directory(links: impl IntoIterator<Item = ProsperoLink>) -> Self {
        Self::new(Kind::Directory(links.into_iter().collect()))
    }

    /// Nothing but the attributes that are given to it.
    #[must_use]
    pub fn elsewhere() -> Self {
        Self::new(Kind::Elsewhere)
    }

    /// It has moved.
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
            methods: vec![own("PROSPERO-CONTENTS"), own("LOCAL")],
            size: None,
            modified: "20261120235539Z".to_owned(),
            owner: "root".to_owned(),
            group: "root".to_owned(),
            modes: None,
        }
    }
}

/// What is told of it.
impl ProsperoObject {
    /// One more way to the octets, token by token, before its own ones.
    #[must_use]
    pub fn access(self, tokens: &[&str]) -> Self {
        self.attribute(ProsperoAttribute::access(tokens))
    }

    /// One more attribute that is stored for it.
    #[must_use]
    pub fn attribute(mut self, attribute: ProsperoAttribute) -> Self {
        self.stored.push(attribute);
        self
    }

    /// A description.
    #[must_use]
    pub fn description(self, words: &str) -> Self {
        self.attribute(ProsperoAttribute::new("DESCRIPTION", &[words.as_bytes()]))
    }

    /// The ways to the octets that it has by itself, token by token, in the place of the two that every file has.
    #[must_use]
    pub fn own_access(mut self, methods: &[&[&str]]) -> Self {
        let own = |tokens: &&[&str]| {
            let tokens: Vec<&[u8]> = tokens.iter().map(|token| token.as_bytes()).collect();
            ProsperoAttribute::intrinsic("ACCESS-METHOD", &tokens)
        };
        self.methods = methods.iter().map(own).collect();
        self
    }

    /// The size that is told, such as `26 bytes`, whatever it is.
    #[must_use]
    pub fn size(mut self, token: impl Into<Vec<u8>>) -> Self {
        self.size = Some(token.into());
        self
    }

    /// When it was changed: `YYYYMMDDhhmmssZ`.
    #[must_use]
    pub fn modified(mut self, time: &str) -> Self {
        time.clone_into(&mut self.modified);
        self
    }

    /// Whose it is.
    #[must_use]
    pub fn owned_by(mut self, owner: &str, group: &str) -> Self {
        (self.owner, self.group) = (owner.to_owned(), group.to_owned());
        self
    }

    /// Modes such as `-rw-r--r--`.
    #[must_use]
    pub fn modes(mut self, modes: &str) -> Self {
        self.modes = Some(modes.to_owned());
        self
    }
}

impl Question {
    /// Names with `+` between them.
    pub(crate) fn new(names: &[u8]) -> Self {
        let names = String::from_utf8_lossy(names).to_uppercase();
        Self { names: names.split('+').map(str::to_owned).collect() }
    }

    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|asked| asked == name || asked.starts_with('#') && name != "CONTENTS")
    }

    fn is_only(&self, name: &str) -> bool {
        self.names == [name]
    }
}

/// Answers, as measured.
impl ProsperoObject {
    /// The attributes that answer a question: those that are stored in any case. None: dirsrv says that it is not
    /// found when it has a file of which nothing is stored and is asked for access methods alone.
    pub(crate) fn told(&self, question: &Question) -> Option<Vec<u8>> {
        let is_bare = matches!(self.kind, Kind::File(_)) && self.stored.is_empty();
        if is_bare && question.is_only("ACCESS-METHOD") {
            return None;
        }
        let own = self.own().filter(|(name, _)| question.has(name)).map(|(_, attribute)| attribute);
        let methods = if self.tells_methods(question) { self.methods.as_slice() } else { &[] };
        let all = self.stored.iter().cloned().chain(own).chain(methods.iter().cloned());
        let contents = self.contents().filter(|_| question.has("CONTENTS"));
        Some(all.chain(contents).flat_map(|attribute| attribute.line()).collect())
    }

    /// A directory tells access methods, wrong ones, when its size is asked too.
    fn tells_methods(&self, question: &Question) -> bool {
        let is_asked = question.has("ACCESS-METHOD");
        match self.kind {
            Kind::Directory(_) => is_asked && question.has("SIZE"),
            Kind::Elsewhere | Kind::Forwarded(..) => false,
            Kind::File(_) => is_asked,
        }
    }

    /// What the file system tells, by name.
    fn own(&self) -> impl Iterator<Item = (&'static str, ProsperoAttribute)> {
        let (length, modes) = match &self.kind {
            Kind::File(octets) => (octets.len(), "-rw-r--r--"),
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
        let is_native = matches!(self.kind, Kind::File(_) | Kind::Directory(_));
        rows.into_iter().filter(move |_| is_native)
    }

    fn contents(&self) -> Option<ProsperoAttribute> {
        match &self.kind {
            Kind::File(octets) => Some(ProsperoAttribute::intrinsic("CONTENTS", &[b"DATA", octets])),
            _ => None,
        }
    }
}
