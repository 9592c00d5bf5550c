//! What a news server's lists tell of groups and articles.

/// A newsgroup, as LIST ACTIVE tells (RFC 3977 §7.6.3).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupFacts {
    /// The lowest article number there is.
    pub low: u64,
    /// The highest; below `low` when there is no article.
    pub high: u64,
    /// Whether one may post: `y`, `n`, `m` (moderated), or what else the server says (`x`, `j`, `=other.group`).
    pub posting: Vec<u8>,
}

/// An article, as the overview tells (RFC 3977 §8.3). The fields of its header are as the peer sends them:
/// unfolded, encoded words (RFC 2047) still encoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArticleFacts {
    /// Its number in the group, on this server.
    pub number: u64,
    /// Subject.
    pub subject: Vec<u8>,
    /// From.
    pub from: Vec<u8>,
    /// Date, in the words of whoever wrote it.
    pub date: Vec<u8>,
    /// Message-ID, with its angle brackets.
    pub message_id: Vec<u8>,
    /// References.
    pub references: Vec<u8>,
    /// Its length in octets, as the server counts them.
    pub octets: Option<u64>,
    /// The lines of its body.
    pub lines: Option<u64>,
}
