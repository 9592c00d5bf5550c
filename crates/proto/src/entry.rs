//! A line of a listing, and what is known of an object before its octets.

use crate::gopher::MenuItem;
use crate::gopher_plus::Attributes;
use crate::nntp::{ArticleFacts, GroupFacts};
use crate::prospero::LinkFacts;
use crate::wais::DocumentFacts;

/// One line of a listing: a directory, a menu, a list of groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it is.
    pub kind: EntryKind,
    /// Its name, as the peer's octets: no text encoding is known.
    pub name: Vec<u8>,
    /// Its size in octets.
    pub size: Option<u64>,
    /// When it was changed, in seconds since 1970-01-01 UTC.
    pub modified: Option<i64>,
    /// The URL that fetches it, password-free.
    pub url: Option<String>,
    /// What only its protocol tells.
    pub details: Details,
}

impl Entry {
    /// Of this kind; nothing else is known.
    pub const fn new(kind: EntryKind) -> Self {
        Self { kind, name: Vec::new(), size: None, modified: None, url: None, details: Details::None }
    }
}

/// What only one protocol tells of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Details {
    /// Nothing.
    #[default]
    None,
    /// Gopher: the item, and its Gopher+ attributes where they were asked for.
    MenuItem(Box<MenuItem>, Option<Box<Attributes>>),
    /// News: a group.
    Newsgroup(Box<GroupFacts>),
    /// News: an article.
    Article(Box<ArticleFacts>),
    /// Prospero: a link.
    Link(Box<LinkFacts>),
    /// WAIS: a document.
    Document(Box<DocumentFacts>),
}

/// What a line of a listing stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EntryKind {
    /// Holds further entries.
    Directory,
    /// Holds octets.
    File,
    /// Points elsewhere.
    Link,
    /// None of the others, such as a device or a socket; or nobody tells what it is.
    Other,
}

impl EntryKind {
    /// A stable word for machines.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Directory => "directory",
            Self::File => "file",
            Self::Link => "link",
            Self::Other => "other",
        }
    }
}

/// What is known of an object before its octets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Its size in octets.
    pub size: Option<u64>,
    /// When it was changed, in seconds since 1970-01-01 UTC.
    pub modified: Option<i64>,
}
