//! What a server is asked for, and the one gate for what goes into it (RFC 1738 §6).

use std::fmt;

use bytes::Bytes;

use crate::{ForbiddenOctet, Octets};

/// The longest message-id, with its angle brackets (RFC 3977 §3.6).
const ID_OCTETS: usize = 250;
/// The longest argument: with its command and the line end a line has at most 512 octets (RFC 3977 §3.1).
const ARGUMENT_OCTETS: usize = 497;
/// The largest article number (RFC 3977 §6).
pub const MOST_NUMBER: u64 = 2_147_483_647;

/// Something that a server is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ask {
    /// An article, or a part of it.
    Article(ArticleAt, Part),
    /// What is known of a group: [`super::Session::selected`] has it then.
    Group(GroupName),
    /// The groups of this pattern (RFC 3977 §4), or all there are.
    Groups(Option<GroupName>, ListForm),
    /// The articles of a group, or those between two numbers, both included.
    Overview(GroupName, Option<(u64, u64)>, ListForm),
}

/// Where an article is found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "RFC 3977 has these two")]
pub enum ArticleAt {
    /// Anywhere on the server.
    Id(MessageId),
    /// In a group, by its number.
    Number(GroupName, u64),
}

/// How much of an article is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "RFC 3977 has these")]
pub enum Part {
    /// Its header, an empty line, and its body.
    #[default]
    Article,
    /// Its body.
    Body,
    /// Its header.
    Head,
}

/// How a list comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "it is read or it is not")]
pub enum ListForm {
    /// Line by line, read.
    #[default]
    Entries,
    /// As the server sends it.
    Octets,
}

/// Why something cannot be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameError {
    /// It has an octet that would change what is said.
    Forbidden(ForbiddenOctet),
    /// It is longer than the protocol allows, or empty.
    Length {
        /// The part of the URL.
        part: &'static str,
        /// The most octets.
        most: usize,
    },
}

/// The name of a group, or a pattern of names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupName(Bytes);

impl GroupName {
    /// From the decoded octets of a URL.
    ///
    /// # Errors
    /// An octet that would end the argument, or too many of them.
    pub fn new(octets: &[u8]) -> Result<Self, NameError> {
        checked("group", octets, ARGUMENT_OCTETS).map(Self)
    }

    /// The name.
    pub fn octets(&self) -> &[u8] {
        &self.0
    }

    /// Whether it stands for several groups.
    pub fn is_pattern(&self) -> bool {
        self.0.iter().any(|octet| matches!(octet, b'*' | b'?' | b',' | b'!'))
    }
}

/// A message-id without its angle brackets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MessageId(Bytes);

impl MessageId {
    /// From the decoded octets of a URL.
    ///
    /// # Errors
    /// An octet that would end the argument, or too many of them.
    pub fn new(octets: &[u8]) -> Result<Self, NameError> {
        checked("message-id", octets, ID_OCTETS - 2).map(Self)
    }

    /// Without its angle brackets.
    pub fn octets(&self) -> &[u8] {
        &self.0
    }

    /// With its angle brackets.
    pub(super) fn bracketed(&self) -> Vec<u8> {
        [b"<", &self.0[..], b">"].concat()
    }

    /// Whether `word` of a reply names the same article. RFC 5536 §3.1.3 compares octets; there are servers
    /// that tell the domain in other letters.
    pub(super) fn is(&self, word: &[u8]) -> bool {
        let bare = word.strip_prefix(b"<").and_then(|word| word.strip_suffix(b">")).unwrap_or(word);
        bare.eq_ignore_ascii_case(&self.0)
    }
}

fn checked(part: &'static str, octets: &[u8], most: usize) -> Result<Bytes, NameError> {
    Octets::NNTP.check(part, octets).map_err(NameError::Forbidden)?;
    if octets.is_empty() || octets.len() > most {
        return Err(NameError::Length { part, most });
    }
    Ok(Bytes::copy_from_slice(octets))
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Forbidden(octet) => octet.fmt(f),
            Self::Length { part, most } => write!(f, "a {part} has between 1 and {most} octets"),
        }
    }
}

impl std::error::Error for NameError {}
