//! Adds a news server to a URL that names none.

use crate::{HostPort, NewsResource, NewsUrl, OtherUrl, Url, parse};

impl Url<'_> {
    /// Adds the news server `server` to a URL that names a newsgroup or an article without one.
    ///
    /// That applies to `news:` URLs (RFC 5538 §2.1), the 1993 form `nntp:group/number`, and `mid:` URLs, whose
    /// message-id is looked up as an article (RFC 2392). Other URLs, and URLs with a server, are returned unchanged.
    #[must_use]
    pub fn with_news_server(mut self, server: &HostPort<'static>) -> Self {
        if let Self::Other(url) = &self
            && let Some(article) = article_of_mid(url, server)
        {
            return Self::News(article);
        }
        let own_server = match &mut self {
            Self::News(url) => url.server_mut(),
            Self::Nntp(url) => url.server_mut(),
            _ => return self,
        };
        own_server.get_or_insert_with(|| server.clone());
        self
    }
}

/// Returns the news URL for the message-id of a `mid` URL. The content-id after the slash (RFC 2392) is dropped.
fn article_of_mid(url: &OtherUrl<'_>, server: &HostPort<'static>) -> Option<NewsUrl<'static>> {
    let text = url.scheme_specific_part().as_str();
    let id = text.split('/').next().filter(|_| url.scheme_name() == "mid")?;
    // Some programs percent-encode the `@`; in a news URL it must not be encoded (RFC 1738 §5 `article`).
    let id = if id.contains('@') { id.to_owned() } else { id.replacen("%40", "@", 1) };
    match parse(&format!("news://{server}/{id}")).ok()?.into_owned().url {
        Url::News(url) if matches!(url.resource(), NewsResource::Article(_)) => Some(url),
        _ => None,
    }
}
