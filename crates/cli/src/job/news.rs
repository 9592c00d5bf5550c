//! What only news understands, as the flags say.

use fetch_url::proto::nntp::Part;
use fetch_url::url::{HostPort, Url};
use fetch_url::{ArticleShape, Error, NntpOptions};

use super::{environment, usage};
use crate::flags::{Fetch, Format, NewsPart};

/// What the flags say of news.
pub(super) fn options(flags: &Fetch) -> Result<NntpOptions, Error> {
    let news = &flags.news;
    let mut options = NntpOptions::default();
    options.part = match news.part {
        NewsPart::Article => Part::Article,
        NewsPart::Body => Part::Body,
        NewsPart::Head => Part::Head,
    };
    options.shape = match flags.format {
        Format::Mbox if news.part != NewsPart::Article => {
            return Err(usage("--format mbox is of whole articles: without --part"));
        }
        Format::Mbox => ArticleShape::Mbox,
        _ if news.text => ArticleShape::LocalLines,
        _ => ArticleShape::AsItCame,
    };
    options.raw_lists = flags.format == Format::Raw;
    options.clear_login = news.insecure_auth;
    Ok(options)
}

/// Whether a URL may be one of news: only a closer look tells.
pub(crate) fn may_be_news(url: &str) -> bool {
    ["news", "nntp", "snews", "URL:", "<"].iter().any(|start| {
        url.trim_start().get(..start.len()).is_some_and(|begun| begun.eq_ignore_ascii_case(start))
    })
}

/// Whether a URL names several articles.
pub(crate) fn is_range(url: &str) -> bool {
    if !may_be_news(url) {
        return false;
    }
    let parsed = fetch_url::url::parse(url);
    let Ok(Url::Nntp(url)) = parsed.map(|parsed| parsed.url) else { return false };
    url.articles().is_some_and(|articles| articles.first < articles.last)
}

/// Whether a URL names a message-id, which an article may have.
pub(crate) fn is_mid(url: &Url<'_>) -> bool {
    matches!(url, Url::Other(url) if url.name() == "mid")
}

/// The server for URLs that name none, and for those that links lead to: the flag's, else the environment's, which
/// is looked at closely only where one is needed.
pub(super) fn server(url: &Url<'_>, flag: Option<&str>) -> Result<Option<HostPort<'static>>, Error> {
    let is_needed = (matches!(url, Url::News(_) | Url::Nntp(_)) && url.host().is_none()) || is_mid(url);
    let read = |text: &str, source: &str| read_server(text, source).map(Some);
    match (flag, environment::news_server()) {
        (Some(text), _) => read(text, "--news-server"),
        (None, Some(text)) if is_needed => read(&text, "NNTPSERVER"),
        (None, Some(text)) => Ok(HostPort::parse(&text).ok()),
        (None, None) => Ok(None),
    }
}

/// A server as `source` names it.
pub(crate) fn read_server(text: &str, source: &str) -> Result<HostPort<'static>, Error> {
    // With an @ in it, it may hold a password.
    let shown = if text.contains('@') { "what it says" } else { text };
    HostPort::parse(text)
        .map_err(|error| usage(format!("{source}: {shown} is no HOST or HOST:PORT: {error}")))
}
