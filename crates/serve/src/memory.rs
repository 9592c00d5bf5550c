//! The limit on the memory of all requests that are under way.
//!
//! Constants bound the memory of a request, so the limit counts requests: each request reserves its maximum, and one
//! that does not fit is refused. Memory in use is not measured.

use std::sync::Arc;

use fetch_url::{Code, Error, Phase, Url};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::newsgroup_url::is_newsgroup;
use crate::request_head::RequestHead;

/// The unit of the limit, in bytes.
const UNIT: u64 = 64 * 1024;
/// The units of a request: 512 KiB that are read from the server, 1 MiB of a gopher text that is held until its end,
/// two blocks for the cache, and the buffers for the client.
const OBJECT_UNITS: u32 = 32;
/// The units of a news article that is shown as a page: 8 MiB of its source, its decoded parts, and the page.
const ARTICLE_UNITS: u32 = 768;
/// The units of a newsgroup: an object, and the identifier, subject, author and link of each of 1000 articles.
const NEWSGROUP_UNITS: u32 = 128;
/// The units of a tunnel: a buffer for each direction, and the buffers for the client.
const TUNNEL_UNITS: u32 = 4;

/// The part of the limit that no request has reserved.
#[derive(Debug)]
pub(crate) struct MemoryLimit(Arc<Semaphore>);

/// The memory of one request, until it is dropped.
#[derive(Debug)]
pub(crate) struct MemoryPermit(
    #[expect(dead_code, reason = "dropping it frees the memory")] OwnedSemaphorePermit,
);

/// The kind of a request, which determines its maximum memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryNeed {
    Article,
    Newsgroup,
    Object,
    Tunnel,
}

impl MemoryNeed {
    /// Returns what the answer to the request `head` for `url` needs.
    pub(crate) fn of(head: &RequestHead, url: &Url<'_>) -> Self {
        match url {
            url if is_newsgroup(url) => Self::Newsgroup,
            Url::News(_) | Url::Nntp(_) if head.accepts_html() => Self::Article,
            _ => Self::Object,
        }
    }

    const fn units(self) -> u32 {
        match self {
            Self::Article => ARTICLE_UNITS,
            Self::Newsgroup => NEWSGROUP_UNITS,
            Self::Object => OBJECT_UNITS,
            Self::Tunnel => TUNNEL_UNITS,
        }
    }
}

impl MemoryLimit {
    /// Creates a limit of `bytes`.
    ///
    /// # Errors
    /// `Code::Usage` if a single request could need more.
    pub(crate) fn new(bytes: u64) -> Result<Self, Error> {
        if bytes / UNIT < u64::from(ARTICLE_UNITS) {
            let least = (u64::from(ARTICLE_UNITS) * UNIT) >> 20;
            let detail = format!("a memory limit of {bytes} bytes is less than one request may need");
            let hint = format!("--max-memory SIZE of fetch-url serve is at least {least}M");
            return Err(Error::new(Code::Usage, Phase::Plan, detail).with_hint(hint));
        }
        let units = usize::try_from(bytes / UNIT).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS);
        Ok(Self(Arc::new(Semaphore::new(units))))
    }

    /// Reserves memory, or returns `None` if there is not enough.
    pub(crate) fn reserve(&self, need: MemoryNeed) -> Option<MemoryPermit> {
        self.0.clone().try_acquire_many_owned(need.units()).ok().map(MemoryPermit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_fit_until_the_limit_and_again_after_one_ends() {
        let limit = MemoryLimit::new(64 << 20).expect("enough");
        let mut permits: Vec<_> = (0..32).map_while(|_| limit.reserve(MemoryNeed::Object)).collect();
        assert_eq!(permits.len(), 32);
        assert!(limit.reserve(MemoryNeed::Tunnel).is_none());
        permits.pop();
        assert!(limit.reserve(MemoryNeed::Article).is_none() && limit.reserve(MemoryNeed::Object).is_some());
        assert_eq!(MemoryLimit::new(1 << 20).expect_err("too little").code(), Code::Usage);
    }

    #[test]
    fn need_follows_from_the_url_and_the_client() {
        let head = |accept: &str| {
            let text = format!("GET / HTTP/1.0\r\nAccept: {accept}\r\n\r\n");
            RequestHead::parse(text.as_bytes()).expect("a head").expect("complete").0
        };
        let (browser, program) = (head("text/html"), head("*/*"));
        for (text, by_browser, by_program) in [
            ("news:a.b", MemoryNeed::Newsgroup, MemoryNeed::Newsgroup),
            ("nntp://h/a.b", MemoryNeed::Newsgroup, MemoryNeed::Newsgroup),
            ("nntp://h/a.b/1-9", MemoryNeed::Newsgroup, MemoryNeed::Newsgroup),
            ("nntp://h/a.b/1", MemoryNeed::Article, MemoryNeed::Object),
            ("news:1@h", MemoryNeed::Article, MemoryNeed::Object),
            ("gopher://h/1/", MemoryNeed::Object, MemoryNeed::Object),
        ] {
            let url = fetch_url::url::parse(text).expect(text).url;
            let needs = (MemoryNeed::of(&browser, &url), MemoryNeed::of(&program, &url));
            assert_eq!(needs, (by_browser, by_program), "{text}");
        }
    }
}
