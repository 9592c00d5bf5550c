//! The news options.

use fetch_url::Error;
use fetch_url::news::{ArticleFormat, NewsOptions};
use fetch_url::url::{HostPort, Url};
use fetch_url_proto::nntp::ArticlePart;

use super::{environment, gateway};
use crate::error::usage_error;
use crate::flags::{FetchFlags, Format, NewsPart};

/// The sources of the news server.
#[derive(Clone, Debug)]
pub(super) struct NewsServerSources {
    by_flag: Option<String>,
    /// From a config file; the environment takes precedence.
    by_default: Option<String>,
}

impl NewsServerSources {
    pub(super) fn of(flags: &FetchFlags) -> Self {
        let by_flag = flags.news.news_server.clone().or_else(|| gateway::news_server(&flags.gateway));
        Self { by_flag, by_default: flags.news.default_news_server.clone() }
    }
}

/// Makes the news options from the flags.
pub(super) fn options(flags: &FetchFlags) -> Result<NewsOptions, Error> {
    let news = &flags.news;
    let mut options = NewsOptions::default();
    options.part = match news.part {
        NewsPart::Article => ArticlePart::Article,
        NewsPart::Body => ArticlePart::Body,
        NewsPart::Head => ArticlePart::Head,
    };
    options.format = match flags.format {
        Format::Mbox if news.part != NewsPart::Article => {
            return Err(usage_error("--format mbox cannot be combined with --part"));
        }
        Format::Mbox => ArticleFormat::Mbox,
        _ if news.text => ArticleFormat::LocalLineEndings,
        _ => ArticleFormat::Raw,
    };
    options.raw_lists = flags.format == Format::Raw;
    options.insecure_auth = news.insecure_auth;
    Ok(options)
}

/// Returns `true` if a text may be a news URL, without parsing it.
pub(crate) fn may_be_news(url: &str) -> bool {
    ["news", "nntp", "snews", "URL:", "<"].iter().any(|start| {
        url.trim_start().get(..start.len()).is_some_and(|begun| begun.eq_ignore_ascii_case(start))
    })
}

/// Returns `true` if a URL names a range of articles.
pub(crate) fn is_range(url: &str) -> bool {
    if !may_be_news(url) {
        return false;
    }
    let parsed = fetch_url::url::parse(url);
    let Ok(Url::Nntp(url)) = parsed.map(|parsed| parsed.url) else { return false };
    url.articles().is_some_and(|articles| articles.first < articles.last)
}

/// Returns `true` for `mid:` URLs.
pub(crate) fn is_mid(url: &Url<'_>) -> bool {
    matches!(url, Url::Other(url) if url.scheme_name() == "mid")
}

/// Returns the server for URLs without one: from the option, the environment, or the config file.
pub(super) fn server(url: &Url<'_>, named: &NewsServerSources) -> Result<Option<HostPort<'static>>, Error> {
    let is_needed = (matches!(url, Url::News(_) | Url::Nntp(_)) && url.host().is_none()) || is_mid(url);
    let read = |text: &str, source: &str| read_server(text, source).map(Some);
    let (text, source) = match (&named.by_flag, environment::news_server(), &named.by_default) {
        (Some(text), _, _) => return read(text, "--news-server"),
        (None, Some(text), _) => (text, "NNTPSERVER"),
        (None, None, Some(text)) => (text.clone(), "news-server"),
        (None, None, None) => return Ok(None),
    };
    // An invalid server is an error only if the URL needs one.
    if is_needed { read(&text, source) } else { Ok(HostPort::parse(&text).ok()) }
}

/// Parses a server; `source` names the option or variable for errors.
pub(crate) fn read_server(text: &str, source: &str) -> Result<HostPort<'static>, Error> {
    // A text with @ may contain a password, so it is not shown.
    let shown = if text.contains('@') { "the value" } else { text };
    HostPort::parse(text)
        .map_err(|error| usage_error(format!("{source}: {shown} is not HOST or HOST:PORT: {error}")))
}
