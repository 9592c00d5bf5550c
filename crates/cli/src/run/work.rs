//! The unit of work of a batch: a transfer with its request, made once.

use fetch_url::news::Upcoming;
use fetch_url::url::Url;
use fetch_url::{Error, Request};

use crate::job::{FetchOptions, Transfer};

/// A unit of work of a worker.
pub(super) enum Work {
    /// A line of the input file or a listing of a mirror that failed.
    Failed { url: String, error: Error },
    /// A transfer.
    Transfer(Box<PlannedTransfer>),
}

/// A transfer and its request. An error in the URL is kept, because the transfer may have alternatives.
pub(super) struct PlannedTransfer {
    pub(super) transfer: Transfer,
    pub(super) request: Result<Request, Error>,
}

impl PlannedTransfer {
    /// Parses the URL of `transfer` and applies the options; `upcoming` are the URLs that follow on the same server.
    pub(super) fn new(transfer: Transfer, upcoming: Upcoming, options: &FetchOptions) -> Self {
        let request = options.request(&transfer.url, upcoming);
        Self { transfer, request }
    }

    /// Tells the driver that no transfer follows: it prepares no connection for another one.
    pub(super) fn without_successor(mut self, options: &FetchOptions) -> Self {
        self.request = self.request.map(|request| options.without_port_prefetch(request));
        self
    }

    /// Returns the URL of the request, or `None` if it is invalid.
    pub(super) fn url(&self) -> Option<&Url<'static>> {
        self.request.as_ref().ok().map(Request::url)
    }
}
