//! The unit of work of a batch: a transfer and its parsed request.

use fetch_url::news::UpcomingUrls;
use fetch_url::url::Url;
use fetch_url::{Error, Request};

use crate::job::{FetchOptions, Transfer};

/// A unit of work of a worker.
pub(super) enum Work {
    /// An error without a transfer: a line of the input file is invalid, or a listing or the links of a page of a
    /// mirror could not be read.
    Failed { url: String, error: Error },
    /// A transfer.
    Transfer(Box<PlannedTransfer>),
}

/// A transfer and its request. An invalid URL is kept as an error, because the transfer may have alternative URLs.
pub(super) struct PlannedTransfer {
    pub(super) transfer: Transfer,
    pub(super) request: Result<Request, Error>,
}

impl PlannedTransfer {
    /// Parses the URL of `transfer` and applies the options; `upcoming` are the URLs that are requested after it.
    pub(super) fn new(transfer: Transfer, upcoming: UpcomingUrls, options: &FetchOptions) -> Self {
        let request = options.request_for(&transfer, upcoming);
        Self { transfer, request }
    }

    /// Marks the transfer as the last one, so that the FTP driver does not request the port for a next data connection.
    pub(super) fn into_last_transfer(mut self, options: &FetchOptions) -> Self {
        self.request = self.request.map(|request| options.without_port_prefetch(request));
        self
    }

    /// Returns the URL of the request, or `None` if it is invalid.
    pub(super) fn url(&self) -> Option<&Url<'static>> {
        self.request.as_ref().ok().map(Request::url)
    }
}
