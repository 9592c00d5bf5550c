//! Decides which URLs name the articles of one newsgroup.

use fetch_url::Url;
use fetch_url::url::NewsResource;

/// Returns `true` for the list of the articles of one newsgroup, or of a range of them.
pub(crate) fn is_newsgroup(url: &Url<'_>) -> bool {
    match url {
        Url::Nntp(url) => url.articles().is_none_or(|numbers| numbers.first != numbers.last),
        Url::News(url) => match url.resource() {
            NewsResource::Group(name) => !name.as_str().contains(['*', '?', ',', '@']),
            _ => false,
        },
        _ => false,
    }
}
