//! Events of a running request: redirects and retries.

use std::time::Duration;

use fetch_url_core::Url;

use crate::Error;

/// An event of a request, passed to an [`Observer`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'e> {
    /// The server answered with a redirect, which is followed.
    Redirect {
        /// The URL that redirected.
        from: &'e Url<'e>,
        /// The target of the redirect.
        to: &'e Url<'e>,
        /// The reason: the first line of the response.
        why: &'e str,
    },
    /// The request failed with a transient error and will be sent again after `wait`.
    Retry {
        /// The URL of the request.
        url: &'e Url<'e>,
        /// The transient error.
        error: &'e Error,
        /// The time until the next attempt.
        wait: Duration,
        /// Number of retries so far, including this one.
        retries: u32,
        /// Offset in bytes from which the transfer continues.
        offset: u64,
    },
}

/// Receives the [`Event`]s of a request; see [`Request::observed_by`](crate::Request::observed_by). A closure
/// `Fn(&Event)` is an observer.
pub trait Observer: Send + Sync {
    /// Handles `event`. It is called from the task of the request and should return quickly.
    fn observe(&self, event: &Event<'_>);
}

impl<F: Fn(&Event<'_>) + Send + Sync> Observer for F {
    fn observe(&self, event: &Event<'_>) {
        self(event);
    }
}
