//! What only news understands.

use std::sync::Arc;

use fetch_url_core::Url;
use fetch_url_proto::nntp::Part;

/// How a URL is fetched from a news server: an extra of [`crate::Request`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct NntpOptions {
    /// How much of an article is wanted.
    pub part: Part,
    /// In what shape articles are delivered.
    pub shape: ArticleShape,
    /// Lists are delivered as the server sends them.
    pub raw_lists: bool,
    /// A range of articles stands for the list of them.
    pub lists_ranges: bool,
    /// A login may go out in the clear (RFC 4643 §5): whoever is on the way reads it.
    pub clear_login: bool,
    /// What will be asked for next, in this order: articles of the same server are asked for ahead.
    pub next: Next,
}

/// In what shape articles are delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArticleShape {
    /// Octet by octet; several one after another.
    #[default]
    AsItCame,
    /// With the line ends of this machine.
    LocalLines,
    /// As an mbox (RFC 4155), quoted so that nothing is lost ("mboxrd"); a group stands for all its articles.
    Mbox,
}

/// URLs that will be asked for, in this order.
#[derive(Clone, Debug, Default)]
pub struct Next {
    urls: Arc<[Url<'static>]>,
    from: usize,
}

impl Next {
    /// These, from this index on.
    pub const fn new(urls: Arc<[Url<'static>]>, from: usize) -> Self {
        Self { urls, from }
    }

    /// The URLs.
    pub(super) fn urls(&self) -> &[Url<'static>] {
        self.urls.get(self.from..).unwrap_or_default()
    }
}
