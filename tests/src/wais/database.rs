//! A database of a WAIS server: documents, and two that tell of it.

use crate::wais::document::WaisDocument;
use crate::wais::field::{field, fields, find};

/// A database. Its documents are found in the order in which it got them.
#[derive(Clone, Debug)]
pub struct WaisDatabase {
    pub(crate) name: String,
    pub(crate) documents: Vec<WaisDocument>,
    description: Option<Vec<u8>>,
    catalogue: Option<Vec<u8>>,
    has_long_ids: bool,
}

/// Where a database stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    /// The server's name and port, as identifiers have it.
    pub(crate) server: &'a str,
    /// Where all databases are.
    pub(crate) directory: &'a str,
}

/// Parts of a document's identifier: those of the distributor stand before those of the original.
pub(crate) mod part {
    pub(crate) const SERVER: [u64; 2] = [4, 1];
    pub(crate) const DATABASE: [u64; 2] = [5, 2];
    pub(crate) const LOCAL: [u64; 2] = [6, 3];
    pub(crate) const COPYRIGHT: u64 = 7;
}

impl WaisDatabase {
    /// An empty database.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let name = name.to_owned();
        Self { name, documents: Vec::new(), description: None, catalogue: None, has_long_ids: false }
    }

    /// One more document.
    #[must_use]
    pub fn document(mut self, document: WaisDocument) -> Self {
        self.documents.push(document);
        self
    }

    /// Its description, a WSRC document; if not said, the server writes one.
    #[must_use]
    pub fn description(mut self, octets: impl Into<Vec<u8>>) -> Self {
        self.description = Some(octets.into());
        self
    }

    /// Its catalogue, a text; if not said, the headlines.
    #[must_use]
    pub fn catalogue(mut self, octets: impl Into<Vec<u8>>) -> Self {
        self.catalogue = Some(octets.into());
        self
    }

    /// Identifiers also tell of the distributor and the copyright, as those of freeWAIS do; if not, only of the
    /// original.
    #[must_use]
    pub fn long_ids(mut self) -> Self {
        self.has_long_ids = true;
        self
    }

    /// Where it is on the server.
    pub(crate) fn path(&self, place: Place<'_>) -> String {
        format!("{}/{}", place.directory, self.name)
    }

    /// The identifier of a document.
    pub(crate) fn id(&self, place: Place<'_>, document: &WaisDocument) -> Vec<u8> {
        if let Some(id) = &document.id {
            return id.clone();
        }
        let (path, local) = (self.path(place), document.local());
        let parts = |which: usize| {
            let server = field(part::SERVER[which], place.server.as_bytes());
            let database = field(part::DATABASE[which], path.as_bytes());
            [server, database, field(part::LOCAL[which], &local)].concat()
        };
        if !self.has_long_ids {
            return parts(1);
        }
        [parts(1), parts(0), field(part::COPYRIGHT, &[0])].concat()
    }

    /// What tells of the database, as a document.
    pub(crate) fn source(&self, place: Place<'_>) -> WaisDocument {
        let written =
            || format!("\n(:source \n   :version  3 \n   :database-name \"{}\"\n)\n", self.path(place));
        let octets = self.description.clone().unwrap_or_else(|| written().into_bytes());
        let headline = format!("Information on database: {}", self.name);
        self.own(headline, "WSRC", octets, &format!("{}.src", self.path(place)))
    }

    /// The list of its documents, as a document.
    pub(crate) fn list(&self, place: Place<'_>) -> WaisDocument {
        let written = || {
            let lines = self.documents.iter().map(|document| [&document.headline, b"\n".as_slice()].concat());
            lines.collect::<Vec<_>>().concat()
        };
        let octets = self.catalogue.clone().unwrap_or_else(written);
        self.own(
            format!("Catalog for database: {}", self.name),
            "TEXT",
            octets,
            &format!("{}.cat", self.path(place)),
        )
    }

    fn own(&self, headline: String, wtype: &str, octets: Vec<u8>, file: &str) -> WaisDocument {
        let id = [field(2, self.name.as_bytes()), field(3, format!("0 0 {file}").as_bytes()), field(7, &[0])];
        WaisDocument::new(headline, "", wtype, octets).date("").id(id.concat())
    }

    /// The place of the document with this identifier, which may lack what a server does not need.
    pub(crate) fn position(&self, place: Place<'_>, id: &[u8]) -> Option<usize> {
        let at = |wanted: &dyn Fn(&WaisDocument) -> bool| self.documents.iter().position(wanted);
        let exact = at(&|document| self.id(place, document) == id);
        exact.or_else(|| {
            let local = find_part(id, part::LOCAL)?;
            at(&|document| document.id.is_none() && document.local() == local)
        })
    }
}

/// A part of an identifier.
pub(crate) fn find_part(id: &[u8], which: [u64; 2]) -> Option<&[u8]> {
    let fields = fields(id)?;
    which.into_iter().find_map(|tag| find(&fields, tag))
}
