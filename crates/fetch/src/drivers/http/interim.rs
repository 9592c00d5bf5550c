//! A limit on interim (1xx) responses: a server may send some before the final response (RFC 9110 §15.2).

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::sync::Notify;

use crate::{Code, Error, Phase};

/// Maximum number of interim responses to one request.
pub(super) const MAX_INTERIM_RESPONSES: u32 = 32;

/// Counts the interim responses to one HTTP/1.1 request. For an HTTP/2 connection, `CheckedHttp2Stream` counts and reports
/// to this counter.
#[derive(Clone, Default)]
pub(super) struct InterimCounter(Arc<InterimCount>);

#[derive(Default)]
struct InterimCount {
    seen: AtomicU32,
    too_many: Notify,
}

impl InterimCounter {
    /// Returns a counter of the interim responses to `request` over HTTP/1.1.
    pub(super) fn counting<B>(request: &mut http::Request<B>) -> Self {
        let counter = Self::default();
        let count = counter.0.clone();
        hyper::ext::on_informational(request, move |_| {
            if count.seen.fetch_add(1, Ordering::Relaxed) >= MAX_INTERIM_RESPONSES {
                count.too_many.notify_one();
            }
        });
        counter
    }

    /// Reports that a request has had too many interim responses.
    pub(super) fn report_too_many(&self) {
        self.0.seen.store(MAX_INTERIM_RESPONSES + 1, Ordering::Relaxed);
        self.0.too_many.notify_one();
    }

    /// Waits for `response`, and fails with `Code::LimitReached` after too many interim responses.
    pub(super) async fn limit_while<T>(
        &self,
        response: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let result = tokio::select! {
            biased;
            () = self.0.too_many.notified() => Err(too_many_interim_error()),
            result = response => result,
        };
        if self.0.seen.load(Ordering::Relaxed) > MAX_INTERIM_RESPONSES {
            Err(too_many_interim_error())
        } else {
            result
        }
    }
}

fn too_many_interim_error() -> Error {
    Error::new(
        Code::LimitReached,
        Phase::Reply,
        format!("more than {MAX_INTERIM_RESPONSES} interim responses"),
    )
}
