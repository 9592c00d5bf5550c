//! An index page as the listing that it is meant to be.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use fetch_url_proto::{Entry, IndexPage};
use futures_core::Stream;

use super::plan::HttpPlan;
use crate::body::EndMark;
use crate::{Body, Code, Content, Error, Listing, Phase, Response};

/// The longest page.
const MOST: usize = 32 * 1024 * 1024;
/// So many tags and words are read at a time.
const AT_ONCE: usize = 1024;

/// The answer as a listing, where one was asked for.
pub(super) fn listed(plan: &HttpPlan, answer: Response) -> Result<Response, Error> {
    if !plan.options.lists_pages || plan.wants_head {
        return Ok(answer);
    }
    let Response { mut meta, content, refusal, .. } = answer;
    let Content::Body(body) = content else { return Ok(Response { meta, content, refusal }) };
    if !is_html(meta.media_type.as_deref()) {
        let media_type = meta.media_type.as_deref().unwrap_or("not told");
        return Err(none(&format!("the type of the object is {media_type}")));
    }
    meta.is_resumable = false;
    (meta.head.size, meta.validator) = (None, None);
    let (url, proof) = (plan.url.to_string(), body.proof());
    let page = Page::Coming(Box::pin(collected(body, url)));
    Ok(Response::new(meta, Content::Listing(Listing::new(page).ending_by(proof, EndMark::default()))))
}

fn none(why: &str) -> Error {
    Error::new(Code::NotFound, Phase::Reply, format!("there is no index page: {why}"))
}

fn is_html(media_type: Option<&str>) -> bool {
    let essence = media_type.and_then(|text| text.split(';').next()).unwrap_or_default().trim();
    ["text/html", "application/xhtml+xml"].iter().any(|html| essence.eq_ignore_ascii_case(html))
}

/// A page that is read when all of it is here.
enum Page {
    Coming(Pin<Box<dyn Future<Output = Result<IndexPage, Error>> + Send>>),
    Here(Box<IndexPage>),
    Over,
}

async fn collected(body: Body, url: String) -> Result<IndexPage, Error> {
    Ok(IndexPage::new(body.collect(MOST).await?.into(), &url))
}

impl Stream for Page {
    type Item = Result<Entry, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            match &mut *self {
                Self::Over => return Poll::Ready(None),
                Self::Coming(coming) => {
                    let page = ready!(coming.as_mut().poll(cx));
                    *self = Self::Here(Box::new(page?));
                }
                Self::Here(page) => {
                    for _ in 0..AT_ONCE {
                        match page.next_token() {
                            Some(None) => {}
                            Some(Some(entry)) => return Poll::Ready(Some(Ok(entry))),
                            // Words of a server in trouble are no empty directory.
                            None => {
                                let error = (!page.is_index()).then(|| none("it has no links"));
                                *self = Self::Over;
                                return Poll::Ready(error.map(Err));
                            }
                        }
                    }
                    // Signals and deadlines have their turn.
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
            }
        }
    }
}
