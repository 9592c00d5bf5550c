//! Interim answers (RFC 9110 §15.2): a server may send some before the answer, and not without end.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::sync::Notify;

use crate::{Code, Error, Phase};

/// The most interim answers to one request.
const MOST: u32 = 32;

/// Counts the interim answers to one request.
#[derive(Clone, Default)]
pub(super) struct Interim(Arc<Count>);

#[derive(Default)]
struct Count {
    seen: AtomicU32,
    too_many: Notify,
}

impl Interim {
    /// Has hyper tell of each one.
    pub(super) fn watch<B>(&self, request: &mut http::Request<B>) {
        let count = self.0.clone();
        hyper::ext::on_informational(request, move |_| {
            if count.seen.fetch_add(1, Ordering::Relaxed) >= MOST {
                count.too_many.notify_one();
            }
        });
    }

    /// Waits for `answer`, as long as there are not too many before it.
    pub(super) async fn bound<T>(&self, answer: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let result = tokio::select! {
            biased;
            () = self.0.too_many.notified() => Err(too_many()),
            result = answer => result,
        };
        if self.0.seen.load(Ordering::Relaxed) > MOST { Err(too_many()) } else { result }
    }
}

fn too_many() -> Error {
    Error::new(Code::LimitReached, Phase::Reply, format!("more than {MOST} interim answers"))
}
