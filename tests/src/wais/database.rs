//! A database of the WAIS server: its documents, its description and its catalogue.

use crate::wais::document::WaisDocument;
use crate::wais::field::{field, fields, find};

/// A database. Documents are found in the order in which they were added.
#[derive(Clone, Debug)]
pub struct WaisDatabase {
    pub(crate) name: String,
    pub(crate) documents: Vec<WaisDocument>,
    description: Option<Vec<u8>>,
    catalogue: Option<Vec<u8>>,
    has_long_ids: bool,
}

/// The location of the databases.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Location<'a> {
    /// Name and port of the server in identifiers.
    pub(crate) server: &'a str,
    /// The directory of all databases.
    pub(crate) directory: &'a str,
}

/// The tags in a document identifier, of the distributor and of the original server.
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

    /// Adds a document.
    #[must_use]
    pub fn document(mut self, document: WaisDocument) -> Self {
        self.documents.push(document);
        self
    }

    /// Sets the description, a WSRC document. The default is generated.
    #[must_use]
    pub fn description(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.description = Some(bytes.into());
        self
    }

    /// Sets the catalogue, a text. The default lists the headlines.
    #[must_use]
    pub fn catalogue(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.catalogue = Some(bytes.into());
        self
    }

    /// Adds distributor and copyright to identifiers, as freeWAIS does.
    #[must_use]
    pub fn long_ids(mut self) -> Self {
        self.has_long_ids = true;
        self
    }

    /// Returns the path on the server.
    pub(crate) fn path(&self, location: Location<'_>) -> String {
        format!("{}/{}", location.directory, self.name)
    }

    /// Returns the identifier of a document.
    pub(crate) fn id(&self, location: Location<'_>, document: &WaisDocument) -> Vec<u8> {
        if let Some(id) = &document.id {
            return id.clone();
        }
        let (path, local) = (self.path(location), document.local_id());
        let parts = |which: usize| {
            let server = field(part::SERVER[which], location.server.as_bytes());
            let database = field(part::DATABASE[which], path.as_bytes());
            [server, database, field(part::LOCAL[which], &local)].concat()
        };
        if !self.has_long_ids {
            return parts(1);
        }
        [parts(1), parts(0), field(part::COPYRIGHT, &[0])].concat()
    }

    /// Returns the description as a document.
    pub(crate) fn description_document(&self, location: Location<'_>) -> WaisDocument {
        let generated =
            || format!("\n(:source \n   :version  3 \n   :database-name \"{}\"\n)\n", self.path(location));
        let bytes = self.description.clone().unwrap_or_else(|| generated().into_bytes());
        let headline = format!("Information on database: {}", self.name);
        self.own_document(headline, "WSRC", bytes, &format!("{}.src", self.path(location)))
    }

    /// Returns the catalogue as a document.
    pub(crate) fn catalogue_document(&self, location: Location<'_>) -> WaisDocument {
        let generated = || {
            let lines = self.documents.iter().map(|document| [&document.headline, b"\n".as_slice()].concat());
            lines.collect::<Vec<_>>().concat()
        };
        let bytes = self.catalogue.clone().unwrap_or_else(generated);
        self.own_document(
            format!("Catalog for database: {}", self.name),
            "TEXT",
            bytes,
            &format!("{}.cat", self.path(location)),
        )
    }

    fn own_document(&self, headline: String, wtype: &str, bytes: Vec<u8>, file: &str) -> WaisDocument {
        let id = [field(2, self.name.as_bytes()), field(3, format!("0 0 {file}").as_bytes()), field(7, &[0])];
        WaisDocument::new(headline, "", wtype, bytes).date("").id(id.concat())
    }

    /// Returns the position of the document with this identifier, or with the same local part.
    pub(crate) fn position(&self, location: Location<'_>, id: &[u8]) -> Option<usize> {
        let at = |wanted: &dyn Fn(&WaisDocument) -> bool| self.documents.iter().position(wanted);
        let exact = at(&|document| self.id(location, document) == id);
        exact.or_else(|| {
            let local = find_part(id, part::LOCAL)?;
            at(&|document| document.id.is_none() && document.local_id() == local)
        })
    }
}

/// Returns a part of an identifier.
pub(crate) fn find_part(id: &[u8], which: [u64; 2]) -> Option<&[u8]> {
    let fields = fields(id)?;
    which.into_iter().find_map(|tag| find(&fields, tag))
}
