//! A server that segments are fetched from.

use tokio::task::JoinSet;

use crate::{Fetcher, Meta, Request};

/// The request for the object on one server, and the metadata that this server reports.
pub(super) struct Source {
    pub(super) request: Request,
    pub(super) meta: Meta,
}

impl Source {
    /// Returns `true` if a response of this server starts at `offset` and is of the same version of the object.
    pub(super) fn has_sent(&self, answer: &Meta, offset: u64) -> bool {
        answer.offset == offset
            && answer.head.size == self.meta.head.size
            && answer.validator == self.meta.validator
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
    let meta = fetcher.fetch(request.clone().head().tried_once()).await.ok()?.meta;
    (meta.head.size == Some(size) && meta.validator.is_some()).then(|| Source { request, meta: *meta })
}
