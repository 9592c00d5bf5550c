//! An entry of a listing, and the metadata of an object before its body.

mod memory;

use crate::gopher::MenuItem;
use crate::gopher_plus::Attributes;
use crate::nntp::{ArticleDetails, GroupDetails};
use crate::prospero::LinkDetails;
use crate::wais::DocumentDetails;

/// One entry of a listing: of a directory, a menu, a list of newsgroups or articles, or search results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The kind: a directory, a file, a link, or another.
    pub kind: EntryKind,
    /// The name as the server sent it. It is untrusted, in an unknown encoding, and may contain any byte.
    pub name: Vec<u8>,
    /// The size in bytes, where the listing states it.
    pub size: Option<u64>,
    /// The modification time in seconds since 1970-01-01 UTC, where the listing states it.
    pub modified: Option<i64>,
    /// The nanoseconds of the second of `modified`; 0 if the listing states none.
    pub modified_nanoseconds: u32,
    /// The URL of the entry, without a password.
    pub url: Option<String>,
    /// Metadata that only this protocol has.
    pub details: Details,
}

impl Entry {
    /// Creates an entry of `kind` with an empty name and no other metadata.
    pub const fn new(kind: EntryKind) -> Self {
        Self {
            kind,
            name: Vec::new(),
            size: None,
            modified: None,
            modified_nanoseconds: 0,
            url: None,
            details: Details::None,
        }
    }

    /// Creates an entry with the metadata that an FTP listing contains.
    pub(crate) fn from_listing(
        kind: EntryKind,
        name: &[u8],
        size: Option<u64>,
        modified: Option<i64>,
    ) -> Self {
        Self { name: name.to_vec(), size, modified, ..Self::new(kind) }
    }
}

/// Metadata of an entry that only one protocol has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Details {
    /// No further metadata.
    #[default]
    None,
    /// Gopher: the menu item, and its Gopher+ attributes if they were requested.
    MenuItem(Box<MenuItem>, Option<Box<Attributes>>),
    /// News: a newsgroup.
    Newsgroup(Box<GroupDetails>),
    /// News: an article, from the overview or from its header.
    Article(Box<ArticleDetails>),
    /// Prospero: a link of a directory.
    Link(Box<LinkDetails>),
    /// WAIS: a document that a search found.
    Document(Box<DocumentDetails>),
}

/// The kind of an entry of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EntryKind {
    /// A directory, a menu, or another container of entries.
    Directory,
    /// A file, or another object with a body.
    File,
    /// A link to another place.
    Link,
    /// Something else, such as a device or a socket; or the listing does not state the kind.
    Other,
}

impl EntryKind {
    /// Returns a stable lower-case word for machine-readable output, such as `directory`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Directory => "directory",
            Self::File => "file",
            Self::Link => "link",
            Self::Other => "other",
        }
    }
}

/// The metadata of an object that is known before its body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The size in bytes, if known.
    pub size: Option<u64>,
    /// The modification time in seconds since 1970-01-01 UTC, if known.
    pub modified: Option<i64>,
    /// The nanoseconds of the second of `modified`; 0 if unknown.
    pub modified_nanoseconds: u32,
}

/// The numbers of links of an index page that have the form of an entry, but are none: the text of the link is the last
/// part of its path or of a value of its query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OtherLinkCounts {
    /// On another server: another host, port or scheme.
    pub other_servers: u64,
    /// On the same server, not directly below the directory.
    pub outside: u64,
    /// The directory, or something directly below it, with a query.
    pub with_query: u64,
}
