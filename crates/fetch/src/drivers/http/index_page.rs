//! Reads an HTML index page as the listing of a directory.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use bytes::Bytes;
use fetch_url_proto::{Entry, IndexPage, is_field_of_several_pages};
use futures_core::Stream;

use super::options::IndexRule;
use super::plan::HttpPlan;
use crate::body::TerminatorCheck;
use crate::listing::{KeptPage, OtherLinks};
use crate::{Body, Code, Content, Error, Listing, Phase, Proof, Response, Validator};

/// Maximum size of an index page, in bytes.
const MAX_PAGE_SIZE: usize = 32 * 1024 * 1024;
/// Maximum number of tags and words that one poll reads.
const TOKENS_PER_POLL: usize = 1024;

/// Returns the response as a listing if the caller asked for one. The page of an error is not a listing.
pub(super) fn index_page_listing(plan: &HttpPlan, response: Response) -> Result<Response, Error> {
    if !plan.options.index_as_listing || plan.wants_head || response.status_error.is_some() {
        return Ok(response);
    }
    let Response { mut meta, content, status_error, .. } = response;
    let Content::Body(body) = content else { return Ok(Response { meta, content, status_error }) };
    if !is_html(meta.media_type.as_deref()) {
        let media_type = meta.media_type.as_deref().unwrap_or("unknown");
        return Err(not_an_index_error(&format!("its media type is {media_type}")));
    }
    meta.is_resumable = false;
    let (size, validator) = (meta.head.size.take(), meta.validator.take());
    let (url, proof) = (plan.url.to_string(), body.proof());
    let kept = Arc::<OnceLock<KeptPage>>::default();
    let other_links = Arc::<OnceLock<OtherLinks>>::default();
    let terminator_check = TerminatorCheck::default();
    let page = PageEntries {
        state: PageState::Receiving(Box::pin(receive_page(body, url))),
        rule: plan.options.index_rule,
        kept: kept.clone(),
        other_links: other_links.clone(),
        description: Some((size, validator, proof)),
        has_other_pages: meta.fields.iter().any(|(name, value)| is_field_of_several_pages(name, value)),
        terminator_check: terminator_check.clone(),
    };
    let listing = Listing::new(page).with_terminator_check(proof, terminator_check);
    Ok(Response::new(meta, Content::Listing(listing.with_kept_page(kept).with_other_links(other_links))))
}

fn not_an_index_error(why: &str) -> Error {
    Error::new(Code::NotFound, Phase::Reply, format!("not an index page: {why}"))
        .with_hint("only directories can be listed and mirrored")
}

fn is_html(media_type: Option<&str>) -> bool {
    let essence = media_type.and_then(|text| text.split(';').next()).unwrap_or_default().trim();
    ["text/html", "application/xhtml+xml"].iter().any(|html| essence.eq_ignore_ascii_case(html))
}

/// The entries of a page, which is parsed when all of it has been received.
struct PageEntries {
    state: PageState,
    rule: IndexRule,
    /// Receives the page if it is not a listing.
    kept: Arc<OnceLock<KeptPage>>,
    /// Receives the links that are no entries.
    other_links: Arc<OnceLock<OtherLinks>>,
    /// The size, validator and proof of the response.
    description: Option<(Option<u64>, Option<Validator>, Proof)>,
    /// The header fields name other pages of the listing.
    has_other_pages: bool,
    /// Records that the page was truncated.
    terminator_check: TerminatorCheck,
}

enum PageState {
    Receiving(Pin<Box<dyn Future<Output = Result<Box<ReceivedPage>, Error>> + Send>>),
    /// The page is read until it is known whether it is a listing. Its entries are returned only by a second reading,
    /// because the links of a page that is not a listing could exceed the limit of entries.
    Classifying(Box<ReceivedPage>),
    Parsing(Box<ReceivedPage>),
    Finished,
}

struct ReceivedPage {
    content: Bytes,
    url: String,
    index: IndexPage,
}

async fn receive_page(body: Body, url: String) -> Result<Box<ReceivedPage>, Error> {
    let content: Bytes = body.collect(MAX_PAGE_SIZE).await?.into();
    Ok(Box::new(ReceivedPage { index: IndexPage::new(content.clone(), &url), content, url }))
}

impl PageEntries {
    /// Returns the state that follows the receipt of the page.
    fn begin(&mut self, page: Box<ReceivedPage>) -> PageState {
        match self.rule {
            IndexRule::AnyPage => PageState::Parsing(page),
            IndexRule::GeneratedPage => PageState::Classifying(page),
            IndexRule::NoPage => self.keep(page),
        }
    }

    /// Returns the state that follows the classification of the page.
    fn classified(&mut self, mut page: Box<ReceivedPage>) -> PageState {
        if !page.index.is_directory_listing() {
            return self.keep(page);
        }
        page.index = IndexPage::new(page.content.clone(), &page.url);
        PageState::Parsing(page)
    }

    /// Keeps a page that is not a listing. A blank page is parsed instead, which returns the error for a page without
    /// links.
    fn keep(&mut self, page: Box<ReceivedPage>) -> PageState {
        if page.content.trim_ascii().is_empty() {
            return PageState::Parsing(page);
        }
        if let Some((size, validator, proof)) = self.description.take() {
            // The page is kept only once, so the cell is empty.
            let _ = self.kept.set(KeptPage { content: page.content.clone(), size, validator, proof });
        }
        PageState::Finished
    }
}

/// Takes the links that are no entries from a page that was read to its end.
fn take_other_links(page: &mut IndexPage) -> OtherLinks {
    let names = page.take_names_of_other_links().filter(|_| !page.may_have_other_pages());
    OtherLinks { names, counts: page.counts_of_other_links() }
}

/// Returns the error for a page without links, which may be an error page and must not be an empty listing.
fn no_links_error(page: &IndexPage) -> Option<Error> {
    (!page.looks_like_index()).then(|| not_an_index_error("it has no links"))
}

impl Stream for PageEntries {
    type Item = Result<Entry, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut tokens = 0..TOKENS_PER_POLL;
        loop {
            match std::mem::replace(&mut self.state, PageState::Finished) {
                PageState::Finished => return Poll::Ready(None),
                PageState::Receiving(mut receiving) => match receiving.as_mut().poll(cx) {
                    Poll::Ready(page) => self.state = self.begin(page?),
                    Poll::Pending => {
                        self.state = PageState::Receiving(receiving);
                        return Poll::Pending;
                    }
                },
                PageState::Classifying(mut page) => {
                    let is_known = tokens
                        .by_ref()
                        .any(|_| page.index.is_certain_listing() || page.index.process_token().is_none());
                    self.state = if is_known { self.classified(page) } else { PageState::Classifying(page) };
                }
                PageState::Parsing(mut page) => match tokens
                    .by_ref()
                    .find_map(|_| page.index.process_token().map_or(Some(None), |entry| entry.map(Some)))
                {
                    Some(None) => {
                        // The page is read to its end only once, so the cell is empty.
                        let _ = self.other_links.set(take_other_links(&mut page.index));
                        let other_pages = self.has_other_pages.then_some("the other pages of the listing");
                        if let Some(missing) = page.index.missing_part().or(other_pages) {
                            self.terminator_check.set_missing(missing);
                        }
                        return Poll::Ready(no_links_error(&page.index).map(Err));
                    }
                    found => {
                        self.state = PageState::Parsing(page);
                        if let Some(Some(entry)) = found {
                            return Poll::Ready(Some(Ok(entry)));
                        }
                    }
                },
            }
            if tokens.is_empty() {
                // Let other tasks run.
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
    }
}
