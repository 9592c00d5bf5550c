//! What only news understands, as the flags say.

use fetch_url::proto::nntp::Part;
use fetch_url::url::{HostPort, Url};
use fetch_url::{ArticleShape, Error, NntpOptions};

use super::{environment, gateway, usage};
use crate::flags::{Fetch, Format, NewsPart};

/// Where a server for news may be named.
#[derive(Clone, Debug)]
pub(super) struct Named {
    by_flag: Option<String>,
    /// In a defaults file: the environment is asked before.
    by_default: Option<String>,
}

impl Named {
    pub(super) fn of(flags: &Fetch) -> Self {
        let by_flag = flags.news.news_server.clone().or_else(|| gateway::news_server(&flags.gateway));
        Self { by_flag, by_default: flags.news.default_news_server.clone() }
    }
}

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

/// The server for URLs that name none, and for those that links lead to: the flag's, else the environment's, else that
/// of a defaults file.
pub(super) fn server(url: &Url<'_>, named: &Named) -> Result<Option<HostPort<'static>>, Error> {
    let is_needed = (matches!(url, Url::News(_) | Url::Nntp(_)) && url.host().is_none()) || is_mid(url);
    let read = |text: &str, source: &str| read_server(text, source).map(Some);
    let (text, source) = match (&named.by_flag, environment::news_server(), &named.by_default) {
        (Some(text), _, _) => return read(text, "--news-server"),
        (None, Some(text), _) => (text, "NNTPSERVER"),
        (None, None, Some(text)) => (text.clone(), "news-server"),
        (None, None, None) => return Ok(None),
    };
    // What stands elsewhere is looked at closely only where one is needed.
    if is_needed { read(&text, source) } else { Ok(HostPort::parse(&text).ok()) }
}

/// A server as `source` names it.
pub(crate) fn read_server(text: &str, source: &str) -> Result<HostPort<'static>, Error> {
    // With an @ in it, it may hold a password.
    let shown = if text.contains('@') { "what it says" } else { text };
    HostPort::parse(text)
        .map_err(|error| usage(format!("{source}: {shown} is no HOST or HOST:PORT: {error}")))
}
