//! What a caller may want to know while a request is on its way: hops and retries.

use std::time::Duration;

use fetch_url_core::Url;

use crate::Error;

/// Something that happened before the object came, or while it came.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'e> {
    /// An answer pointed elsewhere, and we go there.
    Hop {
        /// From here.
        from: &'e Url<'e>,
        /// To there.
        to: &'e Url<'e>,
        /// The first line of the answer.
        why: &'e str,
    },
    /// It failed for a cause that may pass.
    Retry {
        /// What was asked for.
        url: &'e Url<'e>,
        /// Why it failed.
        error: &'e Error,
        /// How long we wait.
        wait: Duration,
        /// How many times it was tried.
        attempts: u32,
        /// From which octet we go on.
        offset: u64,
    },
}

/// Is told what happens to a request.
pub trait Observe: Send + Sync {
    /// `event` has happened.
    fn observe(&self, event: &Event<'_>);
}

impl<F: Fn(&Event<'_>) + Send + Sync> Observe for F {
    fn observe(&self, event: &Event<'_>) {
        self(event);
    }
}
