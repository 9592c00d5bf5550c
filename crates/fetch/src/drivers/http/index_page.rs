//! Reads an HTML index page as the listing of a directory.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use fetch_url_proto::{Entry, IndexPage};
use futures_core::Stream;

use super::plan::HttpPlan;
use crate::body::TerminatorCheck;
use crate::{Body, Code, Content, Error, Listing, Phase, Response};

/// The largest index page, in bytes.
const MAX_PAGE_SIZE: usize = 32 * 1024 * 1024;
/// The most tags and words that one poll reads.
const TOKENS_PER_POLL: usize = 1024;

/// Returns the response as a listing if the caller asked for one.
pub(super) fn index_page_listing(plan: &HttpPlan, response: Response) -> Result<Response, Error> {
    if !plan.options.index_as_listing || plan.wants_head {
        return Ok(response);
    }
    let Response { mut meta, content, refusal, .. } = response;
    let Content::Body(body) = content else { return Ok(Response { meta, content, refusal }) };
    if !is_html(meta.media_type.as_deref()) {
        let media_type = meta.media_type.as_deref().unwrap_or("unknown");
        return Err(not_an_index_error(&format!("its media type is {media_type}")));
    }
    meta.is_resumable = false;
    (meta.head.size, meta.validator) = (None, None);
    let (url, proof) = (plan.url.to_string(), body.proof());
    let page = PageEntries::Receiving(Box::pin(receive_page(body, url)));
    Ok(Response::new(
        meta,
        Content::Listing(Listing::new(page).with_terminator_check(proof, TerminatorCheck::default())),
    ))
}

fn not_an_index_error(why: &str) -> Error {
    Error::new(Code::NotFound, Phase::Reply, format!("not an index page: {why}"))
}

fn is_html(media_type: Option<&str>) -> bool {
    let essence = media_type.and_then(|text| text.split(';').next()).unwrap_or_default().trim();
    ["text/html", "application/xhtml+xml"].iter().any(|html| essence.eq_ignore_ascii_case(html))
}

/// The entries of a page, which is parsed when all of it has been received.
enum PageEntries {
    Receiving(Pin<Box<dyn Future<Output = Result<IndexPage, Error>> + Send>>),
    Parsed(Box<IndexPage>),
    Finished,
}

async fn receive_page(body: Body, url: String) -> Result<IndexPage, Error> {
    Ok(IndexPage::new(body.collect(MAX_PAGE_SIZE).await?.into(), &url))
}

impl Stream for PageEntries {
    type Item = Result<Entry, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            match &mut *self {
                Self::Finished => return Poll::Ready(None),
                Self::Receiving(receiving) => {
                    let page = ready!(receiving.as_mut().poll(cx));
                    *self = Self::Parsed(Box::new(page?));
                }
                Self::Parsed(page) => {
                    for _ in 0..TOKENS_PER_POLL {
                        match page.read_token() {
                            Some(None) => {}
                            Some(Some(entry)) => return Poll::Ready(Some(Ok(entry))),
                            // An error page is not an empty directory.
                            None => {
                                let error = (!page.is_index()).then(|| not_an_index_error("it has no links"));
                                *self = Self::Finished;
                                return Poll::Ready(error.map(Err));
                            }
                        }
                    }
                    // Other tasks get a chance to run.
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
            }
        }
    }
}
