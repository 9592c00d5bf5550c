//! The details of newsgroups and articles that a server's lists contain.

/// The details of a newsgroup from LIST ACTIVE (RFC 3977 §7.6.3).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupDetails {
    /// The lowest article number.
    pub low: u64,
    /// The highest article number; lower than `low` if the group is empty.
    pub high: u64,
    /// The posting status: `y` (allowed), `n` (not allowed), `m` (moderated), or another value of the server
    /// such as `x`, `j` or `=other.group`.
    pub posting: Vec<u8>,
}

/// The details of an article from the overview (RFC 3977 §8.3). Header fields are as sent by the server:
/// unfolded, with encoded words (RFC 2047) not decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArticleDetails {
    /// The article number in its group, on this server.
    pub number: u64,
    /// The Subject field.
    pub subject: Vec<u8>,
    /// The From field.
    pub from: Vec<u8>,
    /// The Date field, unparsed.
    pub date: Vec<u8>,
    /// The Message-ID field, with its angle brackets.
    pub message_id: Vec<u8>,
    /// The References field.
    pub references: Vec<u8>,
    /// The size of the article in bytes, as the server counts them, if known.
    pub bytes: Option<u64>,
    /// The number of lines of the body, if known.
    pub lines: Option<u64>,
}
