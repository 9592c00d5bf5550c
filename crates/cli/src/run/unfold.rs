//! A URL that names several articles, each for a file of its own.

use std::sync::Arc;

use fetch_url::url::Url;
use fetch_url::{Code, Content, Error, Next, NntpOptions, Phase, Request};

use crate::flags::Format;
use crate::job::{Job, Output, Transfer};

/// The URLs of the articles that there are of a range which goes to several files; none where `transfer` is one
/// file.
pub(super) async fn articles(job: &Job, transfer: &Transfer) -> Result<Option<Arc<[Url<'static>]>>, Error> {
    if !matches!(transfer.output, Output::Named { .. }) || job.shape.format == Format::Mbox || job.shape.head
    {
        return Ok(None);
    }
    let request = job.shape.request(&transfer.url, Next::default())?;
    let Url::Nntp(url) = request.url() else { return Ok(None) };
    if url.articles().is_none_or(|articles| articles.first == articles.last) {
        return Ok(None);
    }
    let found = list(job, request).await?;
    if found.is_empty() {
        return Err(Error::new(Code::NotFound, Phase::Request, "no article has one of these numbers"));
    }
    Ok(Some(found.into()))
}

/// The range as a list.
async fn list(job: &Job, request: Request) -> Result<Vec<Url<'static>>, Error> {
    let mut options = request.extra::<NntpOptions>().cloned().unwrap_or_default();
    (options.lists_ranges, options.raw_lists) = (true, false);
    let plain = Request::from_url(request.url().clone()).with_extra(options);
    let Content::Listing(mut entries) = job.fetcher.fetch(plain).await?.content else {
        return Err(Error::new(Code::Internal, Phase::Request, "a range is no list"));
    };
    let mut found = Vec::new();
    while let Some(entry) = entries.next().await? {
        if let Some(url) = entry.url {
            found.push(Request::new(&url)?.url().clone());
        }
    }
    Ok(found)
}
