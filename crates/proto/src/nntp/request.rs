//! The requests that a client can send to a news server, and the validation of group names and message-ids (RFC
//! 1738 §6).

use std::fmt;

use bytes::Bytes;
use fetch_url_core::ArticleNumbers;

use crate::{ForbiddenByte, ForbiddenSet};

/// Maximum length of a message-id, with its angle brackets, in bytes (RFC 3977 §3.6).
const MAX_ID_BYTES: usize = 250;
/// Maximum length of an argument in bytes: a command line has at most 512 bytes (RFC 3977 §3.1).
const MAX_ARGUMENT_BYTES: usize = 497;
/// The largest article number: the largest one that a URL can contain.
pub const MAX_ARTICLE_NUMBER: u64 = ArticleNumbers::MAX;

/// A request to a news server: an article, a group, a list of groups, or a list of articles.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NewsRequest {
    /// Retrieve an article, or its header or body.
    Article(ArticleAddress, ArticlePart),
    /// Select a group (GROUP) without retrieving an article. [`super::Session::selected`] returns the result.
    Group(GroupName),
    /// List the groups that match a pattern (a wildmat, RFC 3977 §4), or all groups if there is no pattern.
    Groups(Option<GroupName>, ListForm),
    /// List the articles of a group, or those in a range of numbers, both ends included.
    Overview(GroupName, Option<(u64, u64)>, ListForm),
}

/// The address of an article: a message-id, or a group and an article number.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "RFC 3977 has these two")]
pub enum ArticleAddress {
    /// A message-id, valid for the whole server.
    Id(MessageId),
    /// An article number in a group.
    Number(GroupName, u64),
}

/// The part of an article to retrieve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "RFC 3977 has these")]
pub enum ArticlePart {
    /// Header, empty line and body (ARTICLE).
    #[default]
    Article,
    /// The body (BODY).
    Body,
    /// The header (HEAD).
    Head,
}

/// The format in which a list is returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "it is read or it is not")]
pub enum ListForm {
    /// One parsed entry per line ([`crate::Event::Entry`]).
    #[default]
    Entries,
    /// The lines of the server, unparsed ([`crate::Event::Body`]).
    Raw,
}

/// The reason why a group name or message-id cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameError {
    /// It contains a byte that would end the argument or the command line.
    Forbidden(ForbiddenByte),
    /// It is empty or longer than the protocol allows.
    Length {
        /// The name of the URL part, for messages.
        part: &'static str,
        /// The maximum length, in bytes.
        max_bytes: usize,
    },
}

/// The name of a newsgroup, or a pattern of names (a wildmat). Validated: it can be sent as an argument.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupName(Bytes);

impl GroupName {
    /// Validates the percent-decoded bytes of a URL as a group name or pattern.
    ///
    /// # Errors
    /// [`NameError::Forbidden`] for a byte that would end the argument; [`NameError::Length`] if the name is
    /// empty or longer than 497 bytes.
    pub fn new(bytes: &[u8]) -> Result<Self, NameError> {
        checked("group", bytes, MAX_ARGUMENT_BYTES).map(Self)
    }

    /// Returns the name as bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns `true` if this is a pattern, which can match several groups.
    pub fn is_pattern(&self) -> bool {
        self.0.iter().any(|byte| matches!(byte, b'*' | b'?' | b',' | b'!'))
    }
}

/// A message-id without its angle brackets. Validated: it can be sent as an argument.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MessageId(Bytes);

impl MessageId {
    /// Validates the percent-decoded bytes of a URL as a message-id.
    ///
    /// # Errors
    /// [`NameError::Forbidden`] for a byte that would end the argument; [`NameError::Length`] if the id is
    /// empty or longer than 248 bytes.
    pub fn new(bytes: &[u8]) -> Result<Self, NameError> {
        checked("message-id", bytes, MAX_ID_BYTES - 2).map(Self)
    }

    /// Returns the message-id as bytes, without angle brackets.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the message-id with its angle brackets, as commands need it.
    pub(super) fn bracketed(&self) -> Vec<u8> {
        [b"<", &self.0[..], b">"].concat()
    }

    /// Returns `true` if `word` of a reply is this message-id. ASCII case is ignored: RFC 5536 §3.1.3
    /// compares bytes, but some servers change the case of the domain.
    pub(super) fn is(&self, word: &[u8]) -> bool {
        let bare = word.strip_prefix(b"<").and_then(|word| word.strip_suffix(b">")).unwrap_or(word);
        bare.eq_ignore_ascii_case(&self.0)
    }
}

fn checked(part: &'static str, bytes: &[u8], most: usize) -> Result<Bytes, NameError> {
    ForbiddenSet::NNTP.check(part, bytes).map_err(NameError::Forbidden)?;
    if bytes.is_empty() || bytes.len() > most {
        return Err(NameError::Length { part, max_bytes: most });
    }
    Ok(Bytes::copy_from_slice(bytes))
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Forbidden(byte) => byte.fmt(f),
            Self::Length { part, max_bytes } => write!(f, "a {part} has between 1 and {max_bytes} bytes"),
        }
    }
}

impl std::error::Error for NameError {}
