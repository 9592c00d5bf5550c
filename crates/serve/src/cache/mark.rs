//! The fields that say what the cache did for an answer: `Cache-Status` (RFC 9211) and `Age`.

use http::header::AGE;
use http::{HeaderName, HeaderValue};

use crate::answer::Answer;

const CACHE_STATUS: HeaderName = HeaderName::from_static("cache-status");

/// The part of the cache in an answer, for the field Cache-Status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheMark {
    /// The object is never stored.
    Bypassed,
    /// There is no stored object, and the client wants its server not to be asked.
    NotStored,
    /// A stored object was used without its server.
    Hit { age: u64, ttl: u64 },
    /// The server confirmed a stored object: by status 304, which another cache may have sent, or by size and time.
    Confirmed { reason: &'static str, how: &'static str, age: u64 },
    /// The object comes from its server, and `is_stored` says whether it is being stored.
    Forwarded { reason: &'static str, is_stored: bool },
}

impl CacheMark {
    /// Adds the fields to `answer`.
    pub(crate) fn add_to(self, mut answer: Answer) -> Answer {
        if let Ok(value) = HeaderValue::from_str(&self.text()) {
            answer.headers.append(CACHE_STATUS, value);
        }
        match self {
            Self::Hit { age, .. } | Self::Confirmed { age, .. } => answer.with(AGE, &age.to_string()),
            Self::Bypassed | Self::NotStored | Self::Forwarded { .. } => answer,
        }
    }

    fn text(self) -> String {
        match self {
            Self::Bypassed => "fetch-url; fwd=bypass".to_owned(),
            Self::NotStored => "fetch-url; detail=only-if-cached".to_owned(),
            Self::Hit { ttl, .. } => format!("fetch-url; hit; ttl={ttl}"),
            Self::Confirmed { reason, how, .. } => format!("fetch-url; fwd={reason}; {how}"),
            Self::Forwarded { reason, is_stored: true } => format!("fetch-url; fwd={reason}; stored"),
            Self::Forwarded { reason, is_stored: false } => format!("fetch-url; fwd={reason}"),
        }
    }
}
