//! Options of the news driver.

use std::sync::Arc;

use fetch_url_core::Url;
use fetch_url_proto::nntp::ArticlePart;

/// Options for `news:`, `snews:`, `nntp:` and `nntps:` URLs, set by [`Request::news`](crate::Request::news).
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct NewsOptions {
    /// The part of each article to retrieve: header, body, or both (HEAD, BODY and ARTICLE, RFC 3977 §6.2). Default:
    /// both.
    pub part: ArticlePart,
    /// The format in which articles are delivered. Default: [`ArticleFormat::Raw`].
    pub format: ArticleFormat,
    /// Return lists of groups or articles as the bytes that the server sent, instead of a [`Listing`](crate::Listing).
    /// Default: `false`.
    pub raw_lists: bool,
    /// Return the list of the articles for a URL with a range of article numbers, instead of the articles. Default:
    /// `false`.
    pub list_ranges: bool,
    /// Send user name and password even on a connection without TLS (RFC 4643 §5), where they can be read on the
    /// network. Default: `false`.
    pub insecure_auth: bool,
    /// URLs that the caller will request next, in this order. Articles on the same server are requested ahead on the
    /// same connection (pipelining). Default: none.
    pub upcoming: UpcomingUrls,
}

/// The format in which articles are delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArticleFormat {
    /// The bytes of the article, with CRLF line ends. Several articles follow one another without a separator.
    #[default]
    Raw,
    /// Like `Raw`, with the line ends of the local system.
    LocalLineEndings,
    /// An mbox (RFC 4155), quoted so that no byte is lost ("mboxrd"). The URL of a group then means all articles of the
    /// group.
    Mbox,
}

/// URLs that the caller will request next, in this order. Clones share the URLs.
#[derive(Clone, Debug, Default)]
pub struct UpcomingUrls {
    urls: Arc<[Url<'static>]>,
    from: usize,
}

impl UpcomingUrls {
    /// Returns the URLs from index `from` on.
    pub const fn new(urls: Arc<[Url<'static>]>, from: usize) -> Self {
        Self { urls, from }
    }

    pub(super) fn urls(&self) -> &[Url<'static>] {
        self.urls.get(self.from..).unwrap_or_default()
    }
}
