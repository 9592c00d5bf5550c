//! A server that segments are fetched from.

use fetch_url_core::SchemeFamily;
use tokio::task::JoinSet;

use super::layout::Segment;
use crate::engine::{self, ChainStart};
use crate::resume::resource_key;
use crate::{Error, Fetcher, Meta, Request, Response};

/// The number of retries of HEAD after an error status. Some servers always answer HEAD with one; the object, which is
/// requested next, is retried as usual.
const MAX_HEAD_RETRIES: u32 = 1;

/// The request for the object on one server, and the metadata that this server reports.
pub(super) struct Source {
    pub(super) request: SegmentRequest,
    pub(super) meta: Meta,
}

/// The request for a segment of an object.
#[derive(Clone)]
pub(super) struct SegmentRequest {
    /// The request of the caller.
    pub(super) original: Request,
    /// The request to the resource that sent the metadata, if there were redirects.
    redirected: Option<ChainStart>,
}

impl Source {
    /// Requests the metadata of the object.
    pub(super) async fn of(fetcher: &Fetcher, request: Request) -> Result<Self, Error> {
        let head = request.clone().with_max_refusal_retries(MAX_HEAD_RETRIES);
        let (meta, redirected) = engine::fetch_head(fetcher.settings(), head).await?;
        let redirected = redirected.map(|start| {
            let request = start.request.clone().with_max_refusal_retries(u32::MAX);
            start.with_request(request)
        });
        Ok(Self { request: SegmentRequest { original: request, redirected }, meta })
    }

    /// Returns `true` if the server is an FTP server.
    pub(super) fn is_ftp(&self) -> bool {
        matches!(self.meta.url.scheme().family, SchemeFamily::Ftp)
    }

    /// Returns `true` if a response starts at `offset` and is of the same resource and version of the object. The
    /// validators of two resources cannot be compared (RFC 9110 §8.8).
    pub(super) fn has_sent(&self, answer: &Meta, offset: u64) -> bool {
        answer.offset == offset
            && answer.head.size == self.meta.head.size
            && answer.validator == self.meta.validator
            && resource_key(&answer.url) == resource_key(&self.meta.url)
    }
}

impl SegmentRequest {
    /// The request is not retried after errors.
    pub(super) fn tried_once(self) -> Self {
        let redirected = self.redirected.map(|start| {
            let request = start.request.clone().tried_once();
            start.with_request(request)
        });
        Self { original: self.original.tried_once(), redirected }
    }

    /// Fetches a segment. The redirects are followed again, because the URL to which they lead may be valid for a short
    /// time only. If they fail or lead to another resource now, such as another mirror, the first one is asked. If it
    /// fails too, the redirects are followed with all retries.
    pub(super) async fn fetch(&self, fetcher: &Fetcher, segment: &Segment) -> Result<Response, Error> {
        let again = self.original.clone().range(segment.range());
        let Some(start) = &self.redirected else { return fetcher.fetch(again).await };
        let redirected = fetcher.fetch(again.clone().tried_once()).await;
        let is_first = |meta: &Meta| resource_key(&meta.url) == resource_key(start.request.url());
        if redirected.as_ref().is_ok_and(|response| is_first(&response.meta)) {
            return redirected;
        }
        let request = start.request.clone().object().range(segment.range());
        let first = engine::fetch_from(fetcher.settings(), start.clone().with_request(request)).await;
        if first.is_err() && redirected.is_err() { fetcher.fetch(again).await } else { first }
    }
}

/// Requests the metadata of all copies at once. Returns those that have the size and a validator, in their order.
pub(super) async fn plan_copies(fetcher: &Fetcher, copies: Vec<Request>, size: u64) -> Vec<Source> {
    let mut requests = JoinSet::new();
    for (index, request) in copies.into_iter().enumerate() {
        let fetcher = fetcher.clone();
        requests.spawn(async move { (index, plan_copy(&fetcher, request, size).await) });
    }
    let mut sources = requests.join_all().await;
    sources.sort_by_key(|(index, _)| *index);
    sources.into_iter().filter_map(|(_, source)| source).collect()
}

async fn plan_copy(fetcher: &Fetcher, request: Request, size: u64) -> Option<Source> {
    let mut source = Source::of(fetcher, request.clone().tried_once()).await.ok()?;
    source.request.original = request;
    (source.meta.head.size == Some(size) && source.meta.validator.is_some()).then_some(source)
}
